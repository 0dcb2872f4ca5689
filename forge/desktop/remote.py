"""Slots of other machines, lent by slot servers (`forge desktop serve`): drop-ins for the local slot and its pool.

A connection that is lost for longer than its patience, a server that ended, a lease that ran out: all are DesktopErrors,
so that an episode on them is a fault and played again. Sending a request again never acts twice.

What it does NOT cover: `display`, `xauthority` and `pids` of a slot elsewhere mean nothing here and raise DesktopError.
"""

from __future__ import annotations

import base64
import hashlib
import io
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from forge.desktop import acting
from forge.desktop.box import NO_LAYERS, Layers
from forge.desktop.health import Health
from forge.desktop.mirror import Mirror
from forge.desktop.screen import Screenshot
from forge.desktop.server import wire
from forge.desktop.server.connection import PATIENCE, Connection, FullError, GoneError, MissingLayersError
from forge.desktop.server.layers import layer_digest, pack
from forge.desktop.shell import OUTPUT_LIMIT, ShellResult
from forge.desktop.slot import LAUNCH_TIMEOUT, File, Slot
from forge.desktop.windows import Pane, Window
from forge.records.action import Action
from forge.records.artifact import Snapshot
from forge.records.errors import DesktopError
from forge.records.fingerprint import Fingerprint
from forge.records.guest import Guest
from forge.records.trajectory import Element

_POLL = 0.05  # seconds between two looks at a predicate; each look is a request of its own
_BUSY_PAUSE = 0.5  # seconds between two rounds of asking all servers for a free slot
_DOWN = 30.0  # seconds for which a server that failed is not asked while there are others


class RemoteInput:
    """Keyboard and pointer of a slot elsewhere, with the face of `forge.desktop.input.Input`."""

    def __init__(self, call: Callable[..., Any]):
        self._call = call

    def move(self, x: int, y: int) -> None:
        self._send("move", x=x, y=y)

    def click(self, x: int, y: int, button: int = 1, count: int = 1, modifiers: Sequence[str] = ()) -> None:
        self._send("click", x=x, y=y, button=button, count=count, modifiers=list(modifiers))

    def press(self, button: int = 1) -> None:
        self._send("press", button=button)

    def release(self, button: int = 1) -> None:
        self._send("release", button=button)

    def drag(self, x0: int, y0: int, x1: int, y1: int, button: int = 1) -> None:
        self._send("drag", x0=x0, y0=y0, x1=x1, y1=y1, button=button)

    def scroll(self, x: int, y: int, dx: int = 0, dy: int = 0) -> None:
        self._send("scroll", x=x, y=y, dx=dx, dy=dy)

    def type(self, text: str) -> None:
        self._send("type", text=text)

    def key(self, keys: str) -> None:
        self._send("key", keys=keys)

    def down(self, key: str) -> None:
        self._send("down", key=key)

    def up(self, key: str) -> None:
        self._send("up", key=key)

    def hold(self, keys: str, seconds: float) -> None:
        self._send("hold", keys=keys, seconds=seconds)

    def position(self) -> tuple[int, int]:
        place: wire.Place = self._send("position")
        return place.x, place.y

    def close(self) -> None:
        """Nothing to do: it ends with the slot."""

    def _send(self, what: str, **arguments: Any) -> Any:
        order = wire.InputOrder(what=what, arguments=arguments)
        return self._call("POST", "input", wire.Place | None, body=order)


class RemoteShell:
    """The persistent shell of a slot elsewhere, with the face of `forge.desktop.shell.Shell`."""

    def __init__(self, call: Callable[..., Any]):
        self._call = call

    def run(
        self, command: str, timeout: float = 60, output_limit: int = OUTPUT_LIMIT, *, by_host: bool = False
    ) -> ShellResult:
        order = wire.ExecOrder(command=command, by_host=by_host, timeout=timeout, output_limit=output_limit)
        answer = self._call("POST", "exec", wire.ExecAnswer, body=order)
        return ShellResult(**answer.model_dump())

    def restart(self) -> None:
        self._call("POST", "exec", wire.ExecAnswer, body=wire.ExecOrder(restart=True))


class RemoteScreen:
    """Pictures of a slot elsewhere, with the face of `forge.desktop.screen.Screen`."""

    def __init__(self, slot: RemoteSlot):
        self._slot = slot

    def screenshot(self) -> Screenshot:
        return self._slot.screenshot()

    def pixels(self) -> Any:
        import numpy
        from PIL import Image

        with Image.open(io.BytesIO(self._slot.screenshot().png)) as picture:
            colours = numpy.asarray(picture.convert("RGB"))
        return numpy.dstack([colours[:, :, ::-1], numpy.full(colours.shape[:2], 255, numpy.uint8)])

    def close(self) -> None:
        """Nothing to do: it ends with the slot."""


class RemoteSlot(Slot):
    """A slot on a server. Made by `RemotePool.acquire`; close it when done.

    `home` is a copy on this machine that follows the one there a moment behind; it is made when first asked for. Files are
    put there by `lay`, not by writing into the copy.
    """

    input: RemoteInput  # type: ignore[assignment]
    shell: RemoteShell  # type: ignore[assignment]
    screen: RemoteScreen  # type: ignore[assignment]

    def __init__(self, connection: Connection, facts: wire.SlotFacts, layers: Layers = NO_LAYERS):
        self.id = facts.id
        self.guest = facts.guest
        self.layers = layers
        self.launched = threading.Event()
        self.input = RemoteInput(self._call)
        self.shell = RemoteShell(self._call)
        self.screen = RemoteScreen(self)
        self._connection = connection
        self._mirror: Mirror | None = None
        self._known: Screenshot | None = None
        self._stopped = False
        self._lent = time.monotonic()
        self._is_closed = False
        self._on_close: list[Callable[[], None]] = []
        self._closing = threading.Lock()
        connection.keep(self.id, facts.lease)

    @property
    def home(self) -> Path:  # type: ignore[override]
        """The copy of the home."""
        with self._closing:
            if self._is_closed:
                raise DesktopError("the slot is closed")
            if self._mirror is None:
                self._mirror = Mirror(self._listing, self.read)
        self._mirror.follow()
        return self._mirror.folder

    @property
    def url(self) -> str:
        """The server's address; with `id` it names the slot for a viewer there."""
        return self._connection.url

    @property
    def display(self) -> str:
        self._not_here("display")

    @property
    def xauthority(self) -> Path:
        self._not_here("xauthority")

    @property
    def display_socket(self) -> Path:
        self._not_here("display")

    @property
    def age(self) -> float:
        """Seconds since it was lent."""
        return time.monotonic() - self._lent

    @property
    def pids(self) -> tuple[int, ...]:
        self._not_here("pids")

    def lay(self, home_files: Iterable[File]) -> None:
        self._call("POST", "lay", body=wire.FilesOrder(files=tuple(map(wire.FileBody.of, home_files))))

    def read(self, path: str) -> bytes:
        """A file of the home. Raises FileNotFoundError."""
        response = self._call("GET", "files", params={"path": path})
        data: bytes = response.content
        return data

    def set_clock(self, at: str | None = None) -> None:
        self._call("POST", "clock", body=wire.ClockOrder(at=at))
        if at is not None:
            self.guest = self.guest.model_copy(update={"clock": at})

    def launch(self, app: str, path: str | None = None, *, timeout: float = LAUNCH_TIMEOUT) -> None:
        try:
            self._call("POST", "launch", body=wire.LaunchOrder(app=app, path=path, timeout=timeout))
        finally:
            self.launched.set()

    def prepare(self, start: Iterable[tuple[str, str | None]]) -> None:
        order = wire.StartOrder(start=tuple(wire.StartOf(app=app, path=path) for app, path in start))
        self._call("POST", "prepare", body=order)

    def preload(self, app: str) -> None:
        """Nothing: the server keeps its own spares."""

    def screenshot(self) -> Screenshot:
        return self.look_at_once().shot

    def settle(
        self,
        predicate: Callable[[], bool] | None = None,
        *,
        first: float = 0.6,
        quiet: float = 0.3,
        timeout: float = 8,
    ) -> float:
        started = time.monotonic()
        while predicate is not None and not predicate():
            if time.monotonic() - started >= timeout:
                return timeout
            time.sleep(_POLL)
        left = max(0.05, timeout - (time.monotonic() - started))
        order = wire.SettleOrder(first=first, quiet=quiet, timeout=left)
        self._call("POST", "settle", wire.Waited, body=order)
        return time.monotonic() - started

    def windows(self) -> list[Window]:
        return [each.window() for each in self._call("GET", "windows", tuple[wire.WindowBody, ...])]

    def panes(self) -> list[Pane]:
        return [each.pane() for each in self._call("GET", "panes", tuple[wire.PaneBody, ...])]

    def tree(self, app: str | None = None, *, menus: bool = True, under: Sequence[int] = ()) -> list[Element]:
        params = {"application": app, "menus": menus, "under": list(under)}
        found: list[Element] = self._call("GET", "tree", list[Element], params=params)
        return found

    def element_at(self, x: int, y: int) -> Element | None:
        element: Element | None = self._call("GET", "element", Element | None, params={"x": x, "y": y})
        return element

    def look_at_once(self) -> acting.Look:
        known = self._known
        params = {"known": hashlib.sha256(known.png).hexdigest() if known else ""}
        return self._look(self._call("GET", "observe", wire.Seen, params=params), known)

    def act_at_once(
        self,
        action: Action,
        *,
        find: bool,
        settle: acting.Settle | None,
        seconds_left: float | None,
        output_limit: int,
    ) -> acting.Acted:
        known = self._known
        order = wire.ActOrder(
            action=action,
            find=find,
            settle=None if settle is None else wire.SettleOrder(**vars(settle)),
            seconds_left=seconds_left,
            output_limit=output_limit,
            known=hashlib.sha256(known.png).hexdigest() if known else "",
        )
        answer: wire.ActAnswer = self._call("POST", "act", wire.ActAnswer, body=order)
        return acting.Acted(
            self._look(answer.seen, known),
            answer.output,
            answer.exit_code,
            answer.error,
            answer.element,
            answer.latency_ms,
            answer.settle_ms,
        )

    def alive(self) -> None:
        self._call("GET", "alive")

    def blame(self, error: DesktopError) -> DesktopError:
        """The error itself: the server has said already whose fault it is."""
        return error

    def dead(self) -> Iterator[tuple[str, str]]:
        yield from ((each.what, each.says) for each in self.health().findings)

    def health(self) -> Health:
        body: wire.HealthBody = self._call("GET", "health", wire.HealthBody)
        return body.health()

    def lend(self, seconds: float) -> None:
        """Nothing: the server's lease is kept by the connection for as long as this process lives."""

    def renew(self) -> bool:
        renewal: wire.Renewal = self._connection.call(
            "POST", "/v1/renew", wire.Renewal, body=wire.Renewal(slots=(self.id,))
        )
        return self.id in renewal.slots

    def stop(self) -> None:
        if not self._stopped:
            self._call("POST", "stop")
            self._stopped = True

    def snapshot(self, put: Callable[[bytes], str]) -> Snapshot:
        facts: wire.SnapshotFacts = self._call("POST", "snapshot", wire.SnapshotFacts)
        archive = self._connection.fetch(f"/v1/slots/{self.id}/snapshot/{facts.name}", facts.size)
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for name in opened.namelist():
                if put(opened.read(name)) != name:
                    raise DesktopError(f"{self.url} sent a file that is not what its name says")
        return Snapshot(entries=facts.entries)

    def reset(self, guest: Guest | None = None, files: Iterable[File] = ()) -> None:
        """Another new desktop under the same lease; this one is closed first."""
        order = wire.SlotOrder(
            guest=guest or self.guest, files=tuple(map(wire.FileBody.of, files)), layers=_names(self.layers)
        )
        self.guest = self._call("POST", "reset", wire.SlotFacts, body=order).guest
        self._stopped = False

    def ask(self, what: str, *, timeout: float = 30, **arguments: Any) -> Any:
        order = wire.AskOrder(what=what, timeout=timeout, arguments=arguments)
        return self._call("POST", "ask", wire.Said, body=order).answer

    def close(self) -> None:
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
        if self._mirror is not None:
            self._mirror.close()
        self._connection.drop(self.id)
        try:
            self._connection.call("DELETE", f"/v1/slots/{self.id}")
        except (DesktopError, FileNotFoundError):
            pass  # a server out of reach takes it back by itself, when the lease runs out
        finally:
            while self._on_close:
                self._on_close.pop()()

    def _call(self, method: str, what: str, answer: Any = None, **options: Any) -> Any:
        if self._is_closed:
            raise DesktopError("the slot is closed")
        return self._connection.call(method, f"/v1/slots/{self.id}/{what}", answer, **options)

    def _look(self, seen: wire.Seen, known: Screenshot | None) -> acting.Look:
        picture = seen.picture
        if picture.png is None:
            if known is None:
                raise DesktopError(f"{self.url} left a picture out that is not known here")
            shot = known
        else:
            shot = Screenshot(base64.b64decode(picture.png), picture.width, picture.height)
            self._known = shot
        return acting.Look(shot, next((window.title for window in seen.windows if window.active), ""))

    def _listing(self) -> wire.Listing:
        found: wire.Listing = self._call("GET", "listing", wire.Listing)
        return found

    def _not_here(self, what: str) -> NoReturn:
        raise DesktopError(
            f"the {what} of slot {self.id} is on {self.url}", mend="look at it with `forge desktop view` there"
        )


class RemotePool:
    """Slots of several servers, with the face of `forge.desktop.pool.SlotPool`. Use it as a context manager.

    Args:
        urls: the servers' addresses.
        token: which all of them take.
        patience: seconds for which a server may be out of reach.
        lease: seconds for which a server keeps a slot whose client is silent; the server's own if None.

    Raises:
        InputError: no address, or a server that refuses the token.
        DesktopError: no server can be reached.
    """

    def __init__(self, urls: Sequence[str], token: str, *, patience: float = PATIENCE, lease: float | None = None):
        if not urls:
            raise DesktopError("a pool needs the address of at least one slot server")
        self._lease = lease
        self._connections = [Connection(url, token, patience=patience) for url in urls]
        self._free = threading.Condition()
        self._down: dict[str, float] = {}  # by address: until when it is left out
        self._said: dict[str, str] = {}  # by address: why its status could not be had
        self._turn = 0
        sizes = [self._size(connection) for connection in self._connections]
        self.size = sum(filter(None, sizes))
        """Slots of all servers that could be reached."""
        if not self.size:
            self.close()
            raise self._unreachable()

    def __enter__(self) -> RemotePool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def fingerprint(self) -> Fingerprint:
        """What results on these servers depend on.

        Raises DesktopError: two servers differ, so that results would depend on who played.
        """
        found: dict[str, Fingerprint] = {
            c.url: c.call("GET", "/v1/versions", wire.Versions).fingerprint for c in self._living()
        }
        (first, common), *others = found.items()
        for url, other in others:
            if other != common:
                raise DesktopError(
                    f"{url} and {first} have different versions of what desktops are made of",
                    mend="install the same packages on all slot servers",
                )
        return common

    def acquire(
        self,
        guest: Guest | None = None,
        files: Iterable[File] = (),
        layers: Layers = NO_LAYERS,
        lease: float | None = None,
    ) -> RemoteSlot:
        """A slot of one's own with these files in its home; waits while all are lent.

        Raises DesktopError: no server can be reached, or none of those that can could make a slot.
        """
        order = wire.SlotOrder(
            guest=guest or Guest(),
            files=tuple(map(wire.FileBody.of, files)),
            layers=_names(layers),
            lease=lease or self._lease,
        )
        failed: dict[str, DesktopError] = {}
        while True:
            living = self._living()
            for connection in living:
                try:
                    return self._lend(connection, order, layers)
                except FullError:
                    failed.pop(connection.url, None)
                except MissingLayersError:
                    raise
                except DesktopError as error:
                    self._set_down(connection)
                    failed[connection.url] = error
            if all(connection.url in failed for connection in living):
                raise _all_failed(failed)
            with self._free:
                self._free.wait(_BUSY_PAUSE)

    def expect(
        self,
        guest: Guest,
        files: Iterable[File] = (),
        layers: Layers = NO_LAYERS,
        start: Sequence[tuple[str, str | None]] = (),
    ) -> None:
        """Announce a coming `acquire` to the server that is asked first then."""
        order = wire.Announcement(
            guest=guest,
            files=tuple(map(wire.FileBody.of, files)),
            layers=_names(layers),
            start=tuple(wire.StartOf(app=app, path=path) for app, path in start),
        )
        for connection in self._living()[:1]:
            self._with_layers(connection, layers, lambda c: c.call("POST", "/v1/expect", body=order))

    def wait_warm(self, timeout: float = 60) -> bool:
        """True: the servers keep their own spares, and say nothing of them."""
        return True

    def close(self) -> None:
        """Hang up; slots that were handed out must be closed before. May be called twice."""
        for connection in self._connections:
            connection.close()

    def _living(self) -> list[Connection]:
        """The servers, the one with the most free slots first; those that failed lately only where no other answers.

        Raises DesktopError when there is none.
        """
        now = time.monotonic()
        down = [connection for connection in self._connections if self._down.get(connection.url, 0.0) > now]
        found: list[tuple[int, Connection]] = []
        for group in ([each for each in self._connections if each not in down], down):
            for connection in () if found else group:
                status = self._status(connection)
                if status is not None:
                    found.append((status.free, connection))
        if not found:
            raise self._unreachable()
        self._turn += 1  # servers with as many free slots take turns
        turned = found[self._turn % len(found) :] + found[: self._turn % len(found)]
        return [connection for _, connection in sorted(turned, key=lambda each: -each[0])]

    def _size(self, connection: Connection) -> int | None:
        status = self._status(connection)
        return None if status is None else status.size

    def _status(self, connection: Connection) -> wire.Status | None:
        """The server's status; None when it cannot be reached, which is then not tried again for a while."""
        patience = connection.patience if len(self._connections) == 1 else min(connection.patience, 10.0)
        try:
            said: dict[str, Any] = connection.call("GET", "/v1/status", dict[str, Any], patience=patience)
        except DesktopError as error:
            self._said[connection.url] = error.message
            self._set_down(connection)
            return None
        version = said.get("version")
        if version != wire.VERSION:
            raise DesktopError(
                f"{connection.url} speaks version {version}, this client version {wire.VERSION}",
                mend="install the same Forge on both sides",
            )
        self._down.pop(connection.url, None)
        return wire.Status.model_validate(said)

    def _unreachable(self) -> DesktopError:
        said = "; ".join(self._said[connection.url] for connection in self._connections)
        return DesktopError(f"no slot server can be reached: {said}", mend="start `forge desktop serve` there")

    def _set_down(self, connection: Connection) -> None:
        self._down[connection.url] = time.monotonic() + _DOWN

    def _lend(self, connection: Connection, order: wire.SlotOrder, layers: Layers) -> RemoteSlot:
        """A slot of this server. Raises FullError when all of its slots are lent."""
        facts = self._with_layers(connection, layers, lambda c: c.call("POST", "/v1/slots", wire.SlotFacts, body=order))
        slot = RemoteSlot(connection, facts, layers)
        slot.on_close(self._one_free)
        return slot

    def _with_layers(self, connection: Connection, layers: Layers, call: Callable[[Connection], Any]) -> Any:
        """Call, and give the server the layers that it misses before a second call."""
        try:
            return call(connection)
        except MissingLayersError as error:
            folders = {layer_digest(folder): folder for folder in (*layers.commands, *layers.python)}
            for digest in error.digests:
                connection.call("PUT", f"/v1/layers/{digest}", body=pack(folders[digest]))
        return call(connection)

    def _one_free(self) -> None:
        with self._free:
            self._free.notify_all()


def _names(layers: Layers) -> wire.LayerNames:
    return wire.LayerNames(
        commands=tuple(map(layer_digest, layers.commands)), python=tuple(map(layer_digest, layers.python))
    )


def _all_failed(failed: dict[str, DesktopError]) -> DesktopError:
    if len(failed) == 1:
        return next(iter(failed.values()))
    said = "; ".join(f"{url}: {error.message}" for url, error in failed.items())
    return DesktopError(f"no slot server could make a slot: {said}")


__all__ = ["GoneError", "RemotePool", "RemoteSlot"]
