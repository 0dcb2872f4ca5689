"""`files.tree`: facts hold of the bytes, the same parameters give the same bytes, bad parameters are named."""

from __future__ import annotations

import base64
import string
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.records import Guest, PreparerError
from preparers.base import PREPARERS, Context, Prepared, Preparer

TREE: Preparer[Any] = PREPARERS.get("files.tree")

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff\ufffe\uffff")
NAMES = st.text(st.sampled_from(string.ascii_letters + string.digits + " _-äéß日'&#%"), min_size=1, max_size=12)
LINES = st.text(LETTERS, max_size=20)
TEXTS = st.lists(LINES, max_size=5).map("\n".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | LINES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINES, inner, max_size=3),
    max_leaves=8,
)
KEYS = st.text(st.sampled_from(string.ascii_letters + "_.-"), min_size=1, max_size=8)


def lay(prepared: Prepared, home: Path) -> Path:
    """Write prepared files below `home` with nothing but the standard library."""
    for file in prepared.files:
        path = home / file.path[2:]
        (path if file.folder else path.parent).mkdir(parents=True, exist_ok=True)
        if not file.folder:
            path.write_bytes(file.data)
        path.chmod(file.mode)
    return home


def table(draw: st.DrawFn) -> dict[str, Any]:
    header = draw(st.lists(LINES, min_size=1, max_size=4))
    cells = TEXTS | st.none() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
    rows = draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), max_size=4))
    return {"header": header, "rows": rows, "delimiter": ","}


@st.composite
def contents(draw: st.DrawFn, archives: bool) -> tuple[str, dict[str, Any]]:
    kinds = ["text", "csv", "tsv", "json", "ini", "image", "binary"] + ["archive"] * archives
    kind = draw(st.sampled_from(kinds))
    if kind == "text":
        newline = draw(st.sampled_from(["lf", "crlf"]))
        return draw(st.sampled_from([".txt", ".md", ".log", ".py", ""])), {
            "kind": "text",
            "text": draw(TEXTS),
            "newline": newline,
        }
    if kind in ("csv", "tsv"):
        # The delimiter is told by the first line, so the header holds neither of the two.
        made = table(draw)
        made["header"] = [name.replace(",", "").replace(";", "") for name in made["header"]]
        if kind == "csv" and len(made["header"]) > 1:
            made["delimiter"] = draw(st.sampled_from([",", ";"]))
        return f".{kind}", {"kind": "csv", **made}
    if kind == "json":
        return ".json", {"kind": "json", "value": draw(JSON), "indent": draw(st.integers(0, 4))}
    if kind == "ini":
        values = LINES.map(str.strip)
        sections = st.dictionaries(
            KEYS.filter(lambda k: k != "DEFAULT"), st.dictionaries(KEYS, values, max_size=3), min_size=1, max_size=3
        )
        return draw(st.sampled_from([".ini", ".cfg"])), {"kind": "ini", "sections": draw(sections)}
    if kind == "image":
        size = {"width": draw(st.integers(1, 60)), "height": draw(st.integers(1, 60))}
        scene = draw(st.sampled_from(["landscape", "portrait", "chart", "scan", "logo", "plain"]))
        return draw(st.sampled_from([".png", ".jpg", ".JPEG", ".gif", ".bmp"])), {
            "kind": "image", **size, "scene": scene, "variant": draw(st.integers(0, 10**6)),
        }  # fmt: skip
    if kind == "binary":
        return ".bin", {"kind": "binary", "data": base64.b64encode(draw(st.binary(max_size=50))).decode()}
    suffix = draw(st.sampled_from([".zip", ".tar", ".tar.gz", ".tgz"]))
    return suffix, {"kind": "archive", "members": draw(items(archives=False))}


@st.composite
def items(draw: st.DrawFn, archives: bool = True) -> list[dict[str, Any]]:
    made = []
    for index in range(draw(st.integers(0, 5))):
        # The number keeps names apart and keeps a folder from being a file elsewhere.
        folders = [f"{name.strip() or 'x'}.d" for name in draw(st.lists(NAMES, max_size=2))]
        if draw(st.integers(0, 5)) == 0:
            mode = draw(st.sampled_from([0o755, 0o700]))
            made.append({"kind": "folder", "path": "/".join([*folders, f"{index} empty.d"]), "mode": mode})
            continue
        suffix, content = draw(contents(archives))
        name = f"{index}{draw(NAMES).rstrip()}{suffix}"
        mode = draw(st.sampled_from([0o644, 0o600, 0o755]))
        made.append({"path": "/".join([*folders, name]), "mode": mode, **content})
    return made


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=items())
def test_facts_hold_of_the_bytes(made: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    params = TREE.validate({"root": "~/Documents/tree", "items": made})
    prepared = TREE.prepare(params, Context())
    home = lay(prepared, tmp_path_factory.mktemp("home"))
    assert TREE.inspect(home, params) == prepared.facts == TREE.facts(params, Context())
    assert TREE.prepare(params, Context()) == prepared


OFFICE = [
    {
        "path": "Minutes.docx",
        "kind": "docx",
        "paragraphs": [
            {"text": "Minutes – Ämter & <Wege>", "style": "title"},
            {"text": "Present", "style": "heading1"},
            {"text": "Ada, Kim", "style": "bullet"},
            {"text": "", "style": "normal"},
            {"text": "  spaces kept ", "style": "heading2"},
        ],
        "table": [["Item", "Who"], ["Keys", "Ada"]],
    },
    {
        "path": "deck/Talk.pptx",
        "kind": "pptx",
        "slides": [{"title": "One", "bullets": ["a", "b & c"]}, {"title": "Two"}, {"title": "Drei", "bullets": ["ü"]}],
    },
    {"path": "all.zip", "kind": "archive", "members": [{"path": "in/x.docx", "kind": "docx", "paragraphs": [{"text": "x"}]}]},
]  # fmt: skip


def test_office_documents_hold_what_was_asked_for_and_never_vary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = TREE.validate({"root": "~/Talks", "items": OFFICE})
    prepared = TREE.prepare(params, Context())
    assert TREE.inspect(lay(prepared, tmp_path), params) == prepared.facts
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 86_400 * 400)
    assert TREE.prepare(params, Context()).files == prepared.files
    later = TREE.prepare(params, Context(guest=Guest(clock="2024-01-02T03:04:05")))
    assert later.files != prepared.files
    assert later.facts | {"files": []} == prepared.facts | {"files": []}


def test_a_tree_has_the_facts_that_a_workflow_needs(tmp_path: Path) -> None:
    made = [
        {"path": "2025/a.csv", "kind": "csv", "header": ["Item", "Price"], "rows": [["Pen", 1.5], ["Ink", None]]},
        {"path": "2025/run.sh", "kind": "text", "text": "#!/bin/sh\necho hi\n", "mode": 0o755},
        {"path": "old", "kind": "folder"},
        {"path": "notes.tar.gz", "kind": "archive", "members": [{"path": "x/y.txt", "kind": "text", "text": "y"}]},
    ]
    params = TREE.validate({"root": "~/Work", "items": made})
    prepared = TREE.prepare(params, Context())
    facts = prepared.facts
    assert (facts["root"], facts["count"]) == ("~/Work", 3)
    assert facts["folders"] == ["~/Work/2025", "~/Work/old"]
    assert facts["empty_folders"] == ["~/Work/old"]
    assert facts["suffixes"] == {".csv": 1, ".sh": 1, ".tar.gz": 1}
    by_name = {fact["name"]: fact for fact in facts["files"]}
    assert by_name["a.csv"] == {
        "path": "~/Work/2025/a.csv", "name": "a.csv", "stem": "a", "suffix": ".csv", "folder": "~/Work/2025", "mode": "644",
        "kind": "csv", "header": ["Item", "Price"], "rows": [["Pen", "1.5"], ["Ink", ""]], "columns": 2, "delimiter": ",",
        "size": 24,
    }  # fmt: skip
    assert (by_name["run.sh"]["mode"], by_name["run.sh"]["lines"], by_name["run.sh"]["words"]) == ("755", 2, 3)
    assert by_name["notes.tar.gz"]["members"]["x/y.txt"]["words"] == 1
    assert [(f.path, f.folder, oct(f.mode)) for f in prepared.files] == [
        ("~/Work", True, "0o755"),
        ("~/Work/2025/a.csv", False, "0o644"),
        ("~/Work/2025/run.sh", False, "0o755"),
        ("~/Work/old", True, "0o755"),
        ("~/Work/notes.tar.gz", False, "0o644"),
    ]


def test_a_time_of_change_is_the_guests_local_time() -> None:
    made = [{"path": "a.txt", "kind": "text", "modified": "2025-07-01T12:00:00"}, {"path": "b.txt", "kind": "text"}]
    params = TREE.validate({"root": "~/x", "items": made})
    files = TREE.prepare(params, Context(guest=Guest(timezone="Europe/Berlin"))).files
    assert [file.mtime for file in files] == [None, 1751364000, None]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"root": "/etc"}, r"root: .*'/etc' is no folder below the guest's home"),
        ({"root": "~/../x"}, "plain relative path"),
        ({"root": "~"}, "below the guest's home"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "../a.txt"}]}, r"'\.\./a\.txt' is no plain relative path"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "/a.txt"}]}, r"'/a\.txt' is no plain relative path"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a\n.txt"}]}, r"'a\\n\.txt' holds the character"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a\0"}]}, r"'a\\x00' holds the character"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "\ud800.txt"}]}, r"items\.0\.path holds half of a character pair"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a" * 300}]}, "longer than 255 bytes"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a.csv"}]}, r"'a\.csv' has the suffix of a csv file"),
        ({"root": "~/x", "items": [{"kind": "csv", "path": "a.csv", "header": ["a"], "rows": [[1, 2]]}]}, "row 1 of 'a.csv' has 2"),
        ({"root": "~/x", "items": [{"kind": "ini", "path": "a.ini", "sections": {"DEFAULT": {}}}]}, "'a.ini': 'DEFAULT'"),
        ({"root": "~/x", "items": [{"kind": "ini", "path": "a.ini", "sections": {"a": {"k=": "v"}}}]}, r"'a.ini': 'k='"),
        ({"root": "~/x", "items": [{"kind": "binary", "path": "a.bin", "data": "no"}]}, "'a.bin' is no base64"),
        ({"root": "~/x", "items": [{"kind": "image", "path": "a.png", "width": 0, "height": 9}]}, r"width: .*greater"),
        ({"root": "~/x", "items": [{"kind": "colour", "path": "a"}]}, "items.0"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a"}, {"kind": "text", "path": "a/b"}]}, "'a/b' lies below"),
        ({"root": "~/x", "items": [{"kind": "text", "path": "a"}, {"kind": "folder", "path": "a"}]}, "two things at 'a'"),
        ({"root": "~/x", "colour": 1}, "colour"),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_are_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(PreparerError, match=rf"(?s)preparer files\.tree: .*{said}"):
        TREE.validate(values)


def test_what_cannot_be_written_names_the_file() -> None:
    params = TREE.validate({"root": "~/x", "items": [{"kind": "json", "path": "a.json", "value": float("nan")}]})
    with pytest.raises(PreparerError, match=r"~/x/a\.json cannot be written: .*JSON"):
        TREE.prepare(params, Context())


def test_a_tree_that_is_not_there_or_has_links_is_named(tmp_path: Path) -> None:
    params = TREE.validate({"root": "~/x"})
    with pytest.raises(PreparerError, match="~/x does not exist"):
        TREE.inspect(tmp_path, params)
    (tmp_path / "x").mkdir()
    (tmp_path / "x/link").symlink_to("/etc/passwd")
    with pytest.raises(PreparerError, match="~/x/link is a symbolic link"):
        TREE.inspect(tmp_path, params)
