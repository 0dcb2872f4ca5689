"""Read-only layers that travel: a folder becomes an archive named by its content, and is unpacked once on the server."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

from forge.desktop.place import cache, cached
from forge.records.errors import InputError


def layer_digest(folder: Path) -> str:
    """SHA-256 over the names, contents and executable bits of a folder's files; caches of bytecode do not count."""
    total = hashlib.sha256()
    for path in _files(folder):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(repr((str(path.relative_to(folder)), bool(path.stat().st_mode & 0o100), content)).encode())
    return total.hexdigest()


def pack(folder: Path) -> bytes:
    """The folder's files as an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for path in _files(folder):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return buffer.getvalue()


def place_of(digest: str) -> Path | None:
    """Where the layer lies on this machine; None when it was never unpacked here."""
    folder = cache() / "layers" / digest
    return folder if len(digest) == 64 and digest.isalnum() and folder.is_dir() else None


def unpack(digest: str, archive: bytes) -> Path:
    """Unpack an archive. Raises InputError when its content is not what its name says."""

    def build(folder: Path) -> None:
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
                for entry in opened:
                    _write(folder, entry, opened)
        except (tarfile.TarError, OSError, EOFError) as error:
            raise InputError(f"layer {digest[:12]} cannot be unpacked: {error}") from None
        if layer_digest(folder) != digest:
            raise InputError(f"layer {digest[:12]} holds something else than its name says")

    if len(digest) != 64 or not digest.isalnum():
        raise InputError(f"{digest!r} is no digest of a layer")
    return cached(f"layers/{digest}", build)


def _write(folder: Path, entry: tarfile.TarInfo, archive: tarfile.TarFile) -> None:
    content = archive.extractfile(entry) if entry.isreg() else None
    if content is None or entry.name.startswith("/") or ".." in entry.name.split("/"):
        raise tarfile.TarError(f"{entry.name!r} is no file of a layer")
    path = folder / entry.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read())
    path.chmod(0o755 if entry.mode & 0o100 else 0o644)


def _files(folder: Path) -> list[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return list(found)
