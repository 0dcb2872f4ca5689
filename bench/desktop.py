"""`python -m bench.desktop`: how long desktops, boxes, pictures and the office take, and what a desktop weighs.

The plain start is the same LibreOffice on a bare Xvfb with the same window manager and the same readiness, without box,
supervisor, cookie and guest clock; it is measured in turn with the slots, so that a busy machine slows both.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench.report import Figure, options, show
from forge.desktop import Office, OfficeClient, Slot, SlotPool, chown_home, inside, libreoffice, run_boxed
from forge.desktop.display import Display
from forge.desktop.settle import Settler
from forge.desktop.sweep import claim
from forge.desktop.windows import Windows
from forge.records import Guest

BOOK = "~/Documents/book.xlsx"
_PLAIN = """
import os, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.Popen(["/usr/libexec/at-spi-bus-launcher", "--launch-immediately", "--a11y=1"], **quiet)
subprocess.Popen(sys.argv[2:], **quiet)
from access import BusError, Sheets
sheets = Sheets()
while True:
    try:
        if sheets.cell("soffice", 0, 0):
            break
    except BusError:
        pass
    time.sleep(0.02)
print("ready", flush=True)
time.sleep(60)
"""


def workbook(rows: int = 40) -> bytes:
    """A small workbook with a formula a row."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in range(1, rows + 1):
        book.active.append([f"Thing {row}", row, row * 1.5, f"=B{row}*C{row}"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def from_nothing(data: bytes) -> tuple[float, float]:
    """Seconds until a new slot shows the workbook, and its proportional memory in MiB."""
    began = time.perf_counter()
    with Slot.open(Guest(), home_files=[(BOOK, data, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        seconds = time.perf_counter() - began
        return seconds, sum(map(proportional, slot.pids))


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


def plain(data: bytes) -> float:
    """Seconds until LibreOffice shows the workbook on a bare display of the host."""
    owned = claim("bench")
    began = time.perf_counter()
    try:
        home = owned.folder / "home"
        home.mkdir()
        shutil.copytree(libreoffice.template(), home / libreoffice.PROFILE)
        (home / "book.xlsx").write_bytes(data)
        display = Display(owned.folder, Guest().width, Guest().height)
        environment = {
            **{
                "HOME": str(home),
                "DISPLAY": display.name,
                "XAUTHORITY": str(display.cookie),
                "PATH": os.environ["PATH"],
            },
            **{"SAL_USE_VCLPLUGIN": "gtk3", "LC_ALL": "C.UTF-8", "GSETTINGS_BACKEND": "memory"},
        }
        soffice = [libreoffice.SOFFICE, "--norestore", "--nologo", "--calc", str(home / "book.xlsx")]
        command = ["dbus-run-session", "--", "/usr/bin/python3", "-c", _PLAIN, str(Path(inside.__file__ or "").parent)]
        process = subprocess.Popen(
            [*command, *soffice],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            windows, settler = Windows(display), Settler(display)
            while not any("book.xlsx" in window.title for window in windows.shown()):
                time.sleep(0.02)
            while process.stdout.readline() not in (b"ready\n", b""):
                pass  # the session bus talks too
            settler.settle(first=0.15, quiet=0.15)
            return time.perf_counter() - began
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            windows.close()
            settler.close()
            display.close()
    finally:
        owned.release()


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
        Figure("screenshot as PNG, 1280x800", shot, "ms", "<= 20"),
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
    cold, bare, memory = [], [], []
    for _ in range(times):
        seconds, mebibytes = from_nothing(data)
        cold.append(seconds)
        memory.append(mebibytes)
        bare.append(plain(data))
    with SlotPool(guest=Guest()) as pool:
        warm = [handed_over(pool, data, expected=False) for _ in range(times + 1)][1:]
    with SlotPool() as pool:
        expected = [handed_over(pool, data, expected=True) for _ in range(times)]
    show(
        [
            Figure("slot with Calc showing a workbook, from nothing, median", statistics.median(cold), "s", "<= 2.5"),
            Figure("the same on a bare display, median", statistics.median(bare), "s"),
            Figure("ratio of the two", statistics.median(cold) / statistics.median(bare), "x"),
            Figure("spare handed over with the document open, median", statistics.median(expected), "s", "<= 1"),
            Figure("spare handed over, document opened then, median", statistics.median(warm), "s"),
            Figure("proportional memory of a slot with Calc, median", statistics.median(memory), "MiB", "<= 240"),
            *small_things(data, 4 * times),
            Figure("load of the machine before (1 minute)", load, ""),
        ],
        as_json=chosen.json,
    )


if __name__ == "__main__":
    main()
