"""The bytes of each item of a tree, the same every time; and what must be true of them, from the parameters alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from forge.records import JSON, Guest, sha256_hex
from preparers.files import office_documents, pictures
from preparers.files.containers import Member, gzip_bytes, tar_bytes, zip_bytes
from preparers.files.params import (
    ArchiveItem,
    BinaryItem,
    CsvItem,
    DocxItem,
    FolderItem,
    ImageItem,
    IniItem,
    Item,
    JsonItem,
    PptxItem,
    TextItem,
    suffix_of,
)


def file_bytes(item: Item, guest: Guest) -> bytes:
    """The content of a file of the tree, or of a member of an archive."""
    match item:
        case TextItem():
            return (item.text if item.newline == "lf" else item.text.replace("\n", "\r\n")).encode()
        case CsvItem():
            rows = [item.header, *item.rows]
            return "".join(_csv_line(row, _delimiter(item)) for row in rows).encode()
        case JsonItem():
            return (_json_text(item) + "\n").encode()
        case IniItem():
            return _ini_text(item).encode()
        case ImageItem():
            return pictures.picture(item)
        case DocxItem():
            return office_documents.docx_bytes(item, moment_of(item, guest))
        case PptxItem():
            return office_documents.pptx_bytes(item, moment_of(item, guest))
        case BinaryItem():
            return base64.b64decode(item.data)
        case ArchiveItem():
            return _archive_bytes(item, guest)
    raise TypeError(f"{type(item).__name__} has no content")


def file_facts(item: Item) -> dict[str, JSON]:
    """What `preparers.files.reading.describe` must say of the file, but for `size`; from the parameters alone."""
    match item:
        case TextItem():
            lines = len(item.text.split("\n")) - (1 if item.text.endswith("\n") or not item.text else 0)
            return {
                "kind": "text",
                "lines": lines,
                "words": len(item.text.split()),
                "sha256": sha256_hex(item.text.encode()),
            }
        case CsvItem():
            rows = [[_csv_text(cell) for cell in row] for row in item.rows]
            facts: dict[str, JSON] = {"header": list(item.header), "rows": rows, "columns": len(item.header)}
            return {"kind": "csv", **facts, "delimiter": _delimiter(item)}
        case JsonItem():
            return {"kind": "json", "value": json.loads(_json_text(item))}
        case IniItem():
            return {"kind": "ini", "sections": {name: dict(pairs) for name, pairs in item.sections.items()}}
        case ImageItem():
            form = pictures.FORMATS[suffix_of(item.path)].lower()
            return {"kind": "image", "width": item.width, "height": item.height, "format": form}
        case DocxItem():
            paragraphs = [{"text": p.text, "style": p.style} for p in item.paragraphs]
            return {"kind": "docx", "paragraphs": paragraphs, "table": [list(row) for row in item.table]}
        case PptxItem():
            slides = [{"title": s.title, "bullets": [b for b in s.bullets if b]} for s in item.slides]
            return {"kind": "pptx", "slides": slides}
        case BinaryItem():
            return {"kind": "binary", "sha256": sha256_hex(base64.b64decode(item.data))}
        case ArchiveItem():
            members = {m.path: {**file_facts(m), "mode": f"{m.mode:03o}"} for m in sorted(item.members, key=_path)}
            return {
                "kind": "archive",
                "format": suffix_of(item.path).replace(".tgz", ".tar.gz")[1:],
                "members": members,
            }
        case FolderItem():
            return {"kind": "folder"}
    raise TypeError(f"{type(item).__name__} has no facts")


def moment_of(item: Item, guest: Guest) -> datetime:
    """When an item was last changed, guest's local time."""
    return datetime.fromisoformat(item.modified) if item.modified else guest.now


def epoch_of(item: Item, guest: Guest) -> int:
    """The same as seconds since 1970."""
    return int(moment_of(item, guest).replace(tzinfo=ZoneInfo(guest.timezone)).timestamp())


def _archive_bytes(item: ArchiveItem, guest: Guest) -> bytes:
    members = [
        Member(
            name=m.path,
            data=b"" if isinstance(m, FolderItem) else file_bytes(m, guest),
            mode=m.mode,
            folder=isinstance(m, FolderItem),
            moment=moment_of(m, guest),
            mtime=epoch_of(m, guest),
        )
        for m in item.members
    ]
    match suffix_of(item.path):
        case ".zip":
            return zip_bytes(members)
        case ".tar":
            return tar_bytes(members)
    return gzip_bytes(tar_bytes(members))


def _path(item: Item) -> str:
    return item.path


def _delimiter(item: CsvItem) -> str:
    return "\t" if suffix_of(item.path) == ".tsv" else item.delimiter


def _csv_text(cell: str | int | float | None) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else repr(cell)


def _csv_line(cells: Iterable[str | int | float | None], delimiter: str) -> str:
    texts = [_csv_text(cell) for cell in cells]
    quoted = [
        '"' + text.replace('"', '""') + '"' if _needs_quotes(text, delimiter) or texts == [""] else text
        for text in texts
    ]
    return delimiter.join(quoted) + "\n"


def _needs_quotes(text: str, delimiter: str) -> bool:
    return any(char in text for char in (delimiter, '"', "\n", "\r")) or text != text.strip()


def _json_text(item: JsonItem) -> str:
    return json.dumps(item.value, ensure_ascii=False, indent=item.indent or None, allow_nan=False)


def _ini_text(item: IniItem) -> str:
    blocks = [
        f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in pairs.items())
        for section, pairs in item.sections.items()
    ]
    return "\n".join(blocks)
