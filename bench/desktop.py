"""`python -m bench.desktop`: how long desktops, boxes, pictures and the office take, and what a desktop weighs.

The plain start is the same application with the same profile and the same readiness on a bare Xvfb (`bench.plain`); it is
measured in turn with the slots, so that a busy machine slows both. The ratios say more than the seconds.
"""

from __future__ import annotations

import io
import os
import statistics
import tempfile
import time
from pathlib import Path

from bench import plain
from bench.report import Figure, options, show
from forge.desktop import Office, OfficeClient, Slot, SlotPool, chown_home, run_boxed
from forge.records import Guest

BOOK = "~/Documents/book.xlsx"


def workbook(rows: int = 40) -> bytes:
    """A small workbook with a formula a row."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in range(1, rows + 1):
        book.active.append([f"Thing {row}", row, row * 1.5, f"=B{row}*C{row}"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def mail_from_nothing() -> float:
    """Seconds until Thunderbird shows its folders in a new slot."""
    began = time.perf_counter()
    with Slot.open(Guest(), home_files=plain.mail_profile()) as slot:
        slot.launch("thunderbird")
        return time.perf_counter() - began


def from_nothing(data: bytes) -> tuple[float, float]:
    """Seconds until a new slot shows the workbook, and its proportional memory in MiB."""
    began = time.perf_counter()
    with Slot.open(Guest(), home_files=[(BOOK, data, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        seconds = time.perf_counter() - began
        return seconds, sum(map(proportional, slot.pids))


def beside_a_spare(data: bytes) -> float:
    """Proportional memory in MiB of a slot with Calc while its pool keeps the next one ready, as in every round."""
    with SlotPool(guest=Guest()) as pool, pool.acquire(Guest(), [(BOOK, data, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        pool.wait_warm()
        return sum(map(proportional, slot.pids))


def handed_over(pool: SlotPool, data: bytes, *, expected: bool) -> float:
    """Seconds until a slot made beforehand is handed over and shows the workbook.

    An expected one was prepared with the workbook open; any other spare has LibreOffice waiting and opens it now.
    """
    if expected:
        pool.expect(Guest(), [(BOOK, data, 0o644, False)], start=[("calc", BOOK)])
    pool.wait_warm()
    began = time.perf_counter()
    with pool.acquire(Guest(), [(BOOK, data, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        return time.perf_counter() - began


def proportional(pid: int) -> float:
    """Proportional memory (PSS) of a process and all below it, MiB."""
    total = 0.0
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            total = next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
        children = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children += [int(child) for child in file.read().split()]
    except OSError:
        return total
    return total + sum(map(proportional, children))


def median_ms(action: object, times: int) -> float:
    """Median milliseconds of a call."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        action()  # type: ignore[operator]
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def small_things(data: bytes, times: int) -> list[Figure]:
    """A box, a picture, looks at the tree, and the office."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # closed folders need a mount more, some 25 ms
        home = Path(folder) / "home"
        home.mkdir()
        chown_home(home)
        box = median_ms(lambda: run_boxed(["true"], home=home), times)
    with Slot.open(Guest(), home_files=[(BOOK, data, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        shot = median_ms(slot.screenshot, times)
        tree = median_ms(lambda: slot.tree("calc"), max(3, times // 4))
        cell = median_ms(lambda: slot.cell("C7"), times)
        shell = median_ms(lambda: slot.shell.run("true"), times)
    books = iter([workbook(40 + n) for n in range(2 * times + 2)])
    with Office() as office:
        client = OfficeClient(office.address)
        client.values(next(books), ".xlsx")
        values = median_ms(lambda: client.values(next(books), ".xlsx"), times)
        recalculated = median_ms(lambda: client.recalculate(next(books), ".xlsx"), times)
    return [
        Figure("box, one command", box, "ms", "<= 40"),
        Figure("screenshot as PNG, 1280x800", shot, "ms", "<= 15"),
        Figure("accessibility tree of Calc", tree, "ms"),
        Figure("one cell looked up", cell, "ms"),
        Figure("shell, one command", shell, "ms"),
        Figure("office: values of a workbook", values, "ms", "<= 100"),
        Figure("office: recalculate and store", recalculated, "ms"),
    ]


def main() -> None:
    """Measure; the first of each kind, which may bake a template or read the disk, is not counted."""
    chosen = options(__doc__ or "")
    times = 3 if chosen.quick else 9
    data = workbook()
    load = os.getloadavg()[0]
    from_nothing(data)
    cold, bare, memory, mail, bare_mail = [], [], [], [], []
    for _ in range(times):
        seconds, mebibytes = from_nothing(data)
        cold.append(seconds)
        memory.append(mebibytes)
        bare.append(plain.calc(data))
        mail.append(mail_from_nothing())
        bare_mail.append(plain.thunderbird())
    shared = [beside_a_spare(data) for _ in range(max(1, times // 3))]
    with SlotPool(guest=Guest()) as pool:
        warm = [handed_over(pool, data, expected=False) for _ in range(times + 1)][1:]
    with SlotPool() as pool:
        expected = [handed_over(pool, data, expected=True) for _ in range(times)]
    middle = statistics.median
    show(
        [
            Figure("slot with Calc showing a workbook, from nothing, median", middle(cold), "s"),
            Figure("the same on a bare display, median", middle(bare), "s"),
            Figure("ratio of the two", middle(cold) / middle(bare), "x", "<= 1.1"),
            Figure("slot with Thunderbird showing its folders, from nothing, median", middle(mail), "s"),
            Figure("the same on a bare display, median (mail)", middle(bare_mail), "s"),
            Figure("ratio of the two (mail)", middle(mail) / middle(bare_mail), "x", "<= 1.1"),
            Figure("spare handed over with the document open, median", middle(expected), "s", "<= 1"),
            Figure("spare handed over, document opened then, median", middle(warm), "s"),
            Figure("the latter to a bare start", middle(warm) / middle(bare), "x"),
            Figure("proportional memory of a slot with Calc alone, median", middle(memory), "MiB", "<= 240"),
            Figure("the same beside a warm spare, median", middle(shared), "MiB", "<= 240"),
            *small_things(data, 4 * times),
            Figure("load of the machine before (1 minute)", load, ""),
        ],
        as_json=chosen.json,
    )


if __name__ == "__main__":
    main()
