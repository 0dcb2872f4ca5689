"""What a guest can do to the host and to its neighbours over OSWorld's protocol: nothing but break its own machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.forge.desktop.conftest import becomes
from tests.forge.desktop.server.test_command import answers, forge, free_port
from tests.forge.desktop.xclients import GRAB

pytestmark = pytest.mark.desktop
SOCKET = "/home/alex/.cache/forge/osworld.sock"
MIB = 1 << 20


def resident() -> int:
    """MiB of this process, in which the server runs."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // MIB


def seconds(call: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.monotonic()
    call()
    return time.monotonic() - began


class Machine:
    """The caller's side of the wire."""

    def __init__(self, url: str):
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def close(self) -> None:
        self.http.close()

    def shell(self, line: str) -> dict[str, Any]:
        answer = self.http.post("/execute", json={"command": line, "shell": True})
        found: dict[str, Any] = answer.json()
        return found

    def upload(self, path: str, data: bytes) -> httpx.Response:
        return self.http.post("/setup/upload", data={"file_path": path}, files={"file_data": ("x", data)})

    def file(self, path: str) -> httpx.Response:
        return self.http.post("/file", data={"file_path": path})

    def python(self, name: str, code: str) -> dict[str, Any]:
        self.upload(f"/tmp/{name}.py", code.encode())
        return self.shell(f"python3 /tmp/{name}.py")

    def reset(self) -> None:
        assert self.http.post("/forge/reset").status_code == 200


@pytest.fixture(scope="module")
def machine(osworld: str) -> Iterator[Machine]:
    with closing(Machine(osworld)) as machine:
        yield machine


FLOOD = f"""
import socket
ends = []
for _ in range(4):
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(5)
    end.connect({SOCKET!r})
    ends.append(end)
sent = 0
try:
    for _ in range(100):
        for end in ends:
            sent += end.send(b"a" * (1 << 20))
except OSError as error:
    print(type(error).__name__)
print(sent)
"""
MANY = f"""
import socket, time
ends, until = [], time.monotonic() + 10
while len(ends) < 300 and time.monotonic() < until:
    end = socket.socket(socket.AF_UNIX)
    try:
        end.connect({SOCKET!r})
        ends.append(end)
    except OSError:
        time.sleep(0.01)
time.sleep(0.5)
print(len(ends))
"""


def test_a_guest_cannot_fill_the_hosts_memory(machine: Machine) -> None:
    before, most = resident(), [0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], resident())

    thread = threading.Thread(target=watch)
    thread.start()
    done = machine.python("flood", FLOOD)
    ended.set()
    thread.join()
    assert done["returncode"] == 0, done
    assert most[0] - before < 60
    assert machine.shell("echo well")["output"] == "well\n"


def test_a_guest_cannot_make_the_host_start_threads(machine: Machine) -> None:
    before, most = threading.active_count(), [0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            most[0] = max(most[0], threading.active_count())

    thread = threading.Thread(target=watch)
    thread.start()
    assert machine.python("many", MANY)["output"] == "300\n"
    ended.set()
    thread.join()
    assert most[0] - before < 12
    assert machine.shell("echo well")["output"] == "well\n"


def test_large_files_and_outputs_go_both_ways(machine: Machine) -> None:
    data = os.urandom(3 * MIB) + b"end"
    assert machine.upload("/tmp/large", data).text == "File Uploaded"
    assert machine.file("/tmp/large").content == data
    for size in (0, MIB - 1, MIB, 2 * MIB):
        assert machine.upload("/tmp/sized", data[:size]).status_code == 200
        assert machine.file("/tmp/sized").content == data[:size]
    assert machine.http.post("/setup/change_wallpaper", json={"path": "/tmp/large"}).status_code == 200
    assert machine.http.post("/wallpaper").content == data
    done = machine.shell("head -c 3000000 /dev/zero | tr '\\0' a; echo €; printf 'ü%.0s' $(seq 600000) >&2")
    assert (done["output"], done["error"]) == ("a" * 3_000_000 + "€\n", "ü" * 600_000)


IMPOSTOR = f"""
import base64, json, os, socket, struct, subprocess, time
for pid in subprocess.run(["pgrep", "-f", "osworld_guest.py"], capture_output=True, text=True).stdout.split():
    os.kill(int(pid), 9)
time.sleep(1)
os.path.exists({SOCKET!r}) or open("/tmp/gone", "w").close()
end = socket.socket(socket.AF_UNIX)
end.connect({SOCKET!r})
end.sendall(b'{{"role":"worker"}}\\n')
for line in end.makefile("rb"):
    asked = json.loads(line)
    said = base64.b64encode(b"FORGED").decode() if asked["do"] == "read" else {{"out": "FORGED", "err": "", "code": 0}}
    end.sendall(json.dumps({{"id": asked["id"], "ok": said}}).encode() + b"\\n")
"""
PRY = """
import os, subprocess
pid = int(subprocess.run(["pgrep", "-f", "osworld_guest.py"], capture_output=True, text=True).stdout.split()[0])
for what in ("mem", "fd", "environ", "maps", "root"):
    try:
        (os.listdir if what in ("fd", "root") else lambda path: open(path, "rb").read(0) or None)(f"/proc/{pid}/{what}")
        print("reached", what)
    except OSError:
        pass
"""


def test_the_worker_cannot_be_looked_into(machine: Machine) -> None:
    assert machine.python("pry", PRY) == {"status": "success", "output": "", "error": "", "returncode": 0}


def test_nobody_takes_the_place_of_a_killed_worker(machine: Machine) -> None:
    machine.upload("/tmp/impostor.py", IMPOSTOR.encode())
    machine.http.post("/setup/launch", json={"command": ["setsid", "python3", "/tmp/impostor.py"]})
    time.sleep(3)
    for path in ("/etc/hostname", "/tmp/impostor.py"):
        answer = machine.file(path)
        assert (answer.status_code, b"FORGED" in answer.content) == (500, False)
        assert "worker" in answer.text
    machine.reset()
    assert machine.file("/etc/hostname").content.strip() != b"FORGED"
    assert machine.shell("echo well")["output"] == "well\n"


def test_commands_that_take_their_time_hold_up_neither_pictures_nor_the_reset(machine: Machine) -> None:
    with ThreadPoolExecutor(20) as pool:
        sleeping = [pool.submit(machine.shell, "sleep 12") for _ in range(20)]
        time.sleep(1)
        assert seconds(lambda: machine.http.get("/screenshot").raise_for_status()) < 4
        assert seconds(machine.reset) < 10
        assert {future.result()["status"] for future in sleeping[:16]} == {"error"}
    assert machine.shell("echo well")["output"] == "well\n"


def test_a_stopped_worker_holds_up_neither_its_neighbours_nor_the_servers_end(tmp_path: Path) -> None:
    port = free_port()
    arguments = ("serve", "--osworld", "--slots", "2", "--port", str(port), "--screen", "1024x768")
    with ExitStack() as stack, forge(tmp_path, *arguments) as process, ThreadPoolExecutor(9) as pool:
        urls = [f"http://127.0.0.1:{number}" for number in (port, port + 1)]
        assert all(becomes(lambda url=url: answers(url, "/platform"), 40) for url in urls)  # type: ignore[misc]
        stopped, neighbour = (stack.enter_context(closing(Machine(url))) for url in urls)
        line = "setsid sh -c 'sleep 0.5; pkill -STOP -f osworld_guest.p[y]' >/dev/null 2>&1 &"
        assert stopped.shell(line)["status"] == "success"
        time.sleep(1.5)

        def upload() -> int:
            try:
                return stopped.upload("/tmp/u", b"x" * 3 * MIB).status_code
            except httpx.TransportError:
                return 0

        uploads = [pool.submit(upload) for _ in range(7)]
        time.sleep(1)
        assert seconds(lambda: neighbour.http.get("/screenshot").raise_for_status()) < 4
        assert neighbour.shell("echo well")["output"] == "well\n"
        assert seconds(lambda: stopped.http.get("/screenshot").raise_for_status()) < 4
        assert {upload.result(40) for upload in uploads} == {500}
        stopped.reset()
        assert stopped.shell(line)["status"] == "success"
        time.sleep(1.5)
        uploads = [pool.submit(upload) for _ in range(7)]
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    assert list((tmp_path / "home/slots").glob("slot-*")) == []


def test_a_grabbed_display_holds_up_no_reset(machine: Machine) -> None:
    machine.upload("/tmp/grab.py", GRAB.encode())
    machine.http.post("/setup/launch", json={"command": ["python3", "/tmp/grab.py", "/tmp/grabbed"]})
    assert becomes(lambda: machine.file("/tmp/grabbed").status_code == 200)
    copy = ["python3", "-c", "import pyperclip; pyperclip.copy('x')"]
    machine.http.post("/setup/launch", json={"command": copy})
    time.sleep(2)
    assert seconds(machine.reset) < 15
    assert machine.shell("echo well")["output"] == "well\n"


def test_what_a_guest_cannot_answer_for_is_read_by_the_host(machine: Machine) -> None:
    data = os.urandom(2 * MIB + 5)
    machine.upload("/home/user/Documents/result.bin", data)
    machine.shell("ln -s Documents/result.bin ~/by-link; ln -s Documents ~/Folder; ln -s /etc/hostname ~/outside")
    hostname = machine.file("/etc/hostname").content
    for path in ("/home/user/by-link", "~/Folder/result.bin", "$HOME/Documents/result.bin"):
        assert machine.file(path).content == data
    assert machine.file("~/outside").content == hostname
    machine.http.post("/setup/launch", json={"command": ["pkill", "-KILL", "-f", "osworld_guest.py"]})
    time.sleep(1)
    for home in ("/home/user", "/home/alex", "~"):
        assert machine.file(f"{home}/Documents/result.bin").content == data
    answer = machine.file("~/outside")
    assert (answer.status_code, "worker" in answer.text) == (500, True)
    machine.reset()


def test_a_file_of_hundreds_of_megabytes_is_passed_on(machine: Machine) -> None:
    machine.shell("head -c 450000000 /dev/zero > ~/large; echo end >> ~/large")
    before, most, size, end = resident(), 0, 0, b""
    with machine.http.stream("POST", "/file", data={"file_path": "/home/user/large"}) as answer:
        assert answer.status_code == 200
        for piece in answer.iter_raw(MIB):
            size, end, most = size + len(piece), piece, max(most, resident())
    assert (size, end[-4:]) == (450_000_004, b"end\n")
    assert most - before < 60
    assert machine.shell("rm ~/large; echo well")["output"] == "well\n"


def test_a_list_of_folders_ends(machine: Machine) -> None:
    def listed(path: str) -> Any:
        return machine.http.post("/list_directory", json={"path": path}, timeout=30).json()["directory_tree"]

    assert listed("/proc/self")["name"] == "self"
    lines = "import os\nfor n in range(8):\n  os.makedirs(f'/tmp/web/{n}')\n"
    lines += "  for m in range(8): os.symlink(f'/tmp/web/{m}', f'/tmp/web/{n}/{m}')\n"
    machine.python("web", lines + "os.makedirs('/tmp/deep/' + 'd/' * 900)\n")
    web = listed("/tmp/web")
    links = [{"type": "directory", "name": str(number), "children": []} for number in range(8)]
    assert [sorted(child["children"], key=lambda each: str(each["name"])) for child in web["children"]] == [links] * 8
    deep, levels = listed("/tmp/deep"), 0
    while deep["children"]:
        deep, levels = deep["children"][0], levels + 1
    assert (levels, deep["truncated"]) == (65, True)
    machine.python("many", "import os\nos.mkdir('/tmp/m')\nfor n in range(40000): os.mkdir(f'/tmp/m/{n:0200}')\n")
    many = listed("/tmp/m")
    assert many["truncated"]
    assert 20_000 < len(many["children"]) < 40_000
    assert machine.shell("rm -r /tmp/web /tmp/deep /tmp/m; echo well")["output"] == "well\n"


@pytest.mark.parametrize(
    ("call", "body", "says"),
    [
        ("/execute", b"{", "no JSON"),
        ("/execute", b"", "no JSON"),
        ("/execute", b"[" * 100_000, "no JSON"),
        ("/execute", b"[1]", "no JSON object"),
        ("/execute", b'{"command": 5}', "'command'"),
        ("/execute", b'{"command": ["ls", 5]}', "'command'"),
        ("/execute", b'{"command": "a\\u0000b"}', "'command'"),
        ("/setup/launch", b'{"command": {"a": 1}}', "'command'"),
        ("/execute_with_verification", b'{"command": ["true"], "verification": [1]}', "'verification'"),
        ("/execute_with_verification", b'{"command": ["true"], "max_wait_time": "long"}', "'max_wait_time'"),
        ("/execute_with_verification", b'{"command": ["true"], "check_interval": -1}', "'check_interval'"),
        ("/run_python", b'{"code": ["print()"]}', "'code'"),
        ("/run_bash_script", b'{"script": "true", "timeout": "abc"}', "'timeout'"),
        ("/run_bash_script", b'{"script": "true", "timeout": 1e999}', "'timeout'"),
        ("/run_bash_script", b'{"script": "true", "timeout": NaN}', "'timeout'"),
        ("/run_bash_script", b'{"script": "true", "timeout": [1]}', "'timeout'"),
        ("/run_bash_script", b'{"script": "true", "working_dir": 5}', "'working_dir'"),
        ("/setup/download_file", b'{"url": 5, "path": "/tmp/x"}', "'url'"),
        ("/setup/open_file", b'{"path": 5}', "'path'"),
        ("/setup/open_file", b'["path"]', "no JSON object"),
        ("/list_directory", b'{"path": "\\ud800"}', "'path'"),
        ("/setup/change_wallpaper", b'{"path": true}', "'path'"),
        ("/setup/activate_window", b'{"window_name": 5}', "'window_name'"),
        ("/setup/close_window", b"null", "no JSON object"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(machine: Machine, call: str, body: bytes, says: str) -> None:
    answer = machine.http.post(call, content=body)
    assert answer.status_code == 400
    assert says in answer.json()["message"]
