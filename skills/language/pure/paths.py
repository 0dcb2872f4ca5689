"""Functions on paths in the guest, written `~/...`."""

from __future__ import annotations

import posixpath

from skills.language.functions import function
from skills.language.shapes import TEXT

_GROUP = "Paths"


@function(_GROUP, TEXT, example="basename('~/Documents/a.xlsx')")
def basename(path: str) -> str:
    """The file's name: of `~/Documents/a.xlsx` a.xlsx."""
    return posixpath.basename(path.rstrip("/"))


@function(_GROUP, TEXT, example="stem('~/Documents/a.xlsx')")
def stem(path: str) -> str:
    """The file's name without its last suffix: of `~/Documents/a.xlsx` a."""
    return posixpath.splitext(str(basename(path)))[0]


@function(_GROUP, TEXT, example="suffix('~/Documents/a.xlsx')")
def suffix(path: str) -> str:
    """The last suffix with its dot: `.xlsx`, or an empty text."""
    return posixpath.splitext(str(basename(path)))[1]


@function(_GROUP, TEXT, example="folder('~/Documents/a.xlsx')")
def folder(path: str) -> str:
    """The folder that holds it: of `~/Documents/a.xlsx` ~/Documents."""
    return posixpath.dirname(path.rstrip("/"))
