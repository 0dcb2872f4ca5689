"""Fixtures of the desktop's tests: homes that a box can use, a plain slot a module, and a look at what is left behind."""

from __future__ import annotations

import hashlib
import io
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge.desktop.box import chown_home
from forge.desktop.slot import Slot


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home that boxes can use; below a folder that is closed to the boxes' user when the tests run as root."""
    folder = tmp_path / "home"
    folder.mkdir()
    chown_home(folder)
    return folder


@pytest.fixture
def high_descriptors() -> Iterator[None]:
    """What is opened meanwhile gets descriptors above 1,024, as in a process with many slots."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    opened = [os.open(os.devnull, os.O_RDONLY)]
    while opened[-1] <= 1024:
        opened.append(os.open(os.devnull, os.O_RDONLY))
    yield
    for number in opened:
        os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def blobs() -> dict[str, bytes]:
    return {}


@pytest.fixture
def put(blobs: dict[str, bytes]) -> Callable[[bytes], str]:
    def store(data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        blobs[name] = data
        return name

    return store


@pytest.fixture(scope="module")
def plain_slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slot]:
    """A slot without applications, shared by the tests of a module."""
    with Slot.open(root=tmp_path_factory.mktemp("root")) as slot:
        yield slot


@pytest.fixture(scope="session")
def workbook() -> bytes:
    """Item, price, quantity, total with formulas; 12 rows below a header, sheet "Data"."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    sheet.append(["Item", "Price", "Quantity", "Total"])
    for row in range(2, 14):
        sheet.append([f"Thing {row - 1}", 1.5 * row, row, f"=B{row}*C{row}"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def processes(text: str) -> list[str]:
    """Command lines of living processes that contain `text`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode(errors="replace")
                with open(f"/proc/{name}/stat") as file:
                    state = file.read().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if text in line and state not in "ZX":
                found.append(line)
    return found


def living(pids: tuple[int, ...]) -> list[int]:
    """Those of the processes that run; a zombie has ended."""
    alive = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] not in "ZX":
                    alive.append(pid)
        except OSError:
            continue
    return alive


def is_stale(socket_path: Path) -> bool:
    """Whether a socket was left behind; one that another living server has bound since was not."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(socket_path))
        except ConnectionRefusedError:
            return True
        except FileNotFoundError:
            pass
    return False


def becomes(condition: Callable[[], bool], timeout: float = 10) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
