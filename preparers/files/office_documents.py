"""Text documents and presentations, written by python-docx and python-pptx and packed anew so that bytes never vary."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime

from preparers.files.containers import Member, zip_bytes
from preparers.files.params import DocxItem, PptxItem

_DOCX_STYLES = {"title": "Title", "heading1": "Heading 1", "heading2": "Heading 2", "bullet": "List Bullet"}


def docx_bytes(item: DocxItem, moment: datetime) -> bytes:
    """A text document, said to be written at `moment` (guest's local time)."""
    import docx

    document = docx.Document()
    for paragraph in item.paragraphs:
        document.add_paragraph(paragraph.text, style=_DOCX_STYLES.get(paragraph.style))
    if item.table:
        table = document.add_table(rows=len(item.table), cols=len(item.table[0]), style="Table Grid")
        for row, texts in zip(table.rows, item.table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    _sign(document.core_properties, moment)
    target = io.BytesIO()
    document.save(target)
    return repacked(target.getvalue(), moment)


def pptx_bytes(item: PptxItem, moment: datetime) -> bytes:
    """A presentation, said to be written at `moment` (guest's local time)."""
    import pptx

    presentation = pptx.Presentation()
    layout = presentation.slide_layouts[1]
    for slide in item.slides:
        made = presentation.slides.add_slide(layout)
        made.shapes.title.text = slide.title
        frame = made.placeholders[1].text_frame
        for index, bullet in enumerate(slide.bullets):
            paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
            paragraph.text = bullet
    _sign(presentation.core_properties, moment)
    target = io.BytesIO()
    presentation.save(target)
    return repacked(target.getvalue(), moment)


def repacked(data: bytes, moment: datetime) -> bytes:
    """A ZIP container with the same parts in the same order, all stamped `moment`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]
    return zip_bytes(Member(name, part, moment=moment) for name, part in parts)


def _sign(properties: object, moment: datetime) -> None:
    for name, value in (
        ("author", "Alex"),
        ("last_modified_by", "Alex"),
        ("title", ""),
        ("comments", ""),
        ("revision", 1),
        ("created", moment),
        ("modified", moment),
    ):
        setattr(properties, name, value)
