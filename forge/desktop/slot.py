"""The slot: one private desktop, made anew for every episode.

A slot is a display with a window manager, a box with a supervisor in it, and a home. All it leaves on the host lies below
FORGE_HOME/slots/<id>/ and is gone after `close`; after `kill -9` its processes die with their owner and the next start
sweeps its folder.

A DesktopError from here is a fault of the infrastructure, never of the agent, but for an ExhaustedError: the guest used up
what it may use of the host, or a program of its own broke the slot, see `forge.desktop.blame`. What it does NOT cover: a program
of the agent's that was started otherwise than by the shell or from a terminal window that was seen, such as a macro, and one
that makes an application crash or hang, are not told from a fault.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import socket
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from forge.desktop import clock, files, inside
from forge.desktop.accessibility import Found, at_point, cell_elements, elements, parse_ref
from forge.desktop.activity import Activity
from forge.desktop.apps import APPS, App, app_of, find_app, lay_settings, settings
from forge.desktop.blame import Blame
from forge.desktop.box import HOME, NO_LAYERS, BoxPlan, Layers, chown_home
from forge.desktop.channel import Channel
from forge.desktop.display import Display
from forge.desktop.enclosure import Enclosure
from forge.desktop.health import Health, Watch, look
from forge.desktop.input import Input
from forge.desktop.lease import Lease
from forge.desktop.limits import SLOT, Limits
from forge.desktop.menus import without_closed
from forge.desktop.place import home as forge_home
from forge.desktop.screen import Screen, Screenshot
from forge.desktop.settle import Settler
from forge.desktop.shell import Shell
from forge.desktop.spawn import identity, start, stop, user_of
from forge.desktop.sweep import Claim, claim
from forge.desktop.windows import Pane, Window, Windows
from forge.desktop.words import whereabouts
from forge.records.artifact import Snapshot
from forge.records.errors import DesktopError, ExhaustedError, InputError
from forge.records.guest import Guest
from forge.records.trajectory import Element

log = logging.getLogger(__name__)
LAUNCH_TIMEOUT = 60.0
_POLL = 0.02
_PROGRAMS = ("supervisor.py", "processes.py", "shell.py", "access.py", "wire.py", "roles.py", "session.xml")
_ENVIRONMENT = {
    "XAUTHORITY": "/run/forge/xauthority",
    "GTK_THEME": "Adwaita",
    "GDK_BACKEND": "x11",
    "GSETTINGS_BACKEND": "memory",
    "SAL_USE_VCLPLUGIN": "gtk3",
    "XDG_CURRENT_DESKTOP": "X",
    "MOZ_CRASHREPORTER_DISABLE": "1",
    "MOZ_LEGACY_HOME": "1",  # else Thunderbird makes an empty ~/thunderbird
}

File = tuple[str, bytes, int, bool]
"""What is laid into a home: guest path `~/...`, content, permission bits, whether it is a folder."""


class Cells:
    """Cells of the spreadsheet in view. Sheets are never enumerated."""

    def __init__(self, slot: Slot, app: str):
        self._slot = slot
        self._app = find_app(app)

    def cell(self, ref: str) -> Element | None:
        """The cell called `ref` ("B7") on the sheet in view, with its text; None when it is not on the screen.

        Raises InputError when `ref` is no cell reference.
        """
        try:
            row, column = parse_ref(ref)
        except ValueError as error:
            raise InputError(str(error)) from None
        found = self._elements("cell", row=row, column=column)
        return found[0] if found else None

    def visible(self) -> list[Element]:
        """All cells on the screen, row by row."""
        return self._elements("cells")

    def _elements(self, what: str, **arguments: Any) -> list[Element]:
        windows = self._slot.windows()
        titles = [window.title for window in reversed(windows)]
        answer = self._slot.ask(what, match=self._app.bus_name, titles=titles, **arguments)
        return cell_elements(self._app.name, answer, windows) if answer else []

    def at(self, x: int, y: int) -> Element | None:
        """The cell at a place in the toolkit's own coordinates."""
        found = self._elements("cell_at", x=x, y=y)
        return found[0] if found else None


class Slot:
    """A desktop. Make one with `Slot.open`; use it as a context manager or call `close`.

    Attributes:
        home: the guest's home on the host.
        guest: clock, zone, locale and screen size.
        input: keyboard and pointer, in pixels.
        screen: pictures of the screen.
        shell: the persistent shell for the `bash` tool.
        launched: set once a launch has ended, well or not.
        owner: the process that opened it.
    """

    home: Path
    guest: Guest
    input: Input
    screen: Screen
    shell: Shell

    def __init__(self, guest: Guest, layers: Layers, owned: Claim, limits: Limits = SLOT):
        self.guest = guest
        self.limits = limits
        self.layers = layers
        self.home = owned.folder / "home"
        self.owner = os.getpid()
        self._claim = owned
        self._enclosure: Enclosure | None = None
        self._display: Display | None = None
        self._box: subprocess.Popen[bytes] | None = None
        self._desktop: Channel | None = None
        self._shell_channel: Channel | None = None
        self._settler: Settler | None = None
        self._windows: Windows | None = None
        self._warm: int | None = None
        self._open_already: list[tuple[str, str | None]] = []
        self._stopped = False
        self._blame = Blame(self.ask, lambda: self._screen_server)
        self.launched = threading.Event()
        self._on_close: list[Callable[[], None]] = []
        self._born = time.monotonic()
        self._watch = Watch()
        self._lease: Lease | None = None
        self._ended = "the slot is closed"
        self._held_up = False  # whether it was closed because a program of the agent's own held the display up
        self._closing = threading.Lock()
        self._stack = ExitStack()

    @classmethod
    def open(
        cls,
        guest: Guest | None = None,
        *,
        home_files: Iterable[File] = (),
        layers: Layers = NO_LAYERS,
        root: Path | None = None,
        limits: Limits = SLOT,
    ) -> Slot:
        """Build a whole new desktop; no application runs yet.

        Args:
            guest: clock, zone, locale, screen size; the default guest if None.
            home_files: laid into the home, see `forge.desktop.files.lay`.
            layers: read-only layers of commands and Python.
            root: FORGE_HOME; the settings' if None.
            limits: what its guest may use of the host.

        Raises:
            InputError: the guest's clock cannot be so, or a file's path is none in the home.
            DesktopError: something is missing or did not come up. Nothing is left behind.
        """
        slot = cls(guest or Guest(), layers, claim("slot", root), limits)
        try:
            slot._build(home_files)
        except BaseException:
            slot.close()
            raise
        return slot

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def display(self) -> str:
        """As for $DISPLAY, on the host; see `xauthority`."""
        return self._screen_server.name

    @property
    def xauthority(self) -> Path:
        """The file with the display's cookie, for a viewer on the host."""
        return self._screen_server.cookie

    def connect(self) -> Any:
        """A python-xlib connection to the display; the caller closes it."""
        return self._screen_server.connect()

    @property
    def display_socket(self) -> Path:
        """The X server's socket on the host."""
        return self._screen_server.socket

    @property
    def age(self) -> float:
        """Seconds since it was opened."""
        return time.monotonic() - self._born

    @property
    def pids(self) -> tuple[int, ...]:
        """Host process ids of X server, window manager and box."""
        box = () if self._box is None else (self._box.pid,)
        return (*self._screen_server.pids, *box)

    def lay(self, home_files: Iterable[File]) -> None:
        """Put files into the home of the running slot."""
        files.lay(self.home, home_files, owner=identity(user_of(self._claim.folder.name)))

    def set_clock(self, at: str | None = None) -> None:
        """Let the guest's clock begin now, at the guest's time or at another local wall time (ISO 8601).

        Raises InputError when it is no time, or one that the clock cannot show.
        """
        try:
            guest = self.guest if at is None else Guest(**{**self.guest.model_dump(), "clock": at})
        except ValueError as error:
            raise InputError(f"{at!r} is no time for the guest's clock", mend="write 2026-03-16T09:30:00") from error
        content = clock.clock_bytes(guest)
        self.guest = guest
        with open(self._claim.folder / "clock", "r+b", buffering=0) as file:
            file.write(content)  # in place: the box has the file mapped

    def launch(self, app: str, path: str | None = None, *, timeout: float = LAUNCH_TIMEOUT) -> None:
        """Start an application and wait until it is ready: its window, its accessible contents, a still screen.

        Args:
            app: one of `forge.desktop.apps.APPS`.
            path: a file or folder for it to open, `~/...`.
            timeout: seconds.

        Raises:
            InputError: no such application, or the path is not in the home.
            DesktopError: it is not installed, ended, or did not get ready; names a screenshot taken then.
        """
        profile = find_app(app)
        inside_path = None if path is None else self._inside(path)
        if not os.path.exists(profile.program):
            raise DesktopError(f"{app} is not installed", mend=f"install {profile.package}, or run setup/install")
        if self._open_already:
            self._take_open(app, path)
            return
        deadline = time.monotonic() + timeout
        before = {(window.id, window.title) for window in self.windows()}
        pid = self._open_warm(inside_path) if app == "calc" and inside_path else None
        if self._warm is not None and app != "calc":  # not asked for: this desktop is to be like any other
            self.ask("stop", pid=self._warm)
            self._warm = None
        if pid is None:
            pid = self.ask("start", argv=profile.command(inside_path), env=profile.env)
        title = profile.title(inside_path)
        try:
            if not self._wait(pid, deadline, "no window", lambda: self._has_window(title, before)):
                pid = None
                self._wait(None, deadline, "no window", lambda: self._has_window(title, set()))
            if not self._wait(pid, deadline, "no accessible contents", lambda: self._has_contents(profile)):
                self._wait(None, deadline, "no accessible contents", lambda: self._has_contents(profile))
            self._settle_launch(deadline)
        except DesktopError as error:
            raise DesktopError(
                f"{app} did not get ready: {error.message}{self._picture(app)}", mend=error.mend
            ) from None
        finally:
            self.launched.set()

    def prepare(self, start: Iterable[tuple[str, str | None]]) -> None:
        """Launch applications beforehand: the same calls of `launch` by whoever gets the slot then return at once."""
        done = []
        for app, path in start:
            self.launch(app, path)
            done.append((app, path))
        self._open_already = done
        self.launched.clear()

    def preload(self, app: str) -> None:
        """Start an application without a window, so that a later `launch` only has to open a document.

        Only "calc" can be preloaded; for others nothing happens. Raises DesktopError when it does not come up.
        """
        if app == "calc" and self._warm is None:
            profile = find_app(app)
            argv = profile.command(None)[:-1]  # without --calc, which opens a window
            self._warm = self.ask("warm", timeout=LAUNCH_TIMEOUT, argv=argv, env=profile.env)

    def screenshot(self) -> Screenshot:
        """The screen as a PNG."""
        shot = self.screen.screenshot()
        self.renew()
        return shot

    def settle(
        self,
        predicate: Callable[[], bool] | None = None,
        *,
        first: float = 0.6,
        quiet: float = 0.3,
        timeout: float = 8,
    ) -> float:
        """Wait until the last action's effect is on the screen; seconds waited. See `forge.desktop.settle`."""
        if self._settler is None:
            raise DesktopError(self._ended)
        waited = self._settler.settle(predicate, first=first, quiet=quiet, timeout=timeout)
        self.renew()
        return waited

    def windows(self) -> list[Window]:
        """The managed windows, the topmost last."""
        if self._windows is None:
            raise DesktopError(self._ended)
        return self._windows.shown()

    def panes(self) -> list[Pane]:
        """Everything that covers a part of the screen, popups too, the topmost last."""
        if self._windows is None:
            raise DesktopError("the slot is closed")
        return self._windows.panes()

    def tree(self, app: str | None = None, *, menus: bool = True, under: Sequence[int] = ()) -> list[Element]:
        """What shows on the screen, parents before children, with true pixels.

        Args:
            app: one application, by its task name or its name on the accessibility bus; all if None.
            menus: with the entries of open menus.
            under: the path of an element of that application: only it, what it lies in, and what lies in it; that is
                read in a few milliseconds.
        """
        return [found.element for found in self._found(app, menus=menus, under=list(under))]

    def cells(self, app: str = "calc") -> Cells:
        """Look up cells of the spreadsheet in view."""
        return Cells(self, app)

    def cell(self, ref: str) -> Element | None:
        """The cell `ref` of the sheet in view, or None when it is not on the screen."""
        return self.cells().cell(ref)

    def element_at(self, x: int, y: int) -> Element | None:
        """What lies at a pixel, None when nothing accessible does. One without a name says what it is near."""
        found = at_point(self._found(None, at=(x, y)), x, y)
        if found is None:
            return None
        element = found.element
        if found.many and element.app in APPS:
            element = self.cells(element.app).at(x - found.shift[0], y - found.shift[1]) or element
        if not element.name:
            near = whereabouts(element, self.tree(element.app, menus=False))
            element = element.model_copy(update={"near": near})
        return element

    def alive(self) -> None:
        """Raises DesktopError when X server, window manager, box, supervisor, a bus or an application has died.

        An application that was closed ended with exit code 0 and is no fault. An ExhaustedError when the guest brought it
        about, see `blame`.
        """
        for _, says in self.dead():
            raise self.blame(DesktopError(says))
        if not self._stopped:
            self._blame.well()

    def blame(self, error: DesktopError) -> DesktopError:
        """The error to raise for one that this slot gave: an ExhaustedError if the guest brought it about.

        May take two seconds: what is broken may show only after a while by what, see `forge.desktop.blame`.
        """
        if self._enclosure is None:
            return error
        blamed = self._enclosure.blame(error)
        if isinstance(blamed, ExhaustedError):
            return blamed
        closed = self._settler is None  # what fails then is no matter of the guest
        if self._held_up or (not closed and self._blame.is_agents(error)):
            return ExhaustedError(f"a program of the agent's own broke the slot: {error.message}", mend=error.mend)
        return blamed

    def dead(self) -> Iterator[tuple[str, str]]:
        """What has died since the slot was opened: "display", "supervisor" or "application", and how."""
        try:
            self._screen_server.alive()
        except DesktopError as error:
            yield "display", error.message
        if self._stopped:
            return
        try:
            buses, applications = self.ask("ping", timeout=10), self.ask("apps")
        except DesktopError as error:
            yield "supervisor", error.message
            return
        for bus, matter in buses.items():
            yield "supervisor", f"the {bus} of the slot {matter}"
        for entry in applications:
            if entry["code"] not in (None, 0):
                name = next((app.name for app in APPS.values() if app.program == entry["program"]), entry["program"])
                said = entry["said"].strip()[-300:]
                yield "application", f"{name} died ({_how(entry['code'])}){': ' + said if said else ''}"

    def health(self) -> Health:
        """What is wrong with it, see `forge.desktop.health`."""
        return look(self, self._watch)

    def lend(self, seconds: float) -> None:
        """From now on the slot closes itself when nobody has used or renewed it for so many seconds.

        Pictures, waiting, questions to the supervisor and commands are uses; the latter two last as long as they take.
        """
        if self._lease is not None:
            self._lease.cancel()
        self._lease = Lease(seconds, lambda: self._take_back(seconds))

    def renew(self) -> bool:
        """A heartbeat of whoever holds the slot; False when it was taken back. Without a lease there is no need of it."""
        return self._lease is None or self._lease.renew()

    def stop(self) -> None:
        """Kill everything the guest runs, applications and shell, as if the power had gone; the home stays readable.

        Only an application that has no way to save is asked to end first, see `App.farewell`.
        """
        if not self._stopped:
            farewell = [app.program for app in APPS.values() if app.farewell]
            try:
                self.ask("stop_all", timeout=30, farewell=farewell)
            except DesktopError as error:
                if self.blame(error) is error:
                    raise
                stop(self._box)  # it has used up what it needs to end by itself
            self._stopped = True

    def snapshot(self, put: Callable[[bytes], str]) -> Snapshot:
        """The home as records, see `forge.desktop.files.snapshot`. Raises DesktopError when it was taken back meanwhile."""
        if not self.renew():
            raise DesktopError(self._ended)
        with self._use():
            state = files.snapshot(self.home, put, settings())
        if not self.renew():  # what went away with the home is missing in it
            raise DesktopError(self._ended)
        return state

    def close(self) -> None:
        """End it all and leave nothing. May be called twice, and from another thread.

        A step that fails does not keep the next from being taken; its error is raised at the end.
        """
        if self._lease is not None:
            self._lease.cancel()
        with self._closing, ExitStack() as steps:  # the last step first
            while self._on_close:
                steps.callback(self._on_close.pop(0))
            steps.callback(_open.discard, self)
            steps.callback(self._claim.release)
            if self._enclosure is not None:
                steps.callback(self._enclosure.close)
            # only after the display: whoever waits for a frozen server has been set free by its end
            steps.callback(self._stack.close)
            if self._display is not None:
                steps.callback(self._display.close)
            steps.callback(stop, self._box)
            for channel in (self._shell_channel, self._desktop):
                if channel is not None:
                    steps.callback(channel.close, self._ended)
            self._settler = self._windows = None

    def on_close(self, call: Callable[[], None]) -> None:
        """Call something once after the slot has been closed."""
        self._on_close.append(call)

    def ask(self, what: str, *, timeout: float = 30, **arguments: Any) -> Any:
        """Ask the supervisor, see `inside/supervisor.py`. Raises DesktopError."""
        if self._desktop is None:
            raise DesktopError("the slot is not open")
        return self._desktop.ask(what, timeout=timeout, **arguments)

    @property
    def _screen_server(self) -> Display:
        if self._display is None:
            raise DesktopError("the slot is not open")
        return self._display

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        lease = self._lease
        with contextlib.nullcontext() if lease is None else lease.use():
            yield

    def _before_input(self) -> None:
        if self._settler is not None:
            self._settler.mark()
        self.renew()

    def _take_back(self, seconds: float) -> None:
        self._ended = f"the slot was taken back: its lease ran out, there was no heartbeat for {seconds:g} s"
        self._held_up = self._blame.is_held_up()
        self.close()

    def _build(self, home_files: Iterable[File]) -> None:
        _open.add(self)
        folder = self._claim.folder
        try:
            self._enclosure = enclosure = Enclosure(self.limits, folder)
            lay_settings(self.home)
            chown_home(self.home, enclosure.user)
            (folder / "clock").write_bytes(clock.clock_bytes(self.guest))
        except OSError as error:
            raise DesktopError(
                f"the slot's home cannot be made: {error}", mend="free some space below FORGE_HOME"
            ) from None
        self.lay(home_files)
        self._display = display = Display(
            folder,
            self.guest.width,
            self.guest.height,
            user=enclosure.user,
            admit=enclosure.admit,
            meanwhile=lambda display: self._start_box(display, enclosure),
        )
        enclosure.watch(lambda: self.pids, lambda: stop(self._box))
        self._windows = Windows(display)
        self._stack.callback(self._windows.close)
        assert self._box is not None
        self._settler = Settler(display, Activity(self._box.pid))
        self._stack.callback(self._settler.close)
        self.input = Input(display, self._before_input)
        self._stack.callback(self.input.close)
        self.screen = Screen(display)
        self._stack.callback(self.screen.close)
        assert self._desktop is not None
        self._desktop.wait_ready(30)

    def _start_box(self, display: Display, enclosure: Enclosure) -> None:
        folder = self._claim.folder
        here = Path(inside.__file__ or "").parent
        programs = {f"/opt/forge/{name}": (here / name).read_bytes() for name in _PROGRAMS}
        # the launcher of the accessibility bus looks there first for what its daemon is told
        programs["/etc/at-spi2/accessibility.conf"] = (here / "accessibility.xml").read_bytes()
        plan = BoxPlan(
            home=self.home,
            guest=self.guest,
            layers=self.layers,
            binds={
                display.socket: (str(display.socket), True),
                display.cookie: (_ENVIRONMENT["XAUTHORITY"], False),
            },
            files=programs,
            clock_file=folder / "clock",
            env={**_ENVIRONMENT, "DISPLAY": display.name},
            as_init=True,
            nested_users=True,
            limits=self.limits,
            tmp=enclosure.tmp,
            user=enclosure.user,
            gate=True,
        )
        ours, theirs = zip(*(socket.socketpair() for _ in range(2)), strict=True)
        self._desktop, self._shell_channel = (Channel(end, self._why) for end in ours)
        self._desktop.during = self._shell_channel.during = self._use
        with contextlib.ExitStack() as stack:
            for end in theirs:
                stack.enter_context(end)
            numbers = [end.fileno() for end in theirs]
            argv = ["/usr/bin/python3", "-E", "-s", "/opt/forge/supervisor.py", *map(str, numbers)]
            command, fds = plan.command(argv, stack)
            self._box = start(command, pass_fds=[*fds, *numbers], log=folder / "box.log", admit=enclosure.admit)
        self.shell = Shell(self._shell_channel, self._blame.command)

    def _why(self) -> str:
        """What is known of a box that no longer answers."""
        code = None if self._box is None else self._box.poll()
        with contextlib.suppress(OSError):
            said = (self._claim.folder / "box.log").read_text(errors="replace").strip()[-400:]
            return f"{'the box still runs' if code is None else 'the box ended, ' + _how(code)} {said}".strip()
        return "the slot is closed"

    def _take_open(self, app: str, path: str | None) -> None:
        expected = self._open_already.pop(0)
        if expected != (app, path):
            raise DesktopError(
                f"the slot was prepared for {expected}, not for {(app, path)}", mend="expect what is launched"
            )
        if not self._open_already:
            self.launched.set()

    def _open_warm(self, path: str) -> int | None:
        """Open a document in the waiting LibreOffice; its process, or None when there is none."""
        warm, self._warm = self._warm, None
        if warm is None or not self.ask("open_warm", pid=warm, arguments=find_app("calc").command(path)[1:]):
            return None
        return warm

    def _found(self, app: str | None, **arguments: Any) -> list[Found]:
        match = APPS[app].bus_name if app in APPS else app
        answer = self.ask("tree", match=match, **arguments)
        windows = self.windows()
        titles = [window.title for window in reversed(windows)]
        result = []
        for tree in answer:
            name = app_of(tree["app"], titles, app)
            found = elements(name, tree["nodes"], windows)
            stale = name in APPS and APPS[name].stale_menus
            result += without_closed(found, self.panes()) if stale else found
        return result

    def _inside(self, path: str) -> str:
        if not path.startswith("~/") or ".." in path.split("/"):
            raise InputError(f"{path!r} is no path below the guest's home", mend="write ~/folder/name")
        return HOME + path[1:]

    def _wait(self, pid: int | None, deadline: float, what: str, predicate: Callable[[], bool]) -> bool:
        """Wait for a predicate; False when the process handed its task to one that runs already, and ended.

        Raises DesktopError when it ended otherwise, or the time is up.
        """
        while True:
            began = time.monotonic()
            if predicate():
                return True
            if pid is not None:
                entries = self.ask("apps")
                entry = next(entry for entry in entries if entry["pid"] == pid)
                others = (other for other in entries if other["program"] == entry["program"] and other["code"] is None)
                if entry["code"] == 0 and any(others):
                    return False
                if entry["code"] is not None:
                    raise DesktopError(f"it ended ({_how(entry['code'])}): {entry['said'].strip()[-300:]}")
            if time.monotonic() > deadline:
                titles = [window.title for window in self.windows()]
                raise DesktopError(f"{what} in time; windows: {titles}")
            # the application answers out of the time that it needs to get ready: never more than half of it
            time.sleep(max(_POLL, time.monotonic() - began))

    def _has_window(self, title: str, before: set[tuple[int, str]]) -> bool:
        return any(title in window.title for window in self.windows() if (window.id, window.title) not in before)

    def _has_contents(self, app: App) -> bool:
        if app.name == "calc":
            return self.cell("A1") is not None or any(self.cells().visible())
        return any(
            element.role in app.ready_role and app.ready_name in element.name and element.box[2] > 0
            for element in self.tree(app.name, menus=False)
        )

    def _settle_launch(self, deadline: float) -> None:
        left = max(0.1, deadline - time.monotonic())
        self.settle(first=0.15, quiet=0.15, timeout=min(left, 5))

    def _picture(self, app: str) -> str:
        """Keep a screenshot for the error."""
        with contextlib.suppress(Exception):
            folder = forge_home() / "faults"
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{self._claim.folder.name}-{app}.png"
            path.write_bytes(self.screenshot().png)
            return f" (screenshot: {path})"
        return ""


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by signal {-code}"


_open: weakref.WeakSet[Slot] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for slot in list(_open):
        if slot.owner == os.getpid():  # a forked child must not close its parent's
            try:
                slot.close()
            except Exception:  # the others are to be closed too
                log.exception("%s was not closed well", slot.home.parent)
