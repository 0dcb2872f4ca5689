"""A slot that speaks OSWorld's guest protocol, as that benchmark's virtual machine does on its port 5000.

There is no token in that protocol: whoever reaches the port can do all that the slot can, so it is for loopback. Two calls
are our own: `POST /forge/reset` makes the desktop anew (a virtual machine is reset from outside), `GET /forge/slot` says what
it is. Software finds its home at /home/user too.

What it does NOT cover: sudo and the network (there is none inside), VLC's and Chrome's own ports, a wallpaper that shows;
`/terminal` gives the text of a focused terminal only as far as the accessibility tree has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, StreamingResponse
from pydantic import ValidationError

from forge.desktop.limits import SLOT, Limits
from forge.desktop.osworld import windows
from forge.desktop.osworld.form import Form, read_form
from forge.desktop.osworld.frames import PIECE
from forge.desktop.osworld.layer import HOME, below_home
from forge.desktop.osworld.link import GuestError, Link
from forge.desktop.osworld.machine import Machine
from forge.desktop.osworld.order import Order, read_order
from forge.desktop.osworld.threads import Threads
from forge.desktop.server.homes import read_file
from forge.desktop.slot import Slot
from forge.desktop.spawn import allow_slots
from forge.records.errors import DesktopError, ForgeError, InputError
from forge.records.guest import Guest

COMMAND_SECONDS = 120
"""The limit of a command, as in OSWorld."""
PYTHON_SECONDS = 30
_WALLPAPER = "~/.cache/forge/wallpaper"


def create_facade(machine: Machine) -> FastAPI:
    """The application of one machine, which it closes when it ends."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await threads.care(machine.close)
            threads.close()

    threads = Threads()
    app = FastAPI(title="OSWorld guest", description=__doc__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.middleware("http")(_no_browsers)
    app.add_exception_handler(ForgeError, _failed)
    app.add_exception_handler(GuestError, _failed)
    _add_commands(app, machine, threads)
    _add_desktop(app, machine, threads)
    _add_files(app, machine, threads)
    return app


def _add_commands(app: FastAPI, machine: Machine, threads: Threads) -> None:
    async def execute(request: Request) -> Response:
        order = await _order(request)
        command, shell = order.command(), order.flag("shell")
        try:
            done = await threads.ask(partial(machine.link.run, command, shell=shell, limit=COMMAND_SECONDS))
        except (GuestError, DesktopError) as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        return JSONResponse(
            {"status": "success", "output": done["out"], "error": done["err"], "returncode": done["code"]}
        )

    async def execute_with_verification(request: Request) -> Response:
        order = await _order(request)
        wanted, most = order.inner("verification"), order.seconds("max_wait_time", 10)
        interval = max(0.05, order.seconds("check_interval", 1))
        checks = wanted.text("window_exists"), wanted.text("command_success")
        command, shell = order.command(), order.flag("shell")
        link, slot = machine.link, machine.slot  # after a reset, that desktop is asked and answers no more
        try:
            done = await threads.ask(lambda: link.run(command, shell=shell, limit=COMMAND_SECONDS))
        except (GuestError, DesktopError) as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        answer = {"output": done["out"], "error": done["err"], "returncode": done["code"]}
        end = asyncio.get_running_loop().time() + most
        while not await threads.ask(lambda: _verified(link, slot, *checks)):
            if asyncio.get_running_loop().time() > end or await _hangs_up(request, interval):
                return JSONResponse({"status": "verification_failed", **answer}, 500)
        return JSONResponse({"status": "success", "verification": "passed", **answer})

    async def launch(request: Request) -> Response:
        order = await _order(request)
        command = order.command()
        try:
            await threads.ask(partial(machine.link.ask, "start", command=command, shell=order.flag("shell")))
        except (GuestError, DesktopError) as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        said = command if isinstance(command, str) else " ".join(command)
        return PlainTextResponse(f"{said} launched successfully")

    async def run_python(request: Request) -> Response:
        code = (await _order(request)).text("code")
        if not code:
            return JSONResponse({"status": "error", "message": "Code not supplied!"}, 400)
        command = ["/usr/bin/python3", "-c", code]
        try:
            done = await threads.ask(partial(machine.link.run, command, limit=PYTHON_SECONDS))
        except (GuestError, DesktopError) as error:
            body = {"status": "error", "message": str(error), "error": str(error), "output": None, "need_more": False}
            return JSONResponse(body, 500)
        status = "success" if done["code"] == 0 else "error"
        said = "\n".join(filter(None, (done["out"], done["err"])))
        body = {"status": status, "message": said, "output": done["out"], "error": done["err"]}
        return JSONResponse({**body, "return_code": done["code"], "need_more": False})

    async def run_bash_script(request: Request) -> Response:
        order = await _order(request)
        script, folder = order.text("script"), order.text("working_dir")
        if not script:
            return JSONResponse(
                {"status": "error", "output": "", "error": "Script not supplied!", "returncode": -1}, 400
            )
        limit = order.seconds("timeout", 30) or 30
        command = ["/bin/bash", "-c", script]
        try:
            done = await threads.ask(partial(machine.link.run, command, cwd=folder, limit=limit))
        except GuestError as error:
            timed_out = error.kind == "TimeoutError"
            body = {"status": "error", "output": "", "error": str(error), "returncode": -1}
            return JSONResponse(body, 200 if timed_out else 400)
        status = "success" if done["code"] == 0 else "error"
        # both streams in one, as the protocol has it
        return JSONResponse(
            {"status": status, "output": done["out"] + done["err"], "error": "", "returncode": done["code"]}
        )

    for path in ("/execute", "/setup/execute"):
        app.add_api_route(path, execute, methods=["POST"])
    for path in ("/execute_with_verification", "/setup/execute_with_verification"):
        app.add_api_route(path, execute_with_verification, methods=["POST"])
    app.add_api_route("/setup/launch", launch, methods=["POST"])
    app.add_api_route("/run_python", run_python, methods=["POST"])
    app.add_api_route("/run_bash_script", run_bash_script, methods=["POST"])


def _add_desktop(app: FastAPI, machine: Machine, threads: Threads) -> None:
    @app.get("/screenshot")
    async def screenshot() -> Response:
        shot = await threads.look(lambda: machine.slot.screenshot())
        return Response(shot.png, media_type="image/png")

    @app.get("/accessibility")
    async def accessibility() -> dict[str, str]:
        return {"AT": await threads.ask(machine.accessibility)}

    @app.get("/terminal")
    async def terminal() -> dict[str, Any]:
        return {"output": await threads.ask(machine.terminal), "status": "success"}

    @app.get("/platform")
    async def platform() -> PlainTextResponse:
        return PlainTextResponse("Linux")

    @app.get("/cursor_position")
    async def cursor_position() -> tuple[int, int]:
        return await threads.look(lambda: machine.slot.input.position())

    @app.post("/screen_size")
    async def screen_size() -> dict[str, int]:
        return {"width": machine.guest.width, "height": machine.guest.height}

    @app.post("/window_size")
    async def window_size(request: Request) -> Response:
        name = (await _form(request)).text("app_class_name")
        if name is None:
            return JSONResponse({"error": "app_class_name is required"}, 400)
        size = await threads.look(lambda: windows.size_of(machine.slot, name))
        if size is None:
            return JSONResponse({"error": f"no window of class {name}"}, 404)
        return JSONResponse({"width": size[0], "height": size[1]})

    async def window(request: Request, act: Callable[..., bool], done: str) -> Response:
        order = await _order(request)
        name = order.text("window_name")
        if not name:
            return PlainTextResponse("window_name required", 400)
        options = {"strict": order.flag("strict"), "by_class": order.flag("by_class")}
        found = await threads.look(lambda: act(machine.slot, name, **options))
        return PlainTextResponse(done) if found else PlainTextResponse(f"Window {name} not found", 404)

    @app.post("/setup/activate_window")
    async def activate_window(request: Request) -> Response:
        return await window(request, windows.activate, "Window activated successfully")

    @app.post("/setup/close_window")
    async def close_window(request: Request) -> Response:
        return await window(request, windows.close, "Window closed successfully.")

    @app.post("/start_recording")
    async def start_recording() -> Response:
        if not await threads.look(machine.start_recording):
            return JSONResponse({"status": "error", "message": "Recording is already in progress."}, 400)
        return JSONResponse({"status": "success", "message": "Started recording."})

    @app.post("/end_recording")
    async def end_recording() -> Response:
        file = await threads.look(machine.end_recording)
        if file is None:
            return JSONResponse({"status": "error", "message": "No recording in progress to stop."}, 400)
        return FileResponse(file, media_type="video/mp4", filename="recording.mp4")

    @app.post("/forge/reset")
    async def reset() -> dict[str, str]:
        await threads.care(machine.reset)
        return {"status": "success"}

    @app.get("/forge/slot")
    async def slot() -> dict[str, Any]:
        return {"guest": machine.guest.to_json(), "user_home": HOME}


def _add_files(app: FastAPI, machine: Machine, threads: Threads) -> None:
    @app.post("/file")
    async def get_file(request: Request) -> Response:
        path = (await _form(request)).text("file_path")
        if path is None:
            return JSONResponse({"error": "file_path is required"}, 400)
        try:
            data = await threads.read(lambda: _read_home(machine, path))
            if data is not None:
                return Response(data, media_type="application/octet-stream")
            pieces = await threads.ask(partial(machine.link.read, path))
        except GuestError as error:
            if error.kind == "FileNotFoundError":
                return JSONResponse({"error": "File not found"}, 404)
            return JSONResponse({"error": str(error)}, 500)
        return await _content(threads, pieces, "application/octet-stream")

    @app.post("/setup/upload")
    async def upload(request: Request) -> Response:
        form = await _form(request)
        path, data = form.text("file_path"), form.files.get("file_data")
        if path is None or data is None:
            return JSONResponse({"error": "file_path and file_data are required"}, 400)
        await threads.ask(partial(machine.link.write, path, data))
        return PlainTextResponse("File Uploaded")

    @app.post("/setup/download_file")
    async def download_file(request: Request) -> Response:
        import httpx

        order = await _order(request)
        url, path = order.text("url"), order.text("path")
        if not url or not path:
            return PlainTextResponse("Path or URL not supplied!", 400)
        try:
            async with httpx.AsyncClient(follow_redirects=True, timeout=60) as client:
                answer = (await client.get(url)).raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return PlainTextResponse(f"Failed to download {url}. Error: {error}", 500)
        await threads.ask(partial(machine.link.write, path, answer.content))
        return PlainTextResponse("File downloaded successfully")

    @app.post("/setup/open_file")
    async def open_file(request: Request) -> Response:
        path = (await _order(request)).text("path")
        if not path:
            return PlainTextResponse("Path not supplied!", 400)
        try:
            await threads.ask(lambda: machine.open_file(path))
        except FileNotFoundError:
            return PlainTextResponse(f"File not found: {path}", 404)
        return PlainTextResponse("File opened successfully")

    @app.post("/list_directory")
    async def list_directory(request: Request) -> Response:
        path = (await _order(request)).text("path")
        if path is None:
            return JSONResponse({"error": "Missing 'path' parameter"}, 400)
        try:
            tree = await threads.ask(partial(machine.link.tree, path))
        except GuestError as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(b'{"directory_tree": ' + tree + b"}", media_type="application/json")

    @app.post("/desktop_path")
    async def desktop_path() -> dict[str, str]:
        return {"desktop_path": f"{HOME}/Desktop"}

    @app.post("/setup/change_wallpaper")
    async def change_wallpaper(request: Request) -> Response:
        path = (await _order(request)).text("path")
        if not path:
            return PlainTextResponse("Path not supplied!", 400)
        try:
            await threads.ask(partial(machine.link.ask, "copy", path=path, to=_WALLPAPER))
        except GuestError:
            return PlainTextResponse(f"File not found: {path}", 404)
        return PlainTextResponse("Wallpaper changed successfully")

    @app.post("/wallpaper")
    async def wallpaper() -> Response:
        try:
            pieces = await threads.ask(partial(machine.link.read, _WALLPAPER))
        except GuestError:
            return PlainTextResponse("Wallpaper file not found", 404)
        return await _content(threads, pieces, "image/png")


def serve_osworld(
    count: int,
    host: str,
    port: int,
    screen: str,
    *,
    trust_network: bool = False,
    limits: Limits = SLOT,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve so many slots on consecutive ports until interrupted.

    Raises:
        InputError: an address beyond loopback without `trust_network`, or no screen size.
        DesktopError: a port is taken, or a slot did not come up.
    """
    from forge.desktop.server import running

    if not running.is_loopback(host) and not trust_network:
        raise InputError(
            "OSWorld's protocol asks nobody for a token",
            mend="listen on 127.0.0.1, or say --trust-network where only friends reach the port",
        )
    guest = _guest_of(screen)
    allow_slots(count)
    places = [running.listen(host, port + number if port else 0) for number in range(count)]
    machines: list[Machine] = []
    try:
        for place in places:
            machines.append(Machine(guest, limits=limits))
            print(f"OSWorld guest on {running.address_of(place)}", flush=True)
        running.serve(*((create_facade(m), place) for m, place in zip(machines, places, strict=True)))
    finally:
        for machine in machines:
            machine.close()
    print("closed")


def _guest_of(screen: str) -> Guest:
    """The guest with a screen of a size, "1920x1080". Raises InputError."""
    size = re.fullmatch("([0-9]{1,9})x([0-9]{1,9})", screen)
    if size is None:
        raise InputError(f"{screen!r} is no screen size", mend="write 1920x1080")
    try:
        return Guest(width=int(size[1]), height=int(size[2]))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"screen size {screen}: {first['loc'][0]}: {first['msg']}", mend="write 1920x1080") from None


def _read_home(machine: Machine, path: str) -> bytes | None:
    """A file below the home, read by the host itself: nothing inside can answer in its place. None: ask the worker.

    That is so for what is absent, lies behind a link, or is larger than `forge.desktop.files.FILE_LIMIT`.
    """
    below = below_home(path)
    if below is None or "$" in path:
        return None
    with contextlib.suppress(OSError, ValueError, InputError):
        return read_file(machine.slot.home, below)
    return None


async def _content(threads: Threads, pieces: Generator[bytes, None, None], kind: str) -> Response:
    """A file's pieces as an answer; a large one is passed on piece by piece."""
    first = next(pieces)  # it is here already
    if len(first) < PIECE:
        return Response(first, media_type=kind)

    async def passed_on() -> AsyncIterator[bytes]:
        piece = first
        try:
            while piece:
                yield piece
                piece = await threads.ask(lambda: next(pieces, b""))
        finally:
            threads.later(pieces.close)

    return StreamingResponse(passed_on(), media_type=kind)


async def _form(request: Request) -> Form:
    return read_form(request.headers.get("content-type", ""), await request.body())


async def _order(request: Request) -> Order:
    return read_order(await request.body())


def _verified(link: Link, slot: Slot, name: str | None, command: str | None) -> bool:
    if name and not any(name.lower() in window.title.lower() for window in slot.windows()):
        return False
    if command:
        with contextlib.suppress(GuestError):
            return bool(link.run(command, shell=True, limit=5)["code"] == 0)
        return False
    return True


async def _hangs_up(request: Request, seconds: float) -> bool:
    """Whether who asked hangs up within so many seconds; the body has been read, so nothing else comes from there."""
    try:
        await asyncio.wait_for(request.receive(), seconds)
    except TimeoutError:
        return False
    return True


async def _no_browsers(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse what a page in somebody's browser sends here: it names its origin, or a host by a name of its own."""
    host = request.url.hostname or ""
    if "origin" in request.headers or not (host == "localhost" or host.replace(".", "").isdigit() or ":" in host):
        return JSONResponse({"status": "error", "message": "not for browsers"}, 403)
    return await answer(request)


async def _failed(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"status": "error", "message": str(error)}, 400 if isinstance(error, InputError) else 500)
