"""Candidates from the applications' own registries: named, merged, written, read."""

from __future__ import annotations

import re

import pytest

from forge.records import InputError
from forge.records.skill import SKILL_ID
from skills import harvest as harvesting
from skills.harvest import commands, media
from skills.harvest.candidate import Candidate, merged
from skills.taxonomy import candidates, listing

QUICK = ("libreoffice", "thunderbird", "chromium", "vlc")


def candidate(label="Bold", **more):
    return Candidate(
        **{"app": "calc", "area": "format", "verb": "", "label": label, "reached": "Format > Text", "source": "calc:.uno:Bold",
           "effect": "document", **more}
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return harvesting.harvest(QUICK)


def test_the_same_installation_gives_the_same_list(found, tmp_path):
    again = harvesting.harvest(QUICK)
    assert again == found
    harvesting.write(found, tmp_path / "one" / "a.csv")
    harvesting.write(again, tmp_path / "b.csv")
    assert (tmp_path / "one" / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["a.csv"]


def test_ids_are_skill_ids_and_each_stands_once(found):
    names = [name for name, _ in found]
    assert names == sorted(set(names))
    assert [name for name in names if not re.match(SKILL_ID, name)] == []


def test_well_known_things_are_there_with_the_way_to_them(found):
    by_source = {c.source: (name, c) for name, c in found}
    name, bold = by_source["calc:.uno:Bold"]
    assert (name, bold.reached, bold.verifiable) == ("calc.format.use-bold", "Format > Text > Bold", True)
    zoom = next(c for _, c in found if c.app == "writer" and c.source == "writer:.uno:Zoom")
    assert not zoom.verifiable
    assert any(c.app == "thunderbird" and c.source == "mail.biff.play_sound" for _, c in found)
    assert any(c.app == "chromium" and c.label.startswith("Bookmark all tabs") for _, c in found)
    assert any(c.app == "vlc" and c.source == "volume-step" for _, c in found)
    counted = {app: (many, good, areas) for app, many, good, areas in harvesting.counts(found)}
    assert counted["calc"][0] > 1200
    assert counted["thunderbird"][0] > 2000
    assert all(good <= many and 0 < areas <= many for many, good, areas in counted.values())


@pytest.mark.slow
def test_seven_thousand_distinct_ones_of_ten_applications(tmp_path):
    every = harvesting.harvest()
    assert len(every) >= 7000
    assert {c.app for _, c in every} >= {
        "calc",
        "writer",
        "impress",
        "thunderbird",
        "chromium",
        "gimp",
        "vlc",
        "terminal",
    }
    assert sum(c.area.startswith("function-") for _, c in every) >= 490


def test_ways_to_one_thing_are_merged_and_different_things_numbered():
    once = merged(
        [
            candidate(), candidate(reached="tool bar formatting: Bold", source="calc:.uno:Bold?x", about="Makes it bold."),
            candidate(label="Bold!", source="z", area="text"), candidate(label="bold", area="text", source="a"),
            candidate(label="Set Bold", area="format"), candidate(app="writer"),
        ]
    )  # fmt: skip
    assert [(name, c.reached, c.about) for name, c in once] == [
        ("calc.format.set-bold", "Format > Text", ""),
        ("calc.format.use-bold", "Format > Text", "Makes it bold."),
        ("calc.text.use-bold", "Format > Text", ""),
        ("writer.format.use-bold", "Format > Text", ""),
    ]


def test_options_are_read_from_help_texts():
    text = """Usage: tool
  -a, --all                  do not ignore entries
      --block-size=SIZE      scale sizes by SIZE
  -x                         stay on this one
      --help     display this help and exit
   -resize geometry   resize the image
  --no-color  plain
  -a, --all  again
"""
    found = {c.source: c.about for c in commands._options("files", "tool", text)}
    assert found == {
        "tool --all": "do not ignore entries", "tool --block-size": "scale sizes by SIZE", "tool -x": "stay on this one",
        "tool -resize": "geometry resize the image",
    }  # fmt: skip


def test_procedures_that_only_answer_are_left_out():
    dump = '(register-procedure "gimp-image-scale"\n  "Scale the image."\n)\n(register-procedure "gimp-image-get-width"\n  "x"\n)\n'
    assert [c.source for c in media.harvest_gimp(lambda argv, seconds: dump)] == ["gimp-image-scale"]


def test_the_harvest_is_part_of_the_taxonomy(found, tmp_path, monkeypatch):
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    before = len(candidates())
    harvesting.write(found[:50], tmp_path / "taxonomy" / "harvest.csv")
    assert len(candidates()) == before + 50
    rows = listing(candidates=True)
    assert {row["id"] for row in rows} >= {name for name, _ in found[:50]}
    assert all((row["workflow"] is None) == (row["state"] == "candidate") for row in rows)


def test_a_file_that_is_no_harvest_is_refused_with_its_line(tmp_path):
    path = tmp_path / "harvest.csv"
    path.write_text("id,app\nx,y\n")
    with pytest.raises(InputError, match="is no harvest") as refused:
        list(harvesting.read(path))
    assert (refused.value.file, refused.value.line) == (str(path), 1)
    path.write_text(",".join(harvesting.COLUMNS) + "\na.b.c-d,calc\n")
    with pytest.raises(InputError, match="is cut off") as refused:
        list(harvesting.read(path))
    assert refused.value.line == 2


def test_an_unknown_source_is_named():
    with pytest.raises(InputError, match="there is no source 'winword'"):
        harvesting.harvest(["winword"])
