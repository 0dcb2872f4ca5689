"""The grader pool: a process of its own for each grade; crashes, time-outs and limits end as grader_error, never as a hang."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from forge.desktop.office import Office
from forge.records import Criterion, Grading, Guest, Rubric, Verdict, VerifierError
from verifiers.pool import GraderPool
from verifiers.serving import Limits


@pytest.fixture(scope="module")
def pool() -> Iterator[GraderPool]:
    with started(2, limits=Limits(seconds=20, cpu_seconds=1, memory_mb=4096, file_mb=16)) as pool:
        yield pool


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    return tmp_path / "before", tmp_path / "after"


def started(workers: int, **options: Any) -> GraderPool:
    """A pool that knows the odd checks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        return GraderPool(workers, preload=("odd_checks",), **options)


def rubric(check: str, note: str = "") -> Rubric:
    return Rubric(criteria=(Criterion(id="it", kind="must", check=check, args={"note": note}),))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def below(*pids: int) -> list[int]:
    """These processes, and all that they started."""
    found = list(pids)
    for pid in found:
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return found


def busy(pool: GraderPool, count: int = 1) -> list[int]:
    """The processes of a pool, once so many grades are under way in it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if len(list(filter(is_grade, below(*servers(pool))))) == count:
            return below(*servers(pool))
        time.sleep(0.01)
    raise AssertionError("no grade is under way")


def servers(pool: GraderPool) -> list[int]:
    return [worker._process.pid for worker in pool._all]


def is_grade(pid: int) -> bool:
    """Whether it has a process namespace of its own; under an ordinary user the server has one too."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
    levels = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
    own = len(Path("/proc/self/status").read_text().partition("NSpid:")[2].partition("\n")[0].split())
    return len(levels) == own + (1 if os.geteuid() == 0 else 2)


def test_every_grade_has_a_process_of_its_own(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    seen = [pool.grade(rubric("odd.counts"), *homes).criteria[0].evidence for _ in range(6)]
    assert seen == ["1"] * 6, "each is the first that its process sees"


def test_a_grade_sees_its_homes_and_nothing_else_of_the_host(
    pool: GraderPool, homes: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "gold").mkdir()
    (tmp_path / "secret").write_text("kept from graders")
    for folder in (*homes, tmp_path / "gold"):
        (folder / "closed.txt").write_text(folder.name)
        (folder / "closed.txt").chmod(0)
    verdict = pool.grade(rubric("odd.lists"), *homes, gold=tmp_path / "gold")
    seen = verdict.criteria[0].evidence.split()
    assert seen[:4] == ["before/closed.txt", "after/closed.txt", "gold/closed.txt", "/forge/tmp"]
    assert {"forge", "usr", "etc"} <= set(seen[4:])
    assert not {"proc", "sys", "dev", "home", "var", "run"} & set(seen[4:])
    read = pool.grade(rubric("odd.reads", str(tmp_path / "secret")), *homes).criteria[0].evidence
    assert read == "FileNotFoundError"


def test_a_grade_can_import_what_was_not_loaded_yet(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    for name, value in (("wave:WAVE_FORMAT_PCM", "1"), ("forge.records.printable:__name__", "forge.records.printable")):
        assert pool.grade(rubric("odd.imports", name), *homes).criteria[0].evidence == value
    assert pool.grade(rubric("odd.imports", "many_tasks:__name__"), *homes).criteria[0].evidence == "many_tasks"


def test_a_grade_reaches_no_process(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    verdict = pool.grade(rubric("odd.kills", str(os.getpid())), *homes)
    assert verdict.criteria[0].evidence == "[] 0"


def test_a_server_that_dies_is_no_score(homes: tuple[Path, Path]) -> None:
    with started(1) as pool:
        for victim in (0, -1):  # the process that the pool started, and the grade itself
            with ThreadPoolExecutor(1) as threads:
                verdict = threads.submit(pool.grade, rubric("odd.sleeps"), *homes)
                processes = busy(pool)
                os.kill(processes[victim], signal.SIGKILL)
                assert verdict.result().grading is Grading.GRADER_ERROR
                assert all(gone(pid) for pid in (processes if victim == 0 else processes[-1:]))
                assert victim == 0 or all(map(alive, processes[:-1])), "a grade dies alone"
            assert pool.grade(rubric("odd.counts"), *homes).passed, "the pool goes on"


def test_keys_in_the_environment_are_kept_from_graders(
    homes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_LLM_API_KEY", "kept from graders")
    with started(1) as pool:
        environment = pool.grade(rubric("odd.imports", "os:environ"), *homes).criteria[0].evidence
    assert "'HOME': '/forge/tmp'" in environment
    assert "kept from graders" not in environment


def test_a_verdict_comes_back_whole(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    right = pool.grade(rubric("odd.answer", "forty-two"), *homes, answer="forty-two")
    wrong = pool.grade(rubric("odd.answer", "forty-two"), *homes, answer="41")
    assert (right.grading, right.score, right.passed) == (Grading.GRADED, 1.0, True)
    assert (wrong.grading, wrong.score, wrong.criteria[0].evidence) == (Grading.GRADED, 0.0, "'41'")


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("odd.raises", "a bug in a check"),
        ("odd.segfault", "SIGSEGV"),
        ("odd.exits", "no verdict"),
        ("odd.sys_exit", "SystemExit"),
        ("odd.hoards", "MemoryError"),
        ("odd.spins", "SIG"),
        ("odd.unheard_of", "unknown check"),
    ],
)
def test_what_goes_wrong_in_a_grader_is_no_score(
    pool: GraderPool, homes: tuple[Path, Path], check: str, said: str
) -> None:
    verdict = pool.grade(rubric(check), *homes)
    assert verdict.grading is Grading.GRADER_ERROR
    assert verdict.score is None
    assert said in str(verdict.error)
    assert pool.grade(rubric("odd.counts"), *homes).passed, "the pool goes on"


@pytest.mark.parametrize(
    "question",
    [
        "7",
        "null",
        "[" * 1000,
        '{"a": 1}',
        "[1, 2, 3]",
        '["values", ".xlsx"]',
        '["a", [], ""]',
        '["\\ud800", "", ""]',
        "[",
    ],
)
def test_a_question_that_is_none_harms_nobody(pool: GraderPool, homes: tuple[Path, Path], question: str) -> None:
    before = servers(pool)
    verdict = pool.grade(rubric("odd.asks", question), *homes, office_address=homes[0] / "office.sock")
    assert verdict.passed, verdict.error
    assert servers(pool) == before, "the servers go on"
    assert pool.grade(rubric("odd.counts"), *homes).passed


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("7", "TypeError"),
        ("[" * 100_000, "RecursionError"),
        ("{}", "KeyError"),
        ('{"size": "many"}', "TypeError"),
        ("{", "JSONDecodeError"),
    ],
)
def test_an_answer_that_is_none_is_no_score(homes: tuple[Path, Path], tmp_path: Path, answer: str, said: str) -> None:
    (homes[1] / "a.xlsx").write_bytes(b"a workbook")
    with socket.socket(socket.AF_UNIX) as office, started(1) as pool, ThreadPoolExecutor(1) as threads:
        office.bind(str(tmp_path / "office.sock"))
        office.listen()
        threads.submit(answer_once, office, answer.encode())
        before = servers(pool)
        verdict = pool.grade(rubric("odd.computes"), *homes, office_address=tmp_path / "office.sock")
        assert verdict.grading is Grading.GRADER_ERROR
        assert f"the office's answer is none: {said}" in str(verdict.error)
        assert servers(pool) == before, "the server goes on"


def answer_once(office: socket.socket, answer: bytes) -> None:
    connection, _ = office.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(struct.pack(">I", len(answer)) + answer)
        connection.recv(1 << 16)


def test_a_file_larger_than_allowed_is_refused(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    verdict = pool.grade(rubric("odd.writes"), *homes)
    assert verdict.grading is Grading.GRADER_ERROR
    assert "File too large" in str(verdict.error)


def test_a_grader_that_prints_and_a_huge_evidence_do_no_harm(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    verdict = pool.grade(rubric("odd.chatters"), *homes)
    assert verdict.passed
    assert len(verdict.criteria[0].evidence) < 3000


def test_a_time_out_kills_the_grader(homes: tuple[Path, Path]) -> None:
    with started(1, limits=Limits(seconds=1.0)) as pool, ThreadPoolExecutor(1) as threads:
        pool.grade(rubric("odd.counts"), *homes)  # its imports are done
        began = time.monotonic()
        result = threads.submit(pool.grade, rubric("odd.sleeps"), *homes)
        grade = busy(pool)[-1]
        verdict = result.result()
        assert time.monotonic() - began < 8
        assert verdict.grading is Grading.GRADER_ERROR
        assert "longer than 1 s" in str(verdict.error)
        assert gone(grade)
        assert pool.grade(rubric("odd.counts"), *homes).passed


def test_many_threads_share_a_pool(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    def one(index: int) -> Verdict:
        return pool.grade(rubric("odd.answer", str(index)), *homes, answer=str(index - index % 2))

    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(one, range(40)))
    assert [v.score for v in verdicts] == [float(i % 2 == 0) for i in range(40)]


def test_closing_ends_a_grade_under_way_and_leaves_no_process(homes: tuple[Path, Path]) -> None:
    pool = started(1)
    results: list[Verdict | str] = []

    def run() -> None:
        try:
            results.append(pool.grade(rubric("odd.sleeps"), *homes))
        except VerifierError as error:
            results.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    pids = busy(pool)
    pool.close()
    pool.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    said = {r if isinstance(r, str) else r.grading.value for r in results}
    assert said == {"grader_error", "the grader pool is closed"}
    assert all(gone(pid) for pid in pids)
    with pytest.raises(VerifierError, match="closed"):
        pool.grade(rubric("odd.counts"), *homes)


def test_nothing_outlives_a_process_that_was_killed(homes: tuple[Path, Path]) -> None:
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1])\n"
        "from forge.records import Criterion, Rubric\nfrom verifiers import GraderPool\n"
        "it = Criterion(id='it', kind='must', check='odd.sleeps', args={})\n"
        "pool = GraderPool(2, preload=('odd_checks',), scratch=pathlib.Path(sys.argv[2]))\n"
        "pool.grade(Rubric(criteria=(it,)), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))\n"
    )
    arguments = [str(Path(__file__).parent), *map(str, homes)]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not any(map(is_grade, below(process.pid))) and time.monotonic() < deadline:
            time.sleep(0.01)
        processes = below(process.pid)[1:]
        assert len(processes) >= 3, "two servers and a grade"
        process.kill()
    assert all(gone(pid) for pid in processes)


def test_a_pool_without_workers_is_refused() -> None:
    with pytest.raises(VerifierError, match="at least one worker"):
        GraderPool(0)


@pytest.mark.desktop
def test_formulas_are_computed_once_at_the_guests_clock(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    with xlsxwriter.Workbook(homes[1] / "a.xlsx") as book:
        sheet = book.add_worksheet("Data")
        sheet.write_formula("A1", "=YEAR(TODAY())+SUM(B1:B2)")
        sheet.write_column("B1", [1, 2])
    guest = Guest(clock="2031-05-05T10:00:00")
    with Office() as office:
        address = office.address
        first = pool.grade(rubric("odd.computes"), *homes, guest=guest, office_address=address)
    assert first.criteria[0].evidence == "{'A1': 2034.0, 'B1': 1.0, 'B2': 2.0}"
    again = pool.grade(rubric("odd.computes"), *homes, guest=guest, office_address=address)
    assert again == first, "kept for the next grade, though the office is closed"
    other = pool.grade(rubric("odd.computes"), *homes, guest=Guest(clock="2032-05-05T10:00:00"), office_address=address)
    assert other.grading is Grading.GRADER_ERROR, "another clock is another result, and there is no office"


def test_the_folder_of_computed_workbooks_does_not_grow_for_ever(
    homes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verifiers.pool.CACHED_GRADES", 2)
    with GraderPool(1, scratch=homes[0]) as pool:
        folder = Path(pool._computed)
        assert folder.parent == homes[0]
        for _ in range(8):
            made = Path(pool._office_cache())
            made.mkdir(exist_ok=True)
        assert sorted(path.name for path in folder.iterdir() if path.name.isdigit()) == ["2", "3"]
    assert not folder.exists()


def test_the_price_of_a_process_is_small(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    times = []
    for _ in range(25):
        started = time.perf_counter()
        pool.grade(rubric("odd.counts"), *homes)
        times.append(time.perf_counter() - started)
    assert statistics.median(times) < 0.1, "far above the usual 10 ms, even on a busy machine"
