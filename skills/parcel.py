"""Outcomes of nodes as bytes, for the cache: a length, a JSON head, and the files' bytes one after another."""

from __future__ import annotations

import json
import struct

from forge.records import Role
from preparers.base import PreparedFile
from skills.nodes.base import Outcome

_LENGTH = struct.Struct(">Q")


def pack(outcome: Outcome) -> bytes:
    """The outcome as bytes; equal outcomes, equal bytes."""
    head = {
        "value": outcome.value,
        "preparer": outcome.preparer,
        "files": [[f.path, len(f.data), str(f.role), f.mode, f.folder, f.mtime] for f in outcome.files],
    }
    text = json.dumps(head, ensure_ascii=False, allow_nan=False).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *(f.data for f in outcome.files)])


def unpack(data: bytes) -> Outcome:
    """The inverse of `pack`."""
    (length,) = _LENGTH.unpack_from(data)
    place = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : place])
    files = []
    for path, size, role, mode, folder, mtime in head["files"]:
        files.append(PreparedFile(path, data[place : place + size], Role(role), mode, folder, mtime))
        place += size
    return Outcome(head["value"], tuple(files), head["preparer"])
