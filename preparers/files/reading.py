"""What a file holds, read from its bytes alone and never with the library that wrote it.

ZIP and tar are written by hand and read with the standard library; text documents and presentations are read as ZIP and
XML; pictures by their headers; CSV and INI, written by hand, with `csv` and `configparser`. Nothing is unpacked to the
disk, and nothing larger than the limits below is unpacked at all.
"""

from __future__ import annotations

import configparser
import csv
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from forge.records import JSON, PreparerError, sha256_hex
from preparers.files.params import kind_of, suffix_of

UNPACKED_LIMIT = 64 << 20
"""Bytes that an archive may hold altogether, unpacked."""

RATIO_LIMIT = 200
"""How much larger than packed a member may be, above RATIO_FLOOR bytes. Ordinary text stays far below."""

RATIO_FLOOR = 1 << 20

MEMBER_LIMIT = 10_000

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STYLES = {"Title": "title", "Heading1": "heading1", "Heading2": "heading2", "ListBullet": "bullet"}


def describe(name: str, data: bytes) -> dict[str, JSON]:
    """What is in a file, by its name's suffix: `kind`, `size` and what that kind has.

    text: lines, words, sha256 of the text; csv: header, rows, columns, delimiter; json: value; ini: sections; image:
    width, height, format; docx: paragraphs, table; pptx: slides; archive: format, members; binary: sha256.

    Args:
        name: the file's name or path; in messages, too.
        data: its bytes.

    Raises:
        PreparerError: the file is not what its suffix says: truncated, not UTF-8, a ZIP bomb.
    """
    return {"size": len(data), **_described(name, data)}


def _described(name: str, data: bytes) -> dict[str, JSON]:
    kind = kind_of(name)
    return {"kind": kind, **_READERS[kind](name, data)}


def read_text(name: str, data: bytes) -> str:
    """UTF-8 text (a byte order mark is left out, line ends become line feeds). Raises PreparerError when it is none."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise PreparerError(f"{name} is no UTF-8 text: {error.reason} at byte {error.start}") from None


def read_csv(name: str, data: bytes) -> tuple[list[list[str]], str]:
    """All rows of a CSV file and its delimiter: a tab in `.tsv`, else the semicolon if the first line has more of those."""
    text = read_text(name, data)
    first = text.split("\n", 1)[0]
    delimiter = "\t" if suffix_of(name) == ".tsv" else ";" if first.count(";") > first.count(",") else ","
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)), delimiter
    except csv.Error as error:
        raise PreparerError(f"{name} is no CSV: {error}") from None


def read_json(name: str, data: bytes) -> JSON:
    """The value of a JSON document."""
    import pydantic_core

    try:
        return pydantic_core.from_json(read_text(name, data), allow_inf_nan=False)
    except ValueError as error:
        raise PreparerError(f"{name} is no JSON: {error}") from None


def read_members(name: str, data: bytes, suffix: str = "") -> dict[str, tuple[str, bytes, int]]:
    """An archive's members in order: name to ("file" | "folder" | "link" | "other", bytes, permission bits).

    Args:
        name: the archive's name or path; in messages, too.
        data: its bytes.
        suffix: `.zip`, `.tar`, `.tar.gz` or `.tgz`; by default that of the name.

    Raises:
        PreparerError: not an archive of that kind, truncated, encrypted, a member's check sum is wrong, a name leads out
            of the archive or is there twice, or it unpacks to more than the limits.
    """
    suffix = suffix or suffix_of(name)
    try:
        return dict(_zip_members(name, data) if suffix == ".zip" else _tar_members(name, data, suffix != ".tar"))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, struct.error, NotImplementedError) as error:
        raise PreparerError(f"{name} is no readable {suffix} archive: {error or type(error).__name__}") from None
    except (RuntimeError, ValueError, OSError, UnicodeDecodeError) as error:
        raise PreparerError(f"{name} cannot be unpacked: {error}") from None


def image_size(name: str, data: bytes) -> tuple[int, int, str]:
    """(width, height, format) from the header of a PNG, JPEG, GIF or BMP file."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return (*struct.unpack(">II", data[16:24]), "png")
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return (*struct.unpack("<HH", data[6:10]), "gif")
        if data.startswith(b"BM"):
            width, height = struct.unpack("<ii", data[18:26])
            return width, abs(height), "bmp"
        if data.startswith(b"\xff\xd8"):
            return (*_jpeg_size(data), "jpeg")
    except struct.error:
        pass
    raise PreparerError(f"{name} is no PNG, JPEG, GIF or BMP picture, or its header is cut off")


def _text(name: str, data: bytes) -> dict[str, JSON]:
    text = read_text(name, data)
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return {"lines": lines, "words": len(text.split()), "sha256": sha256_hex(text.encode())}


def _csv(name: str, data: bytes) -> dict[str, JSON]:
    rows, delimiter = read_csv(name, data)
    if not rows:
        raise PreparerError(f"{name} is empty; a CSV file begins with its header")
    return {"header": rows[0], "rows": rows[1:], "columns": len(rows[0]), "delimiter": delimiter}


def _json(name: str, data: bytes) -> dict[str, JSON]:
    return {"value": read_json(name, data)}


def _ini(name: str, data: bytes) -> dict[str, JSON]:
    parser = configparser.ConfigParser(
        interpolation=None,
        delimiters=("=",),
        comment_prefixes=("#", ";"),
        default_section="",
        empty_lines_in_values=False,
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(read_text(name, data))
    except configparser.Error as error:
        raise PreparerError(f"{name} is no INI file: {error.message}") from None
    return {"sections": {section: dict(parser.items(section)) for section in parser.sections()}}


def _image(name: str, data: bytes) -> dict[str, JSON]:
    width, height, form = image_size(name, data)
    return {"width": width, "height": height, "format": form}


def _binary(name: str, data: bytes) -> dict[str, JSON]:
    return {"sha256": sha256_hex(data)}


def _archive(name: str, data: bytes) -> dict[str, JSON]:
    members: dict[str, JSON] = {}
    for path, (kind, content, mode) in sorted(read_members(name, data).items()):
        inner = _described(f"{name}/{path}", content) if kind == "file" else {"kind": kind}
        members[path] = {**inner, "mode": f"{mode:03o}"}
    return {"format": suffix_of(name).replace(".tgz", ".tar.gz")[1:], "members": members}


def _docx(name: str, data: bytes) -> dict[str, JSON]:
    body = _part(name, data, "word/document.xml").find(f"{_WORD}body")
    if body is None:
        raise PreparerError(f"{name} is no text document: it has no body")
    paragraphs = []
    for node in body.findall(f"{_WORD}p"):
        style = node.find(f"{_WORD}pPr/{_WORD}pStyle")
        named = "" if style is None else style.get(f"{_WORD}val", "")
        paragraphs.append({"text": _words(node), "style": _STYLES.get(named, "normal")})
    table = [
        ["\n".join(_words(p) for p in cell.iter(f"{_WORD}p")) for cell in row.findall(f"{_WORD}tc")]
        for row in body.iter(f"{_WORD}tr")
    ]
    return {"paragraphs": paragraphs, "table": table}


def _pptx(name: str, data: bytes) -> dict[str, JSON]:
    links = {
        link.get("Id"): link.get("Target", "") for link in _part(name, data, "ppt/_rels/presentation.xml.rels").iter()
    }
    slides = []
    for entry in _part(name, data, "ppt/presentation.xml").iter(f"{_SLIDE}sldId"):
        target = links.get(entry.get(f"{_LINK}id"), "").lstrip("/").removeprefix("ppt/")
        slide: dict[str, Any] = {"title": "", "bullets": []}
        for shape in _part(name, data, f"ppt/{target}").iter(f"{_SLIDE}sp"):
            place = shape.find(f".//{_SLIDE}ph")
            texts = ["".join(t.text or "" for t in p.iter(f"{_DRAWING}t")) for p in shape.iter(f"{_DRAWING}p")]
            if place is not None and place.get("type") in ("title", "ctrTitle"):
                slide["title"] = " ".join(texts)
            else:
                slide["bullets"] += [text for text in texts if text]
        slides.append(slide)
    return {"slides": slides}


_READERS: dict[str, Callable[[str, bytes], dict[str, JSON]]] = {
    "text": _text, "csv": _csv, "json": _json, "ini": _ini, "image": _image, "binary": _binary, "archive": _archive,
    "docx": _docx, "pptx": _pptx,
}  # fmt: skip


def _words(paragraph: Any) -> str:
    parts = []
    for node in paragraph.iter():
        if node.tag == f"{_WORD}t":
            parts.append(node.text or "")
        elif node.tag in (f"{_WORD}br", f"{_WORD}tab"):
            parts.append("\n" if node.tag.endswith("br") else "\t")
    return "".join(parts)


def _part(name: str, data: bytes, part: str) -> Any:
    """The XML root of one part of an office document."""
    from lxml import etree

    members = read_members(name, data, ".zip")
    if part not in members:
        raise PreparerError(f"{name} is no office document: {part} is not in it")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        return etree.fromstring(members[part][1], parser)
    except etree.XMLSyntaxError as error:
        raise PreparerError(f"{name}: {part} is no XML: {error}") from None


def _zip_members(name: str, data: bytes) -> Iterator[tuple[str, tuple[str, bytes, int]]]:
    seen: set[str] = set()
    total = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        _count(name, len(infos))
        for info in infos:
            path = _member_path(name, info.filename, seen)
            mode = info.external_attr >> 16
            if info.is_dir():
                yield path, ("folder", b"", mode & 0o777 or 0o755)
                continue
            total += info.file_size
            _bounded(name, path, info.compress_size, info.file_size, total)
            with archive.open(info) as member:
                # Never trust the header alone: one byte more than it says is already too much.
                content = member.read(info.file_size + 1)
            if len(content) > info.file_size:
                raise PreparerError(f"{name}: {path} is larger than the archive says")
            kind = "link" if mode & 0o170000 == 0o120000 else "file"
            yield path, (kind, content, mode & 0o777 or 0o644)


def _tar_members(name: str, data: bytes, packed: bool) -> Iterator[tuple[str, tuple[str, bytes, int]]]:
    raw = _gunzip(name, data) if packed else data
    if len(raw) < 512:
        raise PreparerError(f"{name} is no readable tar archive: it is cut off")
    seen: set[str] = set()
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
        end = 0
        for count, info in enumerate(archive, 1):
            _count(name, count)
            end = max(end, info.offset_data + info.size)
            if end > len(raw):
                raise PreparerError(f"{name} is no readable tar archive: {info.name} is cut off")
            path = _member_path(name, info.name, seen)
            if info.isdir():
                yield path, ("folder", b"", info.mode & 0o777)
            elif info.isfile():
                file = archive.extractfile(info)
                yield path, ("file", file.read() if file else b"", info.mode & 0o777)
            else:
                yield path, ("link" if info.issym() or info.islnk() else "other", b"", info.mode & 0o777)
    if raw[-512:] != bytes(512):
        raise PreparerError(f"{name} is no readable tar archive: it ends without its closing blocks")


def _gunzip(name: str, data: bytes) -> bytes:
    unpacker = zlib.decompressobj(31)
    raw = unpacker.decompress(data, UNPACKED_LIMIT + 1)
    if len(raw) > UNPACKED_LIMIT or (len(raw) > RATIO_FLOOR and len(raw) > RATIO_LIMIT * len(data)):
        raise PreparerError(
            f"{name} unpacks to more than {len(raw) - 1} bytes from {len(data)}; that is taken for a bomb"
        )
    if not unpacker.eof:
        raise PreparerError(f"{name} is no readable gzip file: it is cut off")
    return raw


def _count(name: str, count: int) -> None:
    if count > MEMBER_LIMIT:
        raise PreparerError(f"{name} has more than {MEMBER_LIMIT} members")


def _bounded(name: str, path: str, packed: int, size: int, total: int) -> None:
    if total > UNPACKED_LIMIT or (size > RATIO_FLOOR and size > RATIO_LIMIT * max(1, packed)):
        raise PreparerError(f"{name} unpacks to {total} bytes ({path}: {size} from {packed}); that is taken for a bomb")


def _member_path(name: str, member: str, seen: set[str]) -> str:
    path = member.removeprefix("./").rstrip("/") or "."
    if member.startswith("/") or ".." in path.split("/") or "\\" in path:
        raise PreparerError(f"{name}: the member {member!r} leads out of the archive")
    if path in seen:
        raise PreparerError(f"{name} holds {path!r} twice")
    seen.add(path)
    return path


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Walk the segments to the frame header (ITU-T T.81, B.2.2)."""
    place = 2
    while place + 9 < len(data):
        if data[place] != 0xFF:
            break
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + int(struct.unpack(">H", data[place + 2 : place + 4])[0])
    raise struct.error("no frame header")
