"""The parts of a machine that speaks OSWorld's protocol, each by itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from forge.desktop.display import Display
from forge.desktop.osworld import client, windows
from forge.desktop.osworld.clipboard import Clipboard
from forge.desktop.osworld.facade import create_facade, serve_osworld
from forge.desktop.osworld.layer import below_home
from forge.desktop.osworld.threads import Threads
from forge.desktop.server.running import Background
from forge.records import DesktopError, InputError
from tests.forge.desktop.conftest import becomes

NO_SUCH = "bash: line 2: no-such: command not found\n"


class ThisMachine:
    """What a machine executes, executed here."""

    url = "http://machine:5000"
    _read_at = 0.0

    def __init__(self, **options: Any):
        self.options = options
        self.asked = 0

    def execute(self, command: list[str], seconds: float = 120) -> dict[str, Any]:
        self.asked += 1
        command = [sys.executable if part == "python" else part for part in command]
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, stdin=quiet, capture_output=True, text=True, timeout=seconds, **self.options)
        return {"output": done.stdout, "error": done.stderr, "returncode": done.returncode}


@pytest.mark.desktop
def test_a_clipboard_is_let_go_of_after_its_displays_end(tmp_path: Path) -> None:
    display = Display(tmp_path, 640, 480)
    clipboard = Clipboard(display.connect())
    clipboard.copy("text")
    assert clipboard.paste() == "text"
    display.close()
    clipboard.close()
    assert not clipboard._thread.is_alive()


@pytest.mark.desktop
@pytest.mark.parametrize("ask", [windows.activate, windows.close, windows.size_of])
def test_windows_looked_at_as_their_display_ends(ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    display: Any = Display(tmp_path, 640, 480)

    def none_and_end(_: Any) -> Iterator[Any]:
        display.close()
        yield from ()

    monkeypatch.setattr(windows, "_all", none_and_end)
    assert not ask(display, "any")


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("~/a/b", "~/a/b"),
        ("/home/user/a", "~/a"),
        ("/home/alex/a/~/b", "~/a/~/b"),
        ("/home/user", None),
        ("/home/users/a", None),
        ("/etc/hostname", None),
    ],
)
def test_a_path_below_the_home(path: str, below: str | None) -> None:
    assert below_home(path) == below


@pytest.mark.parametrize("screen", ["0x0", "99999x99999", "1280x400", "²x²", "1280", "1280x", "-1280x800", ""])
def test_what_is_no_size_of_a_screen_is_told(screen: str) -> None:
    with pytest.raises(InputError, match=r"screen size.*\n  mend: write 1920x1080"):
        serve_osworld(1, "127.0.0.1", 0, screen)


async def test_a_file_of_the_home_waits_for_neither_commands_nor_pictures(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"kept")
    ended, running = threading.Event(), threading.Semaphore(0)

    def wait(*_: Any, **__: Any) -> Any:
        running.release()
        ended.wait(30)
        raise DesktopError("it has ended")

    slot = SimpleNamespace(home=tmp_path, screenshot=wait)
    machine: Any = SimpleNamespace(link=SimpleNamespace(run=wait), slot=slot, close=ended.set)
    app = create_facade(machine)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        calls = [http.post("/execute", json={"command": ["sleep"]}) for _ in range(20)]
        tasks = [asyncio.create_task(call) for call in (*calls, *(http.get("/screenshot") for _ in range(6)))]
        for _ in range(16 + 4):
            assert await asyncio.to_thread(running.acquire, timeout=10)
        answer = await asyncio.wait_for(http.post("/file", data={"file_path": "~/kept"}), 10)
        assert answer.content == b"kept"
        ended.set()
        assert {answer.status_code for answer in await asyncio.gather(*tasks)} == {500}


class Desk:
    """A desktop in the place of a slot and its link, on which everything fails until it ends."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.ended = False

    def run(self, command: str, **_: Any) -> dict[str, Any]:
        if self.ended:
            raise DesktopError("it has ended")
        self.ran.append(command)
        return {"out": "", "err": "", "code": 1}


@contextmanager
def served(machine: Any) -> Iterator[str]:
    with Background(create_facade(machine)) as background:
        yield background.url


def verify(url: str, timeout: float) -> httpx.Response:
    body = {
        "command": "first",
        "verification": {"command_success": "check"},
        "max_wait_time": 60,
        "check_interval": 0.05,
    }
    return httpx.post(url + "/execute_with_verification", json=body, timeout=timeout)


def test_a_verification_ends_with_its_client() -> None:
    desk = Desk()
    with served(SimpleNamespace(link=desk, slot=desk, close=lambda: None)) as url:
        with pytest.raises(httpx.ReadTimeout):
            verify(url, timeout=2)

        def is_quiet() -> bool:
            count = len(desk.ran)
            time.sleep(0.5)
            return len(desk.ran) == count

        assert becomes(is_quiet)
        assert desk.ran[:2] == ["first", "check"]


def test_a_verification_ends_with_its_desktop() -> None:
    desk, following = Desk(), Desk()
    machine = SimpleNamespace(link=desk, slot=desk, close=lambda: None)

    def reset() -> None:
        desk.ended = True
        machine.link = machine.slot = following

    machine.reset = reset
    with served(machine) as url, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(verify, url, timeout=30)
        assert becomes(lambda: len(desk.ran) > 2)
        httpx.post(url + "/forge/reset")
        assert (answer.result().status_code, answer.result().json()["message"]) == (500, "it has ended")
    assert following.ran == []


def test_a_command_that_waits_for_its_turn_is_never_run_on_the_next_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, following = Desk(), Desk()
    machine = SimpleNamespace(link=desk, slot=desk, close=lambda: None)
    ask = Threads.ask

    async def ask_after_reset(threads: Threads, call: Any) -> Any:
        desk.ended, machine.link = True, following
        return await ask(threads, call)

    monkeypatch.setattr(Threads, "ask", ask_after_reset)
    with served(machine) as url:
        answer = httpx.post(url + "/execute", json={"command": "rm -r x"}, timeout=30)
    assert (answer.status_code, following.ran) == (500, [])


@pytest.mark.parametrize("size", [10, 100_000, 1_000_000])
def test_a_long_command_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(client, "_STATE", str(tmp_path / "state"))
    machine: Any = ThisMachine(cwd=tmp_path)
    shell = client.OSWorldShell(machine)
    assert shell.run(f"cd {tmp_path}; cat >long <<'END'\n{'x' * size}\nEND\necho $0 $#; false").exit_code == 1
    assert (tmp_path / "long").stat().st_size == size + 1
    assert shell.run("wc -c <long; echo $0 $#; no-such >&2").output == f"{size + 1}\nbash 0\n{NO_SUCH}"


def test_what_is_too_long_for_one_call_is_told_and_not_sent() -> None:
    machine: Any = ThisMachine()
    done = client.OSWorldShell(machine).run("#" * (1 << 20))
    assert (done.output, done.exit_code) == ("the command is longer than 1024 KiB: give it in parts\n", 126)
    machine.python = client.OSWorldSlot.python.__get__(machine)
    with pytest.raises(InputError, match="more than 96 KiB to type\n  mend: type it in parts"):
        client.OSWorldInput(machine).type("x" * (96 << 10))
    assert machine.asked == 0


def test_modules_in_the_home_are_no_business_of_ours(tmp_path: Path) -> None:
    home, modules = tmp_path / "home", tmp_path / "modules"
    home.mkdir()
    for name in ("json.py", "os.py", "pyautogui.py", "stat.py", "time.py"):
        (home / name).write_text("raise SystemExit('of the home')")
    modules.mkdir()
    (modules / "pyautogui.py").write_text("def position():\n    return 3, 4\n")
    machine: Any = ThisMachine(cwd=home, env={**os.environ, "PYTHONPATH": str(modules)})
    machine._there = str(home)
    machine.python = client.OSWorldSlot.python.__get__(machine)
    assert client.OSWorldInput(machine).position() == (3, 4)
    listed = client.OSWorldSlot._walk(machine)["files"]
    assert {path for path, *_ in listed} == {"json.py", "os.py", "pyautogui.py", "stat.py", "time.py"}
