"""Every check of files: what it says of right and wrong states, and that its near-misses are noticed."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from forge.records import Criterion, InputError, Rubric
from preparers.files.containers import Member, gzip_bytes, tar_bytes, zip_bytes
from verifiers.base import CHECKS, Case, Finding
from verifiers.grading import grade

Make = Callable[..., Case]
Run = Callable[..., Finding]


def picture(width: int, height: int, form: str = "PNG", left: str = "#204080") -> bytes:
    from PIL import Image

    image = Image.new("RGB", (width, height), "#f0e0c0")
    image.paste(left, (0, 0, width // 2, height))
    target = io.BytesIO()
    image.save(target, form)
    return target.getvalue()


# right and wrong states

STATES: list[tuple[str, dict[str, Any], dict[str, Any], float, str]] = [
    # check, arguments, files after (over the files before), score, words of the evidence
    ("files.exists", {"path": "~/a.txt"}, {"a.txt": "a"}, 1, "is a file"),
    ("files.exists", {"path": "~/a.txt", "kind": "folder"}, {"a.txt": "a"}, 0, "is a file; expected: folder"),
    ("files.exists", {"path": "~/d", "kind": "folder"}, {"d": None}, 1, "is a folder"),
    ("files.exists", {"path": "~/d/report.txt"}, {"d/Report.docx": ""}, 0, "~/d holds Report.docx"),
    ("files.exists", {"path": "~/e/a.txt"}, {}, 0, "neither does ~/e"),
    ("files.absent", {"path": "~/a.txt"}, {}, 1, "is not there"),
    ("files.absent", {"path": "~/a.txt"}, {"a.txt": "a"}, 0, "is a file"),
    ("files.absent", {"path": "~/d"}, {"d": None}, 0, "is a folder"),
    ("files.mode", {"path": "~/a.txt", "mode": "644"}, {"a.txt": "a"}, 1, "has mode 644"),
    ("files.mode", {"path": "~/a.txt", "mode": "600"}, {"a.txt": "a"}, 0, "has mode 644; expected 600"),
    ("files.mode", {"path": "~/a.txt", "has": "u+rw,go-w"}, {"a.txt": "a"}, 1, ""),
    ("files.mode", {"path": "~/a.txt", "has": "a-x,o-r"}, {"a.txt": "a"}, 0, ""),
    ("files.mode", {"path": "~/b.txt", "mode": "644"}, {}, 0, "does not exist"),
    ("files.tree", {"path": "~/d", "listing": ["x/a", "e/"]}, {"d/x/a": "", "d/e": None}, 1, "2 of 2"),
    ("files.tree", {"path": "~/d", "listing": ["x/a"]}, {"d/x/a": "", "d/b": ""}, 0, "besides: b"),
    ("files.tree", {"path": "~/d", "listing": ["x/a"]}, {"d/x/a": "", "d/e": None}, 0, "besides: e/"),
    ("files.tree", {"path": "~/d", "listing": ["x/a"], "exact": False}, {"d/x/a": "", "d/b": ""}, 1, "b (allowed)"),
    ("files.tree", {"path": "~/d", "listing": ["x/a", "y"]}, {"d/x/a": ""}, 0, "missing: y"),
    ("files.tree", {"path": "~/d", "listing": ["e/"]}, {"d/e": ""}, 0, "missing: e/"),
    ("files.tree", {"path": "~/d", "listing": []}, {"d": None}, 1, ""),
    ("files.tree", {"path": "~/d", "listing": ["a"]}, {"d": "x"}, 0, "is no folder"),
    ("files.tree", {"path": "~/d", "listing": ["a"]}, {"d/a": "", "d/.~lock.a#": ""}, 1, ""),
    ("files.content", {"path": "~/a.txt", "text": "one\ntwo\n"}, {"a.txt": "one  \r\ntwo\r\n\r\n"}, 1, "as expected"),
    (
        "files.content",
        {"path": "~/a.txt", "text": "one\ntwo"},
        {"a.txt": "one\nTwo"},
        0,
        "line 2 is 'Two', expected 'two'",
    ),
    ("files.content", {"path": "~/a.txt", "text": "one\ntwo", "match": "loose"}, {"a.txt": " ONE\n\n  TWO"}, 1, ""),
    ("files.content", {"path": "~/a.txt", "text": "one\n", "match": "bytes"}, {"a.txt": "one"}, 0, "byte for byte"),
    ("files.content", {"path": "~/a.txt", "lines": ["b", "a"], "ordered": False}, {"a.txt": "a\nb\n"}, 1, ""),
    ("files.content", {"path": "~/a.txt", "lines": ["b", "a"]}, {"a.txt": "a\nb\n"}, 0, ""),
    ("files.content", {"path": "~/a.txt", "lines": ["b", "a"], "ordered": False}, {"a.txt": "a\nb\nb\n"}, 0, ""),
    ("files.content", {"path": "~/a.txt", "text": "x"}, {"a.txt": b"\xff\xfe"}, 0, "is no UTF-8 text"),
    ("files.content", {"path": "~/a.txt", "text": "x"}, {"a.txt": None}, 0, "is no file"),
    ("files.content", {"path": "~/a.txt", "same_as": "~/old.txt"}, {"a.txt": "old\n"}, 1, "equal"),
    ("files.content", {"path": "~/a.txt", "same_as": "~/old.txt"}, {"a.txt": "old"}, 0, "not equal"),
    ("files.content", {"path": "~/a.txt", "same_as": "~/old.txt", "match": "text"}, {"a.txt": "old"}, 1, ""),
    ("files.content", {"path": "~/a.txt", "same_as": "~/g.txt", "side": "gold"}, {"a.txt": "gold"}, 1, "(gold)"),
    ("files.content", {"path": "~/a.txt", "contains": ["two", "three"]}, {"a.txt": "one two"}, 0, "missing: 'three'"),
    ("files.content", {"path": "~/a.txt", "contains": ["two"], "lacks": ["four"]}, {"a.txt": "one two"}, 1, "1 of 1"),
    ("files.content", {"path": "~/a.txt", "lacks": ["One"], "match": "loose"}, {"a.txt": "one two"}, 0, "still there"),
    ("files.json", {"path": "~/a.json", "value": {"a": [1, 2.0]}}, {"a.json": '{"a":[1.0,2]}'}, 1, ""),
    ("files.json", {"path": "~/a.json", "value": {"a": 1}}, {"a.json": '{"a": "1"}'}, 0, '/a is "1", expected 1'),
    ("files.json", {"path": "~/a.json", "value": {"a": True}}, {"a.json": '{"a": 1}'}, 0, "expected true"),
    ("files.json", {"path": "~/a.json", "value": {"a": 1}}, {"a.json": '{"a": 1, "b": 2}'}, 0, "has 'b' besides"),
    ("files.json", {"path": "~/a.json", "at": "/a/1/x~1y", "value": 3}, {"a.json": '{"a": [0, {"x/y": 3}]}'}, 1, ""),
    ("files.json", {"path": "~/a.json", "at": "/b", "value": 3}, {"a.json": '{"a": 3}'}, 0, "nothing is there"),
    ("files.json", {"path": "~/a.json", "at": "/b", "absent": True}, {"a.json": '{"a": 3}'}, 1, ""),
    ("files.json", {"path": "~/a.json", "at": "/a", "absent": True}, {"a.json": '{"a": 3}'}, 0, "3 is there"),
    ("files.json", {"path": "~/a.json", "value": 1}, {"a.json": "{"}, 0, "is no JSON"),
    ("files.json", {"path": "~/a.json", "value": 1}, {}, 0, "does not exist"),
    ("files.csv", {"path": "~/a.csv", "header": ["A", "B"], "rows": [["x", 1.5]]}, {"a.csv": "A;B\nx;1.50\n"}, 1, ""),
    (
        "files.csv",
        {"path": "~/a.csv", "header": ["A", "B"], "delimiter": ","},
        {"a.csv": "A;B\n"},
        0,
        "delimited by ';'",
    ),
    ("files.csv", {"path": "~/a.csv", "header": ["A", "B"]}, {"a.csv": "A,C\n1,2"}, 0, "header is ['A', 'C']"),
    ("files.csv", {"path": "~/a.csv", "rows": [["x"], ["y"]]}, {"a.csv": "A\ny\nx\n"}, 0, "row 1 is ['y']"),
    ("files.csv", {"path": "~/a.csv", "rows": [["x"], ["y"]], "ordered": False}, {"a.csv": "A\ny\nx\n"}, 1, ""),
    ("files.csv", {"path": "~/a.csv", "rows": [["007"]]}, {"a.csv": "A\n7\n"}, 0, ""),
    ("files.csv", {"path": "~/a.csv", "rows": [["7"], [None]]}, {"a.csv": 'A\n7.0\n""\n'}, 1, ""),
    (
        "files.csv",
        {"path": "~/a.csv", "rows": [["x"]]},
        {"a.csv": "A\nx\nx\n"},
        0,
        "has 2 rows below the header, expected 1",
    ),
    ("files.csv", {"path": "~/a.csv", "gold": "~/g.csv"}, {"a.csv": "A,B\n1,2\n"}, 1, ""),
    ("files.csv", {"path": "~/a.csv", "gold": "~/g.csv"}, {"a.csv": "A,B\n1,3\n"}, 0, ""),
    ("files.csv", {"path": "~/a.csv", "rows": []}, {"a.csv": 'A\n"x'}, 0, "is no CSV"),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": "~/old.txt"}},
        {"a.zip": zip_bytes([Member("old.txt", b"old\n")])},
        1,
        "1 of 1",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": "~/old.txt"}},
        {"a.zip": zip_bytes([Member("x/y/old.txt", b"old\n")])},
        1,
        "",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": "~/old.txt"}, "any_root": False},
        {"a.zip": zip_bytes([Member("x/old.txt", b"old\n")])},
        0,
        "missing: old.txt; besides: x/old.txt",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": "~/old.txt"}},
        {"a.zip": zip_bytes([Member("old.txt", b"new\n")])},
        0,
        "other content: old.txt",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": ""}},
        {"a.zip": zip_bytes([Member("old.txt", b"new\n")])},
        1,
        "",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": ""}},
        {"a.zip": zip_bytes([Member("old.txt"), Member("b")])},
        0,
        "besides: b",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": ""}, "exact": False},
        {"a.zip": zip_bytes([Member("old.txt"), Member("b")])},
        1,
        "",
    ),
    (
        "files.archive",
        {"path": "~/a.zip", "files": {"old.txt": ""}},
        {"a.zip": tar_bytes([Member("old.txt")])},
        0,
        "no readable .zip",
    ),
    (
        "files.archive",
        {"path": "~/a.tar.gz", "from_folder": "~/src"},
        {
            "a.tar.gz": gzip_bytes(
                tar_bytes([Member("src", folder=True), Member("src/a.csv", b"1"), Member("src/d/b.txt", b"2")])
            )
        },
        1,
        "2 of 2",
    ),
    (
        "files.archive",
        {"path": "~/a.tar.gz", "from_folder": "~/src", "suffixes": [".csv"]},
        {"a.tar.gz": gzip_bytes(tar_bytes([Member("a.csv", b"1")]))},
        1,
        "1 of 1",
    ),
    (
        "files.archive",
        {"path": "~/a.tar.gz", "from_folder": "~/src"},
        {"a.tar.gz": gzip_bytes(tar_bytes([Member("a.csv", b"1"), Member("b.txt", b"2")]))},
        0,
        "missing: d/b.txt; besides: b.txt",
    ),
    ("files.archive", {"path": "~/a.zip", "from_folder": "~/src"}, {}, 0, "does not exist"),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30},
        {"a.png": picture(40, 30)},
        1,
        "png of 40 x 30",
    ),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30},
        {"a.png": picture(30, 40)},
        0,
        "30 x 40; expected",
    ),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30, "format": "png"},
        {"a.png": picture(40, 30, "JPEG")},
        0,
        "jpeg of",
    ),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30},
        {"a.png": picture(40, 30)[:40]},
        0,
        "cannot be opened",
    ),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30, "like": "~/photo.jpg"},
        {"a.png": picture(40, 30)},
        1,
        "the same as ~/photo.jpg",
    ),
    (
        "files.image_size",
        {"path": "~/a.png", "width": 40, "height": 30, "like": "~/photo.jpg"},
        {"a.png": picture(40, 30, left="#ffffff")},
        0,
        "something else",
    ),
]

STATES += [
    ("files.moved", {"files": {"~/old.txt": "~/new.txt"}}, {"new.txt": "old\n"}, 1, "1 of 1"),
    ("files.moved", {"files": {"~/old.txt": "~/new.txt"}}, {"new.txt": "old"}, 0, "other content: ~/new.txt"),
    ("files.moved", {"files": {"~/old.txt": "~/new.txt"}}, {}, 0, "not there: ~/new.txt"),
    (
        "files.moved",
        {"files": {"~/old.txt": "~/new.txt"}},
        {"new.txt": "old\n", "old.txt": ""},
        0,
        "still in the old place",
    ),
    (
        "files.moved",
        {"files": {"~/old.txt": "~/n"}, "copied": True},
        {"n": "old\n"},
        0,
        "gone in the old place: ~/old.txt",
    ),
    ("files.moved", {"files": {"~/old.txt": "~/n"}, "copied": True}, {"n": "old\n", "old.txt": "old\n"}, 1, ""),
    (
        "files.moved",
        {"files": {"~/old.txt": "~/src/a.csv", "~/src/a.csv": "~/b.csv"}},
        {"src/a.csv": "old\n", "b.csv": "1"},
        1,
        "2 of 2",
    ),
]

BEFORE = {"old.txt": "old\n", "src/a.csv": "1", "src/d/b.txt": "2", "photo.jpg": picture(400, 300, "JPEG")}
GOLD = {"g.txt": "gold", "g.csv": "A,B\n1,2\n"}


@pytest.mark.parametrize(("check", "args", "after", "score", "said"), STATES)
def test_right_and_wrong_states(
    check: str, args: dict[str, Any], after: dict[str, Any], score: float, said: str, case: Make, run: Run
) -> None:
    finding = run(case(BEFORE, after, GOLD), check, **args)
    assert finding.score == score, finding.evidence
    assert said in finding.evidence


# near-misses

SOLVED: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    ("files.exists", {"path": "~/docs/new.txt"}, {"docs/new.txt": "n\n"}, ["~/docs/new.txt"]),
    ("files.exists", {"path": "~/docs/new.txt", "kind": "file"}, {"docs/new.txt": "n\n"}, ["~/docs/new.txt"]),
    ("files.exists", {"path": "~/docs/New", "kind": "folder"}, {"docs/New": None}, ["~/docs/New"]),
    ("files.absent", {"path": "~/docs/gone.txt"}, {}, ["~/docs/gone.txt"]),
    ("files.mode", {"path": "~/docs/a.txt", "mode": "600"}, {}, ["~/docs/a.txt"]),
    ("files.mode", {"path": "~/docs/a.txt", "has": "go-r"}, {}, ["~/docs/a.txt"]),
    (
        "files.tree",
        {"path": "~/docs", "listing": ["a.txt", "b.txt", "e/", "x/y/z.txt"]},
        {"docs/e": None, "docs/x/y/z.txt": "z"},
        ["~/docs"],
    ),
    ("files.tree", {"path": "~/docs", "listing": ["new.txt"], "exact": False}, {"docs/new.txt": "n"}, ["~/docs"]),
    ("files.tree", {"path": "~/empty", "listing": []}, {"empty": None}, ["~/empty"]),
    (
        "files.content",
        {"path": "~/docs/n.txt", "text": "One line\nAnother\n"},
        {"docs/n.txt": "One line\nAnother\n"},
        ["~/docs/n.txt"],
    ),
    (
        "files.content",
        {"path": "~/docs/n.txt", "text": "One line\n\nAnother\n", "match": "loose"},
        {"docs/n.txt": "one  line\nanother"},
        ["~/docs/n.txt"],
    ),
    (
        "files.content",
        {"path": "~/docs/n.txt", "lines": ["b", "a"], "ordered": False},
        {"docs/n.txt": "a\nb\n"},
        ["~/docs/n.txt"],
    ),
    ("files.content", {"path": "~/docs/n.txt", "text": ""}, {"docs/n.txt": ""}, ["~/docs/n.txt"]),
    ("files.content", {"path": "~/docs/n.txt", "text": "x", "match": "bytes"}, {"docs/n.txt": "x"}, ["~/docs/n.txt"]),
    (
        "files.content",
        {"path": "~/docs/n.txt", "contains": ["Due on Friday", "due"], "lacks": ["Monday"], "match": "loose"},
        {"docs/n.txt": "It is due on  Friday.\nDUE!\n"},
        ["~/docs/n.txt"],
    ),
    (
        "files.content",
        {"path": "~/docs/n.txt", "same_as": "~/docs/gone.txt"},
        {"docs/n.txt": "gone\n"},
        ["~/docs/n.txt", "~/docs/gone.txt"],
    ),
    (
        "files.content",
        {"path": "~/docs/n.jpg", "same_as": "~/photo.jpg"},
        {"docs/n.jpg": picture(400, 300, "JPEG")},
        ["~/docs/n.jpg"],
    ),
    (
        "files.json",
        {"path": "~/docs/n.json", "value": {"a": [1, {"b": None}], "c": "x", "d": True}},
        {"docs/n.json": '{"a": [1, {"b": null}], "c": "x", "d": true}'},
        ["~/docs/n.json"],
    ),
    (
        "files.json",
        {"path": "~/docs/n.json", "at": "/a/0", "value": 1.5, "tolerance": 0.5},
        {"docs/n.json": '{"a": [1.5], "c": 3}'},
        ["~/docs/n.json"],
    ),
    (
        "files.json",
        {"path": "~/docs/n.json", "at": "/old", "absent": True},
        {"docs/n.json": '{"a": 1}'},
        ["~/docs/n.json"],
    ),
    ("files.json", {"path": "~/docs/n.json", "value": []}, {"docs/n.json": "[]"}, ["~/docs/n.json"]),
    (
        "files.json",
        {"path": "~/docs/n.json", "at": "/a", "value": False},
        {"docs/n.json": '{"a": false}'},
        ["~/docs/n.json"],
    ),
    (
        "files.json",
        {"path": "~/docs/n.json", "at": "/a", "value": None},
        {"docs/n.json": '{"a": null}'},
        ["~/docs/n.json"],
    ),
    ("files.json", {"path": "~/docs/n.json", "at": "/a", "value": ""}, {"docs/n.json": '{"a": ""}'}, ["~/docs/n.json"]),
    (
        "files.csv",
        {"path": "~/docs/n.csv", "header": ["A", "B"], "rows": [["x", 1], ["y", 2], ["z", 3]], "delimiter": ";"},
        {"docs/n.csv": "A;B\nx;1\ny;2\nz;3\n"},
        ["~/docs/n.csv"],
    ),
    (
        "files.csv",
        {"path": "~/docs/n.csv", "rows": [["x", 1], ["y", 2]], "ordered": False},
        {"docs/n.csv": "A,B\ny,2\nx,1\n"},
        ["~/docs/n.csv"],
    ),
    ("files.csv", {"path": "~/docs/n.csv", "header": ["A"], "rows": []}, {"docs/n.csv": "A\n"}, ["~/docs/n.csv"]),
    ("files.csv", {"path": "~/docs/n.csv", "header": ["A", "B"]}, {"docs/n.csv": "A,B\n1,2\n"}, ["~/docs/n.csv"]),
    (
        "files.archive",
        {"path": "~/n.zip", "from_folder": "~/docs"},
        {
            "n.zip": zip_bytes(
                [
                    Member("docs", folder=True),
                    Member("docs/a.txt", b"a\n"),
                    Member("docs/b.txt", b"b\n"),
                    Member("docs/gone.txt", b"gone\n"),
                    Member("docs/moved/t.txt", b"t\n"),
                ]
            )
        },
        ["~/n.zip"],
    ),
    (
        "files.archive",
        {"path": "~/n.tgz", "files": {"a.txt": "~/docs/a.txt", "x": ""}, "any_root": False, "exact": False},
        {"n.tgz": gzip_bytes(tar_bytes([Member("a.txt", b"a\n"), Member("x", b"x")]))},
        ["~/n.tgz"],
    ),
    (
        "files.image_size",
        {"path": "~/n.png", "width": 80, "height": 60, "like": "~/photo.jpg"},
        {"n.png": picture(80, 60)},
        ["~/n.png"],
    ),
    (
        "files.image_size",
        {"path": "~/n.bmp", "width": 5, "height": 5, "format": "bmp"},
        {"n.bmp": picture(5, 5, "BMP")},
        ["~/n.bmp"],
    ),
    ("files.image_size", {"path": "~/n.gif", "width": 1, "height": 1}, {"n.gif": picture(1, 1, "GIF")}, ["~/n.gif"]),
]

SOLVED += [
    (
        "files.moved",
        {"files": {"~/docs/gone.txt": "~/to/gone.txt"}},
        {"to/gone.txt": "gone\n"},
        ["~/to", "~/docs/gone.txt"],
    ),
    (
        "files.moved",
        {"files": {"~/docs/gone.txt": "~/to/g.txt", "~/docs/moved/t.txt": "~/to/t.txt"}},
        {"to/g.txt": "gone\n", "to/t.txt": "t\n"},
        ["~/to", "~/docs/gone.txt"],
    ),
    (
        "files.moved",
        {"files": {"~/photo.jpg": "~/to/p.jpg", "~/docs/a.txt": "~/to/a.txt"}, "copied": True},
        {"to/p.jpg": picture(400, 300, "JPEG"), "to/a.txt": "a\n"},
        ["~/to", "~/photo.jpg", "~/docs/a.txt"],
    ),
]

UNSOLVED = {
    "docs/a.txt": "a\n",
    "docs/b.txt": "b\n",
    "docs/gone.txt": "gone\n",
    "docs/moved/t.txt": "t\n",
    "photo.jpg": picture(400, 300, "JPEG"),
    "notes/other.txt": "other\n",
}


@pytest.mark.parametrize(("check", "args", "after", "allow"), SOLVED)
def test_near_misses_are_noticed(
    check: str, args: dict[str, Any], after: dict[str, Any], allow: list[str], case: Make, survivors: Any
) -> None:
    kept = dict(UNSOLVED)
    if "~/docs/gone.txt" in allow or "~/docs" in allow:
        kept = {name: data for name, data in kept.items() if name not in ("docs/gone.txt", "docs/moved/t.txt")}
    solved = case(UNSOLVED, {**kept, **after})
    if check == "files.mode":
        (solved.after.root / "docs/a.txt").chmod(0o600)
    if "~/docs/gone.txt" in allow:
        allow = [*allow, "~/docs/moved"]
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check=check, args=args, says="do it"),
            Criterion(id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": allow}),
        )
    )
    for seed in range(2):
        assert survivors(rubric, solved, seed) == []


def test_every_check_of_ours_is_covered_and_has_mutants_of_both_sorts(case: Make) -> None:
    ours = {name for name, _ in CHECKS if name.startswith("files.")}
    elsewhere = {"files.changed_elsewhere", "files.contents"}  # they have modules of their own
    assert {check for check, *_ in SOLVED} | elsewhere == ours
    assert {check for check, *_ in STATES} | elsewhere == ours
    assert all(CHECKS.get(name).mutants for name in ours)


@pytest.mark.parametrize(
    ("check", "args", "said"),
    [
        ("files.exists", {"path": "/etc/passwd"}, "no path below the guest's home"),
        ("files.mode", {"path": "~/a"}, "either mode or has"),
        ("files.mode", {"path": "~/a", "mode": "999"}, "mode"),
        ("files.mode", {"path": "~/a", "has": "u=x"}, "has"),
        ("files.tree", {"path": "~/a", "listing": ["../b"]}, "no relative path"),
        ("files.tree", {"path": "~/a", "listing": [], "exact": False}, "holds of every folder"),
        ("files.content", {"path": "~/a"}, "exactly one"),
        ("files.content", {"path": "~/a", "text": "x", "contains": ["y"]}, "exactly one"),
        ("files.content", {"path": "~/a", "contains": [" \n"]}, "cannot be empty"),
        ("files.content", {"path": "~/a", "contains": ["x"], "match": "bytes"}, "text or loose"),
        ("files.json", {"path": "~/a", "absent": True}, "absent goes with a place"),
        ("files.json", {"path": "~/a", "at": "a"}, "at"),
        ("files.csv", {"path": "~/a"}, "header or rows or both, or gold"),
        ("files.csv", {"path": "~/a", "rows": [], "gold": "~/g"}, "gold alone"),
        ("files.archive", {"path": "~/a.txt", "files": {"a": ""}}, "does not end like an archive"),
        ("files.archive", {"path": "~/a.zip"}, "either files or from_folder"),
        ("files.archive", {"path": "~/a.zip", "files": {}}, "cannot be wrong"),
        ("files.image_size", {"path": "~/a.png", "width": 0, "height": 1}, "width"),
        ("files.moved", {"files": {}}, "files"),
        ("files.moved", {"files": {"~/a": "~/a"}}, "place of its own"),
        ("files.moved", {"files": {"~/a": "~/c", "~/b": "~/c"}}, "place of its own"),
    ],
)
def test_arguments_that_cannot_be_are_refused(check: str, args: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=rf"(?s)check {check}: .*{said}"):
        CHECKS.get(check).validate(args)


@pytest.mark.parametrize(
    ("check", "args"),
    [
        ("files.content", {"path": "~/a.txt", "same_as": "~/none.txt"}),
        ("files.moved", {"files": {"~/none.txt": "~/a.txt"}}),
        ("files.content", {"path": "~/a.txt", "same_as": "~/g.txt", "side": "gold"}),
        ("files.csv", {"path": "~/a.txt", "gold": "~/none.csv"}),
        ("files.archive", {"path": "~/a.zip", "files": {"x": "~/none.txt"}}),
        ("files.archive", {"path": "~/a.zip", "from_folder": "~/none"}),
        ("files.image_size", {"path": "~/a.png", "width": 2, "height": 2, "like": "~/none.png"}),
    ],
)
def test_what_we_forgot_to_prepare_is_a_grader_error(check: str, args: dict[str, Any], case: Make) -> None:
    files = {"a.txt": "x", "a.zip": zip_bytes([Member("x")]), "a.png": picture(2, 2)}
    verdict = grade(Rubric(criteria=(Criterion(id="it", kind="must", check=check, args=args),)), case({}, files))
    assert (verdict.grading, verdict.score) == ("grader_error", None)
    assert "VerifierError" in str(verdict.error)
