"""A slot with real applications: what is typed and clicked lands in the files, and what is seen is where it is said to be."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest

from forge.desktop.accessibility import at_point
from forge.desktop.slot import Slot
from forge.records import DesktopError, Element, Guest, InputError
from tests.forge.desktop.conftest import becomes, is_stale, living

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("slot")]

BOOK = "~/Documents/Stock list.xlsx"


@pytest.fixture(scope="module")
def calc(tmp_path_factory: pytest.TempPathFactory, workbook: bytes) -> Iterator[Slot]:
    """A slot with the workbook open."""
    with Slot.open(root=tmp_path_factory.mktemp("root"), home_files=[(BOOK, workbook, 0o644, False)]) as slot:
        slot.launch("calc", BOOK)
        yield slot


def find(slot: Slot, name: str, role: str | None = None, app: str = "calc") -> Element:
    found = [e for e in slot.tree(app) if e.name == name and role in (None, e.role) and e.box[2] > 1]
    assert found, f"no {role} {name}"
    return found[-1]


def middle(element: Element | None) -> tuple[int, int]:
    assert element is not None
    x, y, width, height = element.box
    return x + width // 2, y + height // 2


def saved(slot: Slot) -> openpyxl.Workbook:
    """The workbook after ctrl+s."""
    path = slot.home / BOOK[2:]
    before = path.stat().st_mtime_ns
    slot.input.key("ctrl+s")
    slot.settle(lambda: path.stat().st_mtime_ns != before)
    return openpyxl.load_workbook(io.BytesIO(path.read_bytes()))


def test_the_workbook_is_shown(calc: Slot) -> None:
    (window,) = calc.windows()
    assert (window.title, window.active) == ("Stock list.xlsx - LibreOffice Calc", True)
    assert (window.x, window.width, window.y + window.height) == (0, 1280, 800)
    cell = calc.cell("A2")
    assert cell is not None
    assert (cell.name, cell.text, cell.role, cell.app) == ("A2", "Thing 1", "table cell", "calc")
    assert calc.cell("A900") is None
    assert [e.name for e in calc.cells().visible()][:3] == ["A1", "B1", "C1"]


def test_a_cell_is_where_it_is_said_to_be(calc: Slot) -> None:
    for ref in ("C5", "F20"):
        calc.input.click(*middle(calc.cell(ref)))
        calc.settle()
        cell = calc.cell(ref)
        assert cell is not None
        assert "focused" in cell.states
        hit = calc.element_at(*middle(cell))
        assert hit is not None
        assert (hit.name, hit.box) == (ref, cell.box)


def test_what_is_typed_is_in_the_file(calc: Slot) -> None:
    calc.input.click(*middle(calc.cell("F2")))
    calc.input.type("Größe 你好 → “x” 😀\n=1+2*3\n'007\n")
    calc.settle()
    sheet = saved(calc)["Data"]
    assert [sheet[ref].value for ref in ("F2", "F3", "F4")] == ["Größe 你好 → “x” 😀", "=1+2*3", "007"]


def test_a_button_is_where_it_is_said_to_be(calc: Slot) -> None:
    calc.input.click(*middle(calc.cell("A3")))
    calc.settle()
    bold = find(calc, "Bold", "toggle button")
    hit = calc.element_at(*middle(bold))
    assert hit is not None
    assert hit.name == "Bold"
    calc.input.click(*middle(bold))
    calc.settle()
    sheet = saved(calc)["Data"]
    assert [bool(sheet[ref].font.b) for ref in ("A2", "A3", "A4")] == [False, True, False]


def test_menus_open_and_dialogs_come(calc: Slot) -> None:
    assert not [e for e in calc.tree("calc") if e.name.startswith("Insert Sheet")]
    calc.input.click(*middle(find(calc, "Sheet", "menu")))
    calc.settle(lambda: any(e.name.startswith("Rename Sheet") for e in calc.tree("calc")))
    assert not any(e.name.startswith("Rename Sheet") for e in calc.tree("calc", menus=False))
    calc.input.click(*middle(next(e for e in calc.tree("calc") if e.name.startswith("Rename Sheet"))))
    calc.settle(lambda: any(w.title == "Rename Sheet" for w in calc.windows()))
    ok = find(calc, "OK", "push button")
    hit = at_point(calc._found(None), *middle(ok))
    assert hit is not None
    assert hit.element.name == "OK"
    calc.input.key("ctrl+a")
    calc.input.type("Stock")
    calc.input.click(*middle(ok))
    calc.settle(lambda: len(calc.windows()) == 1)
    assert saved(calc).sheetnames == ["Stock"]


def test_dragging_selects(calc: Slot) -> None:
    calc.input.drag(*middle(calc.cell("B2")), *middle(calc.cell("C4")))
    calc.settle()
    calc.input.key("Delete")
    calc.settle()
    sheet = saved(calc).worksheets[0]
    assert [sheet[ref].value for ref in ("B2", "C4", "B5")] == [None, None, 7.5]
    calc.input.key("ctrl+z")


def test_scrolling_moves_the_sheet(calc: Slot) -> None:
    x, y = middle(calc.cell("C5"))
    calc.input.scroll(x, y, dy=5)
    calc.settle(lambda: calc.cell("A1") is None)
    assert calc.cell("A1") is None
    assert calc.cell("C20") is not None
    calc.input.scroll(x, y, dy=-10)
    calc.settle(lambda: calc.cell("A1") is not None)
    assert calc.cell("A1") is not None


def test_modifiers_are_held_while_clicking(calc: Slot) -> None:
    calc.input.click(*middle(calc.cell("H2")))
    calc.input.click(*middle(calc.cell("H5")), modifiers=("shift",))
    calc.settle()
    calc.input.type("9")
    calc.input.key("alt+Return")  # fills the whole selection
    calc.settle()
    sheet = saved(calc).worksheets[0]
    assert [sheet[f"H{row}"].value for row in range(2, 6)] == [9, 9, 9, 9]


def test_unsaved_work_is_not_in_the_snapshot(calc: Slot, put: Callable[[bytes], str], blobs: dict[str, bytes]) -> None:
    saved(calc)
    calc.input.click(*middle(calc.cell("G8")))
    calc.input.type("unsaved\n")
    calc.settle()
    found = calc.snapshot(put)
    assert [entry.path for entry in found.entries] == ["~/Documents", BOOK]
    book = openpyxl.load_workbook(io.BytesIO(blobs[found.entries[1].sha256 or ""]))
    assert book.worksheets[0]["G8"].value is None


@pytest.mark.parametrize("path", ["/etc/passwd", "~/../x", "Documents/x"])
def test_only_paths_of_the_home_are_opened(calc: Slot, path: str) -> None:
    with pytest.raises(InputError, match="below the guest's home"):
        calc.launch("editor", path)
    with pytest.raises(InputError, match="known are calc, writer"):
        calc.launch("solitaire")
    with pytest.raises(InputError, match="no cell reference"):
        calc.cell("A1:B2")


def test_the_editor_takes_any_text(tmp_path: Path) -> None:
    # more characters without a key of their own than the keyboard has spare keys
    text = "".join(map(chr, range(0x3B1, 0x3C9))) + " äöü ÄÖÜ ñ 😀🎉 “q” — € ЖЗИ\n\tend ~`|\\{}[]<>\n"
    files = [("~/notes.txt", b"first line\n", 0o644, False)]
    with Slot.open(root=tmp_path, home_files=files) as slot:
        slot.launch("editor", "~/notes.txt")
        slot.input.key("ctrl+End")
        slot.input.type(text)
        slot.input.key("ctrl+s")
        slot.settle(lambda: (slot.home / "notes.txt").stat().st_size > 20)
        assert (slot.home / "notes.txt").read_text() == "first line\n" + text
        slot.input.key("ctrl+q")
        slot.settle(lambda: slot.windows() == [])
        slot.alive()  # an application that was closed is no fault


def test_files_and_terminal_are_ready(tmp_path: Path) -> None:
    guest = Guest(clock="2027-01-02T03:04:05", timezone="America/New_York", width=1024, height=768)
    files = [("~/Papers/letter.txt", b"Dear", 0o644, False), ("~/Papers/Old", b"", 0o755, True)]
    with Slot.open(guest, root=tmp_path, home_files=files) as slot:
        assert (slot.screenshot().width, slot.screenshot().height) == (1024, 768)
        slot.launch("files", "~/Papers")
        assert slot.windows()[-1].title == "Papers"
        names = [e.name for e in slot.tree("files")]
        assert {"letter.txt", "Old"} <= set(names)
        assert any("01/02/2027" in name or "1/2/27" in name or "2027" in name for name in names)
        slot.launch("terminal", "~/Papers")
        slot.input.type("pwd; date '+%F %Z'; cat letter.txt > 'ünï.txt'\n")
        slot.settle(lambda: (slot.home / "Papers/ünï.txt").exists())
        assert (slot.home / "Papers/ünï.txt").read_bytes() == b"Dear"
        text = next(e.text for e in slot.tree("terminal") if e.role == "terminal")
        assert text is not None
        assert "/home/alex/Papers\n2027-01-02 EST" in text


def test_a_text_table_opens_without_a_question(tmp_path: Path) -> None:
    files = [("~/figures.csv", "name,n\nä,1.5\n".encode(), 0o644, False)]
    with Slot.open(root=tmp_path, home_files=files) as slot:
        slot.launch("calc", "~/figures.csv")
        cells = {e.name: e.text for e in slot.cells().visible() if e.text}
        assert cells == {"A1": "name", "B1": "n", "A2": "ä", "B2": "1.5"}


def test_the_cells_of_the_uppermost_workbook_are_seen(tmp_path: Path, workbook: bytes) -> None:
    files = [("~/one.xlsx", workbook, 0o644, False), ("~/two.csv", b"other\n", 0o644, False)]
    with Slot.open(root=tmp_path, home_files=files) as slot:
        slot.launch("calc", "~/one.xlsx")
        assert slot.cell("A1").text == "Item"  # type: ignore[union-attr]
        slot.launch("calc", "~/two.csv")
        assert [window.title.split(" ")[0] for window in slot.windows()] == ["one.xlsx", "two.csv"]
        assert slot.cell("A1").text == "other"  # type: ignore[union-attr]
        slot.input.key("alt+Tab")
        slot.settle(lambda: slot.windows()[-1].title.startswith("one"))
        assert slot.cell("A1").text == "Item"  # type: ignore[union-attr]
        slot.alive()  # the second process handed its document over and ended
        slot.launch("calc", "~/two.csv")  # which is open already
        assert slot.cell("A1") is not None


def test_stopping_ends_everything_and_keeps_the_home(tmp_path: Path, put: Callable[[bytes], str]) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        slot.shell.run("(while true; do date +%N > beat; done) & sleep 0.1")
        slot.stop()
        before = (slot.home / "beat").read_bytes()
        assert becomes(lambda: slot.windows() == [])
        assert (slot.home / "beat").read_bytes() == before
        slot.alive()
        assert [entry.path for entry in slot.snapshot(put).entries] == ["~/beat"]


def test_nothing_is_left_after_closing(tmp_path: Path) -> None:
    slot = Slot.open(root=tmp_path)
    slot.launch("editor")
    pids, folder, socket = slot.pids, slot.home.parent, Path(f"/tmp/.X11-unix/X{slot.display[1:]}")
    descriptors = len(os.listdir("/proc/self/fd"))
    assert len(living(pids)) == 3
    slot.close()
    slot.close()
    assert living(pids) == []
    assert not folder.exists()
    assert not is_stale(socket)
    assert os.listdir(tmp_path / "slots") == []
    assert folder.name not in Path("/proc/self/mounts").read_text()
    assert len(os.listdir("/proc/self/fd")) < descriptors
    with pytest.raises(DesktopError):
        slot.screenshot()
    with pytest.raises(DesktopError):
        slot.windows()


def test_an_application_killed_in_mid_episode_is_a_fault(tmp_path: Path) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        slot.alive()
        (entry,) = slot.ask("apps")
        assert entry["code"] is None
        for pid in _below(slot.pids[-1], b"mousepad"):
            os.kill(pid, signal.SIGKILL)
        assert becomes(lambda: slot.ask("apps")[0]["code"] is not None)
        with pytest.raises(DesktopError, match=r"editor died \(killed by signal 9\)"):
            slot.alive()


def _below(ancestor: int, program: bytes) -> list[int]:
    found = []
    todo = [ancestor]
    while todo:
        pid = todo.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):  # any thread of the supervisor may have started it
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo += map(int, file.read().split())
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if program in file.read():
                    found.append(pid)
        except OSError:
            continue
    return found
