"""sheetpatch edits one place of a workbook and leaves every other part, and every other cell, as it was."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.desktop.office import Office, OfficeClient
from forge.harness.layers.office.python import sheetpatch
from forge.harness.layers.office.python.sheetpatch import Book, SheetPatchError, from_bytes, package
from forge.harness.layers.office.python.sheetpatch.formulas import canonical, renamed, shifted, tokens
from forge.harness.layers.office.python.sheetpatch.future import futured
from forge.harness.layers.office.python.sheetpatch.markup import Document, MarkupError
from forge.harness.layers.office.python.sheetpatch.ods_formats import data_style, format_code
from forge.harness.layers.office.python.sheetpatch.openformula import from_odf, to_odf
from forge.harness.layers.office.python.sheetpatch.references import Area, column_letters, column_number
from forge.harness.layers.office.python.sheetpatch.values import sort_key, to_date, to_number

LAYER = Path(sheetpatch.__file__ or "").parents[1]


def workbook() -> bytes:
    """Two sheets, text in the shared strings, a formula that refers across, a chart, a name, a comment, a hidden sheet."""
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True})
    data, notes, rates = (book.add_worksheet(name) for name in ("Data", "My notes", "Rates"))
    rates.hide()
    head = book.add_format({"bold": True, "bg_color": "#DDEBF7"})
    money = book.add_format({"num_format": "#,##0.00 [$€-407]"})
    data.write_row("A1", ["Name", "Amount", "Twice"], head)
    for row, (name, amount) in enumerate([("Cara", 30.5), ("Änne", 12), ("bob & co", 99), ("<Zoe>", 7)], 1):
        data.write(row, 0, name)
        data.write(row, 1, amount, money)
        data.write_formula(row, 2, f"=B{row + 1}*2", money, amount * 2)
    notes.write_formula("A1", "=SUM(Data!B2:B5)", None, 148.5)
    notes.write("A2", "see 'Data!B2'")
    rates.write("A1", 0.19)
    book.define_name("VAT", "=Rates!$A$1")
    data.write_comment("A2", "check")
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "=Data!$B$2:$B$5", "categories": "=Data!$A$2:$A$5"})
    data.insert_chart("E2", chart)
    book.close()
    return buffer.getvalue()


DATA = workbook()


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfficeClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORGE_HOME", str(tmp_path_factory.mktemp("office")))
        patch.setenv("FORGE_CACHE", str(Path(".forge/cache").resolve()))
        with Office() as running:
            yield running.client()


@pytest.fixture(scope="session")
def ods(office: OfficeClient) -> bytes:
    return office.convert(DATA, ".xlsx", ".ods")


def edited(edit: Callable[[Book], Any], data: bytes = DATA, suffix: str = ".xlsx") -> bytes:
    book = from_bytes(data, suffix)
    edit(book)
    return book.render()


def changed_parts(before: bytes, after: bytes) -> set[str]:
    one, other = (zipfile.ZipFile(io.BytesIO(data)) for data in (before, after))
    names = set(one.namelist()) | set(other.namelist())
    return {n for n in names if n not in one.namelist() or n not in other.namelist() or one.read(n) != other.read(n)}


def loaded(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


def test_reading_values_formulas_and_areas() -> None:
    book = from_bytes(DATA, ".xlsx")
    assert book.sheets == ["Data", "My notes", "Rates"]
    assert book.used() == "A1:C5"
    assert book.rows("Data!A2:B3") == [["Cara", 30.5], ["Änne", 12]]
    assert book.rows("My notes") == [[148.5], ["see 'Data!B2'"]]
    assert book.rows("B:B")[1:3] == [[30.5], [12]]
    assert (book.cell("C2"), book.formula("C2"), book.formula("B2")) == (61, "=B2*2", None)
    assert book.cell("'My notes'!A1") == book.cell("My notes!A1") == 148.5
    assert book.number_format("Data!B2") == "#,##0.00 [$€-407]"


def test_an_edit_touches_its_sheet_and_nothing_else() -> None:
    after = edited(lambda book: book.set("Data!B7", "x"))
    assert changed_parts(DATA, after) == {"xl/worksheets/sheet1.xml"}
    assert changed_parts(DATA, edited(lambda book: None)) == set()
    source, original = (
        zipfile.ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml").decode() for data in (after, DATA)
    )
    row = '<row r="7"><c r="B7" t="inlineStr"><is><t xml:space="preserve">x</t></is></c></row>'
    assert row in source
    assert source.replace(row, "").replace('ref="A1:C7"', 'ref="A1:C5"') == original


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (12, 12),
        (-0.125, -0.125),
        (1e-9, 1e-9),
        (True, True),
        ("text", "text"),
        ("  two  spaces\nand a line ", "  two  spaces\nand a line "),
        ('<b> & "quotes" \' ü € 😀', '<b> & "quotes" \' ü € 😀'),
        ("_x0041_ stays", "_x0041_ stays"),
        ("=", "="),
        (None, None),
        ("=B2+B3", "=B2+B3"),
    ],
)
def test_values_go_in_and_come_out_and_openpyxl_agrees(value: Any, read: Any) -> None:
    after = edited(lambda book: book.set("Data!D2", value))
    again = from_bytes(after, ".xlsx")
    assert (again.formula("D2") or again.cell("D2")) == read
    if value not in ("=", "_x0041_ stays"):
        assert loaded(after)["Data"]["D2"].value == read


def test_dates_and_times_get_a_format_and_a_list_of_rows_a_rectangle() -> None:
    def edit(book: Book) -> None:
        book.set("Data!E8", date(2026, 3, 16))
        book.set("Data!E9", time(8, 30))
        book.set("My notes!C1", [["a", 1], ["b", "=C1"]])

    sheet = loaded(edited(edit))
    assert sheet["Data"]["E8"].value.date() == date(2026, 3, 16)
    assert sheet["Data"]["E9"].value == time(8, 30)
    assert [[c.value for c in row] for row in sheet["My notes"]["C1:D2"]] == [["a", 1], ["b", "=C1"]]


def test_clearing_keeps_the_look_and_styles_add_up() -> None:
    def edit(book: Book) -> None:
        book.clear("Data!A1:B2")
        book.style(
            "Data!C1", italic=True, fill="FFF2CC", align="center", border={"bottom": "thin"}, size=14, color="FF0000"
        )
        book.style("Data!D9", bold=True)
        book.number_format("Data!D9", "0.0%")

    sheet = loaded(edited(edit))["Data"]
    assert sheet["A1"].value is None
    assert sheet["A1"].font.b
    look = sheet["C1"]
    assert (look.font.b, look.font.i, look.font.sz, look.font.color.rgb) == (True, True, 14, "FFFF0000")
    assert (look.fill.fgColor.rgb, look.alignment.horizontal, look.border.bottom.style) == (
        "FFFFF2CC",
        "center",
        "thin",
    )
    assert (sheet["D9"].font.b, sheet["D9"].number_format, sheet["B3"].font.b) == (True, "0.0%", False)


def test_renaming_follows_formulas_names_charts_and_not_texts() -> None:
    after = edited(lambda book: book.rename("Data", "It's new"))
    book = loaded(after)
    assert book.sheetnames == ["It's new", "My notes", "Rates"]
    assert book["My notes"]["A1"].value == "=SUM('It''s new'!B2:B5)"
    assert book["My notes"]["A2"].value == "see 'Data!B2'"
    chart = zipfile.ZipFile(io.BytesIO(after)).read("xl/charts/chart1.xml").decode()
    assert "'It''s new'!$B$2:$B$5" in chart
    assert "Data!" not in chart
    names = zipfile.ZipFile(io.BytesIO(edited(lambda b: b.rename("Rates", "Tax rates")))).read("xl/workbook.xml")
    assert b"'Tax rates'!$A$1" in names


def test_sheets_are_added_moved_hidden_removed_and_names_follow() -> None:
    def edit(book: Book) -> None:
        book.autofilter("Data!A1:C5")
        book.add_sheet("Summary", 0)
        book.set("Summary!B2", "=Data!B2")
        book.move_sheet("Rates", 1)
        book.hide_sheet("Rates", False)
        book.hide_sheet("My notes")

    book = loaded(edited(edit))
    assert book.sheetnames == ["Summary", "Rates", "Data", "My notes"]
    assert [sheet.sheet_state for sheet in book] == ["visible", "visible", "visible", "hidden"]
    assert book["Data"].auto_filter.ref == "A1:C5"
    gone = loaded(edited(lambda b: (b.set("My notes!A1", 1), b.remove_sheet("My notes"))))
    assert gone.sheetnames == ["Data", "Rates"]
    with pytest.raises(SheetPatchError, match="refers to it"):
        edited(lambda b: b.remove_sheet("Rates"))


def test_sorting_moves_whole_rows_and_their_formulas() -> None:
    sheet = loaded(edited(lambda book: book.sort("Data!A2:C5", "A")))["Data"]
    assert [[cell.value for cell in row] for row in sheet["A2:C5"]] == [
        ["<Zoe>", 7, "=B2*2"],
        ["Änne", 12, "=B3*2"],
        ["bob & co", 99, "=B4*2"],
        ["Cara", 30.5, "=B5*2"],
    ]
    assert sheet["B5"].number_format == "#,##0.00 [$€-407]"
    down = from_bytes(edited(lambda book: book.sort("Data!A2:C5", "B", descending=True)), ".xlsx")
    assert [row[0] for row in down.rows("Data!B2:B5")] == [99, 30.5, 12, 7]


@pytest.mark.parametrize("formula", ["=B3", "=SUM(B2:B5)", "=Rates!A2"])
def test_sorting_refuses_to_change_what_a_formula_means(formula: str) -> None:
    with pytest.raises(SheetPatchError, match="cannot be sorted"):
        edited(lambda book: (book.set("Data!C2", formula), book.sort("Data!A2:C5", "A")))


@pytest.mark.parametrize(
    ("formula", "moved"),
    [
        ("=B2*VAT", "=B4*VAT"),
        ("=B2*Rates!$A$1", "=B4*Rates!$A$1"),
        ("=B2/SUM($A$1:$B$1)", "=B4/SUM($A$1:$B$1)"),
        ("=VLOOKUP(A2,'My notes'!A:B,2,0)", "=VLOOKUP(A4,'My notes'!A:B,2,0)"),
    ],
)
def test_sorting_keeps_formulas_that_look_at_their_row_and_at_fixed_places(formula: str, moved: str) -> None:
    after = from_bytes(edited(lambda book: (book.set("Data!C2", formula), book.sort("Data!A2:C5", "B"))), ".xlsx")
    assert (after.cell("Data!B4"), after.formula("Data!C4")) == (30.5, moved)


def test_autofilter_hides_rows_and_can_be_taken_away() -> None:
    def hidden(data: bytes) -> list[int]:
        rows = loaded(data)["Data"].row_dimensions
        return [row for row in range(1, 6) if rows[row].hidden]

    by_value = edited(lambda book: book.autofilter("Data!A1:C5", A=["Cara", "bob & co"]))
    assert hidden(by_value) == [3, 5]
    by_size = edited(lambda book: book.autofilter("Data!A1:C5", B=(">=", 30.5)), by_value)
    assert hidden(by_size) == [3, 5]
    assert hidden(edited(lambda book: book.autofilter("Data!A1:C5", B=("<", 30)), by_value)) == [2, 4]
    none = edited(lambda book: book.autofilter(None, "Data"), by_size)
    assert hidden(none) == []
    assert loaded(none)["Data"].auto_filter.ref is None


def with_part(part: str, old: bytes, new: bytes, data: bytes = DATA) -> bytes:
    book = from_bytes(data, ".xlsx")
    text = book.package.read(part)  # type: ignore[attr-defined]
    assert old in text
    book.package.write(part, text.replace(old, new))  # type: ignore[attr-defined]
    return book.render()


def test_a_shared_formula_is_read_and_written_out_before_one_of_its_cells_changes() -> None:
    shared = with_part("xl/worksheets/sheet1.xml", b"<f>B2*2</f>", b'<f t="shared" ref="C2:C5" si="0">B2*2</f>')
    for row in (3, 4, 5):
        shared = with_part("xl/worksheets/sheet1.xml", b"<f>B%d*2</f>" % row, b'<f t="shared" si="0"/>', shared)
    assert from_bytes(shared, ".xlsx").formula("Data!C4") == "=B4*2"
    after = loaded(edited(lambda book: book.set("Data!C2", 5), shared))["Data"]
    assert [cell.value for (cell,) in after["C2:C5"]] == [5, "=B3*2", "=B4*2", "=B5*2"]


def test_an_array_formula_of_several_cells_is_not_broken() -> None:
    array = with_part("xl/worksheets/sheet1.xml", b"<f>B2*2</f>", b'<f t="array" ref="C2:C3">B2:B3*2</f>')
    with pytest.raises(SheetPatchError, match="array formula"):
        edited(lambda book: book.set("Data!C3", 1), array)


def test_the_calculation_chain_goes_when_a_formula_changes() -> None:
    book = from_bytes(DATA, ".xlsx")
    pack: package.Package = book.package  # type: ignore[attr-defined]
    pack.write("xl/calcChain.xml", b'<calcChain xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>')
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain"
    pack.relate("xl/workbook.xml", kind, "xl/calcChain.xml")
    data = book.render()
    assert "xl/calcChain.xml" in zipfile.ZipFile(io.BytesIO(edited(lambda b: b.set("Data!A2", "x"), data))).namelist()
    after = edited(lambda b: b.set("Data!C2", "=B2"), data)
    assert "xl/calcChain.xml" not in zipfile.ZipFile(io.BytesIO(after)).namelist()
    assert loaded(after)["Data"]["C2"].value == "=B2"


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda book: book.cell("Nope!A1"), "no sheet 'Nope'"),
        (lambda book: book.cell("A1:B2"), "is a range"),
        (lambda book: book.set("0A", 1), "no cell or range"),
        (lambda book: book.set("A1", "=SUM('"), "no formula that can be read"),
        (lambda book: book.rename("Data", "a/b"), "no name for a sheet"),
        (lambda book: book.add_sheet("data"), "there is a sheet"),
        (lambda book: book.sort("A2:C5", ["A", "B"], [True]), "1 directions for 2"),
        (lambda book: book.autofilter("A1:C5", D=["x"]), "is not in"),
        (lambda book: book.save(), "say where to save"),
    ],
)
def test_what_cannot_be_done_says_so(act: Callable[[Book], Any], said: str) -> None:
    with pytest.raises(SheetPatchError, match=said):
        act(from_bytes(DATA, ".xlsx"))


def test_files_that_are_no_workbooks_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data, said in (
        ("cut.xlsx", DATA[:2000], "no readable zip"),
        ("text.xlsx", b"hello", "no readable zip"),
        ("book.xls", DATA, "not edited here"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(SheetPatchError, match=f"{name}.*{said}"):
            sheetpatch.open(tmp_path / name)
    with pytest.raises(SheetPatchError, match="No such file"):
        sheetpatch.open(tmp_path / "missing.xlsx")
    monkeypatch.setattr(package, "LIMIT", 1000)
    with pytest.raises(SheetPatchError, match="unpacks to"):
        from_bytes(DATA, ".xlsx")


def test_saving_keeps_the_mode_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(DATA)
    path.chmod(0o640)
    book = sheetpatch.open(path)
    book.set("A9", 1)
    book.save()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["a.xlsx"]
    assert sheetpatch.open(path).cell("A9") == 1


def test_the_systems_python_runs_it_with_nothing_installed(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(DATA)
    script = (
        f"import sys; sys.path.insert(0, {str(LAYER)!r}); import sheetpatch; b = sheetpatch.open({str(path)!r}); "
        "b.set('Data!B6', '=SUM(B2:B5)'); b.style('Data!B6', bold=True); b.save(); "
        "assert not [m for m in sys.modules if m.split('.')[0] in ('lxml', 'openpyxl', 'forge', 'numpy')]; print(b.sheets)"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-S", "-B", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "['Data', 'My notes', 'Rates']\n"), done.stderr
    assert loaded(path.read_bytes())["Data"]["B6"].value == "=SUM(B2:B5)"


@pytest.mark.desktop
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_libreoffice_computes_and_shows_what_was_patched(office: OfficeClient, ods: bytes, suffix: str) -> None:
    def edit(book: Book) -> None:
        book.set("Data!B6", "=SUM(B2:B5)")
        book.set("Data!D2", [["two  spaces ", True], [date(2026, 3, 16), '=IFS(B2>30,"big",TRUE(),"small")']])
        book.style("Data!B6", bold=True, fill="FFF2CC", align="right")
        book.number_format("Data!B6", "0.0%")
        book.rename("Data", "It's new")
        book.add_sheet("Summary", 0)
        book.set("Summary!A1", "='It''s new'!B6*VAT")
        book.move_sheet("My notes", 0)
        book.autofilter("It's new!A1:C5", B=(">", 10))
        book.sort("It's new!A2:C5", "B", True)

    after = edited(edit, DATA if suffix == ".xlsx" else ods, suffix)
    values = office.values(after, suffix)
    assert list(values) == ["My notes", "Summary", "It's new", "Rates"]
    data = values["It's new"]
    assert (data["B6"], data["D2"], data["E2"], data["D3"], data["E3"]) == (148.5, "two  spaces ", True, 46097, "big")
    assert [data[f"A{row}"] for row in range(2, 6)] == ["bob & co", "Cara", "Änne", "<Zoe>"]
    assert [data[f"C{row}"] for row in range(2, 6)] == [198, 61, 24, 14]
    assert values["Summary"]["A1"] == pytest.approx(148.5 * 0.19)
    assert values["My notes"]["A1"] == 148.5
    shown = loaded(office.convert(after, suffix, ".xlsx"))["It's new"]
    assert (shown["B6"].font.b, shown["B6"].fill.fgColor.rgb, shown["B6"].number_format) == (True, "FFFFF2CC", "0.0%")
    assert shown.auto_filter.ref == "A1:C5"
    assert [row for row in range(1, 6) if shown.row_dimensions[row].hidden] == [5]


@pytest.mark.desktop
def test_ods_splits_repeated_cells_and_keeps_the_neighbours(office: OfficeClient, ods: bytes) -> None:
    after = edited(lambda book: book.set("Rates!F50", "far"), ods, ".ods")
    book = from_bytes(after, ".ods")
    assert book.used("Rates") == "A1:F50"
    assert (book.cell("Rates!A1"), book.cell("Rates!F50"), book.cell("Rates!E50")) == (0.19, "far", None)
    assert changed_parts(ods, after) == {"content.xml"}
    assert office.values(after, ".ods")["Rates"] == {"A1": 0.19, "F50": "far"}


@pytest.mark.desktop
def test_ods_sheets_are_hidden_removed_and_formulas_protected(ods: bytes) -> None:
    book = from_bytes(ods, ".ods")
    book.hide_sheet("My notes")
    with pytest.raises(SheetPatchError, match="refers to it"):
        book.remove_sheet("Data")
    book.clear("My notes!A1")
    book.remove_sheet("Rates")
    assert from_bytes(book.render(), ".ods").sheets == ["Data", "My notes"]


@pytest.mark.parametrize(
    "code",
    [
        "0",
        "0.00",
        "#,##0",
        "#,##0.00",
        "0%",
        "0.0%",
        "#,##0.00 [$€]",
        "yyyy-mm-dd",
        "hh:mm",
        "dd.mm.yyyy hh:mm",
        "@",
        "d mmm yy",
    ],
)
def test_number_formats_of_opendocument_come_back(code: str) -> None:
    node = data_style("N1", code)
    pieces = [
        (child.local, {key.partition(":")[2]: value for key, value in child.attributes.items()}, child.text)
        for child in node.children
    ]
    assert format_code(node.local, pieces) == code


NAMES = st.sampled_from(["a", "x:b", "c_1", "d.e"])
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> str:
    from xml.sax.saxutils import escape, quoteattr

    name = draw(NAMES)
    pairs = draw(st.dictionaries(st.sampled_from(["p", "x:q", "r"]), TEXT, max_size=2))
    head = f"<{name}{''.join(f'  {key} = {quoteattr(value)}' for key, value in pairs.items())}"
    if draw(st.booleans()):
        return head + draw(st.sampled_from(["/>", " />"]))
    inside = []
    for _ in range(draw(st.integers(0, 3 if depth < 3 else 0))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            inside.append(draw(elements(depth + 1)))
        elif kind == 1:
            inside.append(escape(draw(TEXT)))
        elif kind == 2:
            inside.append("<!-- a < b -->")
        else:
            inside.append("<![CDATA[ 1 < 2 & 3 ]]>")
    return f"{head}>{''.join(inside)}</{name} >"


@given(elements())
@settings(max_examples=150, deadline=None)
def test_markup_is_written_back_byte_for_byte(text: str) -> None:
    source = f'<?xml version="1.0"?>\n<!-- head -->\n{text}\n'.encode()
    document = Document(source)
    assert document.render() == source
    document.root.set("new", "<&>\"'")
    assert Document(document.render()).root.get("new") == "<&>\"'"


@pytest.mark.parametrize(
    "data", [b"", b"<a>", b"<a></b>", b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", b"\xff\xfe<a/>"]
)
def test_markup_refuses_what_is_no_plain_xml(data: bytes) -> None:
    with pytest.raises(MarkupError):
        Document(data)


FORMULAS = [
    "=SUM(C3:C26)",
    "='My data'!$A$1+Sheet2!B$3",
    '=IF(A1>=3,"a""b!A1",LOG10(5))',
    "=SUM(A:A)+SUM($1:$3)",
    "={1,2;3,4}*2",
    "=SUM(A1:B2 B2:C3)",
    "=-A1%^2",
    "=Table1[[#All],[Amount]]*2",
    "=#REF!+1",
    "=TRUE()",
    "=VAT*Q1!A1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_tokens_join_to_the_formula_and_opendocument_comes_back(formula: str) -> None:
    assert "=" + "".join(token.text for token in tokens(formula)) == formula
    if "#All" not in formula and "Q1" not in formula:
        assert canonical(from_odf(to_odf(formula)), absolute=True) == canonical(formula, absolute=True)


@given(st.integers(1, 500), st.integers(1, 60), st.booleans(), st.booleans(), st.integers(0, 300), st.integers(0, 40))
def test_shifting_there_and_back_changes_nothing(
    row: int, column: int, a: bool, b: bool, down: int, right: int
) -> None:
    formula = f"=SUM({'$' * a}{column_letters(column)}{'$' * b}{row}:Z9999)*2"
    assert shifted(shifted(formula, down, right), -down, -right) == formula
    moved = tokens(shifted(formula, down, right))[2].text.partition(":")[0]
    assert Area.parse(moved).left == column + (0 if a else right)


def test_formulas_in_detail() -> None:
    assert shifted("=A1", -1, 0) == "=#REF!"
    assert (
        renamed("=SUM(Data!A1,'Data'!B2,\"Data!C3\")", "data", "New one")
        == "=SUM('New one'!A1,'New one'!B2,\"Data!C3\")"
    )
    assert canonical("= sum( c26:$C$3 )+_xlfn.IFS(data!a1,1.0)", "Data") == "=SUM(C3:C26)+IFS(A1,1)"
    assert futured('=IFS(A1,TEXTJOIN(",",1,B1:B3))') == '=_xlfn.IFS(A1,_xlfn.TEXTJOIN(",",1,B1:B3))'
    with pytest.raises(ValueError, match="stopped at"):
        tokens("=SUM(A1)'")


@given(st.integers(1, 16384))
def test_column_letters_come_back(number: int) -> None:
    assert column_number(column_letters(number)) == number


@given(st.datetimes(min_value=__import__("datetime").datetime(1901, 1, 1)))
def test_dates_come_back_to_the_second(moment: Any) -> None:
    from datetime import timedelta

    assert abs(to_date(to_number(moment)) - moment) <= timedelta(seconds=1)


def test_sorting_order_is_numbers_texts_truths_without_case_and_accents() -> None:
    values: list[Any] = [True, "b", "Äpfel", 3, "a-c", "a c", "ab", -1, "Zoë", "10"]
    assert sorted(values, key=sort_key) == [-1, 3, "10", "a c", "a-c", "ab", "Äpfel", "b", "Zoë", True]
