"""The moves for Impress, in a real window; what they did is read from the saved files with other libraries."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pptx
import pytest
from lxml import etree

pytestmark = pytest.mark.desktop

PATH = "~/Documents/talk.pptx"


def talk() -> bytes:
    """Three slides with a title and a line each."""
    presentation = pptx.Presentation()
    for number in (1, 2, 3):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = f"Body {number}"
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def impress(play_for_real: Callable[..., Any], *steps: dict[str, Any]) -> Any:
    """Play steps on the talk."""
    played = play_for_real([*steps], files=[(PATH, talk(), 0o644, False)], start=[("impress", PATH)])
    played.check()
    return played


def texts(slide: Any) -> list[str]:
    return [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]


def test_slides_are_written_added_copied_moved_and_deleted(play_for_real: Callable[..., Any]) -> None:
    played = impress(
        play_for_real,
        {"slide_text": {"slide": 2, "box": "body", "lines": ["One", "Two"]}},
        {"add_slide": {"after": 3, "layout": "Title Only", "title": "Added"}},
        {"duplicate_slide": 2},
        {"delete_slide": 1},
        {"move_slide": {"slide": 1, "to": 3}},
        {"save": PATH},
    )
    slides = pptx.Presentation(str(played.home / PATH[2:])).slides
    # 1 2 3 -> 1 2 3 + -> 1 2 2 3 + -> 2 2 3 + -> 2 3 2 +
    assert [texts(slide) for slide in slides] == [
        ["Slide 2", "One\nTwo"],
        ["Slide 3", "Body 3"],
        ["Slide 2", "One\nTwo"],
        ["Added"],
    ]
    hit = [record.element for record in played.trajectory.actions if record.element is not None]
    assert {element.name for element in hit} >= {"New Slide", "Duplicate Slide", "Delete Slide", "Title Only"}


@pytest.mark.slow
def test_background_transition_notes_and_names(play_for_real: Callable[..., Any]) -> None:
    played = impress(
        play_for_real,
        {"slide_background": {"slide": 1, "color": "ffcc00"}},
        {"transition": {"slide": 2, "name": "Fade"}},
        {"slide_notes": {"slide": 3, "lines": ["Say hello", "Smile"]}},
        {"rename_slide": {"slide": 2, "to": "Middle"}},
        {"save": PATH},
        {"save_as": "~/talk.odp"},
        {"export_pdf": "~/talk.pdf"},
    )
    slides = list(pptx.Presentation(str(played.home / PATH[2:])).slides)
    assert slides[0].background.fill.fore_color.rgb == pptx.dml.color.RGBColor(0xFF, 0xCC, 0x00)
    fades = [slide._element.findall(".//{*}transition/{*}fade") for slide in slides]
    assert [bool(fade) for fade in fades] == [False, True, False]
    assert slides[2].notes_slide.notes_text_frame.text == "Say hello\nSmile"
    content = etree.fromstring(zipfile.ZipFile(played.home / "talk.odp").read("content.xml"))
    space = content.nsmap["draw"]
    assert [page.get(f"{{{space}}}name") for page in content.iter(f"{{{space}}}page")][1] == "Middle"
    assert (played.home / "talk.pdf").read_bytes().startswith(b"%PDF-")
