"""Export in the forms of ScreenSpot-v2 and OSWorld-G, whole applications held out."""

from __future__ import annotations

import json

import pytest

from forge.records import GroundingPair, GroundingTarget, InputError, Style
from training.grounding import export_pairs, score

PNG = b"\x89PNG picture"


def pair(app: str, name: str, style: Style = Style.NAME, box: tuple[int, int, int, int] | None = (10, 20, 30, 40)):
    target = GroundingTarget(app=app, context="window", role="none" if box is None else "push button", name=name)
    return GroundingPair(
        target=target, style=style, instruction=f"Click {name}", screen=f"{app}#1", screenshot=f"{len(app):064x}",
        width=800, height=600, box=box,
    )  # fmt: skip


PAIRS = [pair("calc", "Bold"), pair("calc", "Nowhere", Style.REFUSAL, None), pair("gimp", "Blur"), pair("files", "Up")]


def read(folder, part, name):
    return json.loads((folder / part / name).read_text("utf-8"))


def test_screenspot_rows_are_pixels_with_width_and_height(tmp_path):
    manifest = export_pairs(PAIRS, lambda _: PNG, tmp_path / "out", form="screenspot", held_out=["gimp"])
    assert read(tmp_path / "out", "test", "screenspot_desktop_v2.json") == [
        {
            "img_filename": f"{4:064x}.png", "bbox": [10, 20, 30, 40], "instruction": "Click Blur", "data_type": "icon",
            "data_source": "gimp", "style": "name",
        }
    ]  # fmt: skip
    assert manifest == {
        "form": "screenspot", "held_out": ["gimp"], "rows": 3,
        "parts": {"train": {"calc": 1, "files": 1}, "test": {"gimp": 1}},
    }  # fmt: skip
    assert (tmp_path / "out" / "test" / "images" / f"{4:064x}.png").read_bytes() == PNG


def test_osworld_rows_know_refusals(tmp_path):
    export_pairs(PAIRS, lambda _: PNG, tmp_path, form="osworld-g", held_out=["gimp", "files"])
    train, test = read(tmp_path, "train", "OSWorld-G.json"), read(tmp_path, "test", "OSWorld-G.json")
    assert {row["application"] for row in train} == {"calc"}
    assert {row["application"] for row in test} == {"gimp", "files"}
    refusal = next(row for row in train if row["box_type"] == "refusal")
    assert (refusal["box_coordinates"], refusal["image_size"], refusal["GUI_types"]) == (
        [-1] * 4,
        [800, 600],
        ["Refusal"],
    )
    assert score(train, [(25, 40), (-1, -1)], "style").accuracy == 1.0
    assert len({row["id"] for row in train + test}) == 4


@pytest.mark.parametrize(
    ("form", "held_out", "message"),
    [("coco", [], "no form"), ("screenspot", ["vlc"], "no pairs of 'vlc'")],
)
def test_what_is_unknown_is_named(tmp_path, form, held_out, message):
    with pytest.raises(InputError, match=message):
        export_pairs(PAIRS, lambda _: PNG, tmp_path / "out", form=form, held_out=held_out)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(InputError, match="not empty"):
        export_pairs(PAIRS, lambda _: PNG, tmp_path, form="screenspot", held_out=[])
