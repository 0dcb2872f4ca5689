"""Files in and out of a guest's home. The guest is not trusted: what it left there may be built to trick a reader.

Everything goes through directory descriptors: no path is resolved twice, no symbolic link is followed, sockets, pipes and
devices are never opened. What is too large to keep is kept as an entry without content. Modes keep their nine permission
bits only; owners, time stamps, hard-link identity and extended attributes are not kept.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from forge.records.artifact import FileEntry, Snapshot
from forge.records.errors import DesktopError, ExhaustedError, InputError

FILE_LIMIT = 64 << 20
"""Bytes above which a file is kept as an entry without content."""
TOTAL_LIMIT = 512 << 20
ENTRY_LIMIT = 20_000
DEPTH_LIMIT = 64
PATH_LIMIT = 3072
"""Bytes of a path in a state: with the folder in which it is laid out again it has to stay below the kernel's 4,096."""
_ESCAPED_LIMIT = 240
_LEASE_PATIENCE = 2.0  # seconds a snapshot, in all, that programs of the guest have to give back leases on files
_NAME_LIMIT = 255  # bytes of a name, on every file system that a home lies on

EXCLUDED = (
    ".cache",
    ".dbus",
    ".gnupg",
    ".gtkrc-2.0",
    ".gvfs",
    ".ICEauthority",
    ".Xauthority",
    ".bash_history",
    ".python_history",
    ".sqlite_history",
    ".mozilla",
    ".config/Mousepad",
    ".config/Thunar",
    ".config/dconf",
    ".config/gtk-*",
    ".config/ibus",
    ".config/libfm",
    ".config/libreoffice",
    ".config/menus",
    ".config/openbox",
    ".config/pcmanfm",
    ".config/pulse",
    ".config/xfce4",
    ".local/share/Mousepad",
    ".local/share/gegl-*",
    ".local/share/gvfs-metadata",
    ".local/share/icc",
    ".local/share/recently-used.xbel*",
    ".local/share/xfce4",
    ".local/state",
    ".thunderbird/Crash Reports",
    ".thunderbird/Pending Pings",
    ".thunderbird/installs.ini",
    ".thunderbird/*/.parentlock",
    ".thunderbird/*/lock",
    ".thunderbird/*/*.mozlz4",
    ".thunderbird/*/addonStartup.json*",
    ".thunderbird/*/AlternateServices*",
    ".thunderbird/*/blist.sqlite*",
    ".thunderbird/*/bounce-tracking-protection.sqlite*",
    ".thunderbird/*/cache2",
    ".thunderbird/*/cert*.db",
    ".thunderbird/*/compatibility.ini",
    ".thunderbird/*/content-prefs.sqlite*",
    ".thunderbird/*/cookies.sqlite*",
    ".thunderbird/*/crashes",
    ".thunderbird/*/datareporting",
    ".thunderbird/*/encrypted-openpgp-passphrase.txt",
    ".thunderbird/*/extension*",
    ".thunderbird/*/favicons.sqlite*",
    ".thunderbird/*/folderCache.json",
    ".thunderbird/*/formhistory.sqlite*",
    ".thunderbird/*/global-messages-db.sqlite*",
    ".thunderbird/*/key*.db",
    ".thunderbird/*/logins.*",
    ".thunderbird/*/minidumps",
    ".thunderbird/*/openpgp.sqlite*",
    ".thunderbird/*/permissions.sqlite*",
    ".thunderbird/*/pkcs11.txt",
    ".thunderbird/*/places.sqlite*",
    ".thunderbird/*/protections.sqlite*",
    ".thunderbird/*/saved-telemetry-pings",
    ".thunderbird/*/security_state",
    ".thunderbird/*/session.json.backup",
    ".thunderbird/*/sessionCheckpoints.json*",
    ".thunderbird/*/settings",
    ".thunderbird/*/shield-preference-experiments.json",
    ".thunderbird/*/SiteSecurityServiceState*",
    ".thunderbird/*/startupCache",
    ".thunderbird/*/storage*",
    ".thunderbird/*/targeting.snapshot.json",
    ".thunderbird/*/times.json",
    ".thunderbird/*/webappsstore.sqlite*",
    ".thunderbird/*/xulstore.json.tmp",
    ".thunderbird/*/xulstore",
)
"""Patterns, relative to the home, of what applications keep for themselves and no task is about; `*` is one name. So are
Thunderbird's indexes (`.msf`), which it makes anew from the mailboxes."""

_KEPT = {
    ".config/chromium": {"Default"},
    ".config/chromium/Default": {"Bookmarks", "Cookies", "History", "History-journal", "Local Storage", "Preferences"},
    ".config/GIMP": {"2.10"},
    ".config/GIMP/2.10": {"gimprc"},
    ".config/vlc": {"vlcrc"},
}
"""Folders of applications, and what alone is kept of them."""

_HULLS = frozenset({".config", ".local", ".local/share", ".thunderbird", *_KEPT})
"""Folders that are kept only for what is kept in them: applications make them."""

_EXACT = frozenset(pattern for pattern in EXCLUDED if "*" not in pattern)
_PATTERNS = tuple(pattern.split("/") for pattern in EXCLUDED if "*" in pattern)
_ORDER = {"folder": 0, "file": 1, "link": 2}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def lay(
    home: Path,
    files: Iterable[tuple[str, bytes, int, bool]],
    *,
    stamp: float | None = None,
    owner: tuple[int, int] | None = None,
) -> None:
    """Write files below `home`, making parent folders.

    Args:
        home: an existing folder of the host.
        files: (guest path `~/...`, content, permission bits, whether it is a folder); content of a folder is ignored.
        stamp: time given to what is written, seconds since 1970; now if None.
        owner: user and group that what is written belongs to; those of this process if None.

    Raises:
        InputError: a path is not below the home, or a name in it is too long; nothing is written.
        DesktopError: a path leads through a link or a file or to a folder, or the disk is full. A file is either written
            whole or not at all.
    """
    named = [(parts_of(file[0]), file) for file in files]
    root = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for parts, (path, data, mode, is_folder) in named:
            folder = _open_folder(root, parts if is_folder else parts[:-1], path, stamp, owner)
            try:
                if is_folder:
                    os.fchmod(folder, mode & 0o777)
                else:
                    _write(folder, parts[-1], data, mode & 0o777, path, stamp, owner)
            finally:
                os.close(folder)
    finally:
        os.close(root)


def snapshot(home: Path, put: Callable[[bytes], str], laid: Mapping[str, bytes] | None = None) -> Snapshot:
    """Read the guest's home into records.

    Args:
        home: the home on the host. The guest may still be running; a file that vanishes meanwhile is left out.
        put: stores content and returns its SHA-256.
        laid: settings of applications, path relative to the home to content; those that are as they were laid are
            left out.

    Returns:
        Entries sorted by path, without EXCLUDED, sockets, pipes and devices. A file above FILE_LIMIT has its size and
        no `sha256`. A name that is not UTF-8 has its odd bytes written as backslash escapes, and a number behind it where
        another name reads so.

    Raises:
        ExhaustedError: more than ENTRY_LIMIT entries, TOTAL_LIMIT bytes, DEPTH_LIMIT levels or PATH_LIMIT bytes of a path;
            or programs of the guest do not soon give back their leases (fcntl) on files.
        DesktopError: something cannot be read.
    """
    entries: list[FileEntry] = []
    mode = stat.S_IMODE(os.stat(home).st_mode)
    root = _open_readable(os.fsencode(home), _FOLDER, None, mode)
    try:
        with _searchable(root, mode):
            _walk(root, (), entries, put, _Taken())
    finally:
        os.close(root)
    if laid:
        entries = _without(entries, laid)
    entries.sort(key=lambda entry: entry.path)
    return Snapshot(entries=tuple(entries))


def restore(snapshot: Snapshot, home: Path, get: Callable[[str], bytes]) -> None:
    """Write a snapshot's entries below an empty folder: the inverse of `snapshot`.

    A file that was too large to keep becomes a sparse file just above FILE_LIMIT, so that a reader refuses it too.

    Raises:
        DesktopError: an entry leads out of the home, or the disk is full.
    """
    root = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    modes: list[tuple[list[str], int, str]] = []
    try:
        # folders first and links last, so that nothing is ever written through a link of the same snapshot
        for entry in sorted(snapshot.entries, key=lambda entry: _ORDER[entry.kind]):
            try:
                parts = parts_of(entry.path)
            except InputError as error:  # the snapshot's fault, not that of a person
                raise DesktopError(error.message) from None
            folder = _open_folder(root, parts if entry.kind == "folder" else parts[:-1], entry.path, None)
            try:
                if entry.kind == "folder":
                    modes.append((parts, entry.mode & 0o777, entry.path))
                elif entry.kind == "link":
                    os.symlink(entry.target or "", parts[-1], dir_fd=folder)
                else:
                    data = get(entry.sha256) if entry.sha256 else b""
                    _write(folder, parts[-1], data, entry.mode & 0o777, entry.path, None)
                    if entry.sha256 is None:
                        fd = os.open(parts[-1], os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                        os.ftruncate(fd, min(entry.size, FILE_LIMIT + 1))
                        os.close(fd)
            except OSError as error:
                _refuse(error, entry.path)
            finally:
                os.close(folder)
        for parts, mode, path in reversed(modes):  # a folder's mode last: it may forbid writing into it
            folder = _open_folder(root, parts, path, None)
            os.fchmod(folder, mode)
            os.close(folder)
    finally:
        os.close(root)


def parts_of(path: str) -> list[str]:
    """The names in a guest path `~/...`. Raises InputError when it is none below the home, or a name is too long."""
    parts = path.removeprefix("~/").split("/")
    if not path.startswith("~/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{path!r} is no path below the guest's home", mend="write ~/folder/name")
    if any(len(part.encode("utf-8", "surrogatepass")) > _NAME_LIMIT for part in parts):
        raise InputError(f"a name in {path!r} has more than {_NAME_LIMIT} bytes", mend="write a shorter one")
    return parts


def excluded(path: str) -> bool:
    """Whether a path relative to the home is left out of snapshots by itself (its parents are not looked at)."""
    if path in _EXACT or (path.startswith(".thunderbird/") and path.endswith(".msf")):
        return True
    folder, _, name = path.rpartition("/")
    if folder in _KEPT and name not in _KEPT[folder]:
        return True
    parts = path.split("/")
    return any(len(pattern) == len(parts) and all(map(fnmatch.fnmatchcase, parts, pattern)) for pattern in _PATTERNS)


def _without(entries: list[FileEntry], laid: Mapping[str, bytes]) -> list[FileEntry]:
    """The entries without files that are as they were laid, and without hulls that held nothing else."""
    untouched = {f"~/{path}": hashlib.sha256(data).hexdigest() for path, data in laid.items()}
    kept = [entry for entry in entries if entry.sha256 is None or untouched.get(entry.path) != entry.sha256]
    hulls = {f"~/{name}" for name in _HULLS}
    needed = {str(above) for entry in kept if entry.path not in hulls for above in PurePosixPath(entry.path).parents}
    return [entry for entry in kept if entry.path not in hulls or entry.path in needed]


@dataclass
class _Taken:
    """What a snapshot has taken: bytes of content, and seconds that it waited for leases."""

    content: int = 0
    waited: float = 0.0


def _walk(
    folder: int, parents: tuple[str, ...], entries: list[FileEntry], put: Callable[[bytes], str], taken: _Taken
) -> None:
    if len(parents) > DEPTH_LIMIT:
        raise ExhaustedError(f"the guest's home is nested deeper than {DEPTH_LIMIT} folders; its state cannot be kept")
    with os.scandir(folder) as found:
        names = _readable(os.fsencode(item.name) for item in found)
    for raw, name in sorted(names.items()):
        shown = (*parents, name)
        if excluded("/".join(shown)):
            continue
        path = "~/" + "/".join(shown)
        if len(path.encode()) > PATH_LIMIT:
            raise ExhaustedError(
                f"a path in the guest's home has more than {PATH_LIMIT} bytes; its state cannot be kept"
            )
        try:
            facts = os.stat(raw, dir_fd=folder, follow_symlinks=False)
            mode = stat.S_IMODE(facts.st_mode) & 0o777
            if stat.S_ISLNK(facts.st_mode):
                target = os.fsencode(os.readlink(raw, dir_fd=folder)).decode("utf-8", "backslashreplace")
                entries.append(FileEntry(path=path, kind="link", mode=mode, target=target))
            elif stat.S_ISDIR(facts.st_mode):
                child = _open_readable(raw, _FOLDER, folder, mode)
                try:
                    before = len(entries)
                    entries.append(FileEntry(path=path, kind="folder", mode=mode))
                    with _searchable(child, mode):
                        _walk(child, shown, entries, put, taken)
                finally:
                    os.close(child)
                if len(entries) == before + 1 and "/".join(shown) in _HULLS:
                    entries.pop()
            elif stat.S_ISREG(facts.st_mode):
                entries.append(_file_entry(raw, folder, path, mode, put, taken))
        except FileNotFoundError:
            continue
        except OSError as error:
            # a name that changed its kind since stat is a trick or a race: ELOOP, ENOTDIR, ENXIO
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
                continue
            raise DesktopError(f"{path} cannot be read out of the guest: {error.strerror}") from error
        if len(entries) > ENTRY_LIMIT:
            raise ExhaustedError(f"the guest's home holds more than {ENTRY_LIMIT} entries; its state cannot be kept")


def _readable(names: Iterable[bytes]) -> dict[bytes, str]:
    """How the names in one folder are written: no two alike, and none longer than a name may be."""
    written: dict[bytes, str] = {}
    odd: list[bytes] = []
    for raw in sorted(names):
        try:
            written[raw] = raw.decode()
        except UnicodeDecodeError:
            odd.append(raw)
    taken, numbers = set(written.values()), dict[str, int]()
    for raw in odd:
        escaped = raw.decode("utf-8", "backslashreplace").encode()[:_ESCAPED_LIMIT].decode("utf-8", "ignore")
        name = escaped
        while name in taken:
            numbers[escaped] = numbers.get(escaped, 1) + 1
            name = f"{escaped}~{numbers[escaped]}"
        taken.add(name)
        written[raw] = name
    return written


def _file_entry(raw: bytes, folder: int, path: str, mode: int, put: Callable[[bytes], str], taken: _Taken) -> FileEntry:
    # O_NONBLOCK: neither a pipe put in the file's place since stat nor a lease that the guest holds may block the open
    while True:
        try:
            fd = _open_readable(raw, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, folder, mode)
            break
        except BlockingIOError:
            if taken.waited > _LEASE_PATIENCE:
                raise ExhaustedError(
                    f"{path} is kept locked by a program of the guest; its state cannot be kept"
                ) from None
            began = time.monotonic()
            time.sleep(0.02)
            taken.waited += time.monotonic() - began
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise FileNotFoundError(path)
        if facts.st_size > FILE_LIMIT:
            return FileEntry(path=path, size=facts.st_size, mode=mode)
        data = bytearray()
        while len(data) <= FILE_LIMIT and (piece := os.read(fd, 1 << 20)):
            data += piece
    finally:
        os.close(fd)
    if len(data) > FILE_LIMIT:
        return FileEntry(path=path, size=len(data), mode=mode)
    taken.content += len(data)
    if taken.content > TOTAL_LIMIT:
        raise ExhaustedError(f"the guest's home holds more than {TOTAL_LIMIT >> 20} MiB; its state cannot be kept")
    content = bytes(data)
    return FileEntry(path=path, sha256=put(content), size=len(content), mode=mode)


@contextlib.contextmanager
def _searchable(folder: int, mode: int) -> Iterator[None]:
    """Where the guest took away its own right to look into an open folder, lend it meanwhile."""
    lend = not os.access(".", os.X_OK, dir_fd=folder, effective_ids=True)
    if lend:
        os.fchmod(folder, mode | 0o700)
    try:
        yield
    finally:
        if lend:
            os.fchmod(folder, mode)


def _open_readable(name: bytes, flags: int, folder: int | None, mode: int) -> int:
    """Open relative to a folder; where the guest took away its own right to read, lend it for the moment of opening."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        # chmod cannot be told not to follow a link, so the entry is reached through a path descriptor of itself
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            if stat.S_ISLNK(os.fstat(handle).st_mode):
                raise
            os.chmod(f"/proc/self/fd/{handle}", mode | 0o700)
            try:
                return os.open(f"/proc/self/fd/{handle}", flags & ~os.O_NOFOLLOW)
            finally:
                os.chmod(f"/proc/self/fd/{handle}", mode)
        finally:
            os.close(handle)


def _open_folder(
    root: int, parts: list[str], path: str, seconds: float | None, owner: tuple[int, int] | None = None
) -> int:
    """Descriptor of the folder `parts` below `root`, made where missing. The caller closes it."""
    current = os.dup(root)
    try:
        for part in parts:
            made = False
            try:
                os.mkdir(part, 0o755, dir_fd=current)
                made = True
            except FileExistsError:
                pass
            child = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = child
            if made:
                if owner is not None:
                    os.fchown(current, *owner)
                os.fchmod(current, 0o755)
                if seconds is not None:
                    os.utime(current, (seconds, seconds))
    except OSError as error:
        os.close(current)
        _refuse(error, path)
    return current


def _write(
    folder: int,
    name: str,
    data: bytes,
    mode: int,
    path: str,
    seconds: float | None,
    owner: tuple[int, int] | None = None,
) -> None:
    """Write a file under a draft name and rename it, so that a full disk leaves no half of it."""
    draft = f".forge-draft-{secrets.token_hex(8)}"
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            _write_all(fd, data)
            if owner is not None:
                os.fchown(fd, *owner)
            os.fchmod(fd, mode)
            if seconds is not None:
                os.utime(fd, (seconds, seconds))
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(draft, dir_fd=folder)
            raise
        finally:
            os.close(fd)
    except OSError as error:
        _refuse(error, path)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _refuse(error: OSError, path: str) -> NoReturn:
    mend = None
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        mend = "free some space where FORGE_HOME lies"
    raise DesktopError(f"{path} cannot be written into the guest: {error.strerror}", mend=mend) from error
