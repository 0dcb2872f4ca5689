"""Parameters of `files.tree`: every file of a folder tree with its content. Complete: nothing is drawn.

What a file is follows from its name's suffix (`kind_of`), so that anybody who finds it on the disk reads it the same way;
a parameter whose kind does not go with its suffix is refused.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from forge.records import JSON
from preparers.base import Params

KINDS: dict[str, str] = {
    ".csv": "csv", ".tsv": "csv", ".json": "json", ".ini": "ini", ".cfg": "ini", ".png": "image", ".jpg": "image",
    ".jpeg": "image", ".gif": "image", ".bmp": "image", ".docx": "docx", ".pptx": "pptx", ".zip": "archive",
    ".tar": "archive", ".tar.gz": "archive", ".tgz": "archive", ".bin": "binary", ".dat": "binary",
}  # fmt: skip
"""Suffix to kind; every other name is text."""


def suffix_of(name: str) -> str:
    """The suffix of a file name in lower case, `.tar.gz` whole: `.csv`; empty for none."""
    low = name.rsplit("/", 1)[-1].lower()
    return ".tar.gz" if low.endswith(".tar.gz") else PurePosixPath(low).suffix


def kind_of(name: str) -> str:
    """What a file of that name holds: text, csv, json, ini, image, docx, pptx, archive or binary."""
    return KINDS.get(suffix_of(name), "text")


def _relative(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{path!r} is no plain relative path such as reports/2025/summary.txt")
    if any(len(part.encode(errors="replace")) > 255 for part in parts):
        raise ValueError(f"{path!r} has a name longer than 255 bytes")
    return _printable(path)


def _printable(text: str) -> str:
    odd = re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]", text)
    if odd:
        raise ValueError(f"{text[:80]!a} holds the character {odd[0]!a}, which no person types")
    return text


def _plain_text(text: str) -> str:
    _printable(text.replace("\n", "").replace("\t", ""))
    return text


def _guest_folder(path: str) -> str:
    if not path.startswith("~/"):
        raise ValueError(f"{path!r} is no folder below the guest's home; write ~/...")
    return "~/" + _relative(path[2:])


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(f"{text!r} has an offset; write the guest's local time, e.g. 2025-11-03T14:22:00")
    if not 1980 <= moment.year <= 2100:
        raise ValueError(f"{text!r}: files are changed between 1980 and 2100")
    return moment.isoformat(timespec="seconds")


RelativePath = Annotated[str, AfterValidator(_relative)]
Line = Annotated[str, AfterValidator(_printable)]
Text = Annotated[str, AfterValidator(_plain_text)]
Moment = Annotated[str, AfterValidator(_moment)]
GuestFolder = Annotated[str, AfterValidator(_guest_folder)]


class Item(Params):
    """What all things in a tree have: a path below the root, permission bits, a time of the last change."""

    path: RelativePath = Field(description="below the root (of a member: inside the archive), without ~/")
    mode: int = Field(0o644, ge=0, le=0o777, description="permission bits")
    modified: Moment | None = Field(None, description="last change, guest's local time; default: the guest's clock")


class _File(Item):
    @model_validator(mode="after")
    def _kind_goes_with_suffix(self) -> _File:
        kind = getattr(self, "kind")  # noqa: B009
        if kind_of(self.path) != kind:
            raise ValueError(f"{self.path!r} has the suffix of a {kind_of(self.path)} file, not of a {kind} file")
        return self


class FolderItem(Item):
    """An empty folder, or the mode of one that has files."""

    kind: Literal["folder"] = "folder"
    mode: int = Field(0o755, ge=0, le=0o777)


class TextItem(_File):
    """Plain text of any sort: notes, logs, Markdown, sources, web pages."""

    kind: Literal["text"] = "text"
    text: Text = ""
    newline: Literal["lf", "crlf"] = "lf"


class CsvItem(_File):
    """A table of texts and numbers, UTF-8; `.tsv` is tab-separated whatever `delimiter` says."""

    kind: Literal["csv"] = "csv"
    header: tuple[Line, ...] = Field(min_length=1)
    rows: tuple[tuple[Text | int | float | None, ...], ...] = Field(
        (), description="as long as the header; facts have texts"
    )
    delimiter: Literal[",", ";"] = ","

    @model_validator(mode="after")
    def _rows_fit(self) -> CsvItem:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.header):
                raise ValueError(f"row {number} of {self.path!r} has {len(row)} cells, the header {len(self.header)}")
        return self


class JsonItem(_File):
    """A JSON document, indented with `indent` spaces."""

    kind: Literal["json"] = "json"
    value: JSON = None
    indent: int = Field(2, ge=0, le=8)


class IniItem(_File):
    """Sections of `key = value` lines."""

    kind: Literal["ini"] = "ini"
    sections: dict[str, dict[str, Line]] = Field(min_length=1, description="section to key to text")

    @model_validator(mode="after")
    def _can_be_written(self) -> IniItem:
        for section, pairs in self.sections.items():
            if not re.fullmatch(r"[^\[\]\s](?:[^\[\]]*[^\[\]\s])?", _printable(section)) or section == "DEFAULT":
                raise ValueError(f"{self.path!r}: {section!r} is no section name")
            for key, value in pairs.items():
                if not re.fullmatch(r"[\w.-]+", key) or value != value.strip():
                    raise ValueError(f"{self.path!r}: {key!r} = {value!r} is no line of an INI file")
        return self


class ImageItem(_File):
    """A picture, drawn: what it shows is decoration, its size and format are facts."""

    kind: Literal["image"] = "image"
    width: int = Field(ge=1, le=4096, description="pixels")
    height: int = Field(ge=1, le=4096, description="pixels")
    scene: Literal["landscape", "portrait", "chart", "scan", "logo", "plain"] = "landscape"
    variant: int = Field(0, ge=0, description="any number: another picture of the same sort")


class Paragraph(Params):
    """One paragraph of a text document."""

    text: Line
    style: Literal["title", "heading1", "heading2", "normal", "bullet"] = "normal"


class DocxItem(_File):
    """A text document with paragraphs and at most one table at its end."""

    kind: Literal["docx"] = "docx"
    paragraphs: tuple[Paragraph, ...] = Field(min_length=1)
    table: tuple[tuple[Line, ...], ...] = ()

    @model_validator(mode="after")
    def _rows_fit(self) -> DocxItem:
        if len({len(row) for row in self.table}) > 1 or any(not row for row in self.table):
            raise ValueError(f"the rows of the table in {self.path!r} must be equally long and not empty")
        return self


class Slide(Params):
    """One slide: a title and its points."""

    title: Line
    bullets: tuple[Line, ...] = ()


class PptxItem(_File):
    """A presentation of title-and-points slides."""

    kind: Literal["pptx"] = "pptx"
    slides: tuple[Slide, ...] = Field(min_length=1)


class BinaryItem(_File):
    """Any bytes, base64."""

    kind: Literal["binary"] = "binary"
    data: str = ""

    @model_validator(mode="after")
    def _is_base64(self) -> BinaryItem:
        try:
            base64.b64decode(self.data, validate=True)
        except binascii.Error as error:
            raise ValueError(f"the data of {self.path!r} is no base64: {error}") from None
        return self


Member = Annotated[
    FolderItem | TextItem | CsvItem | JsonItem | IniItem | ImageItem | DocxItem | PptxItem | BinaryItem,
    Field(discriminator="kind"),
]


class ArchiveItem(_File):
    """An archive; its suffix says of which kind: `.zip`, `.tar`, `.tar.gz` or `.tgz`."""

    kind: Literal["archive"] = "archive"
    members: tuple[Member, ...] = ()

    @model_validator(mode="after")
    def _members_are_apart(self) -> ArchiveItem:
        _apart(self.members, self.path)
        return self


AnyItem = Annotated[
    FolderItem | TextItem | CsvItem | JsonItem | IniItem | ImageItem | DocxItem | PptxItem | BinaryItem | ArchiveItem,
    Field(discriminator="kind"),
]


class TreeParams(Params):
    """`files.tree`: a folder and what is in it. The folder belongs to the tree: nobody else prepares files below it."""

    root: GuestFolder = Field(description="the folder, ~/Documents/...")
    items: tuple[AnyItem, ...] = Field((), max_length=2000)

    @model_validator(mode="after")
    def _items_are_apart(self) -> TreeParams:
        _apart(self.items, self.root)
        return self


def _apart(items: tuple[Item, ...], owner: str) -> None:
    """No two things in one place, and nothing below a file."""
    files = [item.path for item in items if not isinstance(item, FolderItem)]
    names = [item.path for item in items]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{owner!r} has two things at {twice!r}")
    taken = set(files)
    for name in names:
        parent = name.rpartition("/")[0]
        while parent:
            if parent in taken:
                raise ValueError(f"in {owner!r}, {name!r} lies below the file {parent!r}")
            parent = parent.rpartition("/")[0]
