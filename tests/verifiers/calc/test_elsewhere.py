"""`calc.changed_elsewhere` sees every kind of collateral damage, and no damage where a program only rewrote the file."""

from __future__ import annotations

import io
from typing import Any

import openpyxl
import pytest

from forge.harness.layers.office.python.sheetpatch import from_bytes
from forge.records import VerifierError

pytestmark = pytest.mark.desktop


def total(book: Any) -> None:
    book.set("Orders!E12", "=SUM(E4:E11)")


ALLOW = ["Orders!E12"]


@pytest.mark.parametrize("saver", ["sheetpatch", "openpyxl", "libreoffice", "ods", "ods by libreoffice"])
def test_a_save_by_any_program_is_no_damage(desk: Any, run: Any, saver: str) -> None:
    finding = run(
        "calc.changed_elsewhere",
        desk.case(total, saver),
        allow=ALLOW,
        aspects=["freeze"] if saver.endswith("libreoffice") else [],
    )
    assert finding.score == 1, finding.evidence


def test_an_untouched_file_is_unchanged(desk: Any, run: Any) -> None:
    assert run("calc.changed_elsewhere", desk.case(None)).score == 1


def test_the_edit_itself_is_damage_where_it_is_not_allowed(desk: Any, run: Any) -> None:
    finding = run("calc.changed_elsewhere", desk.case(total))
    assert finding.score == 0
    assert "Orders!E12 holds =SUM(E4:E11), held nothing" in finding.evidence


def test_openpyxl_rebuilds_charts_and_that_is_seen(desk: Any, run: Any) -> None:
    path, data = desk.original()
    book = openpyxl.load_workbook(io.BytesIO(data))
    book["Orders"]["E12"] = "=SUM(E4:E11)"
    buffer = io.BytesIO()
    book.save(buffer)
    finding = run("calc.changed_elsewhere", desk.of(path, data, buffer.getvalue()), allow=ALLOW)
    assert finding.score == 0
    assert "the chart at I6 has another look" in finding.evidence


def without(sheet: str, local: str) -> Any:
    def edit(book: Any) -> None:
        root = book.worksheet(sheet).change()
        for node in root.all(local):
            root.remove(node)

    return edit


def attribute(sheet: str, local: str, name: str, value: str | None) -> Any:
    def edit(book: Any) -> None:
        node = next(n for n in book.worksheet(sheet).change().walk() if n.local == local)
        node.set(name, value)

    return edit


def in_part(part: str, old: bytes, new: bytes) -> Any:
    def edit(book: Any) -> None:
        data = book.package.read(part)
        assert old in data
        book.package.write(part, data.replace(old, new))

    return edit


DAMAGE = {
    "another value": (lambda book: book.set("Orders!D5", 10), "Orders!D5 holds 10, held 9"),
    "a number as text": (lambda book: book.set("Orders!D5", "9"), "Orders!D5 holds '9', held 9"),
    "a formula frozen": (lambda book: book.set("Orders!F4", 50), "Orders!F4 holds 50, held =D4*E4"),
    "a formula changed": (lambda book: book.set("My notes!B2", "=COUNT(Orders!D4:D10)"), "My notes!B2"),
    "a cell emptied": (lambda book: book.clear("My notes!A1"), "holds nothing, held 'Ask before changing'"),
    "a stray value": (lambda book: book.set("Rates!Z99", 1), "Rates!Z99 holds 1"),
    "a look": (lambda book: book.style("Orders!B3", italic=True), "italic True, was False"),
    "a number format": (lambda book: book.number_format("Orders!E5", "0"), "number_format '0'"),
    "a fill of an empty cell": (lambda book: book.style("Orders!H20", fill="FFFF00"), "Orders!H20 looks different"),
    "a sheet renamed": (lambda book: book.rename("My notes", "Notes"), "sheet 'My notes' is gone"),
    "a sheet added": (lambda book: book.add_sheet("New"), "sheet 'New' is new"),
    "a sheet removed": (
        lambda book: (book.set("My notes!B2", 8), book.remove_sheet("My notes")),
        "sheet 'My notes' is gone",
    ),
    "sheets reordered": (lambda book: book.move_sheet("My notes", 0), "the sheets stand in the order"),
    "a hidden sheet shown": (lambda book: book.hide_sheet("Rates", False), "sheet 'Rates' is visible"),
    "rows sorted": (lambda book: book.sort("Orders!B4:F11", "E"), "Orders!B4 holds"),
    "an autofilter": (lambda book: book.autofilter("Orders!B3:F11"), "autofilter is B3:F11, was none"),
    "a row hidden": (lambda book: book.worksheet("Orders").hide_row(6, True), "row 6 is hidden"),
    "panes freed": (lambda book: book.freeze("Orders!A1"), "are frozen, were (3, 0)"),
    "drawings dropped": (without("Orders", "drawing"), "is gone"),
    "a conditional format dropped": (without("Orders", "conditionalFormatting"), "conditional"),
    "a validation dropped": (without("Orders", "dataValidations"), "validation"),
    "comments dropped": (in_part("xl/comments1.xml", b"confirmed", b"denied"), "comment on C4"),
    "a chart's title": (in_part("xl/charts/chart1.xml", b"Quantities", b"Amounts"), "another title"),
    "a chart's range": (in_part("xl/charts/chart1.xml", b"$D$11", b"$D$10"), "another series"),
    "a chart's kind": (in_part("xl/charts/chart1.xml", b'barDir val="col"', b'barDir val="bar"'), "another kind"),
    "a picture": (in_part("xl/media/image1.png", b"IEND", b"IENX"), "pictures"),
    "a defined name": (in_part("xl/workbook.xml", b"Rates!$A$1", b"Rates!$A$2"), "defined name VAT"),
    "a column's width": (attribute("Orders", "col", "width", "3"), "width of column"),
    "a merge": (
        lambda book: book.worksheet("Orders").child("mergeCells").append(_merge()),
        "Orders: merged: 'H1:I1' is new",
    ),
}


def _merge() -> Any:
    from forge.harness.layers.office.python.sheetpatch.markup import Node

    return Node("mergeCell", {"ref": "H1:I1"})


@pytest.mark.parametrize("name", DAMAGE)
def test_each_kind_of_damage_is_seen_beside_the_right_edit(desk: Any, run: Any, name: str) -> None:
    damage, said = DAMAGE[name]

    def edit(book: Any) -> None:
        total(book)
        damage(book)

    finding = run("calc.changed_elsewhere", desk.case(edit), allow=ALLOW)
    assert finding.score == 0
    assert said in finding.evidence


@pytest.mark.parametrize(
    "name",
    ["another value", "a formula changed", "a look", "a sheet added", "a hidden sheet shown", "drawings dropped",
     "a conditional format dropped", "a chart's range", "a chart's title", "a defined name", "a column's width", "a merge"],
)  # fmt: skip
def test_damage_is_seen_through_a_save_by_libreoffice(desk: Any, run: Any, name: str) -> None:
    damage, said = DAMAGE[name]

    def edit(book: Any) -> None:
        total(book)
        damage(book)

    finding = run("calc.changed_elsewhere", desk.case(edit, "libreoffice"), allow=ALLOW, aspects=["freeze"])
    assert finding.score == 0
    assert said.split(" holds ")[0].split(" (")[0] in finding.evidence


@pytest.mark.parametrize("saver", ["ods", "ods by libreoffice"])
@pytest.mark.parametrize(
    "name", ["another value", "a formula frozen", "a look", "a sheet added", "sheets reordered", "an autofilter"]
)
def test_damage_is_seen_in_ods(desk: Any, run: Any, name: str, saver: str) -> None:
    def edit(book: Any) -> None:
        total(book)
        DAMAGE[name][0](book)

    finding = run("calc.changed_elsewhere", desk.case(edit, saver), allow=ALLOW, aspects=["freeze"])
    assert finding.score == 0


ALLOWANCES: list[tuple[Any, dict[str, Any]]] = [
    (lambda book: book.rename("My notes", "Remarks"), {"renamed": {"My notes": "Remarks"}}),
    (lambda book: book.rename("My notes", "Misnamed"), {"renamed": {"My notes": "Remarks"}}),
    (lambda book: book.rename("Orders", "Sales"), {"renamed": {"Orders": "Sales"}}),
    (lambda book: book.add_sheet("Summary", 1), {"added": ["Summary"]}),
    (lambda book: book.add_sheet("Sumary"), {"added": ["Summary"]}),
    (lambda book: book.move_sheet("My notes", 0), {"aspects": ["sheets.order"]}),
    (lambda book: book.autofilter("Orders!B3:F11", C=["North"]), {"aspects": ["filter@Orders"]}),
    (lambda book: book.style("Orders!B3:F3", italic=True), {"looks": ["Orders!B3:F3"]}),
    (lambda book: book.sort("Orders!B4:F11", "E"), {"allow": ["Orders!B4:F11"]}),
    (lambda book: book.hide_sheet("Rates", False), {"aspects": ["sheets.hidden"]}),
    (lambda book: book.freeze("Orders!C4"), {"aspects": ["freeze"]}),
    (lambda book: book.set("Orders!H5", 3), {"allow": ["Orders!H:H"]}),
]


@pytest.mark.parametrize("saver", ["sheetpatch", "libreoffice"])
@pytest.mark.parametrize("index", range(len(ALLOWANCES)))
def test_what_the_task_asks_for_is_allowed(desk: Any, run: Any, index: int, saver: str) -> None:
    edit, args = ALLOWANCES[index]
    lost = ["freeze"] if saver == "libreoffice" else []
    args = {**args, "aspects": [*args.get("aspects", []), *lost]}
    allowed = run("calc.changed_elsewhere", desk.case(edit, saver), **args)
    assert allowed.score == 1, allowed.evidence
    assert run("calc.changed_elsewhere", desk.case(edit, saver), aspects=lost).score == 0 or "freeze" in args["aspects"]


def test_a_file_that_is_missing_or_broken_is_the_agents_fault(desk: Any, run: Any, rubric: Any) -> None:
    from verifiers.grading import grade

    path, data = desk.original()
    for after in (None, data[:700], b"not a workbook"):
        verdict = grade(rubric(path, [("calc.cell_value", {"cell": "A1", "value": 1})]), desk.of(path, data, after))
        assert verdict.score == 0
        assert path in verdict.criteria[0].evidence


def test_a_missing_original_is_the_graders_fault(desk: Any, run: Any) -> None:
    path, data = desk.original()
    with pytest.raises(VerifierError, match="to compare with"):
        run("calc.changed_elsewhere", desk.of(path, None, data), file=path)


def test_gold_can_stand_for_the_original(desk: Any, run: Any, tmp_path: Any) -> None:
    from verifiers.base import Case, Tree

    path, data = desk.original()
    book = from_bytes(data, ".xlsx")
    book.set("Orders!D5", 10)
    case = desk.of(path, data, book.render())
    gold = desk.of(path, book.render(), None).before
    case = Case(before=case.before, after=case.after, gold=Tree(gold.root), office=case.office)
    assert run("calc.changed_elsewhere", case, against="gold").score == 1
    assert run("calc.changed_elsewhere", case).score == 0
