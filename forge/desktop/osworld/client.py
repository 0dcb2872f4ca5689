"""A virtual machine that speaks OSWorld's guest protocol, used like a slot, so that harnesses play on it.

The protocol knows no retries: a call that changes something is sent once, and one whose answer was lost is a DesktopError.

What it does NOT cover: the machine is neither made, reset nor closed here; `stop` ends no process there; a command has at most
two minutes and 1 MiB; of the shell, directory and exported variables go on from command to command, functions and jobs do not.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import httpx

from forge.desktop.apps import find_app
from forge.desktop.box import NO_LAYERS
from forge.desktop.files import TOTAL_LIMIT, excluded
from forge.desktop.health import Health
from forge.desktop.mirror import Mirror
from forge.desktop.osworld.keys import pyautogui_keys
from forge.desktop.osworld.tree import from_xml, windows_in
from forge.desktop.screen import Screenshot
from forge.desktop.server.wire import Listed, Listing
from forge.desktop.shell import OUTPUT_LIMIT, ShellResult
from forge.desktop.slot import LAUNCH_TIMEOUT, File, Slot
from forge.desktop.windows import Pane, Window
from forge.records.artifact import FileEntry, Snapshot
from forge.records.errors import DesktopError, InputError
from forge.records.guest import Guest
from forge.records.trajectory import Element

PREFIX = (
    "import sys; sys.path = [folder for folder in sys.path if folder]; "  # nothing of the home, where this is run
    "import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.PAUSE = 0; "
)
COMMANDS = {
    "calc": ["libreoffice", "--calc"],
    "writer": ["libreoffice", "--writer"],
    "impress": ["libreoffice", "--impress"],
    "thunderbird": ["thunderbird"],
    "chromium": ["google-chrome"],
    "files": ["nautilus"],
    "terminal": ["gnome-terminal"],
    "editor": ["gedit"],
    "gimp": ["gimp"],
    "vlc": ["vlc"],
}
"""How that machine's applications are started."""
_RETRIES = 3
_POLL = 0.15
_LONGEST = 110.0  # seconds of a command; the server gives up after 120
_BUTTONS = {1: "left", 2: "middle", 3: "right"}
_FRESH = 0.05
_STATE = "/tmp/.forge-shell"
_PIECE = 96 << 10  # bytes of one argument; Linux takes at most 128 KiB
_MOST = 1 << 20  # bytes of a command: with its pieces in base64, less than the 2 MiB of all arguments together
_LIST = """
import json, os, stat, sys
home = sys.argv[1]
found = {"files": [], "folders": [], "links": []}
for root, folders, names in os.walk(home):
    for name in folders + names:
        path = os.path.join(root, name)
        facts = os.lstat(path)
        short = os.path.relpath(path, home)
        if stat.S_ISLNK(facts.st_mode):
            found["links"].append([short, os.readlink(path), facts.st_mode & 0o777])
        elif stat.S_ISDIR(facts.st_mode):
            found["folders"].append([short, facts.st_mode & 0o777])
        elif stat.S_ISREG(facts.st_mode):
            found["files"].append([short, facts.st_size, facts.st_mtime_ns, facts.st_mode & 0o777])
print(json.dumps(found))
"""


class OSWorldSlot(Slot):
    """The machine behind an address.

    Args:
        url: of its guest server, "http://host:5000".
        home: the home's path there.
        guest: its clock, zone and locale, for the record; the screen size is asked for.

    Raises:
        DesktopError: nothing that speaks the protocol answers there.
    """

    input: OSWorldInput  # type: ignore[assignment]
    shell: OSWorldShell  # type: ignore[assignment]
    screen: OSWorldScreen  # type: ignore[assignment]

    def __init__(self, url: str, *, home: str = "/home/user", guest: Guest | None = None):
        self.url = url.rstrip("/")
        self.layers = NO_LAYERS
        self.launched = threading.Event()
        self._there = home.rstrip("/")
        self._http = httpx.Client(base_url=self.url, timeout=httpx.Timeout(30.0, read=150.0), trust_env=False)
        self._on_close: list[Callable[[], None]] = []
        self._born = time.monotonic()
        self._mirror: Mirror | None = None
        self._read_at, self._elements = -1.0, list[Element]()
        size = self.request("POST", "/screen_size", safe=True).json()
        self.guest = (guest or Guest()).model_copy(update={"width": size["width"], "height": size["height"]})
        self.input = OSWorldInput(self)
        self.shell = OSWorldShell(self)
        self.screen = OSWorldScreen(self)

    @property
    def home(self) -> Path:  # type: ignore[override]
        """A copy of the home, a moment behind."""
        if self._mirror is None:
            self._mirror = Mirror(self._listing, self.read)
        self._mirror.follow()
        return self._mirror.folder

    def request(self, method: str, path: str, *, safe: bool = False, **options: Any) -> httpx.Response:
        """One call. `safe` ones change nothing and are tried again.

        Raises DesktopError: no answer, or one that is an error; a 404 is a FileNotFoundError.
        """
        for attempt in range(_RETRIES if safe else 1):
            if attempt:
                time.sleep(0.3 * attempt)
            try:
                response = self._http.request(method, path, **options)
            except httpx.TransportError as error:
                said = str(error) or type(error).__name__
                continue
            if response.status_code == 404:
                raise FileNotFoundError(path)
            if response.is_error:
                raise DesktopError(f"{self.url}{path} answered {response.status_code}: {response.text[:300]}")
            return response
        raise DesktopError(f"the machine {self.url} does not answer {path}: {said}")

    def execute(self, command: Sequence[str], seconds: float = 120) -> dict[str, Any]:
        """Run a command there; its `output`, `error` and `returncode`."""
        answer: dict[str, Any] = self.request(
            "POST", "/execute", json={"command": list(command), "shell": False}, timeout=seconds + 30
        ).json()
        return answer

    def python(self, code: str) -> str:
        """Run Python there that uses pyautogui; what it printed.

        Raises:
            InputError: it is too long.
            DesktopError: it failed.
        """
        if len(code.encode()) > _PIECE:
            raise InputError(f"that is more than {_PIECE >> 10} KiB to type", mend="type it in parts")
        self._read_at = -1.0
        done = self.execute(["python", "-c", PREFIX + code])
        if done.get("returncode") != 0:
            raise DesktopError(f"{self.url}: {str(done.get('error')).strip()[-300:]}")
        return str(done["output"])

    def lay(self, home_files: Iterable[File]) -> None:
        for path, data, mode, is_folder in home_files:
            place = self._inside(path)
            folder = place if is_folder else place.rpartition("/")[0]
            self._checked(["mkdir", "-p", folder])
            if not is_folder:
                upload = {"file_data": (place.rpartition("/")[2], data)}
                self.request("POST", "/setup/upload", data={"file_path": place}, files=upload)
            self._checked(["chmod", f"{mode & 0o777:o}", place])

    def read(self, path: str) -> bytes:
        """A file of the home. Raises FileNotFoundError."""
        return self.request("POST", "/file", safe=True, data={"file_path": self._inside(path)}).content

    def set_clock(self, at: str | None = None) -> None:
        """Nothing: the machine's clock is its own."""

    def launch(self, app: str, path: str | None = None, *, timeout: float = LAUNCH_TIMEOUT) -> None:
        if app not in COMMANDS:
            raise InputError(f"no application is called {app!r}", mend=f"known are {', '.join(COMMANDS)}")
        place = None if path is None else self._inside(path)
        before = {window.title for window in self.windows()}
        self.request("POST", "/setup/launch", json={"command": _command(app, place), "shell": False})
        name = None if place is None else place.rpartition("/")[2]
        deadline = time.monotonic() + timeout
        while not self._is_up(app, name, before):
            if time.monotonic() > deadline:
                titles = [window.title for window in self.windows()]
                raise DesktopError(f"{app} did not get ready on {self.url}: windows: {titles}")
            time.sleep(_POLL)
        self.settle(first=0.3, quiet=0.5, timeout=5)
        self.launched.set()

    def prepare(self, start: Iterable[tuple[str, str | None]]) -> None:
        self._not_here("preparation")

    def preload(self, app: str) -> None:
        """Nothing."""

    def screenshot(self) -> Screenshot:
        png = self.request("GET", "/screenshot", safe=True).content
        return Screenshot(png, self.guest.width, self.guest.height)

    def settle(
        self,
        predicate: Callable[[], bool] | None = None,
        *,
        first: float = 0.6,
        quiet: float = 0.3,
        timeout: float = 8,
    ) -> float:
        """As `forge.desktop.settle`, by comparing pictures, for there is no notice of damage."""
        started = time.monotonic()
        end = started + timeout
        while predicate is not None and not predicate():
            if time.monotonic() >= end:
                return timeout
            time.sleep(_POLL)
        before, changed = self.screenshot().png, time.monotonic()
        rest = max(first, quiet)
        while time.monotonic() < min(end, changed + rest):
            time.sleep(_POLL / 2)
            now = self.screenshot().png
            if now != before:
                before, changed, rest = now, time.monotonic(), quiet
        return time.monotonic() - started

    def windows(self) -> list[Window]:
        return windows_in(self._tree())

    def panes(self) -> list[Pane]:
        return [Pane(w.x, w.y, w.width, w.height, w.id) for w in self.windows()]

    def tree(self, app: str | None = None, *, menus: bool = True, under: Sequence[int] = ()) -> list[Element]:
        size = len(under)
        return [
            e
            for e in self._tree()
            if (app is None or e.app == app)
            and (menus or "menu" not in e.role)
            and (e.path[:size] == tuple(under) or tuple(under)[: len(e.path)] == e.path)
        ]

    def cell(self, ref: str) -> Element | None:
        found = (e for e in self._tree() if e.role == "table cell" and e.name == ref.replace("$", "").upper())
        return next(found, None)

    def element_at(self, x: int, y: int) -> Element | None:
        best: tuple[tuple[int, int, int], Element] | None = None
        ranks = {window.title: rank for rank, window in enumerate(self.windows())}
        tops: dict[tuple[str, tuple[int, ...]], str] = {
            (e.app, e.path): e.name for e in self._tree() if len(e.path) == 1
        }
        for element in self._tree():
            left, top, width, height = element.box
            if element.path and left <= x < left + width and top <= y < top + height:
                rank = ranks.get(tops.get((element.app, element.path[:1]), ""), -1)
                key = (rank, -(width * height), len(element.path))
                if best is None or key >= best[0]:
                    best = key, element
        return best[1] if best else None

    def alive(self) -> None:
        self.request("POST", "/screen_size", safe=True)

    def blame(self, error: DesktopError) -> DesktopError:
        """The error itself."""
        return error

    def dead(self) -> Iterator[tuple[str, str]]:
        try:
            self.alive()
        except DesktopError as error:
            yield "machine", error.message

    def health(self) -> Health:
        self._not_here("health")

    def lend(self, seconds: float) -> None:
        """Nothing: the machine is not ours to take back."""

    def renew(self) -> bool:
        return True

    def stop(self) -> None:
        """Nothing: the protocol has no way to end what runs there; see the module."""

    def snapshot(self, put: Callable[[bytes], str]) -> Snapshot:
        found = self._walk()
        entries = [FileEntry(path=f"~/{path}", kind="folder", mode=mode) for path, mode in found["folders"]]
        entries += [FileEntry(path=f"~/{p}", kind="link", mode=m, target=target) for p, target, m in found["links"]]
        total = 0
        for path, size, _, mode in found["files"]:
            total += size
            if total > TOTAL_LIMIT:
                raise DesktopError(f"the home of {self.url} holds more than {TOTAL_LIMIT >> 20} MiB")
            data = self.read(f"~/{path}")
            entries.append(FileEntry(path=f"~/{path}", sha256=put(data), size=len(data), mode=mode))
        return Snapshot(entries=tuple(entries))

    def close(self) -> None:
        """Hang up; the machine goes on."""
        if self._mirror is not None:
            self._mirror.close()
        self._http.close()
        while self._on_close:
            self._on_close.pop()()

    def ask(self, what: str, *, timeout: float = 30, **arguments: Any) -> Any:
        self._not_here("supervisor")

    def connect(self) -> Any:
        self._not_here("display")

    @property
    def display(self) -> str:
        self._not_here("display")

    @property
    def display_socket(self) -> Path:
        self._not_here("display")

    @property
    def xauthority(self) -> Path:
        self._not_here("display")

    @property
    def pids(self) -> tuple[int, ...]:
        self._not_here("processes")

    def _tree(self) -> list[Element]:
        """The tree, read anew after an action and whenever it is no longer fresh."""
        if time.monotonic() - self._read_at > _FRESH:
            self._elements = from_xml(self.request("GET", "/accessibility", safe=True).json()["AT"])
            self._read_at = time.monotonic()
        return self._elements

    def _is_up(self, app: str, name: str | None, before: set[str]) -> bool:
        titles = [window.title for window in self.windows()]
        if not any(_shows(title, name, before) for title in titles):
            return False
        return app != "calc" or self.cell("A1") is not None

    def _walk(self) -> dict[str, list[Any]]:
        done = self.execute(["python", "-I", "-c", _LIST, self._there])
        if done.get("returncode") != 0:
            raise DesktopError(f"the home of {self.url} cannot be listed: {str(done.get('error'))[-300:]}")
        found: dict[str, list[Any]] = json.loads(done["output"])
        return {kind: [each for each in listed if not _left_out(each[0])] for kind, listed in found.items()}

    def _listing(self) -> Listing:
        found = self._walk()
        files = tuple(Listed(path=path, size=size, mtime_ns=stamp) for path, size, stamp, _ in found["files"])
        return Listing(files=files, folders=tuple(path for path, _ in found["folders"]))

    def _checked(self, command: Sequence[str]) -> None:
        done = self.execute(command)
        if done.get("returncode") != 0:
            raise DesktopError(f"{self.url}: {shlex.join(command)}: {str(done.get('error')).strip()[-300:]}")

    def _inside(self, path: str) -> str:
        if not path.startswith("~/") or ".." in path.split("/"):
            raise InputError(f"{path!r} is no path below the guest's home", mend="write ~/folder/name")
        return self._there + path[1:]

    def _not_here(self, what: str) -> NoReturn:
        raise DesktopError(f"OSWorld's protocol does not reach the {what} of {self.url}")


class OSWorldInput:
    """Keyboard and pointer, by pyautogui there."""

    def __init__(self, slot: OSWorldSlot):
        self._slot = slot

    def move(self, x: int, y: int) -> None:
        self._slot.python(f"pyautogui.moveTo({x}, {y})")

    def click(self, x: int, y: int, button: int = 1, count: int = 1, modifiers: Sequence[str] = ()) -> None:
        keys = [key for name in modifiers for key in pyautogui_keys(name)]
        code = [f"pyautogui.keyDown({key!r})" for key in keys]
        code.append(f"pyautogui.click({x}, {y}, clicks={count}, button={_BUTTONS[button]!r})")
        code += [f"pyautogui.keyUp({key!r})" for key in reversed(keys)]
        self._slot.python("; ".join(code))

    def press(self, button: int = 1) -> None:
        self._slot.python(f"pyautogui.mouseDown(button={_BUTTONS[button]!r})")

    def release(self, button: int = 1) -> None:
        self._slot.python(f"pyautogui.mouseUp(button={_BUTTONS[button]!r})")

    def drag(self, x0: int, y0: int, x1: int, y1: int, button: int = 1) -> None:
        code = f"pyautogui.moveTo({x0}, {y0}); pyautogui.dragTo({x1}, {y1}, duration=0.6, button={_BUTTONS[button]!r})"
        self._slot.python(code)

    def scroll(self, x: int, y: int, dx: int = 0, dy: int = 0) -> None:
        code = [f"pyautogui.moveTo({x}, {y})"]
        code += [f"pyautogui.vscroll({-dy})"] if dy else []
        code += [f"pyautogui.hscroll({dx})"] if dx else []
        self._slot.python("; ".join(code))

    def type(self, text: str) -> None:
        """A line with characters that have no key goes by the clipboard there, as OSWorld's agents do it."""
        code = []
        for part in re.split(r"([\n\t])", text.replace("\r\n", "\n")):
            if part.isascii():
                code += [f"pyautogui.typewrite({part!r})"] if part else []
            else:  # who pastes fetches the text a moment after the key
                code.append(f"pyperclip.copy({part!r}); pyautogui.hotkey('ctrl', 'v'); time.sleep(0.5)")
        if code:
            self._slot.python("; ".join(["" if text.isascii() else "import pyperclip", *code]).lstrip("; "))

    def key(self, keys: str) -> None:
        names = ", ".join(map(repr, pyautogui_keys(keys)))
        self._slot.python(f"pyautogui.hotkey({names})")

    def down(self, key: str) -> None:
        self._slot.python(f"pyautogui.keyDown({pyautogui_keys(key)[0]!r})")

    def up(self, key: str) -> None:
        self._slot.python(f"pyautogui.keyUp({pyautogui_keys(key)[0]!r})")

    def hold(self, keys: str, seconds: float) -> None:
        names = pyautogui_keys(keys)
        code = [f"pyautogui.keyDown({name!r})" for name in names] + [f"time.sleep({seconds})"]
        self._slot.python("; ".join([*code, *(f"pyautogui.keyUp({name!r})" for name in reversed(names))]))

    def position(self) -> tuple[int, int]:
        x, y = json.loads(self._slot.python("import json; print(json.dumps(list(map(int, pyautogui.position()))))"))
        return x, y

    def close(self) -> None:
        """Nothing."""


class OSWorldShell:
    """Commands there, one after another in the same directory with the same exported variables.

    One longer than 1 MiB is not run: its result says so, with exit code 126.
    """

    def __init__(self, slot: OSWorldSlot):
        self._slot = slot

    def run(
        self, command: str, timeout: float = 60, output_limit: int = OUTPUT_LIMIT, *, by_host: bool = False
    ) -> ShellResult:
        limit = min(timeout, _LONGEST)
        inner = (
            f'set --; [ -f {_STATE} ] && . {_STATE}; cd "${{FORGE_PWD:-$HOME}}" 2>/dev/null\n{command}\n'
            f"forge_code=$?; FORGE_PWD=$PWD; export FORGE_PWD; export -p > {_STATE}; exit $forge_code"
        )
        whole = inner.encode()
        if len(whole) > _MOST:
            return ShellResult(f"the command is longer than {_MOST >> 10} KiB: give it in parts\n", 126, False, False)
        encoded = base64.b64encode(whole).decode()
        pieces = [encoded[start : start + _PIECE] for start in range(0, len(encoded), _PIECE)]
        script = shlex.quote('eval "$(printf %s "$@" | base64 -d)"')
        outer = f'timeout -k 2 {limit:g} bash -c {script} bash "$@" 2>&1 </dev/null'
        done = self._slot.execute(["bash", "-c", outer, "bash", *pieces], seconds=limit)
        code = done.get("returncode")
        text = str(done.get("output") or "")
        data = text.encode()
        truncated = len(data) > output_limit
        if truncated:
            half = output_limit // 2
            start, end = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
            text = f"{start}\n[{len(data) - 2 * half} bytes left out]\n{end}"
        if code in (124, 137):
            return ShellResult(text, None, True, truncated)
        return ShellResult(text, code, False, truncated)

    def restart(self) -> None:
        self._slot.execute(["rm", "-f", _STATE])


class OSWorldScreen:
    """Pictures."""

    def __init__(self, slot: OSWorldSlot):
        self._slot = slot

    def screenshot(self) -> Screenshot:
        return self._slot.screenshot()

    def close(self) -> None:
        """Nothing."""


def _command(app: str, place: str | None) -> list[str]:
    if app == "calc":  # ours tells it how a text table is read, else a dialog asks
        return [*COMMANDS[app][:1], *find_app(app).command(place)[1:]]
    return [*COMMANDS[app], *([] if place is None else [place])]


def _shows(title: str, name: str | None, before: set[str]) -> bool:
    """Whether a title may be that of the window waited for: one that was there before must name the file with its suffix."""
    if title in before:
        return name is not None and name in title
    return name is None or _names(title, name)


def _names(title: str, name: str) -> bool:
    """Whether a title names a file, with its suffix or, as GIMP does, without."""
    stem = name.rpartition(".")[0] or name
    return name in title or re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", title) is not None


def _left_out(path: str) -> bool:
    parts = path.split("/")
    return any(excluded("/".join(parts[: n + 1])) for n in range(len(parts)))
