"""Literals of a text, and whether a resolved object holds them."""

from __future__ import annotations

import pytest

from verifiers.literals import Facts, Found, Kind, literals_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Put the total of “Net Price” into B21.", [("quoted text", "Net Price"), ("cell", "B21")]),
        ("In Budget 2026.xlsx, sum up C2:C19", [("file name", "2026.xlsx"), ("cell", "C2:C19")]),
        (
            "move ~/Documents/a b.txt to ~/Archive/2025/.",
            [("path", "~/Documents/a"), ("file name", "b.txt"), ("path", "~/Archive/2025/")],
        ),
        (
            "Write to ada.l@mail.example by 2026-03-16, 9:30",
            [("address", "ada.l@mail.example"), ("date", "2026-03-16"), ("time", "9:30")],
        ),
        ("Sort the 14 rows, keep the first 2", [("number", "14")]),
        ("It costs $1,250.50 or 12.5 %", [("number", "1250.5"), ("number", "12.5")]),
        ("Don't touch Alex's rows, e.g. those of node.js", []),
        ("Call it 'Q3 report' and say \"hello\"", [("quoted text", "Q3 report"), ("quoted text", "hello")]),
        ("pack it as photos.tar.gz", [("file name", "photos.tar.gz")]),
        ("due on March 16, 2026 (a Monday)", [("date", "March 16, 2026")]),
        ("=LOG10(A1)+$B$2", [("cell", "A1"), ("cell", "$B$2")]),
        ("see https://intranet.example/a?b=1.", [("address", "https://intranet.example/a?b=1")]),
        ("Save it as UTF-8, not as ISO-8859-1, Windows-1252 or utf-16le.", []),
        ("Write dates as ISO 8601 (RFC 3339, ISO 8601-1:2019), CSV as in RFC-4180; 8601 rows", [("number", "8601")]),
        (
            "Pay INV-204, bin CP-37 and UTF-9; by ISO 2026-03-16",
            [
                ("number", "204"),
                ("number", "37"),
                ("number", "9"),
                ("date", "2026-03-16"),
            ],
        ),
    ],
)
def test_literals_of_a_text(text: str, found: list[tuple[Kind, str]]) -> None:
    assert sorted((one.kind, one.text) for one in literals_in(text, "here")) == sorted(found)


RESOLVED = {
    "book": {"path": "~/Documents/Budget 2026.xlsx", "range": "C2:C19", "sheet": "Über Sicht"},
    "people": [{"name": "Ada Lovelace", "mail": "Ada.L@mail.example"}, {"name": "Kim"}, {"name": "Lee"}],
    "rate": 0.19,
    "price": 1250.5,
    "due": "2026-03-16T09:30:00",
    "flag": True,
    "wording": {"skeleton": "Write 777 into Z99 of Wrong.xlsx", "slots": {"why": "The auditor comes at 14:15."}},
    "rows": 40,
}


@pytest.mark.parametrize(
    ("kind", "text", "holds"),
    [
        ("file name", "2026.xlsx", True),
        ("file name", "Budget 2026.xlsx", True),
        ("file name", "Budget 2025.xlsx", False),
        ("file name", "026.xlsx", False),
        ("file name", "Wrong.xlsx", False),
        ("path", "~/Documents", True),
        ("path", "~/Documents/", True),
        ("path", "~/Docu", False),
        ("quoted text", "ÜBER SICHT", True),
        ("quoted text", "Sicht", True),
        ("quoted text", "Sich", False),
        ("quoted text", "Ada Lovelace", True),
        ("quoted text", "C3", True),
        ("quoted text", "Total", False),
        ("address", "ada.l@mail.example", True),
        ("address", "eve@mail.example", False),
        ("cell", "C2", True),
        ("cell", "$C$2:$C$19", True),
        ("cell", "C7", True),
        ("cell", "C20", False),
        ("cell", "D2", False),
        ("cell", "B2:C19", False),
        ("cell", "Z99", False),
        ("number", "1250.5", True),
        ("number", "-1250.5", True),
        ("number", "19", True),
        ("number", "1.19", True),
        ("number", "0.81", True),
        ("number", "3", True),
        ("number", "40", True),
        ("number", "2026", True),
        ("number", "777", False),
        ("number", "41", False),
        ("date", "March 16, 2026", True),
        ("date", "2026-03-17", False),
        ("time", "9:30", True),
        ("time", "14:15", True),
        ("time", "10:30", False),
    ],
)
def test_what_a_resolved_object_holds(kind: Kind, text: str, holds: bool) -> None:
    assert Facts(RESOLVED).holds(Found(text, kind, "here")) is holds


def test_the_nearest_fact_is_named() -> None:
    assert (
        Facts(RESOLVED).nearest(Found("~/Documents/Budget 2025.xlsx", "path", "here")) == "~/Documents/Budget 2026.xlsx"
    )
    assert Facts({}).nearest(Found("x", "path", "here")) == ""
