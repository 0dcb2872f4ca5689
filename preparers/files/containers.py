"""ZIP and tar archives written by hand, byte for byte the same each time: fixed order, given time stamps, no host facts.

Formats: ZIP as in PKWARE's APPNOTE 6.3 (no ZIP64: below 4 GiB), tar as in POSIX.1-1988 ustar with its `prefix` field and
pax records for longer or non-ASCII names, gzip as in RFC 1952. Reading is `preparers.files.reading`, with the standard
library.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Member:
    """One thing in an archive. `moment` is local wall time (ZIP stores that), `mtime` seconds since 1970 (tar does)."""

    name: str
    data: bytes = b""
    mode: int = 0o644
    folder: bool = False
    moment: datetime = datetime(1980, 1, 1)
    mtime: int = 0


def zip_bytes(members: Iterable[Member], *, compress: bool = True) -> bytes:
    """A ZIP file of `members`, in that order."""
    body, directory = bytearray(), bytearray()
    count = 0
    for member in members:
        name = (member.name + "/" if member.folder else member.name).encode()
        data = b"" if member.folder else member.data
        packed, method = data, 0
        if compress and data:
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            packed, method = deflate.compress(data) + deflate.flush(), 8
            if len(packed) >= len(data):
                packed, method = data, 0
        moment = max(member.moment, datetime(1980, 1, 1))
        time = moment.hour << 11 | moment.minute << 5 | moment.second // 2
        date = (moment.year - 1980) << 9 | moment.month << 5 | moment.day
        flags = 0x800 if any(byte > 127 for byte in name) else 0
        kind = (0o040000 if member.folder else 0o100000) | member.mode
        attributes = kind << 16 | (0x10 if member.folder else 0)
        rest = struct.pack(
            "<HHHHHIIIHH", 20, flags, method, time, date, zlib.crc32(data), len(packed), len(data), len(name), 0
        )
        directory += b"PK\x01\x02" + struct.pack("<H", 3 << 8 | 20) + rest
        directory += struct.pack("<HHHII", 0, 0, 0, attributes, len(body)) + name
        body += b"PK\x03\x04" + rest + name + packed
        count += 1
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end)


def tar_bytes(members: Iterable[Member]) -> bytes:
    """A tar file of `members`, in that order, owned by nobody in particular."""
    body = bytearray()
    for member in members:
        name = member.name + "/" if member.folder else member.name
        data = b"" if member.folder else member.data
        raw = name.encode()
        if len(raw) > 100 or not name.isascii():
            record = _pax("path", name)
            body += _header(b"pax", len(record), 0o644, member.mtime, b"x") + _padded(record)
            raw = raw[:100].decode(errors="ignore").encode()
        body += _header(raw, len(data), member.mode, member.mtime, b"5" if member.folder else b"0") + _padded(data)
    body += bytes(1024)
    return bytes(body + bytes(-len(body) % 10240))


def gzip_bytes(data: bytes) -> bytes:
    """`data` in gzip's format, without name and time."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(data) + deflate.flush()
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + packed + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def _header(name: bytes, size: int, mode: int, mtime: int, kind: bytes) -> bytes:
    header = struct.pack(
        "<100s8s8s8s12s12s8sc100s6s2s32s32s8s8s155s12x",
        name,
        b"%07o\0" % mode,
        b"%07o\0" % 1000,
        b"%07o\0" % 1000,
        b"%011o\0" % size,
        b"%011o\0" % max(0, mtime),
        b" " * 8,
        kind,
        b"",
        b"ustar\0",
        b"00",
        b"alex",
        b"alex",
        b"%07o\0" % 0,
        b"%07o\0" % 0,
        b"",
    )
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def _pax(key: str, value: str) -> bytes:
    """One pax record: its own length in decimal, a space, `key=value`, a line feed."""
    rest = f" {key}={value}\n".encode()
    length = len(rest)
    while length != len(rest) + len(str(length)):
        length = len(rest) + len(str(length))
    return str(length).encode() + rest


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)
