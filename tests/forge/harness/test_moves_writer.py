"""The moves for Writer, in a real window; what they did is read from the saved files with other libraries."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from lxml import etree

pytestmark = pytest.mark.desktop

PATH = "~/Documents/report.docx"
TEXTS = (
    "Introduction",
    "The year was good for the harbour.",
    "Results",
    "Berths were let for 120 days.",
    "Outlook",
    "More berths are planned for the spring.",
)


def report() -> bytes:
    """A title and six plain paragraphs."""
    document = docx.Document()
    document.add_heading("Annual report", 0)
    for text in TEXTS:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def writer(play_for_real: Callable[..., Any], *steps: dict[str, Any]) -> Any:
    """Play steps on the report."""
    played = play_for_real([*steps], files=[(PATH, report(), 0o644, False)], start=[("writer", PATH)])
    played.check()
    return played


def saved(played: Any) -> Any:
    return docx.Document(str(played.home / PATH[2:]))


def paragraph(document: Any, start: str) -> Any:
    return next(p for p in document.paragraphs if p.text.startswith(start))


def test_styles_lists_and_formatted_text(play_for_real: Callable[..., Any]) -> None:
    played = writer(
        play_for_real,
        {"paragraph_style": {"text": "Introduction", "style": "Heading 1"}},
        {"format_text": {"text": "good", "styles": ["Bold", "Underline"]}},
        {"align_paragraph": {"text": "Results", "to": "Center"}},
        {"make_list": {"text": ["Berths were", "More berths"], "kind": "numbers"}},
        {"save": PATH},
    )
    document = saved(played)
    assert paragraph(document, "Introduction").style.name == "Heading 1"
    assert paragraph(document, "Results").style.name != "Heading 1"
    runs = paragraph(document, "The year").runs
    assert [(run.text, bool(run.bold), bool(run.underline)) for run in runs if run.bold] == [("good", True, True)]
    assert "".join(run.text for run in runs) == TEXTS[1]
    assert paragraph(document, "Results").alignment == WD_ALIGN_PARAGRAPH.CENTER
    numbered = [p.text for p in document.paragraphs if p._p.pPr is not None and p._p.pPr.numPr is not None]
    assert [text for text in numbered if text] == [TEXTS[3], TEXTS[5]]
    hit = [record.element for record in played.trajectory.actions if record.element is not None]
    assert {element.name for element in hit} >= {"Bold", "Underline", "Center", "Ordered List"}
    assert all(element.name or element.near for element in hit), "what has no name says where it is"


@pytest.mark.slow
def test_text_is_replaced_and_added_and_pages_are_broken(play_for_real: Callable[..., Any]) -> None:
    played = writer(
        play_for_real,
        {"find_replace": {"find": "berths", "replace": "moorings", "match_case": True}},
        {"insert_text": {"text": " All were let.", "after": "120 days."}},
        {"page_break": "Outlook"},
        {"page_header": {"text": "Harbour office"}},
        {"save": PATH},
    )
    document = saved(played)
    assert paragraph(document, "Berths").text == TEXTS[3] + " All were let."
    assert paragraph(document, "More").text == "More moorings are planned for the spring."
    texts = [p.text.strip() for p in document.paragraphs]
    broken = [
        i for i, p in enumerate(document.paragraphs) if 'w:type="page"' in p._p.xml or "pageBreakBefore" in p._p.xml
    ]
    assert len(broken) == 1
    assert broken[0] in (texts.index("Outlook"), texts.index("Outlook") - 1), "between Outlook and what was before it"
    assert document.sections[0].header.paragraphs[0].text == "Harbour office"


def test_tables_pages_and_other_forms(play_for_real: Callable[..., Any]) -> None:
    played = writer(
        play_for_real,
        {
            "insert_table": {
                "columns": 3,
                "rows": 2,
                "after": "120 days.",
                "cells": [["North", "South", "East"], ["1", "2", "3"]],
            }
        },
        {"page_style": {"orientation": "Landscape", "format": "A5", "left": "1.5 cm", "top": "3 cm"}},
        {"save": PATH},
        {"save_as": "~/Documents/copy.odt"},
        {"export_pdf": "~/report.pdf"},
    )
    document = saved(played)
    (table,) = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["North", "South", "East"], ["1", "2", "3"]]
    section = document.sections[0]
    assert section.orientation == WD_ORIENT.LANDSCAPE
    sizes = [section.page_width.cm, section.page_height.cm, section.left_margin.cm, section.top_margin.cm]
    assert sizes == pytest.approx([21.0, 14.8, 1.5, 3.0], abs=0.05)
    content = etree.fromstring(zipfile.ZipFile(played.home / "Documents/copy.odt").read("content.xml"))
    spaces = content.nsmap
    assert len(content.findall(".//table:table", spaces)) == 1
    assert TEXTS[5] in ["".join(p.itertext()) for p in content.findall(".//text:p", spaces)]
    assert (played.home / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_what_is_not_in_the_document_is_said_with_what_is(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [{"format_text": {"text": "lighthouse"}}], files=[(PATH, report(), 0o644, False)], start=[("writer", PATH)]
    )
    went = played.trajectory
    assert went.done_status == "failure"
    assert went.error is not None
    assert "the document has no 'lighthouse'" in went.error
    assert "'Introduction'" in went.error
    assert "screenshot: " in went.error
