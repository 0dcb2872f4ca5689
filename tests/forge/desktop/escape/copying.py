"""Tricks on whoever copies files out of a home or into it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

from forge.desktop import box, files
from forge.desktop.files import restore
from forge.records import DesktopError, ExhaustedError, FileEntry, Snapshot
from tests.forge.desktop.escape.attack import Attack, Ground
from tests.forge.desktop.escape.weaken import Weaken, patched, without

LINK = "import os, sys; os.symlink(sys.argv[1], 'report.txt')"
LINKED_FOLDER = "import os, sys; os.symlink(os.path.dirname(sys.argv[1]), 'Documents')"
SETUID = "import os; open('tool', 'w').close(); os.chmod('tool', 0o4755)"
PIPE = "import os; os.mkfifo('report.txt')"
SPARSE = "open('huge', 'wb').truncate(32 << 20)"
DEEP = "import os\nfor _ in range(90): os.mkdir('d'); os.chdir('d')"
MANY = "for number in range(600): open(str(number), 'w').close()"
SOCKET = "import socket; socket.socket(socket.AF_UNIX).bind('report.txt')"
HARD = "import os, sys; os.link(sys.argv[1], sys.argv[2])"
ALIKE = r"open(b'\xff', 'w').close(); open(r'\xff', 'w').close()"
LONG = r"open(b'\xff' * 255, 'w').close()"
FAR = "import os\nfor _ in range(20): os.mkdir('d' * 250); os.chdir('d' * 250)\nopen('report.txt', 'w').close()"
NORMAL_FILE_LIMIT = files.FILE_LIMIT
TWO = "import os; os.mkdir('d'); open('d/a', 'w').write('first'); open('d/secret', 'w').write('second')"


def trusting(home: Path, put: Callable[[bytes], str], *_: object) -> Snapshot:
    """A copier that trusts the guest: it resolves paths anew for each file, follows links, opens whatever there is."""
    entries = []
    for folder, folders, names in os.walk(home, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in sorted(names):
            path = Path(folder, name)
            data, mode = path.read_bytes(), path.stat().st_mode
            shown = "~/" + str(path.relative_to(home))
            entries.append(FileEntry.model_construct(path=shown, sha256=put(data), size=len(data), mode=mode))
    return Snapshot.model_construct(entries=tuple(entries))


def _trusting_restore(snapshot: Snapshot, home: Path, get: Callable[[str], bytes]) -> None:
    for entry in snapshot.entries:
        path = home / entry.path[2:]
        path.write_bytes(get(entry.sha256 or ""))
        path.chmod(entry.mode)


def trusted() -> Weaken:
    return lambda ground: mock.patch.multiple(ground, snapshot=trusting, restore=_trusting_restore)


def _copy(ground: Ground, swap: Callable[[], None] = lambda: None) -> tuple[Snapshot, dict[str, bytes]]:
    kept: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        kept[name] = data
        swap()
        return name

    return ground.snapshot(ground.home, put), kept


def _carries(script: str) -> Callable[[Ground], bool]:
    """Whether what is copied out holds the host's secret."""

    def run(ground: Ground) -> bool:
        ground.box(script, str(ground.secret))
        _, kept = _copy(ground)
        return any(ground.token.encode() in data for data in kept.values())

    return run


def _swaps(ground: Ground) -> bool:
    """A folder becomes a link to a folder of the host after its first file was read."""
    ground.box(TWO)
    folder = ground.home / "d"

    def swap() -> None:
        if not folder.is_symlink():
            folder.rename(ground.home / "away")
            folder.symlink_to(ground.hidden)

    _, kept = _copy(ground, swap)
    return any(ground.token.encode() in data for data in kept.values())


def _keeps_setuid(ground: Ground) -> bool:
    ground.box(SETUID)
    snapshot, kept = _copy(ground)
    out = ground.folder / "out"
    out.mkdir()
    ground.restore(snapshot, out, kept.__getitem__)
    return bool((out / "tool").stat().st_mode & 0o4000)


def _hangs(ground: Ground) -> bool:
    ground.box(PIPE)
    thread = threading.Thread(target=_copy, args=(ground,), daemon=True)
    thread.start()
    thread.join(1.5)
    hung = thread.is_alive()
    if hung:  # let it go
        os.close(os.open(ground.home / "report.txt", os.O_WRONLY))
        thread.join()
    return hung


def _links_hard(ground: Ground) -> bool:
    """A file of the host gets a second name in the home, and is carried out under it."""
    ground.secret.chmod(0o666)
    ground.box(HARD, str(ground.secret), str(ground.home / "report.txt"))
    _, kept = _copy(ground)
    return any(ground.token.encode() in data for data in kept.values())


def _breaks(ground: Ground) -> bool:
    """Whether a socket in the home keeps it from being copied."""
    ground.box(SOCKET)
    try:
        _copy(ground)
    except OSError:
        return True
    return False


def _opens_device(ground: Ground) -> bool:
    """Whether a device in the home is opened, as a file with content."""
    os.mknod(ground.home / "disk", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    snapshot, _ = _copy(ground)
    return any(entry.path == "~/disk" for entry in snapshot.entries)


def _swapped(ground: Ground, swap: Callable[[Path], None]) -> bool:
    """Whether copying hangs, or carries the secret out, when a file becomes something else before it is opened."""
    ground.box("open('report.txt', 'w').write('mine')")
    report, look = ground.home / "report.txt", os.stat
    found: list[dict[str, bytes]] = []

    def stat_and_swap(path: Any, **options: Any) -> os.stat_result:
        facts = look(path, **options)
        if path == b"report.txt" and stat.S_ISREG(facts.st_mode):
            report.unlink()
            swap(report)
        return facts

    with mock.patch("forge.desktop.files.os.stat", stat_and_swap):
        thread = threading.Thread(target=lambda: found.append(_copy(ground)[1]), daemon=True)
        thread.start()
        thread.join(1.5)
        hung = thread.is_alive()
        if hung:  # let it go
            os.close(os.open(report, os.O_WRONLY))
            thread.join()
    return hung or any(ground.token.encode() in data for data in found[0].values())


def _grows(ground: Ground) -> bool:
    """Whether a file is read to its end that became huge after it was looked at."""
    ground.box("open('report.txt', 'w').write('mine')")
    look, limit = os.fstat, files.FILE_LIMIT

    def look_and_grow(fd: int) -> os.stat_result:
        facts = look(fd)
        if stat.S_ISREG(facts.st_mode):
            os.truncate(ground.home / "report.txt", 32 << 20)
        return facts

    low = 1 << 20 if limit == NORMAL_FILE_LIMIT else limit
    with mock.patch("forge.desktop.files.os.fstat", look_and_grow), mock.patch.object(files, "FILE_LIMIT", low):
        _, kept = _copy(ground)
    return sum(map(len, kept.values())) > 16 << 20


def _not_kept(script: str) -> Callable[[Ground], bool]:
    """Whether names keep a home from being copied out, or what was copied from being laid out again, as no agent's doing."""

    def run(ground: Ground) -> bool:
        ground.box(script)
        out = ground.folder / "out"
        out.mkdir()
        try:
            snapshot, kept = _copy(ground)
            restore(snapshot, out, kept.__getitem__)
            for _ in os.walk(out, onerror=_fail):  # by paths, as checks look at it
                pass
        except ExhaustedError:
            return False
        except (OSError, ValueError, DesktopError):
            return True
        return False

    return run


def _fail(error: OSError) -> None:
    raise error


def _escaped_only(names: Iterable[bytes]) -> dict[bytes, str]:
    return {name: name.decode("utf-8", "backslashreplace") for name in names}


def _limited(script: str, limit: str, low: int) -> Callable[[Ground], bool]:
    """Whether a home that is too large is copied all the same."""
    normal = getattr(files, limit)

    def run(ground: Ground) -> bool:
        ground.box(script)
        value = low if getattr(files, limit) == normal else getattr(files, limit)
        with mock.patch.object(files, limit, value):
            try:
                _, kept = _copy(ground)
            except DesktopError:
                return False
        return limit != "FILE_LIMIT" or sum(map(len, kept.values())) > 16 << 20

    return run


def _higher(limit: str, value: int) -> Weaken:
    return patched(f"forge.desktop.files.{limit}", value)


def _lays_through_link(ground: Ground) -> bool:
    ground.box(LINKED_FOLDER, str(ground.secret))
    try:
        files.lay(ground.home, [("~/Documents/planted", b"mine", 0o644, False)])
    except DesktopError:
        pass
    return (ground.hidden / "planted").exists()


def _trusting_lay(home: Path, laid: list[tuple[str, bytes, int, bool]]) -> None:
    for path, data, _mode, _is_folder in laid:
        (home / path[2:]).write_bytes(data)


def _restores_outside(ground: Ground) -> bool:
    entry = FileEntry.model_construct(
        path="~/../hidden/planted", kind="file", sha256="x", size=4, mode=0o644, target=None
    )
    out = ground.folder / "out"
    out.mkdir()
    try:
        restore(Snapshot.model_construct(entries=(entry,)), out, lambda _: b"mine")
    except DesktopError:
        pass
    return (ground.hidden / "planted").exists()


def _takes_over(ground: Ground) -> bool:
    """A link in the home makes the host give one of its files away."""
    ground.box(LINK, str(ground.secret))
    box.chown_home(ground.home)
    return ground.secret.stat().st_uid != 0


def _trusting_chown(home: Path, user: int | None = None) -> None:
    for path in home.rglob("*"):
        shutil.chown(path, 77001)


def _root() -> bool:
    return os.geteuid() == 0


def _attack(
    name: str,
    protection: str,
    run: Callable[[Ground], bool],
    weaken: Callable[[Ground], AbstractContextManager[object]],
) -> Attack:
    return Attack(name, "copying", "copy", protection, run, weaken)


ATTACKS = [
    _attack("a link to a file of the host", "no link is followed", _carries(LINK), trusted()),
    _attack("a link to a folder of the host", "no link is followed", _carries(LINKED_FOLDER), trusted()),
    _attack("a folder swapped for a link while it is read", "folders are held by descriptors", _swaps, trusted()),
    _attack("a setuid program carried out", "nine permission bits are kept", _keeps_setuid, trusted()),
    _attack("a pipe that nobody writes into", "only regular files are opened", _hangs, trusted()),
    _attack("a socket", "only regular files are opened", _breaks, trusted()),
    _attack(
        "a hard link to a file of the host",
        "only chosen folders are in the box",
        _links_hard,
        without(binds=lambda ground: ["--bind", str(ground.folder), str(ground.folder)]),
    ),
    _attack(
        "a file swapped for a link before it is opened",
        "no link is followed",
        lambda ground: _swapped(ground, lambda report: report.symlink_to(ground.secret)),
        patched("os.O_NOFOLLOW", 0),
    ),
    _attack(
        "a file swapped for a pipe before it is opened",
        "opening waits for nobody",
        lambda ground: _swapped(ground, os.mkfifo),
        patched("os.O_NONBLOCK", 0),
    ),
    Attack("a device", "copying", "copy", "only regular files are opened", _opens_device, trusted(), offered=_root),
    _attack(
        "a huge file that takes no disk",
        "limit: FILE_LIMIT",
        _limited(SPARSE, "FILE_LIMIT", 1 << 20),
        _higher("FILE_LIMIT", 65 << 20),
    ),
    _attack(
        "a file that grows while it is read",
        "limit: FILE_LIMIT",
        _grows,
        _higher("FILE_LIMIT", 65 << 20),
    ),
    _attack(
        "two names that read alike",
        "names are told apart",
        _not_kept(ALIKE),
        patched("forge.desktop.files._readable", _escaped_only),
    ),
    _attack(
        "a name that grows when it is written as text",
        "names stay as short as names may be",
        _not_kept(LONG),
        patched("forge.desktop.files._readable", _escaped_only),
    ),
    _attack("a path longer than paths may be", "limit: PATH_LIMIT", _not_kept(FAR), _higher("PATH_LIMIT", 6000)),
    _attack(
        "folders nested without end",
        "limit: DEPTH_LIMIT",
        _limited(DEEP, "DEPTH_LIMIT", 32),
        _higher("DEPTH_LIMIT", 128),
    ),
    _attack(
        "files without number",
        "limit: ENTRY_LIMIT",
        _limited(MANY, "ENTRY_LIMIT", 300),
        _higher("ENTRY_LIMIT", 19_999),
    ),
    _attack(
        "files laid in through a link",
        "no link is followed",
        _lays_through_link,
        patched("forge.desktop.files.lay", _trusting_lay),
    ),
    _attack(
        "a restored path that leads out",
        "paths below the home only",
        _restores_outside,
        patched("forge.desktop.files.parts_of", lambda path: path[2:].split("/")),
    ),
    Attack(
        "a link that changes a file's owner",
        "copying",
        "copy",
        "no link is followed",
        _takes_over,
        patched("forge.desktop.box.chown_home", _trusting_chown),
        offered=_root,
    ),
]
