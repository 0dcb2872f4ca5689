"""A real LibreOffice for the session, a workbook as it was before, and cases made of it in every way a file gets saved."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from forge.desktop.office import Office, OfficeClient
from forge.harness.layers.office.python.sheetpatch import Book, from_bytes
from forge.records import Guest, Rubric
from preparers.base import Context
from preparers.calc.workbook import Workbook
from verifiers.base import CHECKS, Case, Finding, Tree

SAVERS = ("sheetpatch", "openpyxl", "libreoffice", "ods", "ods by libreoffice")
Edit = Callable[[Book], None]


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfficeClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORGE_HOME", str(tmp_path_factory.mktemp("office")))
        patch.setenv("FORGE_CACHE", str(Path(".forge/cache").resolve()))
        with Office() as running:
            yield running.client()


TABLE = {
    "columns": [
        {"name": "Date", "type": "date"},
        {"name": "Region"},
        {"name": "Quantity", "type": "integer"},
        {"name": "Unit price", "type": "currency"},
        {"name": "Total", "type": "currency", "formula": "={Quantity}*{Unit price}"},
    ],
    "rows": [
        ["2026-01-05", "North", 4, 12.5, 50],
        ["2026-01-07", "South", 9, 8.25, 74.25],
        ["2026-01-12", "North", 2, 99, 198],
        ["2026-01-13", "East", 7, 14.2, 99.4],
        ["2026-01-19", "West", 1, 250, 250],
        ["2026-01-21", "South", 12, 3.75, 45],
        ["2026-02-02", "East", 5, 40, 200],
        ["2026-02-09", "North", 3, 61.5, 184.5],
    ],
}


def params(path: str = "~/Documents/orders.xlsx", *, rich: bool = True) -> dict[str, Any]:
    """The workbook before: a live table at B3 with a title, a sheet of notes, and (rich) a chart, a rate, rules."""
    data: dict[str, Any] = {
        "name": "Orders",
        "table": TABLE,
        "at": "B3",
        "live": True,
        "titles": ["Orders of the quarter"],
        "header": {"bold": True, "fill": "DDEBF7"},
        "freeze": "A4",
    }
    notes: dict[str, Any] = {
        "name": "My notes",
        "cells": [{"cell": "A1", "value": "Ask before changing"}, {"cell": "A2", "value": 7}],
        "formulas": [{"cell": "B2", "formula": "=COUNT(Orders!D4:D11)"}],
    }
    if not rich:
        return {"path": path, "sheets": [data, notes]}
    data |= {
        "notes": [{"cell": "C4", "text": "confirmed"}],
        "conditional": [{"range": "E4:E11", "criteria": ">", "value": 50}],
        "validation": [{"range": "D4:D11", "kind": "integer", "minimum": 0, "maximum": 99}],
        "pictures": [{"cell": "I2"}],
    }
    rates = {"name": "Rates", "hidden": True, "cells": [{"cell": "A1", "value": 0.19, "look": {"format": "0%"}}]}
    chart = {
        "sheet": "Orders",
        "title": "Quantities",
        "series": [{"values": "D4:D11", "categories": "C4:C11"}],
        "at": "I6",
    }
    return {"path": path, "sheets": [data, notes, rates], "charts": [chart], "names": {"VAT": "Rates!$A$1"}}


@dataclass
class Desk:
    """Makes cases: a workbook before, and the same after an edit, saved in one of several ways."""

    folder: Path
    office: OfficeClient
    made: int = 0

    def original(self, saver: str = "sheetpatch", *, rich: bool | None = None) -> tuple[str, bytes]:
        """(path, bytes) of the workbook before. openpyxl loses charts, so it gets one without."""
        rich = saver != "openpyxl" if rich is None else rich
        path = "~/Documents/orders.ods" if saver.startswith("ods") else "~/Documents/orders.xlsx"
        maker = Workbook()
        return path, maker.prepare(maker.validate(params(path, rich=rich)), Context(Guest(), self.office)).files[0].data

    def case(self, edit: Edit | None, saver: str = "sheetpatch", *, rich: bool | None = None, **more: Any) -> Case:
        """The case after `edit`; None leaves the file untouched."""
        path, data = self.original(saver, rich=rich)
        after = data if edit is None else self.saved(data, path, edit, saver)
        return self.of(path, data, after, **more)

    def of(self, path: str, before: bytes | None, after: bytes | None, **more: Any) -> Case:
        """A case of given bytes; None where there is no file."""
        self.made += 1
        trees = []
        for side, data in (("before", before), ("after", after)):
            root = self.folder / f"{self.made}" / side
            root.mkdir(parents=True)
            if data is not None:
                target = root / path[2:]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            trees.append(Tree(root))
        return Case(before=trees[0], after=Tree(trees[1].root, agents=True), office=self.office, **more)

    def saved(self, data: bytes, path: str, edit: Edit, saver: str) -> bytes:
        """The bytes after an edit, saved by one of SAVERS."""
        suffix = path[path.rindex(".") :]
        book = from_bytes(data, suffix)
        edit(book)
        edited = book.render()
        if saver == "openpyxl":
            buffer = io.BytesIO()
            openpyxl.load_workbook(io.BytesIO(edited)).save(buffer)
            return buffer.getvalue()
        return self.office.convert(edited, suffix, suffix) if saver.endswith("libreoffice") else edited


@pytest.fixture
def desk(tmp_path: Path, office: OfficeClient) -> Desk:
    return Desk(tmp_path, office)


Run = Callable[..., Finding]


@pytest.fixture
def run() -> Run:
    """`run("calc.formula", case, cell=...)`: one check on the case's workbook."""

    def call(name: str, case: Case, **args: Any) -> Finding:
        check = CHECKS.get(name)
        file = args.pop("file", None) or next(
            f"~/Documents/{p.name}" for p in sorted((case.before.root / "Documents").iterdir())
        )
        return check.run(case, check.validate({"file": file, **args}))

    return call


@pytest.fixture
def rubric() -> Callable[..., Rubric]:
    """`rubric(path, {check: args}, allow=[...])`: musts, and a must_not that allows what is named."""

    def make(path: str, musts: list[tuple[str, dict[str, Any]]], **elsewhere: Any) -> Rubric:
        criteria = [
            {"id": f"m{i}", "kind": "must", "check": name, "args": {"file": path, **args}}
            for i, (name, args) in enumerate(musts)
        ]
        criteria.append(
            {"id": "rest", "kind": "must_not", "check": "calc.changed_elsewhere", "args": {"file": path, **elsewhere}}
        )
        return Rubric.model_validate({"criteria": criteria})

    return make
