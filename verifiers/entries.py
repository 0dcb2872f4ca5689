"""What lies in a home: every file, folder and link with kind, mode and size, read without following links."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from verifiers.base import Tree

BOOKKEEPING = (
    "~/.config",
    "~/.cache",
    "~/.local/share",
    "~/.local/state",
    "~/.thunderbird",
    "~/.mozilla",
    "~/.dbus",
    "~/.gnupg",
    "~/.fontconfig",
    "~/.bash_history",
    "~/.python_history",
    "~/.sqlite_history",
    "~/.lesshst",
    "~/.viminfo",
    "~/.wget-hsts",
    "~/.Xauthority",
    "~/.ICEauthority",
    "~/.xsession-errors",
    "~/.gtkrc-2.0",
    "~/.gtk-bookmarks",
    "~/.recently-used",
    "~/.recently-used.xbel",
)
"""What applications write for themselves. The mail profile has checks of its own (`mail.*`)."""

NOT_BOOKKEEPING = ("~/.local/share/Trash",)
"""Kept in view although it lies below one of the above: what was thrown away is what the person did.

The `.trashinfo` files in it carry the moment of deletion and are compared by name only."""

SHARED = ("~/.config", "~/.local/share")
"""Where programs of all kinds keep what is theirs. What a task itself laid there, outside PROGRAMS, counts like any file."""

PROGRAMS = (
    "GIMP", "Mousepad", "Thunar", "applications", "chromium", "dconf", "fontconfig", "gegl-*", "glib-2.0", "gtk-*",
    "gvfs-metadata", "ibus", "icc", "libfm", "libreoffice", "menus", "mime", "mimeapps.list", "openbox", "pcmanfm",
    "pulse", "recently-used.xbel*", "user-dirs.*", "vlc", "xfce4",
)  # fmt: skip
"""Names below SHARED that the applications of the house write unasked, whether or not a task laid something there."""

STANDARD_FOLDERS = tuple(
    f"~/{name}" for name in ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")
)
"""Folders that a desktop makes by itself; empty and new they are nobody's doing."""

LIMIT = 100_000
"""Entries of a home that a grader looks at."""

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True)
class Entry:
    """One thing in a home. `mode` holds the permission bits (0o7777), `size` bytes, `target` a link's text."""

    path: str
    kind: Kind
    mode: int
    size: int
    target: str | None = None


def is_bookkeeping(path: str, more: tuple[str, ...] = ()) -> bool:
    """Whether `path` (`~/...`) is an application's own affair: a setting, a cache, a history, a lock file."""
    if below(path, *more):
        return True
    if below(path, *NOT_BOOKKEEPING) or any(below(top, path) for top in NOT_BOOKKEEPING):
        return False
    name = path.rsplit("/", 1)[-1]
    if name.startswith(".~lock.") and name.endswith("#"):
        return True
    return below(path, *BOOKKEEPING)


def is_own(path: str, laid: Iterable[str]) -> bool:
    """Whether `path` is a program's own, unless the task laid it (`laid_among_settings`)."""
    return is_bookkeeping(path) and not below(path, *laid)


def below(path: str, *tops: str) -> bool:
    """Whether `path` is one of these files and folders, or lies in one."""
    return any(path == top or path.startswith(top + "/") for top in tops)


def holds_bookkeeping(folder: str) -> bool:
    """Whether an application makes this folder only to keep its own affairs below it (`~/.local`)."""
    return any(below(top, folder) for top in (*BOOKKEEPING, *NOT_BOOKKEEPING))


def laid_among_settings(tree: Tree) -> tuple[str, ...]:
    """Files and folders directly below SHARED that are no program's: in an initial state the task itself laid them."""
    found: list[str] = []
    for top in SHARED:
        folder = tree.root / top[2:]
        names = os.listdir(folder) if folder.is_dir() and not folder.is_symlink() else []
        found += [f"{top}/{n}" for n in names if not any(fnmatch.fnmatchcase(n, own) for own in PROGRAMS)]
    return tuple(sorted(path for path in found if path not in NOT_BOOKKEEPING))


def walk(tree: Tree, top: str = "~") -> dict[str, Entry]:
    """Everything below `top` (itself left out), path `~/...` to entry, sorted by path; nothing if it is no folder.

    Raises:
        AgentFault, PreparerError: more than LIMIT entries.
    """
    root = tree.root if top == "~" else tree.path(top)
    found: dict[str, Entry] = {}
    pending = [(root, top)]
    while pending:
        folder, name = pending.pop()
        try:
            children = list(os.scandir(folder))
        except (NotADirectoryError, FileNotFoundError):
            continue
        except PermissionError:
            raise tree.fault(f"{name} may not be looked into") from None
        for child in children:
            path = f"{name}/{child.name}"
            entry = _entry(path, child.stat(follow_symlinks=False), Path(child.path))
            found[path] = entry
            if len(found) > LIMIT:
                raise tree.fault(f"{top} holds more than {LIMIT} files, more than a grader looks at")
            if entry.kind == "folder":
                pending.append((Path(child.path), path))
    return dict(sorted(found.items()))


def entry_at(tree: Tree, path: str) -> Entry | None:
    """The entry at `path` itself, a link not followed; None when nothing is there."""
    host = host_path(tree, path)
    try:
        return _entry(path, host.lstat(), host)
    except (FileNotFoundError, NotADirectoryError):
        return None


def host_path(tree: Tree, path: str) -> Path:
    """Where the entry at `path` itself lies on the host: its folder's links followed, its own not."""
    parent, _, name = path.rpartition("/")
    return (tree.root if parent == "~" else tree.path(parent)) / name


def content(tree: Tree, entry: Entry) -> str:
    """Hex SHA-256 of a file's bytes; a link's target; empty for a folder."""
    if entry.kind == "link":
        return entry.target or ""
    if entry.kind != "file":
        return ""
    try:
        with open(host_path(tree, entry.path), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        raise tree.fault(f"{entry.path} may not be read (mode {entry.mode:03o})") from None


def differs(before: Tree, after: Tree, path: str) -> bool:
    """Whether what is at `path`, or anything below it, is not the same before and after (content, kind, mode)."""
    one, two = entry_at(before, path), entry_at(after, path)
    if one is None or two is None:
        return one is not two
    if (one.kind, one.mode) != (two.kind, two.mode) or content(before, one) != content(after, two):
        return True
    if one.kind != "folder":
        return False
    was, now = walk(before, path), walk(after, path)
    return was.keys() != now.keys() or any(
        (was[p].kind, was[p].mode) != (now[p].kind, now[p].mode) or content(before, was[p]) != content(after, now[p])
        for p in was
    )


def remove(path: Path) -> None:
    """Delete a file, a link or a whole folder of the host; nothing there is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put_back(source: Path, target: Path) -> None:
    """Make `target` what `source` is (file, link or folder; modes kept), or remove it when `source` is not there."""
    remove(target)
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    elif source.is_dir():
        shutil.copytree(source, target, symlinks=True)


def _entry(path: str, status: os.stat_result, host: Path) -> Entry:
    mode, kind = stat.S_IMODE(status.st_mode), "other"
    if stat.S_ISLNK(status.st_mode):
        return Entry(path, "link", 0o777, 0, os.readlink(host))
    if stat.S_ISDIR(status.st_mode):
        return Entry(path, "folder", mode, 0)
    if stat.S_ISREG(status.st_mode):
        kind = "file"
    return Entry(path, kind, mode, status.st_size)  # type: ignore[arg-type]
