"""The grader pool: a process of its own for each grade; crashes, time-outs and limits end as grader_error, never as a hang."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import xlsxwriter

from forge.desktop.office import Office
from forge.records import Criterion, Grading, Guest, Rubric, Verdict, VerifierError
from verifiers.pool import GraderPool, Limits


@pytest.fixture(scope="module")
def pool() -> Iterator[GraderPool]:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(Path(__file__).parent))
    limits = Limits(seconds=20, cpu_seconds=1, memory_mb=4096, file_mb=16)
    with GraderPool(2, limits=limits, preload=("odd_checks",)) as pool:
        patch.undo()
        yield pool


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    return tmp_path / "before", tmp_path / "after"


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


def test_every_grade_has_a_process_of_its_own(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    pids = [pool.grade(rubric("odd.pid"), *homes).criteria[0].evidence for _ in range(6)]
    assert len(set(pids)) == 6
    assert str(os.getpid()) not in pids
    assert all(gone(int(pid)) for pid in pids)


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
        ("odd.kills_server", "is gone"),
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
    assert pool.grade(rubric("odd.pid"), *homes).passed, "the pool goes on"


def test_a_file_larger_than_allowed_is_refused(pool: GraderPool, homes: tuple[Path, Path], tmp_path: Path) -> None:
    verdict = pool.grade(rubric("odd.writes", str(tmp_path / "large")), *homes)
    assert verdict.grading is Grading.GRADER_ERROR
    assert "File too large" in str(verdict.error)


def test_a_grader_that_prints_and_a_huge_evidence_do_no_harm(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    verdict = pool.grade(rubric("odd.chatters"), *homes)
    assert verdict.passed
    assert len(verdict.criteria[0].evidence) < 3000


def test_a_time_out_kills_the_grader_and_its_children(homes: tuple[Path, Path], tmp_path: Path) -> None:
    note = tmp_path / "pids"
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(Path(__file__).parent))
    with GraderPool(1, limits=Limits(seconds=1.0), preload=("odd_checks",)) as pool:
        patch.undo()
        started = time.monotonic()
        verdict = pool.grade(rubric("odd.sleeps", str(note)), *homes)
        assert time.monotonic() - started < 8
        assert verdict.grading is Grading.GRADER_ERROR
        assert "longer than 1 s" in str(verdict.error)
        assert all(gone(int(pid)) for pid in note.read_text().split())
        assert pool.grade(rubric("odd.pid"), *homes).passed


def test_many_threads_share_a_pool(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    def one(index: int) -> Verdict:
        return pool.grade(rubric("odd.answer", str(index)), *homes, answer=str(index - index % 2))

    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(one, range(40)))
    assert [v.score for v in verdicts] == [float(i % 2 == 0) for i in range(40)]


def test_closing_ends_a_grade_under_way_and_leaves_no_process(homes: tuple[Path, Path], tmp_path: Path) -> None:
    note = tmp_path / "pids"
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(Path(__file__).parent))
    pool = GraderPool(1, preload=("odd_checks",))
    patch.undo()
    results: list[Verdict | str] = []

    def run() -> None:
        try:
            results.append(pool.grade(rubric("odd.sleeps", str(note)), *homes))
        except VerifierError as error:
            results.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while not (note.exists() and len(note.read_text().split()) == 2) and time.monotonic() < deadline:
        time.sleep(0.01)
    pids = [int(pid) for pid in note.read_text().split()]
    pool.close()
    pool.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    said = {r if isinstance(r, str) else r.grading.value for r in results}
    assert said == {"grader_error", "the grader pool is closed"}
    assert all(gone(pid) for pid in pids)
    with pytest.raises(VerifierError, match="closed"):
        pool.grade(rubric("odd.pid"), *homes)


def test_nothing_outlives_a_process_that_was_killed(homes: tuple[Path, Path], tmp_path: Path) -> None:
    note = tmp_path / "pids"
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1])\n"
        "from forge.records import Criterion, Rubric\nfrom verifiers import GraderPool\n"
        "it = Criterion(id='it', kind='must', check='odd.sleeps', args={'note': sys.argv[4]})\n"
        "pool = GraderPool(2, preload=('odd_checks',), scratch=pathlib.Path(sys.argv[2]))\n"
        "pool.grade(Rubric(criteria=(it,)), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))\n"
    )
    arguments = [str(Path(__file__).parent), *map(str, homes), str(note)]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (note.exists() and len(note.read_text().split()) == 2) and time.monotonic() < deadline:
            time.sleep(0.01)
        pids = [int(pid) for pid in note.read_text().split()]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 2
        process.kill()
    assert all(gone(pid) for pid in [*pids, *map(int, children)])


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
        assert sorted(path.name for path in folder.iterdir()) == ["2", "3"]
    assert not folder.exists()


def test_the_price_of_a_process_is_small(pool: GraderPool, homes: tuple[Path, Path]) -> None:
    times = []
    for _ in range(25):
        started = time.perf_counter()
        pool.grade(rubric("odd.pid"), *homes)
        times.append(time.perf_counter() - started)
    assert statistics.median(times) < 0.1, "far above the usual 10 ms, even on a busy machine"
