"""A desktop made of nothing, for unit tests of what stands on one. It has the face of `forge.desktop.Slot`.

It knows a list of elements and windows, reacts to clicks on named elements by functions the test gives, notes every input,
and draws a flat picture that changes with every input unless it is frozen. It does NOT imitate any application: whatever
concerns real windows is tested on real ones.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from forge.desktop.screen import Screenshot
from forge.desktop.shell import ShellResult
from forge.desktop.windows import Window
from forge.harness.dialects import Call
from forge.harness.teachers.base import Response, View
from forge.records import DesktopError, Element, ExhaustedError, Guest, InputError, Provenance


@dataclass
class FakeDesktop:
    """The fake slot.

    Args:
        guest: gives the screen size.
        elements: what the accessibility tree holds, in drawing order.
        window_list: the windows, lowest first.
        on_click: element name to what a click on it does.
        on_key: chord to what pressing it does.
        key_bindings: element name to its key bindings, as toolkits tell them.
        commands: answers of the shell; unknown commands exit with 127.
        frozen: whether the picture stays the same whatever happens.
        broken: when set, everything raises DesktopError with this text.
        exhausted: whether it broke because the agent used up what it may use.
        home: the guest's home on the host.
    """

    guest: Guest = field(default_factory=lambda: Guest(width=640, height=480))
    elements: list[Element] = field(default_factory=list)
    window_list: list[Window] = field(default_factory=lambda: [Window(1, "Fake", 0, 0, 640, 480, True)])
    on_click: dict[str, Callable[[], None]] = field(default_factory=dict)
    on_key: dict[str, Callable[[], None]] = field(default_factory=dict)
    key_bindings: dict[str, str] = field(default_factory=dict)
    commands: dict[str, ShellResult] = field(default_factory=dict)
    frozen: bool = False
    broken: str = ""
    exhausted: bool = False
    home: Path = Path("/nonexistent")
    log: list[tuple[object, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.input = FakeInput(self)
        self.shell = FakeShell(self)
        self._changes = 0

    def alive(self) -> None:
        if self.broken:
            raise DesktopError(self.broken)

    def blame(self, error: DesktopError) -> DesktopError:
        return ExhaustedError(error.message) if self.exhausted else error

    def screenshot(self) -> Screenshot:
        self.alive()
        image = Image.new("RGB", (self.guest.width, self.guest.height), _color(self._changes))
        draw = ImageDraw.Draw(image)
        for element in self.elements:
            x, y, width, height = element.box
            draw.rectangle((x, y, x + width - 1, y + height - 1), outline="black", fill="white")
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=1)
        return Screenshot(buffer.getvalue(), image.width, image.height)

    def settle(
        self, predicate: Callable[[], bool] | None = None, *, first: float = 0.6, quiet: float = 0.3, timeout: float = 8
    ) -> float:
        self.alive()
        if predicate is not None:
            predicate()
        return 0.0

    def windows(self) -> list[Window]:
        self.alive()
        return list(self.window_list)

    def tree(self, app: str | None = None, *, menus: bool = True, under: Sequence[int] = ()) -> list[Element]:
        self.alive()
        size = len(under)
        return [
            element
            for element in self.elements
            if app is None or element.app in ("", app)
            if element.path[:size] == tuple(under)[: len(element.path)]
        ]

    def ask(self, what: str, **arguments: Any) -> Any:
        """Only `details`: key bindings by element name."""
        self.alive()
        assert what == "details"
        named = {element.path: element.name for element in self.elements}
        names = [named.get(tuple(path), "") for path in arguments["paths"]]
        return [{"description": "", "keys": self.key_bindings.get(name, ""), "label": ""} for name in names]

    def element_at(self, x: int, y: int) -> Element | None:
        self.alive()
        return next((element for element in reversed(self.elements) if _inside(element, x, y)), None)

    def happened(self, *what: object) -> None:
        """Note an input and change the picture."""
        self.alive()
        self.log.append(what)
        if not self.frozen:
            self._changes += 1


class FakeInput:
    """Pointer and keyboard of the fake desktop."""

    def __init__(self, desktop: FakeDesktop):
        self.desktop = desktop

    def move(self, x: int, y: int) -> None:
        self.desktop.happened("move", x, y)

    def click(self, x: int, y: int, button: int = 1, count: int = 1, modifiers: Iterable[str] = ()) -> None:
        hit = self.desktop.element_at(x, y)
        self.desktop.happened("click", x, y, button, count, tuple(modifiers))
        if hit is not None and hit.name in self.desktop.on_click:
            self.desktop.on_click[hit.name]()

    def press(self, button: int = 1) -> None:
        self.desktop.happened("press", button)

    def release(self, button: int = 1) -> None:
        self.desktop.happened("release", button)

    def drag(self, x0: int, y0: int, x1: int, y1: int) -> None:
        self.desktop.happened("drag", x0, y0, x1, y1)

    def scroll(self, x: int, y: int, dx: int, dy: int) -> None:
        self.desktop.happened("scroll", x, y, dx, dy)

    def type(self, text: str) -> None:
        self.desktop.happened("type", text)

    def key(self, keys: str) -> None:
        if "nosuchkey" in keys:
            raise InputError(f"no key {keys!r}")
        self.desktop.happened("key", keys)
        if keys in self.desktop.on_key:
            self.desktop.on_key[keys]()

    def hold(self, keys: str, seconds: float) -> None:
        self.desktop.happened("hold", keys, seconds)


class FakeShell:
    """The fake desktop's shell: a dictionary."""

    def __init__(self, desktop: FakeDesktop):
        self.desktop = desktop

    def run(
        self, command: str, timeout: float = 60, output_limit: int = 1_000_000, *, by_host: bool = False
    ) -> ShellResult:
        self.desktop.alive()
        self.desktop.log.append(("by_host" if by_host else "run", command, timeout))
        unknown = ShellResult(f"bash: {command.split()[0]}: command not found", 127, False, False)
        return self.desktop.commands.get(command, unknown)

    def restart(self) -> None:
        self.desktop.alive()
        self.desktop.log.append(("restart",))


class ScriptedTeacher:
    """Says the given responses one after another, then `done success`. It keeps the views it was shown.

    Args:
        script: responses, errors to raise, or functions from a view to a response.
    """

    name = "scripted"
    provenance = Provenance.REPLAY

    def __init__(self, script: Iterable[Response | Exception | Callable[[View], Response]]):
        self.script = iter(script)
        self.views: list[View] = []

    async def respond(self, view: View) -> Response:
        self.views.append(view)
        step = next(self.script, Response(calls=(Call("last", "done", '{"status": "success"}'),)))
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Response) else step(view)


def _inside(element: Element, x: int, y: int) -> bool:
    left, top, width, height = element.box
    return left <= x < left + width and top <= y < top + height


def _color(number: int) -> tuple[int, int, int]:
    return 60 + number * 37 % 160, 60 + number * 71 % 160, 60 + number * 113 % 160
