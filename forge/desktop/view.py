"""A slot's screen in a browser: noVNC's page, a web socket, and x11vnc behind it.

There is no VNC port: x11vnc is started for each viewer on one end of a socket pair, shut in like the window manager, and
ends with the connection. Only loopback may look, and only with the token, which travels in the address's fragment (which
browsers keep to themselves) and as a subprotocol of the web socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import secrets
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles

from forge.desktop.box import HOSTNAME, reachable
from forge.desktop.place import SOCKETS
from forge.desktop.place import home as forge_home
from forge.desktop.spawn import start, stop, unprivileged
from forge.records.errors import DesktopError, InputError

NOVNC = Path("/usr/share/novnc")
MEND = "run `make setup-apps`"
_PIECE = 1 << 16

Find = Callable[[str], tuple[str, Path]]
"""From a slot's name to its display and the file with its cookie. Raises DesktopError when there is none."""


def running(root: Path | None = None) -> dict[str, tuple[str, Path]]:
    """The slots of this machine that have a screen now: name to display and cookie. Slots of other users are not seen.

    Args:
        root: FORGE_HOME; the settings' if None.
    """
    found = {}
    for folder in sorted(((root or forge_home()) / "slots").glob("slot-*")):
        with contextlib.suppress(OSError, ValueError):
            number = int((folder / "display").read_text())
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(SOCKETS / f"X{number}"))
            (folder / "xauthority").read_bytes()
            found[folder.name] = (f":{number}", folder / "xauthority")
    return found


def pick(name: str | None, root: Path | None = None) -> str:
    """The running slot whose name begins so, or the only one. Raises InputError that lists what there is."""
    names = list(running(root))
    chosen = [each for each in names if each.startswith((name or "", f"slot-{name or ''}"))]
    if len(chosen) != 1:
        there = f"running are {', '.join(names)}" if names else "none is running below FORGE_HOME"
        what = "say which slot" if name is None else f"{len(chosen)} slots begin with {name!r}"
        raise InputError(what if names else "there is no slot to look at", mend=there)
    return chosen[0]


class Viewer:
    """Shows slots of this machine in a browser, on a loopback port, under a token of its own, until `close`.

    Args:
        find: see `Find`; the running slots if None.
        port: 0 takes a free one.

    Raises:
        DesktopError: x11vnc or noVNC is missing, or the port is taken.
    """

    def __init__(self, find: Find | None = None, port: int = 0):
        from forge.desktop.server.running import Background
        from forge.desktop.server.token import Guard

        needed()
        self._token = secrets.token_urlsafe(24)
        app = FastAPI(title="Forge viewer", openapi_url=None)
        app.add_middleware(Guard, token=self._token)
        add_to(app, find or _find_running)
        self._server = Background(app, port=port)
        self._server.__enter__()

    def url(self, slot: str, *, control: bool = False) -> str:
        """The address to open; it holds the token."""
        return f"{self._server.url}/view/{slot}{'?control=1' if control else ''}#{self._token}"

    def close(self) -> None:
        """End it. May be called twice."""
        self._server.close()


def add_to(app: FastAPI, find: Find) -> None:
    """Add the viewer's page and web socket to an application; `Guard` around it asks for the token."""
    app.add_api_websocket_route("/v1/slots/{slot}/rfb", bridge(find))
    app.add_api_route("/view/{slot}", page, include_in_schema=False)
    if NOVNC.is_dir():
        app.mount("/novnc", StaticFiles(directory=NOVNC), name="novnc")


def needed() -> None:
    """Raises DesktopError when x11vnc or noVNC is missing."""
    if shutil.which("x11vnc") is None:
        raise DesktopError("x11vnc is not installed", mend=MEND)
    if not (NOVNC / "core" / "rfb.js").is_file():
        raise DesktopError("noVNC is not installed", mend=MEND)


def serve_rfb(display: str, cookie: Path, end: socket.socket, *, control: bool) -> subprocess.Popen[bytes]:
    """Start an x11vnc that speaks RFB on a socket; it ends when the other end is closed.

    Args:
        display: ":7".
        cookie: the Xauthority file.
        end: the socket; the caller closes its copy.
        control: whether the viewer may type and point.
    """
    needed()
    user = cookie.stat().st_uid  # the slot's own, who alone may read it
    prefix, (folder,) = reachable([cookie.parent], user)
    number = end.fileno()
    vnc = ["x11vnc", "-inetd", "-display", display, "-auth", f"{folder}/{cookie.name}", "-norc", "-quiet", "-nopw"]
    vnc += ["-noshm", "-shared", "-nolookup", "-nosel", "-noipv6", "-cursor", "arrow", "-wait", "30", "-defer", "20"]
    if not control:
        vnc.append("-viewonly")
    argv = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/run", "--unshare-user", "--unshare-pid"]
    argv += ["--unshare-net", "--unshare-ipc", "--unshare-uts", "--hostname", HOSTNAME, "--cap-drop", "ALL"]
    # bash, for sh knows no descriptor above 9
    argv += ["--die-with-parent", "--", "bash", "-c", f'exec "$@" <&{number} >&{number} 2>/dev/null', "bash", *vnc]
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return start([*prefix, *unprivileged(argv, user=user)], env=environment, pass_fds=(number,))


def bridge(find: Find) -> Callable[[WebSocket, str], Awaitable[None]]:
    """The web socket's endpoint: bytes of RFB, both ways. `?control=1` lets the viewer type and point."""

    async def rfb(websocket: WebSocket, slot: str) -> None:
        if not _is_loopback(websocket.client.host if websocket.client else ""):
            await websocket.close(4403)
            return
        try:
            display, cookie = find(slot)
            ours, theirs = socket.socketpair()
            with theirs:
                control = websocket.query_params.get("control") == "1"
                process = await asyncio.to_thread(serve_rfb, display, cookie, theirs, control=control)
        except DesktopError as error:
            await websocket.accept(subprotocol="binary")
            await websocket.close(4404, error.message[:120])
            return
        await websocket.accept(subprotocol="binary")
        reader, writer = await asyncio.open_connection(sock=ours)
        down, up = asyncio.ensure_future(_down(reader, websocket)), asyncio.ensure_future(_up(websocket, writer))
        try:
            await asyncio.wait({down, up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (down, up):
                task.cancel()
            writer.close()
            await asyncio.to_thread(stop, process)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the viewer has closed it already
                await websocket.close()

    return rfb


async def _down(reader: asyncio.StreamReader, websocket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
        while data := await reader.read(_PIECE):
            await websocket.send_bytes(data)


async def _up(websocket: WebSocket, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, KeyError, OSError):
        while True:
            writer.write(await websocket.receive_bytes())
            await writer.drain()


async def page(request: Request, slot: str) -> Response:
    """The viewer's page; the token is the address's fragment."""
    if not _is_loopback(request.client.host if request.client else ""):
        return PlainTextResponse("only from this machine", 403)
    if not (NOVNC / "core" / "rfb.js").is_file():
        return PlainTextResponse(f"noVNC is not installed\n  mend: {MEND}", 503)
    policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    policy += "img-src 'self' data: blob:; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
    return HTMLResponse(_PAGE.replace("SLOT", json.dumps(slot).replace("<", "\\u003c")), headers=headers)


def _find_running(name: str) -> tuple[str, Path]:
    try:
        return running()[name]
    except KeyError:
        raise DesktopError(f"slot {name} is not running") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Forge slot</title>
<style>
  html, body { margin: 0; height: 100%; background: #23272e; color: #dde; font: 14px sans-serif; }
  body { display: flex; flex-direction: column; }
  header { padding: 4px 10px; display: flex; gap: 1em; align-items: center; }
  #screen { flex: 1; min-height: 0; }
</style>
<header><b id="name"></b><span id="said">connecting</span><label><input type="checkbox" id="control"> control</label></header>
<div id="screen"></div>
<script type="module">
  import RFB from "/novnc/core/rfb.js";
  const slot = SLOT;
  const token = location.hash.slice(1) || prompt("The server's token") || "";
  const said = document.getElementById("said");
  const control = document.getElementById("control");
  document.getElementById("name").textContent = slot;
  control.checked = new URLSearchParams(location.search).get("control") === "1";
  let rfb = null;
  function connect() {
    if (rfb) { rfb.disconnect(); rfb = null; }
    document.getElementById("screen").replaceChildren();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const path = `/v1/slots/${encodeURIComponent(slot)}/rfb?control=${control.checked ? 1 : 0}`;
    const mine = new RFB(document.getElementById("screen"), `${scheme}//${location.host}${path}`,
                         { wsProtocols: ["binary", `token.${token}`] });
    mine.scaleViewport = true;
    mine.viewOnly = !control.checked;
    mine.addEventListener("connect", () => { said.textContent = "live"; });
    mine.addEventListener("disconnect", (event) => {
      if (rfb === mine) { said.textContent = event.detail.clean ? "ended" : "no connection: is the token right?"; }
    });
    rfb = mine;
  }
  control.addEventListener("change", connect);
  connect();
</script>
</html>
"""
