"""`forge desktop`: lend slots to other machines, look at them, record them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forge.desktop import Slot

app = typer.Typer(help="Desktop slots: serve, open, view, record.", no_args_is_help=True)

SlotName = Annotated[
    str | None, typer.Argument(help="Slot, or the unique beginning of its name; default: the only one.")
]


@app.command()
def serve(
    slots: Annotated[int | None, typer.Option(min=1, max=256, help="Slots to lend; default: FORGE_SLOTS.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; default 8765, for OSWorld 5000.")] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token; default: FORGE_DESKTOP_TOKEN, else one made below FORGE_HOME."),
    ] = None,
    lease: Annotated[float, typer.Option(min=5, help="Seconds after which a silent client loses its slot.")] = 90.0,
    spares: Annotated[int, typer.Option(min=0, help="Slots kept warm beside those that are lent.")] = 1,
    limits: Annotated[
        str | None,
        typer.Option(help="What a slot may use: memory_mb=3000,home_mb=500,cpus=1.5; default: FORGE_SLOT_LIMITS."),
    ] = None,
    osworld: Annotated[
        bool, typer.Option("--osworld", help="Speak OSWorld's guest protocol instead: one slot a port, no token.")
    ] = False,
    screen: Annotated[str | None, typer.Option(help="OSWorld only: screen size, WIDTHxHEIGHT.")] = None,
    trust_network: Annotated[
        bool,
        typer.Option(
            "--trust-network", help="OSWorld only: listen beyond loopback, though nobody is asked for a token."
        ),
    ] = False,
) -> None:
    """Lend desktop slots over HTTP until Ctrl-C; `forge rollout --desktops URL` plays on them.

    The token travels as it is: between machines, put a tunnel or a TLS proxy in front.

    Examples:

      forge desktop serve --slots 8

      forge desktop serve --osworld --slots 2     # ports 5000 and 5001
    """
    from forge.desktop.limits import SLOT, slot_limits
    from forge.desktop.place import home
    from forge.desktop.pool import SlotPool
    from forge.desktop.server import running, token
    from forge.desktop.server.app import create_app
    from forge.desktop.server.leases import Desk
    from forge.desktop.sweep import sweep
    from forge.records import InputError, Settings

    settings = Settings()
    count = slots or settings.slots
    allowed = slot_limits(settings) if limits is None else SLOT.changed(limits)
    sweep(home())
    if osworld:
        from forge.desktop.osworld.facade import serve_osworld

        serve_osworld(
            count,
            host,
            5000 if port is None else port,
            screen or "1920x1080",
            trust_network=trust_network,
            limits=allowed,
        )
        return
    if screen is not None:
        raise InputError(
            "--screen is for --osworld only", mend="a client of the slot server says the size of each slot"
        )
    secret = token.read_token(token_file)
    if not secret:
        file = home() / "desktop-token"
        file.parent.mkdir(parents=True, exist_ok=True)
        secret = token.make_token(file)
        print(f"the token is in {file}")
    place = running.listen(host, 8765 if port is None else port)
    with SlotPool(count, spares=spares, limits=allowed) as pool:
        print(f"{count} slots on {running.address_of(place)}  (Ctrl-C ends it and closes them)", flush=True)
        if not running.is_loopback(host):
            print(
                "note: the token and all that is done travel unencrypted; use a tunnel where the network is not yours"
            )
        running.serve((create_app(Desk(pool, count, lease), secret), place))
    print("closed")


@app.command("open")
def open_(
    application: Annotated[str | None, typer.Argument(help="Application to start: calc, files, ...")] = None,
    path: Annotated[
        str | None, typer.Argument(help="What it opens: a file of this machine, or '~/Documents/NAME' of a --file.")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option(help="File of this machine to lay into ~/Documents there; repeatable.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Record an MP4 here.")] = None,
) -> None:
    """Open a new desktop and show it in a browser; Ctrl-C closes it.

    Its home is new and holds only copies of the files that you name. Quote a
    path in it, '~/Documents/NAME', else the shell puts your own home for ~.

    Examples:

      forge desktop open calc sales.csv      # a copy, in ~/Documents

      forge desktop open calc '~/Documents/a.csv' --file a.csv --file b.ods

      forge desktop open terminal --record session.mp4
    """
    from contextlib import ExitStack

    from forge.desktop import Slot
    from forge.desktop.apps import find_app
    from forge.desktop.recording import Recording, check_target
    from forge.records.errors import InputError

    if application is not None:
        find_app(application)
    if record is not None:
        check_target(record)
    inside, laid = from_here(path, file or [])
    try:
        home_files = [(name, source.read_bytes(), 0o644, False) for name, source in laid.items()]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None
    with ExitStack() as stack:
        slot = stack.enter_context(Slot.open(home_files=home_files))
        if application is not None:
            slot.launch(application, inside)
        if record is not None:
            stack.enter_context(Recording(slot, record))
        show_until_interrupted(slot)


@app.command()
def view(
    slot: SlotName = None,
    control: Annotated[bool, typer.Option("--control", help="Let the browser type and point.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0: a free one.")] = 0,
) -> None:
    """Show a running slot of this machine in a browser until Ctrl-C, e.g. one that is being played on.

    Slots of a server are seen at its own address, http://127.0.0.1:PORT/view/SLOT on that machine.

    Example: forge desktop view
    """
    from forge.desktop.view import Viewer, pick

    name = pick(slot)
    viewer = Viewer(port=port)
    try:
        _wait(viewer.url(name, control=control))
    finally:
        viewer.close()


@app.command()
def record(
    file: Annotated[Path, typer.Argument(help="The MP4 to write.")],
    slot: SlotName = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="Stop after so long; default: on Ctrl-C.")] = None,
) -> None:
    """Record a running slot of this machine as MP4.

    Example: forge desktop record episode.mp4 --seconds 60
    """
    from forge.desktop.recording import DisplayRecording
    from forge.desktop.view import pick, running

    display, cookie = running()[pick(slot)]
    recording = DisplayRecording(display, cookie, file)
    try:
        _until_interrupted(seconds)
    finally:
        recording.close()
    print(file)


def from_here(path: str | None, files: Sequence[Path]) -> tuple[str | None, dict[str, Path]]:
    """What a new desktop's application opens, as a path of its home, None for the home itself or for nothing; and which files
    of this machine lie where in it.

    Raises:
        InputError: no such file, two of one name, or a path of the home at which nothing will lie.
    """
    from forge.desktop.apps import settings
    from forge.records.errors import InputError

    hosts = path is not None and path != "~" and not path.startswith("~/")
    laid: dict[str, Path] = {}
    for source in [*files, *([Path(path)] if path and hosts else [])]:
        if not source.is_file():
            what = "is a folder" if source.is_dir() else "does not exist on this machine"
            mend = "name a file; a path in the new desktop is written in quotes, '~/Documents/NAME'"
            raise InputError(f"{str(source)!r} {what}", mend=mend)
        place = f"~/Documents/{source.name}"
        if not source.samefile(laid.setdefault(place, source)):
            raise InputError(f"two files are called {source.name}: {laid[place]} and {source}", mend="rename one")
    if path is None or hosts:
        return path and f"~/Documents/{Path(path).name}", laid
    there = path.rstrip("/")
    if there == "~":  # the home itself, which is what opens where nothing is named
        return None, laid
    if not any(
        name == there or name.startswith(f"{there}/") for name in [*laid, *(f"~/{name}" for name in settings())]
    ):
        mend = "lay a file of this machine with --file FILE, then open '~/Documents/NAME'; or name that file itself"
        raise InputError(f"{path!r} is not in the new desktop's home", mend=mend)
    return there, laid


def show_until_interrupted(slot: Slot) -> None:
    """Print where a slot can be seen and worked in, and wait for Ctrl-C."""
    from forge.desktop.remote import RemoteSlot
    from forge.desktop.view import Viewer

    if isinstance(slot, RemoteSlot):
        _wait(f"{slot.url}/view/{slot.id}?control=1  (on that machine; it asks for the server's token)")
        return
    name = slot.xauthority.parent.name
    viewer = Viewer(lambda _name: (slot.display, slot.xauthority))
    try:
        _wait(viewer.url(name, control=True))
    finally:
        viewer.close()


def _wait(address: str) -> None:
    print(address, flush=True)
    _until_interrupted()
    print()


def _until_interrupted(seconds: float | None = None) -> None:
    """Wait for Ctrl-C, a request to end, or so many seconds; what is open is then closed in order."""
    import signal
    import threading

    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda _signal, _frame: ended.set())
    ended.wait(seconds)
