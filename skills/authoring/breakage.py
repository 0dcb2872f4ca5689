"""What breaks while a draft is tried, in words for its author: whose fault it is, what broke, and where in our code.

Whatever an author writes may reach code that nobody tried with it. Such an error is something to tell the author, not a
reason to end the run: the same call would be carried out again on every resumption. Only the machine's and the
endpoint's own faults are raised.
"""

from __future__ import annotations

import errno
import re
import subprocess
import traceback
from collections.abc import Iterator
from pathlib import Path

from forge.records import DesktopError, ForgeError, ModelError, Settings, WarehouseError

ROOT = Path(__file__).parents[2]
_ROOMS = {
    "bench", "cli", "flows", "forge", "preparers", "rounds", "skills", "tests", "training", "verifiers", "warehouse",
}  # fmt: skip
"""Our folders below ROOT, beside which other packages may lie: a `.venv`, or all of site-packages."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EIO}
_NO_THREAD = "can't start new thread"
_WORD = r"[^\s'\"`(),:;=<>|]"
_HOMES = re.compile(rf"(?<!{_WORD})/(?:{_WORD}*/)?(?:copy-\w{{8}}/home|home-\w{{8}}|slots/[\w.-]+/home)(?=/|\b)")
_DRAFTS = re.compile(rf"(?<!{_WORD})/(?:{_WORD}*/)?(?:draft-|smoke-|forge-[a-z]+-)\w{{8}}/")
_PICTURES = re.compile(r"\n *screenshot: [^\n]*")


def machine_fault(error: BaseException) -> Exception | None:
    """What the machine or an endpoint failed at, whatever the draft says: a full disk, a slot that does not start.

    Args:
        error: looked at with all that it was raised from.

    Returns:
        The fault, as an error that makes a job try again; None where it is the draft's, or our code's.
    """
    for cause in causes(error):
        if isinstance(cause, DesktopError | ModelError | WarehouseError | TimeoutError | ConnectionError):
            return cause
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return cause
        no_thread = isinstance(cause, RuntimeError) and _NO_THREAD in str(cause)
        if no_thread or isinstance(cause, MemoryError | subprocess.TimeoutExpired):
            return DesktopError(f"{type(cause).__name__}: {cause}")
    return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error, what it was raised from, what that was raised from ..."""
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        yield at
        seen.append(at)
        at = at.__cause__


def told(error: BaseException) -> str:
    """An error in words: ours as they are; any other by class, message and the last frame inside our code."""
    if isinstance(error, ForgeError):
        return redacted(str(error))
    return redacted(f"{type(error).__name__}: {error}{_where(error)}")


def redacted(text: str) -> str:
    """The text without the places of this machine: a draft's files by their names, homes as ~, our code from its root."""
    text = _PICTURES.sub("", text)
    text = _DRAFTS.sub("", _HOMES.sub("~", text))
    text = text.replace(f"{ROOT}/", "")
    return re.sub(rf"{re.escape(str(Settings().home.resolve()))}/(?:{_WORD}*/)?", "", text)


def _where(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_ours(f.filename)]
    if not frames:
        return ""
    last = frames[-1]
    return f" (in {Path(last.filename).relative_to(ROOT)}, line {last.lineno}, {last.name}: {last.line})"


def _is_ours(filename: str) -> bool:
    path = Path(filename)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in _ROOMS
