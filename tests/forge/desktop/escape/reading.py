"""Tricks on our checks while they read what an agent left: archives whose members lead out, links in a state."""

from __future__ import annotations

import contextlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from unittest import mock

from forge.records import ForgeError
from tests.forge.desktop.escape.attack import Attack, Ground
from tests.forge.desktop.escape.weaken import Weaken, patched
from verifiers.base import Case, Tree
from verifiers.files.archive import Archive, archive

Pack = Callable[[Ground], tuple[str, bytes]]


def _zip(ground: Ground) -> tuple[str, bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        pack.writestr("../hidden/planted", "mine")
    return "~/pack.zip", buffer.getvalue()


def _tar(name: Callable[[Ground], str], link: str = "") -> Pack:
    """A tar file with a member of this name, and before it a link of that name to the folder to be hidden."""

    def make(ground: Ground) -> tuple[str, bytes]:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as pack:
            if link:
                entry = tarfile.TarInfo(link)
                entry.type, entry.linkname = tarfile.SYMTYPE, str(ground.hidden)
                pack.addfile(entry)
            entry = tarfile.TarInfo(name(ground))
            entry.size = 4
            pack.addfile(entry, io.BytesIO(b"mine"))
        return "~/pack.tar", buffer.getvalue()

    return make


def _plants(pack: Pack) -> Callable[[Ground], bool]:
    """Whether the check of an archive that an agent made writes a file of the host."""

    def run(ground: Ground) -> bool:
        path, data = pack(ground)
        (ground.home / path[2:]).write_bytes(data)
        case = Case(before=Tree(ground.hidden), after=Tree(ground.home, agents=True))
        with contextlib.suppress(ForgeError):
            archive(case, Archive(path=path, files={"report.txt": ""}))
        return (ground.hidden / "planted").exists()

    return run


def _unpacked(ground: Ground) -> AbstractContextManager[object]:
    """Archives are read by unpacking them into a folder, as they say."""

    def read(folder: Path, path: str, data: bytes) -> dict[str, tuple[str, bytes, int]]:
        if path.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as pack:
                for name in pack.namelist():
                    (folder / name).write_bytes(pack.read(name))
        else:
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                for entry in tar:
                    file = tar.extractfile(entry) if entry.isfile() else None
                    if file is None:
                        (folder / entry.name).symlink_to(entry.linkname)
                    else:
                        (folder / entry.name).write_bytes(file.read())
        return {}

    return mock.patch("verifiers.files.archive.read_members", partial(read, ground.home))


def _follows(target: Callable[[Ground], str]) -> Callable[[Ground], bool]:
    """Whether a check reads a file of the host through a link in an agent's state."""

    def run(ground: Ground) -> bool:
        (ground.home / "report.txt").symlink_to(target(ground))
        with contextlib.suppress(ForgeError):
            return ground.token.encode() in (Tree(ground.home, agents=True).read("~/report.txt") or b"")
        return False

    return run


def _trusting_path(tree: Tree, guest_path: str) -> Path:
    return tree.root / guest_path[2:]


def _attack(name: str, protection: str, run: Callable[[Ground], bool], weaken: Weaken) -> Attack:
    return Attack(name, "reading", "state", protection, run, weaken)


_IN_MEMORY = "archives are read in memory, never unpacked"
_FOLLOWED = patched("verifiers.base.Tree.path", _trusting_path)

ATTACKS = [
    _attack("a zip member with ../ in its name", _IN_MEMORY, _plants(_zip), _unpacked),
    _attack("a tar member with ../ in its name", _IN_MEMORY, _plants(_tar(lambda _: "../hidden/planted")), _unpacked),
    _attack(
        "a tar member with the path of a file of the host",
        _IN_MEMORY,
        _plants(_tar(lambda ground: str(ground.hidden / "planted"))),
        _unpacked,
    ),
    _attack("a tar member behind a link", _IN_MEMORY, _plants(_tar(lambda _: "out/planted", link="out")), _unpacked),
    _attack(
        "a link in a state to a file of the host",
        "links are followed inside the home only",
        _follows(lambda ground: str(ground.secret)),
        _FOLLOWED,
    ),
    _attack(
        "a link in a state that climbs out",
        "links are followed inside the home only",
        _follows(lambda _: "../hidden/secret"),
        _FOLLOWED,
    ),
]
