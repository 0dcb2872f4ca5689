"""`files.document`: a person's file goes into the guest as it is, and its content is a fact."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from forge.records import PreparerError
from preparers.base import PREPARERS, Context, Preparer
from preparers.files.containers import Member, zip_bytes

DOCUMENT: Preparer[Any] = PREPARERS.get("files.document")


def workbook() -> bytes:
    target = io.BytesIO()
    with xlsxwriter.Workbook(target) as book:
        sheet = book.add_worksheet("Stock")
        sheet.write_row(0, 0, ["Item", "Pieces"])
        sheet.write_row(1, 0, ["Pen", 12])
        sheet.write_row(2, 0, ["Ink", 3])
        sheet.write_formula(3, 1, "=SUM(B2:B3)", None, 15)
        book.add_worksheet("Empty")
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "facts"),
    [
        ("note.txt", b"two\nlines\n", {"kind": "text", "lines": 2, "words": 2}),
        ("table.csv", b"A;B\n1;2\n", {"kind": "csv", "header": ["A", "B"], "rows": [["1", "2"]], "delimiter": ";"}),
        ("data.json", b'{"a": [1]}', {"kind": "json", "value": {"a": [1]}}),
        ("pack.zip", zip_bytes([Member("x.txt", b"x")]), {"kind": "archive", "format": "zip"}),
        ("thing.pdf", b"%PDF-1.4 \xff", {"kind": "binary", "size": 10}),
        ("raw.txt", b"\0\1", {"kind": "binary", "size": 2}),
        (
            "stock.xlsx",
            workbook(),
            {
                "kind": "workbook",
                "sheets": [
                    {
                        "name": "Stock",
                        "rows": 4,
                        "columns": 2,
                        "header": ["Item", "Pieces"],
                        "values": [["Item", "Pieces"], ["Pen", 12], ["Ink", 3], [None, 15]],
                    },
                    {"name": "Empty", "rows": 0, "columns": 0, "header": [], "values": []},
                ],
            },
        ),
    ],
)
def test_facts_are_drawn_from_a_persons_document(name: str, data: bytes, facts: dict[str, Any], tmp_path: Path) -> None:
    source = tmp_path / name
    source.write_bytes(data)
    params = DOCUMENT.validate({"source": str(source), "path": f"~/Documents/{name}", "mode": 0o600})
    prepared = DOCUMENT.prepare(params, Context())
    (file,) = prepared.files
    assert (file.path, file.data, file.mode) == (f"~/Documents/{name}", data, 0o600)
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    (home / file.path[2:]).write_bytes(data)
    (home / file.path[2:]).chmod(0o600)
    assert DOCUMENT.inspect(home, params) == prepared.facts == DOCUMENT.facts(params, Context())
    assert prepared.facts.items() >= {"sha256": hashlib.sha256(data).hexdigest(), "name": name, **facts}.items()


def test_a_recorded_content_must_still_be_there(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("one")
    known = hashlib.sha256(b"one").hexdigest()
    params = DOCUMENT.validate({"source": str(source), "path": "~/a.txt", "sha256": known})
    assert DOCUMENT.prepare(params, Context()).facts["sha256"] == known
    source.write_text("two")
    with pytest.raises(PreparerError, match=r"a\.txt has changed since its content was recorded\n.*sha256 3fc4ccfe"):
        DOCUMENT.prepare(params, Context())


@pytest.mark.parametrize(
    ("source", "path", "said"),
    [
        ("none.txt", "~/none.txt", r"the document .*none\.txt does not exist"),
        ("a.txt", "~/a.csv", "another suffix"),
        ("big.txt", "~/big.txt", "larger than 32 MiB"),
        ("bad.xlsx", "~/bad.xlsx", r"~/bad\.xlsx is no readable workbook"),
        ("bad.json", "~/bad.json", r"~/bad\.json is no JSON"),
        ("bad.zip", "~/bad.zip", r"~/bad\.zip is no readable \.zip archive"),
    ],
)
def test_a_document_that_cannot_be_used_is_named(source: str, path: str, said: str, tmp_path: Path) -> None:
    for name in ("a.txt", "bad.xlsx", "bad.json", "bad.zip"):
        (tmp_path / name).write_text("{")
    with open(tmp_path / "big.txt", "wb") as file:
        file.truncate(33 << 20)
    params = DOCUMENT.validate({"source": str(tmp_path / source), "path": path})
    with pytest.raises(PreparerError, match=said):
        DOCUMENT.prepare(params, Context())


def test_a_place_outside_the_home_is_refused() -> None:
    with pytest.raises(PreparerError, match=r"preparer files\.document: path"):
        DOCUMENT.validate({"source": "a.txt", "path": "/etc/passwd"})
