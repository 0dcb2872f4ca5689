"""A client of OSWorld's guest protocol, written from the protocol alone: nothing of this project is imported here.

It does what that benchmark's controllers do: set a machine up, look at it, act by pyautogui commands, read results.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openpyxl
import pytest
from lxml import etree
from PIL import Image

pytestmark = pytest.mark.desktop
PREFIX = "import pyautogui; import pyperclip; import time; pyautogui.FAILSAFE = False; {command}"
STATE = "{https://accessibility.ubuntu.example.org/ns/state}"
COMPONENT = "{https://accessibility.ubuntu.example.org/ns/component}"
BOOK = "/home/user/Desktop/stock.xlsx"


class Controller:
    """OSWorld's side of the wire."""

    def __init__(self, url: str):
        self.http = httpx.Client(base_url=url, timeout=130)

    def post(self, endpoint: str, **json: Any) -> httpx.Response:
        return self.http.post(endpoint, json=json)

    def execute(self, *command: str, shell: bool = False) -> dict[str, Any]:
        payload = {"command": command[0] if shell else list(command), "shell": shell}
        answer = self.http.post("/setup/execute", json=payload)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def python(self, command: str) -> dict[str, Any]:
        payload = {"command": ["python", "-c", PREFIX.format(command=command)], "shell": False}
        answer = self.http.post("/execute", json=payload)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        assert found["returncode"] == 0, found["error"]
        return found

    def screenshot(self) -> Image.Image:
        answer = self.http.get("/screenshot")
        assert answer.headers["content-type"] == "image/png"
        return Image.open(io.BytesIO(answer.content))

    def tree(self) -> etree._Element:
        answer = self.http.get("/accessibility")
        assert answer.status_code == 200, answer.text
        return etree.fromstring(answer.json()["AT"].encode())

    def middle(self, xpath: str) -> tuple[int, int]:
        node = self.tree().xpath(xpath)[0]
        x, y = map(int, re.findall(r"-?\d+", node.get(f"{COMPONENT}screencoord")))
        width, height = map(int, re.findall(r"-?\d+", node.get(f"{COMPONENT}size")))
        return x + width // 2, y + height // 2

    def upload(self, path: str, data: bytes) -> str:
        form = {"file_path": path}
        return self.http.post("/setup/upload", data=form, files={"file_data": ("any-name", data)}).text

    def file(self, path: str) -> bytes | None:
        answer = self.http.post("/file", data={"file_path": path})
        return answer.content if answer.status_code == 200 else None


def eventually(condition: Callable[[], Any], seconds: float = 15) -> Any:
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.2)


@pytest.fixture(scope="module")
def machine(osworld: str) -> Iterator[Controller]:
    controller = Controller(osworld)
    yield controller
    controller.http.close()


@pytest.fixture(scope="module")
def calc(machine: Controller, workbook: bytes) -> Controller:
    assert machine.upload(BOOK, workbook) == "File Uploaded"
    assert machine.post("/setup/open_file", path=BOOK).text == "File opened successfully"
    return machine


def test_facts_of_the_machine(machine: Controller) -> None:
    assert machine.http.get("/platform").text == "Linux"
    assert machine.http.post("/screen_size").json() == {"width": 1280, "height": 800}
    assert machine.http.post("/desktop_path").json() == {"desktop_path": "/home/user/Desktop"}
    assert machine.screenshot().size == (1280, 800)


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example:5000"}])
def test_a_page_in_a_browser_gets_nothing(machine: Controller, headers: dict[str, str]) -> None:
    assert machine.http.get("/screenshot", headers=headers).status_code == 403
    body = '{"command": ["touch", "/tmp/was-here"]}'
    assert machine.http.post("/execute", content=body, headers=headers).status_code == 403
    assert machine.execute("ls", "/tmp/was-here")["returncode"] != 0


def test_commands(machine: Controller) -> None:
    done = machine.execute("bash", "-c", "echo out; echo err >&2; exit 3")
    assert done == {"status": "success", "output": "out\n", "error": "err\n", "returncode": 3}
    assert machine.execute("echo $HOME | tr a-z A-Z", shell=True)["output"] == "/HOME/ALEX\n"
    assert machine.execute("ls", "~/Desktop", shell=False)["returncode"] == 0
    missing = machine.post("/execute", command=["no-such-program"], shell=False)
    assert (missing.status_code, missing.json()["status"]) == (500, "error")
    assert machine.post("/run_python", code="print(6 * 7)").json()["output"] == "42\n"
    script = machine.post("/run_bash_script", script="cd /tmp\npwd\nfalse", timeout=5).json()
    assert (script["status"], script["output"], script["returncode"]) == ("error", "/tmp\n", 1)
    late = machine.post("/run_bash_script", script="sleep 30", timeout=1).json()
    assert (late["status"], late["returncode"]) == ("error", -1)


def test_files_up_and_down(machine: Controller) -> None:
    data = bytes(range(256)) * 40 + b"\r\n--boundary\r\n"
    machine.upload("/home/user/Documents/Ünïcode name.bin", data)
    assert machine.file("/home/user/Documents/Ünïcode name.bin") == data
    assert machine.file("~/Documents/Ünïcode name.bin") == data
    assert machine.file("/home/user/absent") is None
    tree = machine.post("/list_directory", path="/home/user/Documents").json()["directory_tree"]
    assert tree["name"] == "Documents"
    assert {"type": "file", "name": "Ünïcode name.bin"} in tree["children"]
    assert machine.post("/list_directory", path="/home/user/absent").status_code == 400


def test_the_tree_names_what_shows(calc: Controller) -> None:
    tree = calc.tree()
    assert tree.tag == "desktop-frame"
    frame = tree.xpath("//application/frame[contains(@name, 'stock.xlsx')]")[0]
    assert frame.get(f"{STATE}active") == "true"
    assert tree.xpath("//push-button[@name='Save']")
    cells = {node.get("name"): node.text for node in tree.xpath("//table//table-cell")}
    assert (cells["A1"], cells["A2"], cells["B2"]) == ("Item", "Thing 1", "3")


def test_pyautogui_acts_and_the_result_is_in_the_file(calc: Controller) -> None:
    before = calc.screenshot().tobytes()
    x, y = calc.middle("//table-cell[@name='F2']")
    calc.python(
        f"pyautogui.click({x}, {y}); time.sleep(0.3); pyautogui.typewrite('=SUM(D2:D13)'); pyautogui.press('enter')"
    )
    calc.python("[pyautogui.press(key) for key in ('1', '2', 'tab')]; pyautogui.write('a;b:<c> &', interval=0.01)")
    calc.python("pyautogui.press('enter'); pyperclip.copy('Größe 5 €'); pyautogui.hotkey('ctrl', 'v'); time.sleep(0.5)")
    assert calc.screenshot().tobytes() != before
    calc.python("pyautogui.hotkey('ctrl', 's')")

    def saved() -> Any:
        sheet = openpyxl.load_workbook(io.BytesIO(calc.file(BOOK) or b"")).active
        return sheet if sheet["F2"].value else None

    sheet = eventually(saved)
    assert sheet["F2"].value == "=SUM(D2:D13)"
    assert (sheet["F3"].value, sheet["G3"].value) == (12, "a;b:<c> &")
    assert "Größe 5 €" in [cell.value for row in sheet["F3:G5"] for cell in row]


def test_pointer(calc: Controller) -> None:
    calc.python("pyautogui.moveTo(640, 400, 0.5, pyautogui.easeInQuad)")
    assert calc.http.get("/cursor_position").json() == [640, 400]
    calc.python("pyautogui.moveRel(10, -20); assert pyautogui.position() == (650, 380), pyautogui.position()")
    assert "table-cell" in {node.tag for node in calc.tree().iter()}
    first = "//table//table-cell[1]"
    calc.python("pyautogui.vscroll(-5)")
    assert eventually(lambda: calc.tree().xpath(first)[0].get("name") != "A1")
    calc.python("pyautogui.scroll(5)")
    assert eventually(lambda: calc.tree().xpath(first)[0].get("name") == "A1")
    start, end = calc.middle("//table-cell[@name='A1']"), calc.middle("//table-cell[@name='B3']")
    calc.python(f"pyautogui.moveTo{start}; pyautogui.dragTo({end[0]}, {end[1]}, duration=0.5, button='left')")
    assert eventually(lambda: "A1:B3" in {node.text for node in calc.tree().iter()})


def test_held_keys(calc: Controller) -> None:
    x, y = calc.middle("//table-cell[@name='A2']")
    calc.python(f"pyautogui.click({x}, {y}); pyautogui.keyDown('shift'); pyautogui.press('down', presses=3)")
    calc.python("pyautogui.keyUp('shift')")
    assert eventually(lambda: "A2:A5" in {node.text for node in calc.tree().iter()})


def test_a_mistake_in_the_agents_code_is_its_own(calc: Controller) -> None:
    code = "pyautogui.click(5, 5, button='nosuchbutton')"
    payload = {"command": ["python", "-c", PREFIX.format(command=code)], "shell": False}
    done = calc.http.post("/execute", json=payload).json()
    assert (done["status"], done["returncode"]) == ("success", 1)
    assert "button argument must be" in done["error"]


def test_unknown_keys_are_passed_over(calc: Controller) -> None:
    x, y = calc.middle("//table-cell[@name='A2']")
    calc.python(f"pyautogui.click({x}, {y}); pyautogui.keyDown('nosuchkey'); pyautogui.press(['nosuchkey', 'down'])")
    calc.python("pyautogui.keyUp('nosuchkey'); pyautogui.hotkey('nosuchkey', 'right'); pyautogui.hotkey('nosuchkey')")
    assert eventually(lambda: "B3" in {node.text for node in calc.tree().iter()})


def test_windows(calc: Controller) -> None:
    calc.upload("/home/user/Documents/note.txt", b"a note")
    calc.post("/setup/launch", command=["gedit", "/home/user/Documents/note.txt"], shell=False)
    active = "//frame[@st:active='true']/@name"
    names = {"st": STATE[1:-1]}
    assert eventually(lambda: "note" in str(calc.tree().xpath(active, namespaces=names)))
    assert calc.post("/setup/activate_window", window_name="stock.xlsx").status_code == 200
    assert eventually(lambda: "stock" in str(calc.tree().xpath(active, namespaces=names)))
    size = calc.http.post("/window_size", data={"app_class_name": "mousepad"}).json()
    assert size["width"] > 600
    assert calc.post("/setup/close_window", window_name="note.txt").status_code == 200
    assert eventually(lambda: not calc.tree().xpath("//frame[contains(@name, 'note')]"))
    assert calc.post("/setup/activate_window", window_name="nothing").status_code == 404


@pytest.mark.parametrize("how", ["launch", "execute"])
def test_a_gtk_2_application_is_in_the_tree(machine: Controller, how: str) -> None:
    machine.execute("mkdir", "-p", f"/home/user/by-{how}")
    if how == "launch":
        machine.post("/setup/launch", command=["pcmanfm", "--no-desktop", f"/home/user/by-{how}"], shell=False)
    else:
        machine.execute(f"setsid pcmanfm --no-desktop /home/user/by-{how} >/dev/null 2>&1 &", shell=True)
    assert eventually(lambda: machine.tree().xpath(f"//frame[@name='by-{how}']"))
    assert machine.post("/setup/close_window", window_name=f"by-{how}").status_code == 200
    assert eventually(lambda: not machine.tree().xpath(f"//frame[@name='by-{how}']"))


def test_a_gtk_3_application_neither_complains_nor_hides(machine: Controller) -> None:
    machine.upload("/home/user/Documents/gtk3.txt", b"a note")
    line = "timeout 60 mousepad --disable-server ~/Documents/gtk3.txt >/tmp/said 2>&1"
    machine.post("/setup/launch", command=line, shell=True)
    assert eventually(lambda: machine.tree().xpath("//frame[contains(@name, 'gtk3.txt')]"))
    assert machine.post("/setup/close_window", window_name="gtk3.txt").status_code == 200
    assert eventually(lambda: not machine.tree().xpath("//frame[contains(@name, 'gtk3.txt')]"))
    said = (machine.file("/tmp/said") or b"").decode()
    assert "Gtk-" not in said
    assert "module" not in said


def test_a_command_with_verification(calc: Controller) -> None:
    wanted = {"window_exists": "stock.xlsx", "command_success": "test -d /home/user/Desktop"}
    done = calc.post("/execute_with_verification", command=["true"], verification=wanted, max_wait_time=5)
    assert (done.status_code, done.json()["status"]) == (200, "success")
    wanted = {"window_exists": "nothing"}
    done = calc.post(
        "/setup/execute_with_verification",
        command=["true"],
        verification=wanted,
        max_wait_time=0.5,
        check_interval=0.1,
    )
    assert (done.status_code, done.json()["status"]) == (500, "verification_failed")


def test_a_terminals_text(machine: Controller) -> None:
    machine.post("/setup/launch", command=["gnome-terminal"], shell=False)
    assert eventually(lambda: machine.tree().xpath("//terminal"))
    machine.python("pyautogui.typewrite('echo seen-$((40+2))\\n')")
    assert eventually(lambda: "seen-42" in (machine.http.get("/terminal").json()["output"] or ""))
    machine.python("pyautogui.typewrite('exit\\n')")


def test_a_recording_is_a_film(machine: Controller) -> None:
    assert machine.http.post("/end_recording").status_code == 400
    assert machine.http.post("/start_recording").json()["status"] == "success"
    assert machine.http.post("/start_recording").status_code == 400
    machine.python("pyautogui.moveTo(100, 100); time.sleep(1); pyautogui.moveTo(700, 500); time.sleep(0.5)")
    film = machine.http.post("/end_recording").content
    assert film[4:8] == b"ftyp"
    assert len(film) > 2000


def test_a_reset_machine_is_as_new(machine: Controller) -> None:
    machine.upload("/home/user/left.txt", b"left")
    assert machine.http.post("/forge/reset").json() == {"status": "success"}
    assert machine.file("/home/user/left.txt") is None
    assert machine.tree().xpath("//frame") == []
