"""`calc.formula` judges what a formula means: right spellings of every kind pass, near-misses of every kind lose."""

from __future__ import annotations

from typing import Any

import pytest

from forge.records import InputError
from verifiers.base import CHECKS

pytestmark = pytest.mark.desktop

SAVERS = ("sheetpatch", "openpyxl", "libreoffice", "ods", "ods by libreoffice")


def put(ref: str, value: Any) -> Any:
    return lambda book: book.set(ref, value)


@pytest.mark.parametrize("saver", SAVERS)
def test_right_formula_near_miss_and_untouched_file(desk: Any, run: Any, saver: str) -> None:
    def ask(value: Any) -> Any:
        case = desk.case(None if value is None else put("Orders!E12", value), saver)
        return run("calc.formula", case, sheet="Orders", cell="E12", means="=SUM(E4:E11)")

    assert ask("=SUM(E4:E11)").score == 1
    assert ask("=E4+E5+E6+E7+E8+E9+E10+E11").score == 1
    assert ask("=SUM(E4:E10)").score == 0
    assert ask(489.2).score == 0
    assert ask(None).score == 0


@pytest.mark.parametrize(
    ("means", "written"),
    [
        ("=SUM(E4:E11)", "=sum( $E$4:$E$11 )"),
        ("=SUM(E4:E11)", "=SUM(Orders!E4:E11)"),
        ("=SUM(E4:E11)", "=SUM(E4:E7,E8:E11)"),
        ("=SUM(E4:E11)", "=SUBTOTAL(9,E4:E11)"),
        ("=SUM(E4:E11)", "=SUM(E3:E11)"),
        ("=SUM(E4:E11)", '=SUM(INDIRECT("E4:E11"))'),
        ("=SUM(E4:E11)", "=SUM(E4:OFFSET(E4,7,0))"),
        ("=AVERAGE(D4:D11)", "=SUM(D4:D11)/COUNT(D4:D11)"),
        ("=MAX(E4:E11)", "=LARGE(E4:E11,1)"),
        ('=COUNTIF(C4:C11,"North")', '=SUMPRODUCT((C4:C11="North")*1)'),
        ('=SUMIF(C4:C11,"East",F4:F11)', '=SUMIFS(F4:F11,C4:C11,"East")'),
        ('=SUMIF(C4:C11,"East",F4:F11)', '=SUMPRODUCT((C4:C11="East")*(D4:D11)*(E4:E11))'),
        ('=COUNTIF(D4:D11,">4")', '=COUNTIF(D4:D11,">=5")'),
        ("=VLOOKUP(C6,C4:F11,4,FALSE)", "=INDEX(F4:F11,MATCH(C6,C4:C11,0))"),
        ("=E4*VAT", "=E4*Rates!A1"),
        ("=COUNT('My notes'!A1:A9)", "=COUNT('My notes'!$A$1:$A$9)"),
        ("=MEDIAN(D4:D11)", "=QUARTILE(D4:D11,2)"),
        ('=CONCATENATE(C4,"-",C5)', '=C4&"-"&C5'),
        ("=IFERROR(E4/D4,0)", "=IF(D4=0,0,E4/D4)"),
    ],
)
def test_other_spellings_of_the_same_meaning_pass(desk: Any, run: Any, means: str, written: str) -> None:
    finding = run("calc.formula", desk.case(put("Orders!E14", written)), sheet="Orders", cell="E14", means=means)
    assert finding.score == 1, finding.evidence


@pytest.mark.parametrize(
    ("means", "written"),
    [
        ("=SUM(E4:E11)", "=489.2"),
        ("=SUM(E4:E11)", "=489.2+0*E4"),
        ("=SUM(E4:E11)", "=SUM(E5:E11)"),
        ("=SUM(E4:E11)", "=SUM(D4:D11)"),
        ("=SUM(E4:E11)", "=SUM('My notes'!E4:E11)"),
        ("=SUM(E4:E11)", '=SUM(INDIRECT("E4:E10"))'),
        ("=SUM(E4:E11)", "=SUM(E4:E14)"),
        ("=AVERAGE(D4:D11)", "=MEDIAN(D4:D11)"),
        ("=AVERAGE(D4:D11)", "=SUM(D4:D11)/7"),
        ("=MAX(D4:D11)", "=MAX(D4:D10)"),
        ("=MAX(D4:D11)", "=MAX(D5:D11)"),
        ("=MIN(E4:E11)", "=MIN(E4:E10)"),
        ('=COUNTIF(C4:C11,"North")', '=COUNTIF(C4:C10,"North")+1'),
        ('=COUNTIF(C4:C11,"West")', '=COUNTIF(C4:C10,"West")'),
        ('=SUMIF(C4:C11,"East",F4:F11)', '=SUMIF(C4:C11,"East",E4:E11)'),
        ('=COUNTIF(D4:D11,">4")', '=COUNTIF(D4:D11,">3")-1'),
        ("=VLOOKUP(C6,C4:F11,4,FALSE)", "=VLOOKUP(C6,C4:F11,3,FALSE)"),
        ("=COUNT(D4:D11)", "=8"),
        ("=COUNT(D4:D11)", "=COUNT(D4:D10)+1"),
        ("=E4*VAT", "=E4*0.19"),
        ("=ROUND(E5*D5,0)", "=ROUNDDOWN(E5*D5,0)"),
        ("=SUM(E4:E11)", "=SUM(E4:E11"),
        ("=SUM(E4:E11)", "=NOFUNCTION(E4:E11)"),
    ],
)
def test_near_misses_lose_even_where_the_value_is_right(desk: Any, run: Any, means: str, written: str) -> None:
    def edit(book: Any) -> None:
        book.set("Orders!E14", "=1")
        node = book.worksheet("Orders").cell(14, 5).find("f")
        book.worksheet("Orders").change()
        node.replace([written[1:].replace("<", "&lt;").replace(">", "&gt;")])

    finding = run("calc.formula", desk.case(edit), sheet="Orders", cell="E14", means=means)
    assert finding.score == 0, finding.evidence


def test_a_filled_range_scores_the_share_of_right_cells(desk: Any, run: Any) -> None:
    def fill(book: Any) -> None:
        for row in range(4, 12):
            book.set(f"Orders!G{row}", f"=D{row}*E{row}*1.19" if row != 9 else "=D8*E8*1.19")

    finding = run("calc.formula", desk.case(fill), sheet="Orders", cell="G4:G11", means="=F4*1.19")
    assert finding.score == pytest.approx(7 / 8)
    assert "G9" in finding.evidence


def test_evidence_names_cell_formula_and_both_values(desk: Any, run: Any) -> None:
    finding = run("calc.formula", desk.case(put("Orders!E12", "=SUM(E4:E10)")), cell="Orders!E12", means="=SUM(E4:E11)")
    assert finding.evidence == "Orders!E12: =SUM(E4:E10) gives 427.7, =SUM(E4:E11) gives 489.2"


def test_what_the_arguments_must_be(desk: Any) -> None:
    with pytest.raises(InputError, match="is no formula"):
        CHECKS.get("calc.formula").validate({"file": "~/a.xlsx", "cell": "B2", "means": "SUM(A1)"})


@pytest.mark.parametrize("saver", ["sheetpatch", "libreoffice", "ods"])
def test_every_near_miss_and_over_edit_is_noticed(desk: Any, rubric: Any, survivors: Any, saver: str) -> None:
    case = desk.case(put("Orders!E12", "=SUM(E4:E11)"), saver)
    path = "~/Documents/orders.ods" if saver == "ods" else "~/Documents/orders.xlsx"
    musts = [("calc.formula", {"cell": "Orders!E12", "means": "=SUM(E4:E11)"})]
    lost = ["freeze"] if saver == "libreoffice" else []  # without a window LibreOffice forgets frozen rows
    assert survivors(rubric(path, musts, allow=["Orders!E12"], aspects=lost), case) == []
