"""Whose fault it was that a slot broke: the agent's, whose programs can break much of a desktop, or the infrastructure's.

A program of the agent's own can cut an application or us off from a display that lives, tell the X server to end, grab the
display, keep a bus busy, and, started from a terminal window, end or stop applications and buses (`bash` has processes of its
own). So it is asked when such programs ran, and how what broke has ended. What it does NOT cover: what crashes or hangs, whoever
made it do so, and programs started otherwise.
"""

from __future__ import annotations

import contextlib
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from forge.desktop.apps import APPS
from forge.desktop.display import CutOffError, Display
from forge.desktop.xprobe import SilentError, StuckError, XProbe
from forge.records.errors import DesktopError

T = TypeVar("T")
ENDING = 2.0
"""Seconds in which what a program of the agent's has broken shows itself."""
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
"""Signals that tell of a crash; with the others a program is ended on purpose."""
_CUT_OFF = r"Fatal IO error .* on X server"
"""What toolkits say when they have been cut off from the display, whatever else was said before."""
_POLL = 0.05


class Blame:
    """What tells whose fault it is when a slot breaks: when programs of the agent's own may have run, and when all was well.

    Args:
        ask: asks the slot's supervisor, see `Slot.ask`.
        display: the slot's display; raises DesktopError when there is none.
    """

    def __init__(self, ask: Callable[..., Any], display: Callable[[], Display]):
        self._ask = ask
        self._display = display
        self._lock = threading.Lock()
        self._commands = 0  # of the agent's, under way
        self._foreign = self._well = -math.inf  # when programs of its own were last known to run, and when all was well

    @contextlib.contextmanager
    def command(self) -> Iterator[None]:
        """While a command of the agent's runs."""
        with self._lock:
            self._commands += 1
        try:
            yield
        finally:
            with self._lock:
                self._commands -= 1
                self._foreign = time.monotonic()

    def well(self) -> None:
        """All is well now."""
        self.note()
        self._well = time.monotonic()

    def note(self) -> None:
        """Ask whether programs of the agent's own run; nothing is raised, for whoever asks next is told."""
        with contextlib.suppress(DesktopError):
            self._terminal()

    def is_agents(self, error: DesktopError) -> bool:
        """Whether the slot broke as a program of the agent's own can break it; may take `ENDING`, or some times that when a bus
        does not answer.

        A crash is told from an end on purpose by its signal, or by what the application says.
        """
        deadline = time.monotonic() + ENDING
        silent = True
        try:
            terminal = self._terminal()
            while self._may_be_foreign():
                display = self._display()
                if display.gave_up:
                    return True
                display.alive()
                codes = [entry["code"] or 0 for entry in self._ask("apps", timeout=5) if not _crashed(entry)]
                buses = self._ask("buses", timeout=10)
                for bus in buses:
                    if bus["code"] is not None:  # what applications then end with says nothing
                        return terminal and _on_purpose(bus["code"])
                if isinstance(error, CutOffError) or any(code > 0 for code in codes):
                    return True
                if terminal and (any(map(_on_purpose, codes)) or any(bus["stopped"] for bus in buses)):
                    return True
                silent = silent and any(not bus["answers"] and not bus["stopped"] for bus in buses)
                if time.monotonic() > deadline + (2 * ENDING if silent else 0):
                    return silent
                time.sleep(_POLL)  # what was cut off may not have ended yet
        except DesktopError:
            pass
        return False

    def is_held_up(self) -> bool:
        """Whether the display lives and answers nobody while programs of the agent's own run: one of them has grabbed it."""
        asking = threading.Thread(target=self.note, name="forge-foreign", daemon=True)
        asking.start()
        asking.join(ENDING)  # another question may be under way
        if not self._may_be_foreign():
            return False
        try:
            display = self._display()
            display.alive()
            with XProbe(display.socket, display.cookie, ENDING):
                return False
        except StuckError:
            return True
        except (DesktopError, SilentError):
            return False

    def _terminal(self) -> bool:
        """Whether a terminal window is open, or was; and takes note of programs of the agent's own."""
        found = self._ask("foreign", timeout=5)
        if any(found.values()):
            with self._lock:
                self._foreign = max(self._foreign, time.monotonic())
        terminal: bool = found["terminal"]
        return terminal

    def _may_be_foreign(self) -> bool:
        """Whether such programs run, or have run and nobody has seen since, after a while, that all is well."""
        with self._lock:
            return self._commands > 0 or self._well < self._foreign + ENDING


class Blaming(Protocol):
    """A slot, of whatever kind."""

    def blame(self, error: DesktopError) -> DesktopError:
        """The error to raise for one that it gave."""


def blaming(slot: Blaming, call: Callable[[], T]) -> T:
    """Call something that touches a slot; an error of the slot is raised as what the slot says that it is.

    Raises:
        ExhaustedError: the slot broke because of what the agent did.
        DesktopError: it broke otherwise.
        Exception: what `call` raises.
    """
    try:
        return call()
    except DesktopError as error:
        blamed = slot.blame(error)
        if blamed is error:
            raise
        raise blamed from error


def _on_purpose(code: int) -> bool:
    """Whether an exit code is that of a process that was ended by a signal on purpose."""
    return code < 0 and -code not in _CRASHES


def _crashed(entry: Mapping[str, Any]) -> bool:
    """Whether an application says of itself that it crashed, of those that then end with an exit code."""
    patterns = (app.crash for app in APPS.values() if app.program == entry["program"] and app.crash)
    said = entry["said"]
    return any(re.search(pattern, said) for pattern in patterns) and not re.search(_CUT_OFF, said)
