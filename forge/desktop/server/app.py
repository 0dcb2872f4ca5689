"""The slot server's HTTP interface; `/docs` and `/openapi.json` describe it.

Who may call is decided by `token.Guard`, whether a repeated request acts again by `idempotency.Idempotent`, how long a
slot is held by `leases.Desk`. Here requests become calls of `forge.desktop.slot.Slot`, and its errors become answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import tempfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.security import HTTPBearer

from forge.desktop import acting
from forge.desktop.box import HOME, Layers
from forge.desktop.server import bounds, wire
from forge.desktop.server.homes import listing, read_file
from forge.desktop.server.idempotency import Idempotent
from forge.desktop.server.layers import place_of, unpack
from forge.desktop.server.leases import Desk, FullError, GoneError, Held
from forge.desktop.server.token import Guard
from forge.desktop.slot import Slot
from forge.desktop.versions import fingerprint
from forge.desktop.view import add_to
from forge.records.errors import ExhaustedError, ForgeError, InputError
from forge.records.trajectory import Element

_STATUS = {"input": 400, "desktop": 502, "exhausted": 507, "full": 429, "layers": 409, "gone": 410, "refused": 403}
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": wire.Failure} for code in (400, 401, 403, 409, 410, 422, 429, 502)
}


class _MissingLayersError(ForgeError):
    def __init__(self, missing: tuple[str, ...]):
        super().__init__("the server does not hold these layers", mend="put them first")
        self.missing = missing


def create_app(desk: Desk, token: str) -> FastAPI:
    """The application.

    Args:
        desk: where slots come from; closed when the application shuts down.
        token: what callers must show.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.ensure_future(desk.watch())
        try:
            yield
        finally:
            watching.cancel()
            await desk.close()

    app = FastAPI(
        title="Forge slot server",
        version=str(wire.VERSION),
        description=__doc__,
        lifespan=lifespan,
        dependencies=[Depends(HTTPBearer(auto_error=False))],
        redoc_url=None,
        responses=_ERRORS,
    )
    app.add_middleware(Idempotent)
    app.add_middleware(Guard, token=token)  # outermost: nothing of a stranger's request is read
    app.add_exception_handler(ForgeError, _problem)
    app.add_exception_handler(RequestValidationError, _not_understood)
    _add_pool(app, desk)
    _add_desktop(app, desk)
    _add_files(app, desk)
    add_to(app, lambda name: _viewable(desk, name))
    return app


def _add_pool(app: FastAPI, desk: Desk) -> None:
    """Lending slots."""

    @app.get("/v1/health")
    async def health() -> dict[str, bool]:
        """Whether the server answers; needs no token."""
        return {"ok": True}

    @app.get("/v1/status")
    async def status() -> wire.Status:
        """How many slots there are, and which are lent."""
        return wire.Status(size=desk.size, free=max(0, desk.free), lease=desk.lease, slots=desk.ids)

    @app.get("/v1/versions")
    async def versions() -> wire.Versions:
        """What results on this server depend on."""
        return wire.Versions(fingerprint=await asyncio.to_thread(fingerprint, {}))

    @app.put("/v1/layers/{digest}", status_code=204)
    async def put_layer(digest: str, request: Request) -> None:
        """Give the server a read-only layer: a tar archive, compressed with gzip."""
        await asyncio.to_thread(unpack, digest, await request.body())

    @app.post("/v1/slots")
    async def create(order: wire.SlotOrder) -> wire.SlotFacts:
        """A new slot with files in its home. 429 when all are lent, 409 with the digests of unknown layers."""
        files = [file.file() for file in order.files]
        return _facts(await desk.lend(order.guest, files, _layers(order.layers), order.lease))

    @app.post("/v1/expect", status_code=204)
    async def expect(order: wire.Announcement) -> None:
        """Announce a coming slot, so that it is prepared beforehand."""
        files = [file.file() for file in order.files]
        start = [(each.app, each.path) for each in order.start]
        await desk.expect(order.guest, files, _layers(order.layers), start)

    @app.post("/v1/renew")
    async def renew(renewal: wire.Renewal) -> wire.Renewal:
        """A heartbeat for slots; any other call on a slot is one too."""
        living = []
        for name in renewal.slots:
            with contextlib.suppress(GoneError):
                living.append(desk.held(name).id)
        return wire.Renewal(slots=tuple(living))

    @app.post("/v1/slots/{slot}/reset")
    async def reset(slot: str, order: wire.SlotOrder) -> wire.SlotFacts:
        """A new desktop under the same name; the old one is closed."""
        files = [file.file() for file in order.files]
        return _facts(await desk.reset(slot, order.guest, files, _layers(order.layers)))

    @app.delete("/v1/slots/{slot}", status_code=204)
    async def release(slot: str) -> None:
        """Close a slot and give it back."""
        await desk.release(slot)


def _add_desktop(app: FastAPI, desk: Desk) -> None:
    """Seeing and acting."""

    @app.post("/v1/slots/{slot}/launch", status_code=204)
    async def launch(slot: str, order: wire.LaunchOrder) -> None:
        """Start an application and wait until it is ready."""
        await desk.do(slot, lambda s: s.launch(order.app, order.path, timeout=order.timeout))

    @app.post("/v1/slots/{slot}/prepare", status_code=204)
    async def prepare(slot: str, order: wire.StartOrder) -> None:
        """Start applications beforehand; the same launches then return at once."""
        await desk.do(slot, lambda s: s.prepare([(each.app, each.path) for each in order.start]))

    @app.post("/v1/slots/{slot}/clock", status_code=204)
    async def clock(slot: str, order: wire.ClockOrder) -> None:
        """Set the guest's clock."""
        await desk.do(slot, lambda s: s.set_clock(order.at))

    @app.get("/v1/slots/{slot}/alive", status_code=204)
    async def alive(slot: str) -> None:
        """502 when something under the slot has died."""
        await desk.do(slot, lambda s: s.alive())

    @app.get("/v1/slots/{slot}/health")
    async def slot_health(slot: str) -> wire.HealthBody:
        """What is wrong with a slot."""
        return await desk.do(slot, lambda s: wire.HealthBody.of(s.health()))

    @app.post("/v1/slots/{slot}/stop", status_code=204)
    async def stop(slot: str) -> None:
        """Kill everything the guest runs; the home stays readable."""
        await desk.do(slot, lambda s: s.stop())

    @app.get("/v1/slots/{slot}/screenshot", response_class=Response, responses={200: {"content": {"image/png": {}}}})
    async def screenshot(slot: str) -> Response:
        """The screen as a PNG."""
        shot = await desk.do(slot, lambda s: s.screenshot())
        return Response(shot.png, media_type="image/png", headers={"Cache-Control": "no-store"})

    @app.get("/v1/slots/{slot}/observe")
    async def observe(
        slot: str,
        tree: Annotated[bool, Query(description="with the accessibility tree")] = False,
        known: Annotated[str, Query(description="SHA-256 of a picture the client has")] = "",
    ) -> wire.Seen:
        """Picture, windows and, if wanted, the accessibility tree."""
        return await desk.do(slot, lambda s: _seen(s, known, tree))

    @app.get("/v1/slots/{slot}/windows")
    async def windows(slot: str) -> tuple[wire.WindowBody, ...]:
        """The managed windows, the topmost last."""
        return await desk.do(slot, lambda s: tuple(map(wire.WindowBody.of, s.windows())))

    @app.get("/v1/slots/{slot}/panes")
    async def panes(slot: str) -> tuple[wire.PaneBody, ...]:
        """Everything that covers a part of the screen, popups too, the topmost last."""
        return await desk.do(slot, lambda s: tuple(map(wire.PaneBody.of, s.panes())))

    @app.get("/v1/slots/{slot}/tree", response_class=Response, responses={200: {"model": list[Element]}})
    async def tree(
        slot: str,
        application: str | None = None,
        menus: bool = True,
        under: Annotated[list[int] | None, Query(description="path of an element: only it and what lies in it")] = None,
    ) -> Response:
        """What shows on the screen, parents before children, with true pixels."""
        found = await desk.do(slot, lambda s: s.tree(application, menus=menus, under=under or ()))
        # thousands of elements: written by pydantic's own serializer, without another look at each
        return _json_list([element.model_dump_json() for element in found])

    @app.get("/v1/slots/{slot}/element")
    async def element(slot: str, x: int, y: int) -> Element | None:
        """What lies at a pixel."""
        return await desk.do(slot, lambda s: s.element_at(x, y))

    @app.post("/v1/slots/{slot}/settle")
    async def settle(slot: str, order: wire.SettleOrder) -> wire.Waited:
        """Wait until the last action's effect is on the screen."""
        return wire.Waited(seconds=await desk.do(slot, lambda s: s.settle(None, **order.model_dump())))

    @app.post("/v1/slots/{slot}/act")
    async def act(slot: str, order: wire.ActOrder) -> wire.ActAnswer:
        """One canonical action: look up what it meets, carry it out, wait for its effect, observe."""

        def perform(s: Slot) -> wire.ActAnswer:
            settle = None if order.settle is None else acting.Settle(**order.settle.model_dump())
            acted = acting.act(
                s,
                order.action,
                find=order.find,
                settle=settle,
                seconds_left=order.seconds_left,
                output_limit=order.output_limit,
            )
            seen = wire.Seen(
                picture=wire.picture(acted.look.shot, order.known), windows=tuple(map(wire.WindowBody.of, s.windows()))
            )
            facts = {name: value for name, value in vars(acted).items() if name != "look"}
            return wire.ActAnswer(seen=seen, **facts)

        return await desk.do(slot, perform)

    @app.post("/v1/slots/{slot}/input")
    async def device(slot: str, order: wire.InputOrder) -> wire.Place | None:
        """Raw input in pixels."""
        arguments = bounds.input_arguments(order.what, order.arguments)

        def perform(s: Slot) -> wire.Place | None:
            answer = getattr(s.input, order.what)(**arguments)
            return None if answer is None else wire.Place(x=answer[0], y=answer[1])

        return await desk.do(slot, perform)

    @app.post("/v1/slots/{slot}/exec")
    async def execute(slot: str, order: wire.ExecOrder) -> wire.ExecAnswer:
        """Run a command in the slot's persistent shell."""

        def perform(s: Slot) -> wire.ExecAnswer:
            if order.restart:
                s.shell.restart()
            if order.restart and not order.command:
                return wire.ExecAnswer()
            run = s.shell.run(order.command, order.timeout, order.output_limit, by_host=order.by_host)
            return wire.ExecAnswer(**vars(run))

        return await desk.do(slot, perform)

    @app.post("/v1/slots/{slot}/ask")
    async def ask(slot: str, order: wire.AskOrder) -> wire.Said:
        """Ask the supervisor in the box."""
        arguments = bounds.ask_arguments(order.arguments)
        return wire.Said(answer=await desk.do(slot, lambda s: s.ask(order.what, timeout=order.timeout, **arguments)))


def _add_files(app: FastAPI, desk: Desk) -> None:
    """The home."""

    @app.post("/v1/slots/{slot}/lay", status_code=204)
    async def lay(slot: str, order: wire.FilesOrder) -> None:
        """Put files into the home."""
        await desk.do(slot, lambda s: s.lay([file.file() for file in order.files]))

    @app.put("/v1/slots/{slot}/files", status_code=204)
    async def put_file(slot: str, path: str, request: Request, mode: int = 0o644) -> None:
        """Put one file into the home; the body is its content."""
        body = await request.body()
        await desk.do(slot, lambda s: s.lay([(path, body, mode, False)]))

    @app.get("/v1/slots/{slot}/files", response_class=Response)
    async def get_file(slot: str, path: str) -> Response:
        """One file of the home. 404 when there is none."""
        try:
            data = await desk.do(slot, lambda s: read_file(s.home, path))
        except FileNotFoundError:
            raise HTTPException(404, f"there is no file {path}") from None
        return Response(data, media_type="application/octet-stream")

    @app.get("/v1/slots/{slot}/listing")
    async def list_files(slot: str) -> wire.Listing:
        """The home's files with sizes and times."""
        return await desk.do(slot, lambda s: listing(s.home))

    @app.post("/v1/slots/{slot}/snapshot")
    async def snapshot(slot: str) -> wire.SnapshotFacts:
        """Keep the home's state in an archive (zip; entries are named by SHA-256), to be fetched afterwards."""
        held = desk.held(slot)
        name = f"{secrets.token_hex(8)}.zip"
        folder = _archives(held)
        return await desk.do(slot, lambda s: _archive(s, folder / name))

    @app.get("/v1/slots/{slot}/snapshot/{name}", response_class=FileResponse)
    async def fetch_snapshot(slot: str, name: str) -> FileResponse:
        """The archive; a part of it with a Range header."""
        path = _archives(desk.held(slot)) / name
        if "/" in name or not name.endswith(".zip") or not path.is_file():
            raise HTTPException(404, f"there is no archive {name}")
        return FileResponse(path, media_type="application/zip")


def _viewable(desk: Desk, name: str) -> tuple[str, Path]:
    slot = desk.held(name).slot
    return slot.display, slot.xauthority


def _facts(held: Held) -> wire.SlotFacts:
    return wire.SlotFacts(id=held.id, guest=held.slot.guest, home=HOME, lease=held.lease)


def _layers(names: wire.LayerNames) -> Layers:
    missing = tuple(digest for digest in (*names.commands, *names.python) if place_of(digest) is None)
    if missing:
        raise _MissingLayersError(missing)
    commands, python = ([place_of(digest) for digest in each] for each in (names.commands, names.python))
    return Layers(tuple(filter(None, commands)), tuple(filter(None, python)))


def _seen(slot: Slot, known: str, tree: bool) -> wire.Seen:
    shot = slot.screenshot()
    windows = tuple(map(wire.WindowBody.of, slot.windows()))
    elements = tuple(slot.tree()) if tree else None
    return wire.Seen(picture=wire.picture(shot, known), windows=windows, elements=elements)


def _archives(held: Held) -> Path:
    """A folder for the slot's archives, removed with it."""
    if held.archives is None:
        opened = tempfile.TemporaryDirectory(prefix="forge-archives-")
        held.on_end.append(opened.cleanup)
        held.archives = Path(opened.name)
    return held.archives


def _archive(slot: Slot, path: Path) -> wire.SnapshotFacts:
    import hashlib

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        names: set[str] = set()

        def put(data: bytes) -> str:
            name = hashlib.sha256(data).hexdigest()
            if name not in names:
                names.add(name)
                archive.writestr(name, data)
            return name

        state = slot.snapshot(put)
    return wire.SnapshotFacts(name=path.name, size=path.stat().st_size, entries=state.entries)


def _json_list(parts: list[str]) -> Response:
    return Response(f"[{','.join(parts)}]", media_type="application/json")


async def _problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ForgeError)
    kinds: tuple[tuple[type[ForgeError], str], ...] = (
        (GoneError, "gone"),
        (FullError, "full"),
        (_MissingLayersError, "layers"),
    )
    kinds += ((ExhaustedError, "exhausted"), (InputError, "input"))
    kind = next((name for known, name in kinds if isinstance(error, known)), "desktop")
    missing = getattr(error, "missing", ())
    body = wire.Failure(error=wire.Problem(kind=kind, message=error.message, mend=error.mend, missing=missing))
    return JSONResponse(body.model_dump(mode="json"), _STATUS[kind])


async def _not_understood(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return await _problem(request, InputError(wire.refusal(error.errors()[0])))
