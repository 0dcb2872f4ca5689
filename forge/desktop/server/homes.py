"""Looking into a guest's home while the guest runs: a list of its files, and single files. The guest is not trusted.

As in `forge.desktop.files`, no symbolic link is followed, and nothing but regular files is opened.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from forge.desktop.files import DEPTH_LIMIT, ENTRY_LIMIT, FILE_LIMIT, excluded, parts_of
from forge.desktop.server.wire import Listed, Listing
from forge.records.errors import ExhaustedError, InputError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def listing(home: Path) -> Listing:
    """The regular files and the folders of a home, without what applications keep for themselves.

    Raises ExhaustedError: the home holds too much, or is nested too deep.
    """
    files: list[Listed] = []
    folders: list[str] = []
    for root, names_of_folders, names, fd in os.fwalk(home, follow_symlinks=False):
        above = os.path.relpath(root, home)
        prefix = "" if above == "." else f"{above}/"
        if prefix.count("/") > DEPTH_LIMIT:
            raise ExhaustedError(f"the guest's home is nested deeper than {DEPTH_LIMIT} folders")
        names_of_folders[:] = [name for name in names_of_folders if not excluded(prefix + name) and _is_text(name)]
        folders += [prefix + name for name in names_of_folders]
        for name in names:
            if excluded(prefix + name) or not _is_text(name):
                continue
            with suppress(OSError):
                facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    files.append(Listed(path=prefix + name, size=facts.st_size, mtime_ns=facts.st_mtime_ns))
        if len(files) + len(folders) > ENTRY_LIMIT:
            raise ExhaustedError(f"the guest's home holds more than {ENTRY_LIMIT} entries")
    return Listing(files=tuple(files), folders=tuple(folders))


def read_file(home: Path, path: str) -> bytes:
    """A regular file of the home.

    Args:
        home: on the host.
        path: `~/...`.

    Raises:
        FileNotFoundError: there is no such file, or a link is in the way.
        InputError: the path does not lie in the home, or the file is larger than FILE_LIMIT.
    """
    parts = parts_of(path)
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            child = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = child
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(parts[-1], flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileNotFoundError(path)
            data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise FileNotFoundError(path) from error
    finally:
        os.close(folder)
    if len(data) > FILE_LIMIT:
        raise InputError(f"{path} is larger than {FILE_LIMIT >> 20} MiB")
    return data


def _is_text(name: str) -> bool:
    """Whether a name can be said in JSON."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
