"""Where the desktop keeps its things on the host: caches that may be deleted, and the folders of running slots."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from forge.records.errors import DesktopError

log = logging.getLogger(__name__)
SOCKETS = Path("/tmp/.X11-unix")
"""Where X servers have their sockets, whoever runs them, on the host and in boxes."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def home() -> Path:
    """The absolute FORGE_HOME."""
    from forge.records.settings import Settings

    return Settings().home.resolve()


def cache() -> Path:
    """The folder of things that may be deleted at any time: FORGE_CACHE, else FORGE_HOME/cache."""
    return Path(os.environ["FORGE_CACHE"]).resolve() if os.environ.get("FORGE_CACHE") else home() / "cache"


def cached(name: str, build: Callable[[Path], None]) -> Path:
    """The cache folder called `name`, built once by `build(empty folder)`.

    Two processes may build at the same time; the first rename wins and the other result is thrown away. What fails to
    build leaves nothing behind.
    """
    target = cache() / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        draft.chmod(0o755)
        build(draft)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        if draft.exists():
            remove(draft)
    return target


def remove(folder: Path) -> None:
    """Delete a folder whatever permissions a guest gave to what is in it, and however deep it is.

    Links are removed, never followed. What cannot be deleted stays, and is logged: whoever cleans up goes on.
    """
    try:
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            return
        opened = _enter(str(folder), None)
        try:
            empty(opened)
        finally:
            os.close(opened)
        folder.rmdir()
    except FileNotFoundError:
        pass  # another was faster
    except OSError as error:
        log.warning("%s cannot be removed: %s", folder, error)


def empty(folder: int) -> None:
    """Delete all that is in an open folder, as `remove`.

    Raises:
        OSError: something cannot be deleted; everything else is gone.
    """
    failed: list[OSError] = []

    def attempt(call: Callable[..., None], name: str, place: int) -> None:
        try:
            call(name, dir_fd=place)
        except FileNotFoundError:
            pass
        except OSError as error:
            failed.append(error)

    def visit(place: int) -> list[str]:
        with contextlib.suppress(OSError):
            os.fchmod(place, 0o700)
        with os.scandir(place) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            if not is_folder:  # never opened: it may be a pipe
                attempt(os.unlink, name, place)
        return [name for name, is_folder in entries if is_folder]

    each_folder(folder, visit, lambda name, place: attempt(os.rmdir, name, place))
    if failed:
        raise failed[0]


def each_folder(
    folder: int, visit: Callable[[int], list[str]], leave: Callable[[str, int], None] = lambda _name, _place: None
) -> None:
    """Visit an open folder and all below it, without recursion, long paths or many descriptors: a guest can nest thousands.

    Args:
        folder: descriptor of the uppermost.
        visit: given a folder's descriptor, does its work there and says the names of the folders to go into.
        leave: called with a folder's name and the descriptor of the one it lies in, after all below it was visited.

    Raises:
        OSError: a folder was moved meanwhile, so that the way back is lost.
    """
    here = os.dup(folder)
    above: list[tuple[tuple[int, int], list[str]]] = []  # on the way down: which folder, what is to do in it
    try:
        pending = visit(here)
        while pending or above:
            if pending:
                try:
                    below = _enter(pending[-1], here)
                except OSError:
                    leave(pending.pop(), here)  # it has become something else, or went
                    continue
                above.append((_which(here), pending))
                os.close(here)
                here = below
                pending = visit(here)
            else:
                upper, pending = above.pop()
                back = os.open("..", _FOLDER, dir_fd=here)
                os.close(here)
                here = back
                if _which(here) != upper:
                    raise OSError(errno.ESTALE, "a folder was moved meanwhile")
                leave(pending.pop(), here)
    finally:
        os.close(here)


def _enter(name: str, place: int | None) -> int:
    """Open a folder; where its owner took away his own right to read it, he gets it back."""
    try:
        return os.open(name, _FOLDER, dir_fd=place)
    except PermissionError:
        # chmod cannot be told not to follow a link, so the folder is reached through a path descriptor of itself
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
            return os.open(f"/proc/self/fd/{handle}", _FOLDER & ~os.O_NOFOLLOW)
        finally:
            os.close(handle)


def _which(folder: int) -> tuple[int, int]:
    facts = os.fstat(folder)
    return facts.st_dev, facts.st_ino


def locale_folder(name: str) -> Path | None:
    """A folder for LOCPATH that holds the compiled locale `name`, or None where libc has it built in.

    The locale is compiled with localedef into the cache, so no `locales-all` and no change of the host is needed.

    Raises:
        DesktopError: the locale cannot be compiled; the message says what to install.
    """
    if name in ("C", "POSIX", "C.UTF-8", "C.utf8"):
        return None
    language, _, codeset = name.partition(".")
    if codeset.upper().replace("-", "") != "UTF8" or not language.replace("_", "").replace("@", "").isalnum():
        raise DesktopError(f"locale {name!r} is not supported", mend="use a UTF-8 locale such as en_US.UTF-8")

    def build(folder: Path) -> None:
        argv = ["localedef", "--no-archive", "-i", language, "-f", "UTF-8", str(folder / f"{language}.UTF-8")]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            said = done.stderr.decode(errors="replace").strip()[-300:]
        except FileNotFoundError:
            said = "localedef is not installed"
        # localedef returns 1 for mere warnings; what counts is whether the locale is there
        if not (folder / f"{language}.UTF-8" / "LC_CTYPE").exists():
            raise DesktopError(
                f"locale {name!r} cannot be compiled: {said}",
                mend="install the Debian package `locales`, or set the guest's locale to C.UTF-8",
            )

    version = os.confstr("CS_GNU_LIBC_VERSION") or "libc"
    return cached(f"locale/{version.replace(' ', '-')}/{language}", build)
