"""The parts of a machine that speaks OSWorld's protocol, each by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.desktop.display import Display
from forge.desktop.osworld.clipboard import Clipboard


@pytest.mark.desktop
def test_a_clipboard_is_let_go_of_after_its_displays_end(tmp_path: Path) -> None:
    display = Display(tmp_path, 640, 480)
    clipboard = Clipboard(display.connect())
    clipboard.copy("text")
    assert clipboard.paste() == "text"
    display.close()
    clipboard.close()
    assert not clipboard._thread.is_alive()
