"""The zip container of an office file: parts by name, unchanged ones written back as they were."""

from __future__ import annotations

import io
import os
import posixpath
import zipfile
import zlib
from pathlib import Path

from .markup import Document, MarkupError, Node

LIMIT = 256 * 2**20
"""Bytes that all parts of a file may have together when unpacked."""

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


class SheetPatchError(Exception):
    """The file cannot be read, or the edit would damage something; nothing was written."""


class Package:
    """The parts of a zip file. Parts that were never changed keep their bytes, order, time and compression."""

    def __init__(self, data: bytes, name: str = "file"):
        """Unpack. Raises SheetPatchError naming the file when it is no zip, is cut short or unpacks to too much."""
        self.name = name
        self._documents: dict[str, Document] = {}
        self._changed: set[str] = set()
        self._parts: dict[str, bytes] = {}
        self._infos: dict[str, zipfile.ZipInfo] = {}
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                infos = archive.infolist()
                size = sum(info.file_size for info in infos)
                if size > LIMIT:
                    raise SheetPatchError(f"{name}: unpacks to {size} bytes, more than {LIMIT}")
                for info in infos:
                    self._infos[info.filename] = info
                    self._parts[info.filename] = archive.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise SheetPatchError(f"{name}: no readable zip file: {error}") from None

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    @property
    def parts(self) -> list[str]:
        """The names of all parts in the order of the file."""
        return list(self._parts)

    def read(self, part: str) -> bytes:
        """The bytes of a part, with the edits made so far. Raises SheetPatchError when there is none."""
        if part in self._documents and part in self._changed:
            return self._documents[part].render()
        try:
            return self._parts[part]
        except KeyError:
            raise SheetPatchError(f"{self.name}: has no part {part}") from None

    def document(self, part: str, *, change: bool = False) -> Node:
        """The root of an XML part, parsed once. `change`: it is going to be edited, write it anew on saving."""
        if part not in self._documents:
            try:
                self._documents[part] = Document(self.read(part))
            except MarkupError as error:
                raise SheetPatchError(f"{self.name}: {part}: {error}") from None
        if change:
            self._changed.add(part)
        return self._documents[part].root

    def write(self, part: str, data: bytes) -> None:
        """Set the bytes of a part, new or old."""
        self._documents.pop(part, None)
        self._changed.discard(part)
        self._parts[part] = data
        if part not in self._infos:
            like = next(iter(self._infos.values()))
            info = zipfile.ZipInfo(part, like.date_time)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = like.external_attr
            self._infos[part] = info

    def drop(self, part: str) -> None:
        """Take a part out."""
        self._parts.pop(part, None)
        self._infos.pop(part, None)
        self._documents.pop(part, None)
        self._changed.discard(part)

    def render(self) -> bytes:
        """The whole file."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for part, info in self._infos.items():
                entry = zipfile.ZipInfo(part, info.date_time)
                entry.compress_type = info.compress_type
                entry.external_attr = info.external_attr
                entry.create_system = info.create_system
                archive.writestr(entry, self.read(part))
        return buffer.getvalue()

    def save(self, path: str | Path) -> None:
        """Write to `path` in one step: a crash leaves the old file whole."""
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            temporary.write_bytes(self.render())
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Relationship id to (kind, the part or address it leads to); kind is the last word of the type."""
        name = relations_part(part)
        if name not in self:
            return {}
        found = {}
        for node in self.document(name).all("Relationship"):
            target = node.get("Target") or ""
            if node.get("TargetMode") != "External":
                target = resolve(part, target)
            found[node.get("Id") or ""] = ((node.get("Type") or "").rpartition("/")[2], target)
        return found

    def relate(self, part: str, kind: str, target: str) -> str:
        """Add a relationship from `part` to the part `target`; `kind` is the full type. Returns its new id."""
        name = relations_part(part)
        if name not in self:
            head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            self.write(name, f'{head}<Relationships xmlns="{_RELATIONSHIPS}"></Relationships>'.encode())
        root = self.document(name, change=True)
        taken = {node.get("Id") for node in root.children}
        identity = next(f"rId{number}" for number in range(1, len(taken) + 2) if f"rId{number}" not in taken)
        relative = posixpath.relpath(target, posixpath.dirname(part) or ".")
        root.append(Node(f"{root.prefix}Relationship", {"Id": identity, "Type": kind, "Target": relative}))
        return identity

    def unrelate(self, part: str, identity: str) -> None:
        """Take a relationship away."""
        root = self.document(relations_part(part), change=True)
        for node in root.children:
            if node.get("Id") == identity:
                root.remove(node)


def relations_part(part: str) -> str:
    """Where the relationships of a part stand."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def resolve(part: str, target: str) -> str:
    """The part that a relationship's target means, seen from `part`."""
    if target.startswith("/"):
        return target[1:]
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), target))
