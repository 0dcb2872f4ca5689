"""A private X display with a window manager: Xvfb behind a cookie, no TCP, and openbox.

Each slot has its own, so that what can draw on or type into one screen can do nothing to another. Both run as the
unprivileged user of `forge.desktop.spawn` and die with this process. A window manager that ends by itself is started
again: any program of the display can take its place or cut it off. They read what the guest sends, so both are shut in
too: they see the system's read-only files and their own folder, and make the system calls of any program in a box. The X
server keeps the host's network namespace, as the kernel keeps display numbers apart there.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from forge.desktop import seccomp, xlib
from forge.desktop.box import HOSTNAME, memory_file, reachable, system
from forge.desktop.limits import Limits
from forge.desktop.place import SOCKETS, remove
from forge.desktop.spawn import identity, start, stop, unprivileged
from forge.desktop.sweep import forget_display
from forge.records.errors import DesktopError

if TYPE_CHECKING:
    import subprocess

T = TypeVar("T")
SERVER = "Xvfb"
WINDOW_MANAGER = "openbox"
_SHARED = 0o1777
_TIMEOUT = 20.0
_ENDING = 0.5  # seconds in which a server that has hung up is seen to have ended
_RETURN = 5.0  # seconds in which a window manager that has ended is to be back
_PAUSE = 1.0  # seconds between two starts of one, so that a program that ends it over and over keeps nobody busy
_SIGNALLED = 128  # exit codes from here on: killed by a signal, as bubblewrap tells it
_COOKIE_READ = 3.0  # seconds after which a connection has read its cookie, for that is the first thing it does
_COOKIE = "/run/xauthority"
_FOLDER = "/run/openbox"
_LIMITS = Limits(process_memory_mb=1536, processes=64, file_mb=64)
_environment = threading.Lock()


def share(folder: Path) -> None:
    """Make a folder in which every user may make files, but remove only their own; one that is there is mended if it has to be.

    Raises DesktopError when it is no folder, or another user's that we may not write to.
    """
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        mode = folder.lstat().st_mode
        if not stat.S_ISDIR(mode):
            raise DesktopError(f"{folder} is no folder", mend="remove it")
        if stat.S_IMODE(mode) != _SHARED:
            folder.chmod(_SHARED)
    except OSError as error:
        if not os.access(folder, os.W_OK | os.X_OK):
            mend = f"as root: mkdir -p {folder}; chmod {_SHARED:o} {folder}"
            raise DesktopError(f"no X server can put its socket into {folder} ({error.strerror})", mend=mend) from None


class CutOffError(DesktopError):
    """A connection to a display broke while its server lives on: another program of the display had it ended."""


class Display:
    """One X server and one window manager.

    Args:
        folder: an existing folder of the host for the cookie and the logs.
        width: pixels.
        height: pixels.
        user: see `forge.desktop.spawn.identity`.
        admit: called with the process id of each before it does anything; puts it into a control group.
        meanwhile: called once the server is up, before the window manager is started: what needs only a server begins.

    Raises:
        DesktopError: Xvfb or openbox is missing, or did not come up.
    """

    def __init__(
        self,
        folder: Path,
        width: int,
        height: int,
        *,
        user: int | None = None,
        admit: Callable[[int], None] = lambda pid: None,
        meanwhile: Callable[[Display], None] = lambda display: None,
    ):
        self.width = width
        self.height = height
        self._folder = folder
        self._user = user
        self._admit = admit
        self._server: subprocess.Popen[bytes] | None = None
        self._manager: subprocess.Popen[bytes] | None = None
        self._managing = threading.Lock()
        self._closed = threading.Event()
        self.number = -1
        self.cookie = folder / "xauthority"
        try:
            self._start_server()
            meanwhile(self)
            self._start_manager()
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """As for $DISPLAY, ":7"."""
        return f":{self.number}"

    @property
    def socket(self) -> Path:
        """The server's socket on the host."""
        return SOCKETS / f"X{self.number}"

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the server and the window manager."""
        return tuple(process.pid for process in (self._server, self._manager) if process is not None)

    def connect(self) -> Any:
        """A python-xlib connection (`Xlib.display.Display`); the caller closes it.

        While a program has grabbed the server this waits, until the display ends at the latest; other displays do not.
        """
        made: Future[Any] = Future()

        def make() -> None:
            try:
                made.set_result(xlib.connect(self.name))
            except BaseException as error:
                made.set_exception(error)

        with self._connecting():
            with self._own_cookie():
                threading.Thread(target=make, name="forge-connect", daemon=True).start()
                wait((made,), _COOKIE_READ)
            return made.result()

    def authorized(self, connect: Callable[[], T]) -> T:
        """Call `connect` while $XAUTHORITY names this display's cookie: both X libraries look for it only there."""
        with self._connecting(), self._own_cookie():
            return connect()

    @property
    def gave_up(self) -> bool:
        """Whether the X server has ended in good order, as any program of the display can make it do with a key for that."""
        return self._server is not None and self._server.poll() == 0

    def alive(self) -> None:
        """Raises DesktopError when the X server or the window manager has died; waits for one that is just coming back."""
        deadline = time.monotonic() + _RETURN
        while self._comes_back() and time.monotonic() < deadline:
            self._closed.wait(0.02)
        for what, process in (("X server", self._server), ("window manager", self._manager)):
            if process is None or process.poll() is not None:
                code = "it is closed" if process is None else f"exit code {process.returncode}"
                raise DesktopError(f"the {what} of display {self.name} died ({code})")

    def _comes_back(self) -> bool:
        """Whether the window manager has ended by itself, and is started again."""
        server = self._server
        lives = server is not None and server.poll() is None and not self._closed.is_set()
        return lives and _ended_by_itself(self._manager)

    def lost(self, cause: Exception) -> DesktopError:
        """The error for a connection that broke: why the display has died, or a `CutOffError` when it lives."""
        deadline = time.monotonic() + _ENDING
        try:
            while time.monotonic() < deadline:  # one that is just ending seems to live
                self.alive()
                time.sleep(0.02)
        except DesktopError as error:
            return error
        return CutOffError(f"lost the connection to display {self.name}: {str(cause) or type(cause).__name__}")

    def close(self) -> None:
        """Kill both and remove what they left. May be called twice."""
        self._closed.set()
        with self._managing:
            stop(self._manager)
            stop(self._server)
            self._manager = self._server = None
        if self.number >= 0:
            forget_display(self.number)
        self.cookie.unlink(missing_ok=True)
        if (self._folder / "openbox").exists():
            remove(self._folder / "openbox")

    @contextlib.contextmanager
    def _connecting(self) -> Iterator[None]:
        try:
            yield
        except DesktopError:
            raise
        except Exception as error:
            self.alive()
            raise DesktopError(f"no connection to display {self.name}: {error}") from error

    @contextlib.contextmanager
    def _own_cookie(self) -> Iterator[None]:
        with _environment:
            before = os.environ.get("XAUTHORITY")
            os.environ["XAUTHORITY"] = str(self.cookie)
            try:
                yield
            finally:
                if before is None:
                    del os.environ["XAUTHORITY"]
                else:
                    os.environ["XAUTHORITY"] = before

    def _start_server(self) -> None:
        share(SOCKETS)
        key = secrets.token_bytes(16)
        # the number is not known yet; for the server itself any entry's key counts
        self._write_cookie(0, key)
        ready, told = os.pipe()
        argv = [SERVER, "-displayfd", str(told), "-screen", "0", f"{self.width}x{self.height}x24", "-dpi", "96"]
        argv += ["-auth", _COOKIE, "-nolisten", "tcp", "-noreset"]
        argv += ["-extension", "GLX"]  # it would load a compiler of shaders into itself and every application: 60 MiB
        log = self._folder / "xvfb.log"
        text = b""
        with open(ready, "rb", buffering=0) as pipe:
            try:
                self._server = self._start(argv, pass_fds=(told,), log=log)
            finally:
                os.close(told)
            deadline = time.monotonic() + _TIMEOUT
            while not text.endswith(b"\n"):
                readable, _, _ = xlib.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
                piece = pipe.read(16) if readable else b""
                if not piece:
                    said = log.read_text(errors="replace").strip()[-400:]
                    raise DesktopError(f"no X server came up: {said}", mend="run `forge doctor`")
                text += piece
        self.number = int(text)
        (self._folder / "display").write_text(f"{self.number}\n")  # for the sweeper, should we die
        self._write_cookie(self.number, key)

    def _start(
        self,
        argv: list[str],
        *more: str,
        log: Path,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: tuple[int, ...] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a program of the display, shut in. The boxes' host name keeps openbox from marking titles as foreign."""
        box = ["bwrap", *system(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run"]
        box += ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", HOSTNAME, *more]
        box += ["--cap-drop", "ALL", "--die-with-parent", "--new-session"]
        shared = [(SOCKETS, str(SOCKETS), True), (self.cookie, _COOKIE, False)]
        if home is not None:
            shared.append((home, _FOLDER, True))
        prefix, sources = reachable([source for source, _, _ in shared], self._user)
        for source, (_, inside, writable) in zip(sources, shared, strict=True):
            box += ["--bind" if writable else "--ro-bind", source, inside]
        with ExitStack() as stack:
            system_calls = memory_file("filter", seccomp.program("strict"), stack)
            box += ["--seccomp", str(system_calls), "--", *_LIMITS.prefix(), *argv]
            command = [*prefix, *unprivileged(box, user=self._user, gate=True)]
            env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **(env or {})}
            return start(command, env=env, pass_fds=(*pass_fds, system_calls), log=log, admit=self._admit)

    def _write_cookie(self, number: int, key: bytes) -> None:
        """The Xauthority file: for this host by name, and for any host name (a box has another one)."""
        name = b"MIT-MAGIC-COOKIE-1"
        entries = b""
        for family, host in ((256, socket.gethostname().encode()), (65535, b"")):
            entries += struct.pack(">H", family)
            for field in (host, str(number).encode(), name, key):
                entries += struct.pack(">H", len(field)) + field
        self.cookie.write_bytes(entries)
        self.cookie.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(self.cookie, *identity(self._user))

    def _start_manager(self) -> None:
        home = self._folder / "openbox"
        home.mkdir()
        config = home / "rc.xml"
        config.write_bytes(Path(__file__).with_name("openbox.xml").read_bytes())
        if os.geteuid() == 0:
            for path in (home, config):
                os.chown(path, *identity(self._user))
        watch = self.connect()
        try:
            with self._connecting():
                self._await_manager(watch)
        finally:
            disconnect(watch)
        threading.Thread(target=self._keep_manager, args=(self._manager,), name="forge-openbox", daemon=True).start()

    def _await_manager(self, watch: Any) -> None:
        """Start the window manager and wait until it is there, seen over a python-xlib connection."""
        from Xlib import X

        root = watch.screen().root
        root.change_attributes(event_mask=X.PropertyChangeMask)
        check = watch.intern_atom("_NET_SUPPORTING_WM_CHECK")
        try:
            self._manager = self._run_manager()
        except FileNotFoundError as error:
            raise DesktopError(f"{error.filename} is not installed", mend="run setup/install") from None
        deadline = time.monotonic() + _TIMEOUT
        while root.get_full_property(check, X.AnyPropertyType) is None:
            xlib.select([watch.fileno()], [], [], 0.05)
            while watch.pending_events():
                watch.next_event()
            if self._manager.poll() is not None or time.monotonic() > deadline:
                said = (self._folder / "openbox.log").read_text(errors="replace").strip()[-400:]
                mend = "install openbox, or run setup/install"
                raise DesktopError(f"no window manager came up on display {self.name}: {said}", mend=mend)

    def _run_manager(self, *more: str) -> subprocess.Popen[bytes]:
        environment = {"DISPLAY": self.name, "HOME": _FOLDER, "XAUTHORITY": _COOKIE, "XDG_CONFIG_DIRS": _FOLDER}
        argv = [WINDOW_MANAGER, "--sm-disable", "--config-file", f"{_FOLDER}/rc.xml", *more]
        home, log = self._folder / "openbox", self._folder / "openbox.log"
        return self._start(argv, "--unshare-net", env=environment, home=home, log=log)

    def _keep_manager(self, manager: subprocess.Popen[bytes]) -> None:
        """Start the window manager again as often as it ends by itself; one that was killed stays dead."""
        while True:
            with contextlib.suppress(ChildProcessError):  # `manager.wait` would keep `alive` from seeing its end
                os.waitid(os.P_PID, manager.pid, os.WEXITED | os.WNOWAIT)
            manager.poll()
            with self._managing:
                server = self._server
                if (
                    self._closed.is_set()
                    or not _ended_by_itself(manager)
                    or server is None
                    or server.poll() is not None
                ):
                    return
                try:
                    manager = self._manager = self._run_manager("--replace")
                except (DesktopError, OSError):  # whoever asks next is told that it has died
                    return
            if self._closed.wait(_PAUSE):
                return


def disconnect(connection: Any) -> None:
    """Close a python-xlib connection, also one that is broken."""
    try:
        connection.close()
    except Exception:  # it cannot say goodbye, for the server may have died before
        connection.display.socket.close()


def _ended_by_itself(manager: subprocess.Popen[bytes] | None) -> bool:
    code = None if manager is None else manager.poll()
    return code is not None and 0 <= code < _SIGNALLED
