"""Our harnesses play on a machine that speaks OSWorld's protocol; the machine here is a slot that speaks it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest
from PIL import Image

from forge.desktop.osworld.client import OSWorldSlot
from forge.harness import OracleTeacher, load_harness, play
from forge.harness.osworld import OSWorldEnvironment
from forge.records import DesktopError, EndedBy, InputError, sha256_hex
from tests.forge.desktop.server.tasks import BOOK, task_with, value_of

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def environment(osworld: str, workbook: bytes) -> Iterator[OSWorldEnvironment]:
    environment = OSWorldEnvironment(osworld, sha256_hex)
    environment.slot.lay([(BOOK, workbook, 0o644, False)])
    environment.slot.launch("calc", BOOK)
    yield environment
    environment.close()


async def test_a_gui_oracle_completes_a_calc_task(
    environment: OSWorldEnvironment, put: Callable[[bytes], str], blobs: dict[str, bytes]
) -> None:
    task = task_with("gui", [{"enter": {"cell": "E2", "text": "=SUM(D2:D13)"}}, {"save": BOOK}])
    solution = task.solution("gui")
    assert solution is not None
    teacher = OracleTeacher(solution, environment)
    trajectory = await play(task, load_harness("gui"), teacher, environment, put)
    assert (trajectory.ended_by, trajectory.done_status, trajectory.error) == (EndedBy.DONE, "success", None)
    assert {record.action.kind for record in trajectory.actions} >= {"left_click", "type", "done"}
    clicked = next(record.element for record in trajectory.actions if record.action.kind == "left_click")
    assert clicked is not None
    assert clicked.name == "E2"
    assert value_of(environment.slot.snapshot(put), blobs, "E2") == "=SUM(D2:D13)"


async def test_a_terminal_oracle_completes_it_too(
    environment: OSWorldEnvironment, put: Callable[[bytes], str], blobs: dict[str, bytes]
) -> None:
    script = "cd ~/Documents && python3 -c \"import openpyxl as o; b = o.load_workbook('stock.xlsx'); "
    script += "b.active['E3'] = '=MAX(D2:D13)'; b.save('stock.xlsx')\""
    task = task_with("terminal", [{"bash": script}])
    solution = task.solution("terminal")
    assert solution is not None
    trajectory = await play(task, load_harness("terminal"), OracleTeacher(solution, environment), environment, put)
    assert (trajectory.ended_by, trajectory.done_status) == (EndedBy.DONE, "success")
    assert value_of(environment.slot.snapshot(put), blobs, "E3") == "=MAX(D2:D13)"


def test_the_shell_goes_on_from_command_to_command(environment: OSWorldEnvironment) -> None:
    shell = environment.slot.shell
    assert shell.run("cd ~/Documents; export A='x y'; B=lost").exit_code == 0
    assert shell.run('echo "$A-$B"; pwd; false').output == "x y-\n/home/alex/Documents\n"
    assert shell.run("sleep 20", timeout=1).timed_out
    shell.restart()
    assert shell.run('echo "[$A]"; pwd').output == "[]\n/home/alex\n"
    assert shell.run("seq 100000", output_limit=1000).truncated


def test_any_character_is_typed(environment: OSWorldEnvironment) -> None:
    slot = environment.slot
    cell = slot.cell("F5")
    assert cell is not None
    slot.input.click(cell.box[0] + 5, cell.box[1] + 5)
    slot.input.type("Größe <€> & \\n\n")
    slot.settle()
    assert slot.cell("F5").text == "Größe <€> & \\n"  # type: ignore[union-attr]
    with pytest.raises(InputError, match="no key"):
        slot.input.key("XF86AudioPlay")


@pytest.mark.parametrize(
    ("title", "name", "names"),
    [
        ("stock.xlsx - LibreOffice Calc", "stock.xlsx", True),
        ("[p] (imported)-1.0 (RGB color 8-bit gamma integer, 1 layer) 8x8 - GIMP", "p.png", True),
        ("GNU Image Manipulation Program", "p.png", False),
        ("stocks - GIMP", "stock.png", False),
        ("Documents", "Documents", True),
        ("~/.profile - Mousepad", ".profile", True),
    ],
)
def test_a_title_names_a_file_with_or_without_its_suffix(title: str, name: str, names: bool) -> None:
    from forge.desktop.osworld.client import _names

    assert _names(title, name) is names


@pytest.mark.parametrize(
    ("title", "name", "shows"),
    [
        ("report.ods - LibreOffice Calc", "report.ods", True),
        ("report - Files", "report.ods", False),
        ("[report] (imported)-1.0 - GIMP", "report.ods", False),
        ("Documents", None, False),
    ],
)
def test_a_window_that_was_there_before_names_the_whole_file(title: str, name: str | None, shows: bool) -> None:
    machine: Any = SimpleNamespace(windows=lambda: [SimpleNamespace(title=title)], cell=lambda ref: ref)
    assert OSWorldSlot._is_up(machine, "calc", name, before={title}) is shows
    assert OSWorldSlot._is_up(machine, "calc", name, before={"another"})


def test_a_picture_and_a_text_table_get_ready(environment: OSWorldEnvironment) -> None:
    slot = environment.slot
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(picture, "PNG")
    table = b"Item,Amount\nPaper,3\n"
    slot.lay([("~/Pictures/p.png", picture.getvalue(), 0o644, False), ("~/Documents/t.csv", table, 0o644, False)])
    slot.launch("gimp", "~/Pictures/p.png", timeout=50)
    assert any("[p]" in window.title for window in slot.windows())
    slot.shell.run("pkill gimp; sleep 1")
    slot.launch("calc", "~/Documents/t.csv", timeout=50)
    assert slot.cell("B2").text == "3"  # type: ignore[union-attr]


def test_a_machine_that_is_gone_is_a_fault() -> None:
    with pytest.raises(DesktopError, match="does not answer"):
        OSWorldSlot("http://127.0.0.1:9")


def test_the_home_is_read(environment: OSWorldEnvironment) -> None:
    slot = environment.slot
    assert openpyxl.load_workbook(io.BytesIO(slot.read(BOOK))).active["A1"].value == "Item"
    assert (slot.home / BOOK[2:]).read_bytes() == slot.read(BOOK)
    with pytest.raises(FileNotFoundError):
        slot.read("~/absent")
