"""The parts of a machine that speaks OSWorld's protocol, each by itself."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from forge.desktop.display import Display
from forge.desktop.osworld.clipboard import Clipboard
from forge.desktop.osworld.facade import create_facade
from forge.desktop.osworld.layer import below_home
from forge.records import DesktopError


@pytest.mark.desktop
def test_a_clipboard_is_let_go_of_after_its_displays_end(tmp_path: Path) -> None:
    display = Display(tmp_path, 640, 480)
    clipboard = Clipboard(display.connect())
    clipboard.copy("text")
    assert clipboard.paste() == "text"
    display.close()
    clipboard.close()
    assert not clipboard._thread.is_alive()


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
