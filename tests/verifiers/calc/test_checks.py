"""Every check gives the right verdict on a right state, a near-miss and an untouched file, whoever saved the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from forge.records import InputError
from verifiers.base import CHECKS

pytestmark = pytest.mark.desktop

SAVERS = ("sheetpatch", "openpyxl", "libreoffice", "ods", "ods by libreoffice")


@dataclass(frozen=True)
class Trial:
    """A check, its arguments, an edit that is right and one that nearly is. `start`: what it scores untouched."""

    check: str
    args: dict[str, Any]
    right: Any
    wrong: Any
    start: float = 0.0
    allow: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()

    @property
    def elsewhere(self) -> dict[str, Any]:
        return {
            "allow": self.allow,
            "looks": self.looks,
            "aspects": self.aspects,
            "renamed": dict(self.renamed),
            "added": self.added,
        }


def sort(column: str, descending: bool) -> Any:
    return lambda book: book.sort("Orders!B4:F11", column, descending)


def torn(book: Any) -> None:
    sort("E", True)(book)
    first, second = book.cell("Orders!C4"), book.cell("Orders!C5")
    book.set("Orders!C4", second if second != first else "North")
    book.set("Orders!C5", first)


TRIALS = {
    "value": Trial(
        "calc.cell_value",
        {"cell": "Orders!H4", "value": 489.2},
        lambda book: book.set("Orders!H4", "=SUM(E4:E11)"),
        lambda book: book.set("Orders!H4", "=SUM(E4:E10)"),
        allow=("Orders!H4",),
    ),
    "text": Trial(
        "calc.cell_value",
        {"cell": "A3", "sheet": "My notes", "value": "Done & <checked>"},
        lambda book: book.set("My notes!A3", "Done & <checked>"),
        lambda book: book.set("My notes!A3", "done & <checked>"),
        allow=("'My notes'!A3",),
    ),
    "cells": Trial(
        "calc.cells",
        {"cells": {"Orders!H4": 489.2, "My notes!A3": "Done", "My notes!A2": 7, "Orders!H5": "2026-01-06"}},
        lambda book: book.set("Orders!H4", [["=SUM(E4:E11)"], [46028]]) or book.set("My notes!A3", "Done"),
        lambda book: book.set("Orders!H4", [["=SUM(E4:E10)"], [46028]]) or book.set("My notes!A3", "Done"),
        allow=("Orders!H4:H5", "'My notes'!A2:A3"),
    ),
    "date": Trial(
        "calc.cell_value",
        {"cell": "Orders!B4", "value": "2026-01-06"},
        lambda book: book.set("Orders!B4", 46028),
        lambda book: book.set("Orders!B4", 46029),
        allow=("Orders!B4",),
    ),
    "format": Trial(
        "calc.number_format",
        {"range": "Orders!D4:D11", "kind": "number", "decimals": 2},
        lambda book: book.number_format("Orders!D4:D11", "0.00"),
        lambda book: book.number_format("Orders!D4:D10", "0.00"),
        looks=("Orders!D4:D11",),
    ),
    "currency": Trial(
        "calc.number_format",
        {"range": "Orders!E4:E11", "kind": "currency", "symbol": "$", "decimals": 0},
        lambda book: book.number_format("Orders!E4:E11", "[$$-409]#,##0"),
        lambda book: book.number_format("Orders!E4:E11", "[$$-409]#,##0.00"),
        looks=("Orders!E4:E11",),
    ),
    "style": Trial(
        "calc.style",
        {"range": "Orders!B4:B11", "bold": True, "fill": "fff2cc", "align": "center"},
        lambda book: book.style("Orders!B4:B11", bold=True, fill="FFF2CC", align="center"),
        lambda book: book.style("Orders!B4:B11", bold=True, fill="FFF2CC", align="left"),
        looks=("Orders!B4:B11",),
    ),
    "border": Trial(
        "calc.style",
        {"range": "Orders!F4:F5", "border": True, "italic": True},
        lambda book: book.style(
            "Orders!F4:F5", italic=True, border=dict.fromkeys(("left", "right", "top", "bottom"), "thin")
        ),
        lambda book: book.style("Orders!F4:F5", italic=True, border={"bottom": "thin"}),
        looks=("Orders!F4:F5",),
    ),
    "renamed": Trial(
        "calc.sheets",
        {"names": ["Orders", "Remarks"], "order": True, "others": True},
        lambda book: book.rename("My notes", "Remarks"),
        lambda book: book.rename("My notes", "Remark"),
        renamed=(("My notes", "Remarks"),),
    ),
    "added": Trial(
        "calc.sheets",
        {"names": ["Summary", "Orders", "My notes"], "others": True},
        lambda book: book.add_sheet("Summary", 0),
        lambda book: book.add_sheet("Summary"),
        added=("Summary",),
    ),
    "moved": Trial(
        "calc.sheets",
        {"names": ["My notes", "Orders"], "others": True},
        lambda book: book.move_sheet("My notes", 0),
        lambda book: book.add_sheet("Other", 0),
        aspects=("sheets.order",),
    ),
    "sorted": Trial(
        "calc.sorted",
        {"range": "Orders!B4:F11", "keys": [{"column": "E", "descending": True}]},
        sort("E", True),
        sort("E", False),
        allow=("Orders!B4:F11",),
    ),
    "sorted by two": Trial(
        "calc.sorted",
        {"range": "Orders!B4:F11", "keys": [{"column": "C"}, {"column": "E", "descending": True}]},
        lambda book: book.sort("Orders!B4:F11", ["C", "E"], [False, True]),
        torn,
        allow=("Orders!B4:F11",),
    ),
    "filter": Trial(
        "calc.filter",
        {"range": "Orders!B3:F11", "column": "C", "values": ["North"]},
        lambda book: book.autofilter("Orders!B3:F11", C=["North"]),
        lambda book: book.autofilter("Orders!B3:F11", C=["South"]),
        aspects=("filter",),
    ),
    "filter above": Trial(
        "calc.filter",
        {"range": "Orders!B3:F11", "column": "D", "compare": ">", "value": 4},
        lambda book: book.autofilter("Orders!B3:F11", D=(">", 4)),
        lambda book: book.autofilter("Orders!B3:F11", D=(">=", 4)),
        aspects=("filter",),
    ),
    "buttons": Trial(
        "calc.filter",
        {"range": "Orders!B3:F11"},
        lambda book: book.autofilter("Orders!B3:F11"),
        lambda book: book.autofilter("Orders!B3:E11"),
        aspects=("filter@Orders",),
    ),
    "table": Trial(
        "calc.table",
        {"at": "My notes!D1", "rows": [["Region", "Sum"], ["North", 9], ["East", 12.5]], "alone": True},
        lambda book: book.set("My notes!D1", [["Region", "Sum"], ["North", "=SUM(2,3,4)"], ["East", 12.5]]),
        lambda book: book.set("My notes!D1", [["Region", "Sum"], ["North", "=SUM(2,3)"], ["East", 12.5]]),
        allow=("'My notes'!D1:E3",),
    ),
}


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("name", TRIALS)
def test_right_state_near_miss_and_untouched_file(desk: Any, run: Any, name: str, saver: str) -> None:
    trial = TRIALS[name]
    right = run(trial.check, desk.case(trial.right, saver), **trial.args)
    wrong = run(trial.check, desk.case(trial.wrong, saver), **trial.args)
    untouched = run(trial.check, desk.case(None, saver), **trial.args)
    assert right.score == 1, right.evidence
    assert wrong.score < 1, wrong.evidence
    assert untouched.score < 1, untouched.evidence
    assert wrong.evidence


@pytest.mark.parametrize("saver", ["sheetpatch", "ods"])
@pytest.mark.parametrize("name", TRIALS)
def test_every_near_miss_and_over_edit_is_noticed(
    desk: Any, rubric: Any, survivors: Any, name: str, saver: str
) -> None:
    trial = TRIALS[name]
    case = desk.case(trial.right, saver)
    path = "~/Documents/orders.ods" if saver == "ods" else "~/Documents/orders.xlsx"
    assert survivors(rubric(path, [(trial.check, trial.args)], **trial.elsewhere), case) == []


def test_what_was_right_before_earns_nothing(desk: Any, run: Any) -> None:
    header = [["Region", "Sum"], ["North", 9], ["East", 12.5]]
    place = {"at": "My notes!A1", "rows": [["Ask before changing", "x"], [7, "y"], ["new", "z"]]}
    half = desk.case(lambda book: book.set("My notes!B1", [["x"], ["no"]]))
    untouched = desk.case(None)
    assert run("calc.table", untouched, **place).score == 0
    assert run("calc.table", untouched, **place, ordered=False).score == 0
    assert run("calc.table", half, **place).score == pytest.approx(1 / 4)
    assert run("calc.table", untouched, at="My notes!D1", rows=header).score == 0
    cells = {"My notes!A2": 7, "My notes!A3": "Done", "My notes!A4": "Too"}
    assert run("calc.cells", untouched, cells=cells).score == 0
    one = run("calc.cells", desk.case(lambda book: book.set("My notes!A3", "Done")), cells=cells)
    assert (one.score, one.evidence) == (
        0.5, "2 of 3 cells are right; 1 of them were before; My notes!A4 shows nothing, expected 'Too'",
    )  # fmt: skip
    listed = [{"cell": ref, "value": value} for ref, value in cells.items()]
    assert run("calc.cells", untouched, cells=listed).score == 0
    for check, args in (
        ("calc.style", {"range": "Orders!B3:B4", "bold": True}),  # the header is bold already
        ("calc.number_format", {"range": "Orders!A3:B4", "kind": "date"}),
        ("calc.formula", {"cell": "Orders!F4:F12", "means": "=D4*E4"}),  # all but the last row have it
    ):
        assert run(check, untouched, **args).score == 0, check


def test_cells_of_a_sheet_that_is_new_count_as_nothing_before(desk: Any, run: Any) -> None:
    made = desk.case(lambda book: (book.add_sheet("Sums"), book.set("Sums!A1", 5)))
    assert run("calc.cells", made, cells={"Sums!A1": 5, "Sums!A2": 6}).score == 0.5
    assert run("calc.table", made, at="Sums!A1", rows=[[5]]).score == 1


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_table_earns_nothing_for_a_sheet_that_is_new_and_empty(
    desk: Any, run: Any, ordered: bool, alone: bool
) -> None:
    rows = [["Region", None], ["North", 9], [None, None]]
    wanted = {"at": "Sums!A1", "rows": rows, "ordered": ordered, "alone": alone}
    empty = desk.case(lambda book: book.add_sheet("Sums"))
    new = desk.of("~/Documents/new.xlsx", None, (empty.after.root / "Documents/orders.xlsx").read_bytes())
    assert run("calc.table", empty, **wanted).score == 0
    assert run("calc.table", new, **wanted, file="~/Documents/new.xlsx").score == 0
    one = desk.case(lambda book: (book.add_sheet("Sums"), book.set("Sums!A1", [["Region"], ["North"]])))
    assert run("calc.table", one, **wanted).score == pytest.approx(1 / 2 if not ordered else 2 / 3)
    done = desk.case(lambda book: (book.add_sheet("Sums"), book.set("Sums!A1", rows)))
    assert run("calc.table", done, **wanted).score == 1


@pytest.mark.parametrize("name", TRIALS)
def test_mutants_have_names_of_their_own_and_audit_ones(desk: Any, name: str) -> None:
    import random

    trial = TRIALS[name]
    check = CHECKS.get(trial.check)
    assert check.mutants is not None
    found = list(
        check.mutants(
            desk.case(trial.right), check.validate({"file": "~/Documents/orders.xlsx", **trial.args}), random.Random(3)
        )
    )
    assert len({mutant.name for mutant in found}) == len(found)
    assert any(mutant.audit for mutant in found)
    assert any(mutant.only and not mutant.audit for mutant in found)


@pytest.mark.parametrize(
    ("check", "args", "said"),
    [
        ("calc.cell_value", {"file": "~/a.xlsx", "cell": "A1", "value": [1]}, "no value of a cell"),
        ("calc.cells", {"file": "~/a.xlsx", "cells": {"A1:A2": 1}}, "no single cell"),
        ("calc.cells", {"file": "~/a.xlsx", "cells": {"A1": [1]}}, "no value of a cell"),
        ("calc.cells", {"file": "~/a.xlsx", "cells": [{"cell": "A1"}]}, "has cell and value"),
        ("calc.style", {"file": "~/a.xlsx", "range": "A1"}, "says nothing"),
        ("calc.style", {"file": "~/a.xlsx", "range": "A1", "fill": "yellow"}, "no colour"),
        ("calc.filter", {"file": "~/a.xlsx", "range": "A1:B9", "column": "B"}, "give a column with"),
        ("calc.sorted", {"file": "~/a.xlsx", "range": "A1:B1", "keys": [{"column": "A"}]}, "one row"),
        ("calc.chart", {"file": "~/a.xlsx"}, "says nothing"),
        ("calc.table", {"file": "~/a.xlsx", "at": "A1", "rows": [[1], [1, 2]]}, "same number"),
        ("calc.changed_elsewhere", {"file": "~/a.xlsx", "allow": ["A0"]}, "outside a sheet"),
        ("calc.changed_elsewhere", {"file": "~/a.xlsx", "aspects": ["colour"]}, "unknown aspect"),
        ("calc.cell_value", {"file": "a.xlsx", "cell": "A1", "value": 1}, "below the guest's home"),
    ],
)
def test_bad_arguments_name_the_check_and_what_is_wrong(check: str, args: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        CHECKS.get(check).validate(args)
