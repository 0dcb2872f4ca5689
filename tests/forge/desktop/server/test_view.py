"""A slot in a browser: the picture is the screen's, only with the token, and only who may control types."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy
import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from forge.desktop import Slot, view
from forge.desktop.remote import RemotePool
from forge.desktop.server.running import Background
from forge.desktop.view import Viewer
from forge.records import DesktopError, InputError
from tests.forge.desktop.conftest import becomes, processes

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slot]:
    with Slot.open(root=tmp_path_factory.mktemp("root")) as slot:
        slot.launch("editor")
        yield slot


@pytest.fixture(scope="module")
def viewer(slot: Slot) -> Iterator[Viewer]:
    viewer = Viewer(lambda _name: (slot.display, slot.xauthority))
    yield viewer
    viewer.close()


class Rfb:
    """As much of RFB 3.8 as reads one raw picture and presses keys."""

    def __init__(self, socket: ClientConnection):
        self.socket = socket
        self.buffer = b""

    async def read(self, size: int) -> bytes:
        while len(self.buffer) < size:
            piece = await asyncio.wait_for(self.socket.recv(), 15)
            assert isinstance(piece, bytes)
            self.buffer += piece
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    async def greet(self) -> tuple[int, int]:
        assert await self.read(12) == b"RFB 003.008\n"
        await self.socket.send(b"RFB 003.008\n")
        kinds = await self.read((await self.read(1))[0])
        assert 1 in kinds  # no password: the token has been asked for already
        await self.socket.send(b"\x01")
        assert await self.read(4) == bytes(4)
        await self.socket.send(b"\x01")
        width, height = struct.unpack(">HH", await self.read(4))
        await self.read(16)
        await self.read(struct.unpack(">I", await self.read(4))[0])
        pixel = struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
        await self.socket.send(b"\x00\x00\x00\x00" + pixel + struct.pack(">BxHi", 2, 1, 0))
        return width, height

    async def picture(self) -> numpy.ndarray:
        width, height = await self.greet()
        await self.socket.send(struct.pack(">BBHHHH", 3, 0, 0, 0, width, height))
        pixels = numpy.zeros((height, width, 4), numpy.uint8)
        seen = 0
        while seen < width * height:
            kind, count = struct.unpack(">BxH", await self.read(4))
            assert kind == 0
            for _ in range(count):
                x, y, w, h, encoding = struct.unpack(">HHHHi", await self.read(12))
                assert encoding == 0
                pixels[y : y + h, x : x + w] = numpy.frombuffer(await self.read(w * h * 4), numpy.uint8).reshape(
                    h, w, 4
                )
                seen += w * h
        return pixels

    async def type(self, text: str) -> None:
        for character in text:
            for down in (1, 0):
                await self.socket.send(struct.pack(">BBHI", 4, down, 0, ord(character)))


def socket_of(url: str) -> tuple[str, str]:
    """The web socket's address and the token of a viewer's address."""
    page, _, token = url.partition("#")
    path, _, query = page.partition("?")
    return path.replace("http://", "ws://").replace("/view/", "/v1/slots/") + f"/rfb?{query}", token


async def test_the_picture_is_the_screen(slot: Slot, viewer: Viewer) -> None:
    address, token = socket_of(viewer.url("any"))
    async with connect(address, subprotocols=["binary", f"token.{token}"], max_size=None) as socket:  # type: ignore[list-item]
        assert socket.subprotocol == "binary"
        seen = await Rfb(socket).picture()
    screen = slot.screen.pixels()
    assert seen.shape == screen.shape
    different = (seen[:, :, :3] != screen[:, :, :3]).any(axis=2).mean()
    assert different < 0.01, "but for the pointer it is the same"
    assert becomes(lambda: not processes("x11vnc -inetd")), "the viewer's server ended with it"


@pytest.mark.parametrize("protocols", [["binary"], ["binary", "token.wrong"], ["token."]])
async def test_nobody_looks_without_the_token(viewer: Viewer, protocols: list[str]) -> None:
    address, _ = socket_of(viewer.url("any"))
    with pytest.raises(websockets.InvalidStatus):
        async with connect(address, subprotocols=protocols):  # type: ignore[arg-type]
            pass
    assert not processes("x11vnc -inetd")


@pytest.mark.parametrize("control", [False, True])
async def test_only_who_has_control_types(slot: Slot, viewer: Viewer, control: bool) -> None:
    address, token = socket_of(viewer.url("any", control=control))
    text = lambda: "".join(element.text or "" for element in slot.tree("editor") if element.role == "text")
    slot.input.key("ctrl+a")
    slot.input.key("Delete")
    async with connect(address, subprotocols=["binary", f"token.{token}"], max_size=None) as socket:  # type: ignore[list-item]
        rfb = Rfb(socket)
        await rfb.greet()
        await rfb.type("seen")
        arrived = await asyncio.to_thread(becomes, lambda: text() == "seen", 3 if control else 1)
    assert arrived is control


def test_the_page_is_noVNCs_and_holds_no_token(viewer: Viewer) -> None:
    url = viewer.url("slot-1")
    base, _, token = url.partition("#")
    page = httpx.get(base)
    assert page.status_code == 200
    assert token not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "class RFB" in httpx.get(base.rpartition("/view/")[0] + "/novnc/core/rfb.js").text


def test_a_servers_slots_have_a_page_too(server: Background, remote: RemotePool) -> None:
    with remote.acquire() as lent:
        page = httpx.get(f"{server.url}/view/{lent.id}")
        assert page.status_code == 200
        assert lent.id in page.text


def test_the_running_slots_are_found(slot: Slot) -> None:
    folder = slot.xauthority.parent
    root = folder.parent.parent
    assert view.running(root)[folder.name] == (slot.display, slot.xauthority)
    assert view.pick(None, root) == folder.name
    assert view.pick(folder.name[:8], root) == folder.name
    with pytest.raises(InputError, match="0 slots begin with"):
        view.pick("nothing", root)
    with pytest.raises(InputError, match="no slot to look at"):
        view.pick(None, Path("/nonexistent"))


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DesktopError, match="x11vnc is not installed\n  mend: run `make setup-apps`"):
        Viewer()
