"""The blob store: bytes by their SHA-256, two-level fan-out (`ab/cd/abcd...`), on a local folder or any fsspec store.

A blob is written beside its place and renamed into it, so that a reader never sees half of one; writing it again does
nothing. Reading verifies. What this does not do: delete (a blob may be shared by any number of rows), encrypt, compress.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from forge.records import WarehouseError, sha256_hex

_SHA = re.compile(r"^[0-9a-f]{64}$")
_STALE_SECONDS = 24 * 3600.0
_CHUNK = 1 << 20


_COUNTED = 20_000
"""Blobs that `total` looks at before it reckons the rest."""


class BlobStore:
    """A content-addressed store.

    Args:
        url: `file:///absolute/folder`, a plain path, or what fsspec knows (`s3://bucket/prefix`, `memory://name`).
        cache: for stores that are not local, the folder that `local_path` downloads to; default: one for this process.

    Raises:
        WarehouseError: the URL is unknown to fsspec, or the folder cannot be made or written.
    """

    def __init__(self, url: str, *, cache: Path | None = None):
        self.url = url
        self._cache = cache
        parsed = urlparse(url)
        local = parsed.scheme in ("", "file")
        self._root: Path | None = Path(unquote(parsed.path) if parsed.scheme else url).resolve() if local else None
        self._files: Any = None
        self._prefix = ""
        if self._root is not None:
            self._open_folder(self._root)
        else:
            self._open_remote()

    def put(self, data: bytes) -> str:
        """Store bytes; returns their hex SHA-256. Idempotent and atomic.

        Raises:
            WarehouseError: the disk is full or the store cannot be written.
        """
        sha256 = sha256_hex(data)
        if self.size(sha256) == len(data):
            return sha256
        try:
            if self._root is None:
                self._put_remote(sha256, data)
            else:
                self._put_local(sha256, data)
        except OSError as error:
            raise self._error(f"cannot write {sha256}", error) from error
        return sha256

    def put_file(self, path: Path) -> str:
        """Store a file of the host; returns its hex SHA-256."""
        return self.put(path.read_bytes())

    def get(self, sha256: str) -> bytes:
        """The bytes, verified.

        Raises:
            WarehouseError: there is no such blob, or what is stored is not what was put.
        """
        try:
            data = (
                self._place(sha256).read_bytes() if self._root is not None else self._files.cat_file(self._key(sha256))
            )
        except FileNotFoundError:
            raise WarehouseError(
                f"blob {sha256} is not in {self.url}",
                mend="point FORGE_BLOBS at the store that the warehouse was filled with",
            ) from None
        except OSError as error:
            raise self._error(f"cannot read {sha256}", error) from error
        if sha256_hex(data) != sha256:
            raise WarehouseError(
                f"blob {sha256} in {self.url} is damaged: its {len(data)} bytes have another hash",
                mend="put the same bytes again, or restore it from a copy of the store",
            )
        return bytes(data)

    def has(self, sha256: str) -> bool:
        """Whether there is such a blob (not whether it is intact)."""
        return self.size(sha256) is not None

    def size(self, sha256: str) -> int | None:
        """Bytes stored under that hash, or None."""
        try:
            if self._root is not None:
                return self._place(sha256).stat().st_size
            return int(self._files.size(self._key(sha256)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._error(f"cannot look for {sha256}", error) from error

    def total(self) -> int:
        """Bytes of all blobs. Of a store with many of them some folders are counted, for all are filled alike."""
        seen = size = 0
        for number in range(256):
            part = f"{number:02x}"
            if self._root is not None:
                sizes = [p.stat().st_size for p in (self._root / part).rglob("*") if p.is_file()]
            else:
                where = f"{self._prefix}/{part}"
                found = self._files.find(where, detail=True) if self._files.exists(where) else {}
                sizes = [int(each["size"]) for each in found.values()]
            seen, size = seen + len(sizes), size + sum(sizes)
            if seen > _COUNTED:
                return size * 256 // (number + 1)
        return size

    def local_path(self, sha256: str) -> Path:
        """A verified file of the host that holds the blob; do not write to it. Other stores are downloaded first."""
        if self._root is not None:
            path = self._place(sha256)
            if self._digest(path, sha256) != sha256:
                self.get(sha256)  # raises the error that says what is wrong
            return path
        folder = self._cache or Path(tempfile.gettempdir()) / f"forge-blobs-{os.getpid()}"
        path = folder / sha256[:2] / sha256
        if not path.exists():
            data = self.get(sha256)
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(data)
            os.replace(file.name, path)
        return path

    def _open_folder(self, root: Path) -> None:
        try:
            (root / "tmp").mkdir(parents=True, exist_ok=True)
            now = time.time()
            for leftover in (root / "tmp").iterdir():  # of writers that were killed
                if now - leftover.stat().st_mtime > _STALE_SECONDS:
                    leftover.unlink(missing_ok=True)
        except OSError as error:
            raise self._error("cannot be opened", error) from error

    def _open_remote(self) -> None:
        import fsspec

        try:
            self._files, prefix = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise WarehouseError(
                f"{self.url!r} is no URL of a blob store: {error}", mend="write file:///folder or s3://bucket/prefix"
            ) from None
        self._prefix = prefix.rstrip("/")

    def _put_local(self, sha256: str, data: bytes) -> None:
        assert self._root is not None
        place = self._place(sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._root / "tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644)
            os.replace(name, place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _put_remote(self, sha256: str, data: bytes) -> None:
        key = self._key(sha256)
        self._files.makedirs(key.rsplit("/", 1)[0], exist_ok=True)
        self._files.pipe_file(key, data)  # one object put: object stores show it whole or not at all

    def _place(self, sha256: str) -> Path:
        assert self._root is not None
        return self._root / _fan_out(sha256)

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}/{_fan_out(sha256)}"

    def _digest(self, path: Path, sha256: str) -> str | None:
        hasher = hashlib.sha256()
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    hasher.update(chunk)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._error(f"cannot read {sha256}", error) from error
        return hasher.hexdigest()

    def _error(self, what: str, error: OSError) -> WarehouseError:
        return WarehouseError(
            f"blob store {self.url}: {what}: {error}",
            mend="free some disk space, or make the folder writable for this user, or set FORGE_BLOBS to another place",
        )


def _fan_out(sha256: str) -> str:
    if not _SHA.match(sha256):
        raise WarehouseError(f"{sha256!r} is no SHA-256", mend="a blob is named by 64 lower-case hex digits")
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"
