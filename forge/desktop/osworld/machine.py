"""A slot in the place of OSWorld's virtual machine: what its guest server's calls come down to."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from pathlib import Path

from forge.desktop.limits import SLOT, Limits
from forge.desktop.osworld.layer import below_home, osworld_layers
from forge.desktop.osworld.link import Link
from forge.desktop.osworld.tree import to_xml
from forge.desktop.recording import Recording
from forge.desktop.slot import Slot
from forge.records.errors import DesktopError
from forge.records.guest import Guest

_OPENERS = {
    "calc": ("xlsx", "xls", "ods", "csv", "tsv"),
    "writer": ("docx", "doc", "odt", "rtf"),
    "impress": ("pptx", "ppt", "odp"),
    "editor": ("txt", "md", "py", "json", "xml", "log", "sh"),
    "gimp": ("png", "jpg", "jpeg", "xcf", "bmp", "gif"),
}
"""What opens a file of a suffix; xdg-open decides on all others."""


class Machine:
    """One slot in the place of a virtual machine. Methods block; they are called in threads.

    Args:
        guest: of the slot; its screen is OSWorld's 1920x1080 if None.
        root: FORGE_HOME; the settings' if None.
        limits: what it may use of the host.
    """

    def __init__(self, guest: Guest | None = None, root: Path | None = None, limits: Limits = SLOT):
        self.guest = guest or Guest(width=1920, height=1080)
        self._root = root
        self._limits = limits
        self._lock = threading.Lock()
        self._recording: tuple[Recording, Path] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="forge-osworld-")
        self._open()

    def reset(self) -> None:
        """A new desktop."""
        with self._lock:
            self._end()
            self._open()

    def close(self) -> None:
        """End it all. May be called twice."""
        with self._lock:
            self._end()
            self._folder.cleanup()

    def start_recording(self) -> bool:
        """Record from now on; False when that is done already."""
        with self._lock:
            if self._recording is not None:
                return False
            file = Path(self._folder.name) / "recording.mp4"
            self._recording = Recording(self.slot, file, rate=30), file
            return True

    def end_recording(self) -> Path | None:
        """The finished MP4; None when nothing was recorded."""
        with self._lock:
            if self._recording is None:
                return None
            (recording, file), self._recording = self._recording, None
            recording.close()
            return file

    def accessibility(self) -> str:
        """The accessibility tree as XML, with the cells in view below their sheet."""
        elements = self.slot.tree()
        if any(element.app == "calc" and element.role == "table" for element in elements):
            elements += self.slot.cells().visible()
        return to_xml(elements, self.slot.windows())

    def terminal(self) -> str | None:
        """The text of the terminal in the active window; None when there is none."""
        active = next((window.title for window in self.slot.windows() if window.active), None)
        found = [element for element in self.slot.tree("terminal") if element.role == "terminal"]
        named = any(element.name == active for element in self.slot.tree("terminal", menus=False))
        return (found[0].text or "").rstrip() if found and named else None

    def open_file(self, path: str) -> None:
        """Open a file with its application and wait until it shows. Raises FileNotFoundError."""
        facts = self.link.ask("what", path=path)
        if facts["kind"] is None:
            raise FileNotFoundError(path)
        below = below_home(facts["path"])
        suffix = path.rpartition(".")[2].lower()
        application = next((name for name, suffixes in _OPENERS.items() if suffix in suffixes), None)
        if facts["kind"] == "directory":
            application = "files"
        if application is None or below is None:
            self.link.ask("start", command=["xdg-open", facts["path"]])
        else:
            self.slot.launch(application, below)

    def _open(self) -> None:
        self.slot = Slot.open(
            self.guest,
            home_files=[(f"~/{name}", b"", 0o755, True) for name in ("Desktop", "Documents", "Downloads")],
            layers=osworld_layers(),
            limits=self._limits,
            root=self._root,
        )
        try:
            self.link = Link(self.slot)
        except BaseException:
            self.slot.close()
            raise

    def _end(self) -> None:
        if self._recording is not None:
            recording, self._recording = self._recording[0], None
            with contextlib.suppress(DesktopError):
                recording.close()
        try:
            self.slot.close()  # first: whoever waits for a display that a program has grabbed is set free by its end
        finally:
            self.link.close()
