"""Where the desktop keeps its things on the host: caches that may be deleted, and the folders of running slots."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from forge.records.errors import DesktopError


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
    """Delete a folder whatever permissions a guest gave to what is in it. Links are removed, never followed."""

    def unlock(_function: Callable[..., object], path: str, _error: object) -> None:
        for name in (os.path.dirname(path), path):
            if os.path.isdir(name) and not os.path.islink(name):
                os.chmod(name, 0o700)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)

    if folder.is_symlink() or not folder.exists():
        folder.unlink(missing_ok=True)
        return
    shutil.rmtree(folder, onerror=unlock)


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
