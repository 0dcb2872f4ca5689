"""Text that others wrote, made fit for a person's terminal.

What an agent, an application or a model wrote may hold control sequences that retitle, rewrite or answer for a terminal, and
marks that reverse the direction of reading. They are shown instead of obeyed.
"""

from __future__ import annotations

import re

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def printable(text: str) -> str:
    r"""`text` with control characters (but line feed and tab) and marks of direction as escapes, such as `\x1b`."""
    return _OBEYED.sub(_escape, text).encode("utf-8", "backslashreplace").decode()


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
