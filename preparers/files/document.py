"""The preparer `files.document`: a file that a person has, put into the guest as it is, with facts drawn from it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pydantic import Field

from forge.records import JSON, PreparerError, sha256_hex
from forge.records.artifact import GuestPath
from preparers.base import Context, Params, Prepared, PreparedFile, Preparer, preparer
from preparers.files.params import suffix_of
from preparers.files.reading import describe

SIZE_LIMIT = 32 << 20
"""Bytes of a document; larger ones make every snapshot of every task large."""

CELL_LIMIT = 200_000
"""Cells of a workbook that are read for its facts."""


class DocumentParams(Params):
    """`files.document`: where a person's file lies and where it goes.

    With `sha256` given, the file must still be that one; without, whatever is there is taken, and its hash is a fact, so
    that a task names its content in any case.
    """

    source: str = Field(min_length=1, description="path on this machine, absolute or relative to where forge runs")
    path: GuestPath = Field(description="where it goes, ~/...; with the same suffix")
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$", description="expected content; empty: any")
    mode: int = Field(0o644, ge=0, le=0o777)


@preparer
class FilesDocument(Preparer[DocumentParams]):
    """A person's own document as input: text, CSV, JSON, INI, pictures, archives, xlsx, docx, pptx; others as bytes.

    For files that exist already and lie beside the workflow. An author has none: what a task needs is made by the other
    preparers. Facts: as those of a file in `files.tree`; for a workbook `sheets` (name, columns, rows, header, values).
    """

    name = "files.document"
    params = DocumentParams
    example = """\
source: handbook.docx
path: ~/Documents/handbook.docx
"""

    def prepare(self, params: DocumentParams, context: Context) -> Prepared:
        data = _source(params)
        return Prepared((PreparedFile(params.path, data, mode=params.mode),), _facts(params.path, data, params.mode))

    def facts(self, params: DocumentParams, context: Context) -> dict[str, JSON]:
        return _facts(params.path, _source(params), params.mode)

    def inspect(self, home: Path, params: DocumentParams) -> dict[str, JSON]:
        path = home / params.path[2:]
        if not path.is_file():
            raise PreparerError(f"{params.path} does not exist")
        return _facts(params.path, path.read_bytes(), path.stat().st_mode & 0o777)


def _source(params: DocumentParams) -> bytes:
    source = Path(params.source).expanduser()
    if not source.is_file():
        raise PreparerError(f"the document {params.source} does not exist", mend="give the path of an existing file")
    if source.stat().st_size > SIZE_LIMIT:
        raise PreparerError(f"the document {params.source} is larger than {SIZE_LIMIT >> 20} MiB")
    if suffix_of(source.name) != suffix_of(params.path):
        raise PreparerError(f"the document {params.source} cannot become {params.path}: another suffix")
    data = source.read_bytes()
    if params.sha256 and sha256_hex(data) != params.sha256:
        raise PreparerError(
            f"the document {params.source} has changed since its content was recorded",
            mend=f"restore it, or record the new content: sha256 {sha256_hex(data)}",
        )
    return data


def _facts(path: str, data: bytes, mode: int) -> dict[str, JSON]:
    suffix = suffix_of(path)
    name = path.rpartition("/")[2]
    place: dict[str, JSON] = {"path": path, "name": name, "suffix": suffix, "mode": f"{mode:03o}"}
    return {**place, "sha256": sha256_hex(data), **_content(path, suffix, data)}


def _content(path: str, suffix: str, data: bytes) -> dict[str, JSON]:
    if suffix == ".xlsx":
        return {"kind": "workbook", "size": len(data), "sheets": _sheets(path, data)}
    if suffix in (".txt", ".md", ".log", ".html", ".py", ".sh", "") and b"\0" not in data:
        return describe(path, data)
    described = suffix in (".csv", ".tsv", ".json", ".ini", ".cfg", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".docx")
    if described or suffix in (".pptx", ".zip", ".tar", ".tar.gz", ".tgz"):
        return describe(path, data)
    return {"kind": "binary", "size": len(data)}


def _sheets(path: str, data: bytes) -> list[JSON]:
    """Sheets of a workbook with the values that its last program computed."""
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets: list[JSON] = []
        cells = 0
        for sheet in book.worksheets:
            rows = [[_value(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
            cells += sum(len(row) for row in rows)
            if cells > CELL_LIMIT:
                raise PreparerError(f"{path} has more than {CELL_LIMIT} cells")
            header = [str(cell) for cell in rows[0]] if rows else []
            sheets.append(
                {"name": sheet.title, "rows": len(rows), "columns": len(header), "header": header, "values": rows}
            )
        book.close()
    except PreparerError:
        raise
    except Exception as error:  # openpyxl raises whatever its XML and ZIP readers do
        raise PreparerError(f"{path} is no readable workbook: {type(error).__name__}: {error}") from None
    return sheets


def _value(cell: Any) -> JSON:
    if cell is None or isinstance(cell, bool | int | float | str):
        return cell
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
