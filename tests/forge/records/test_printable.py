"""Text of others on a terminal: shown, not obeyed."""

from __future__ import annotations

import pytest

from forge.records.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 你好 😀\tand\nmore", "Größe 你好 😀\tand\nmore"),
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("a\rb\x08c", r"a\x0db\x08c"),
        ("\x9b2J", r"\x9b2J"),
        ("invoice\u202efdp.exe", r"invoice\u202efdp.exe"),
        ("half \udcff", r"half \udcff"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
