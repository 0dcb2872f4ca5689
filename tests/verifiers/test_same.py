"""Whether two final states are the same: by meaning where a file has one, by bytes elsewhere."""

from __future__ import annotations

import io
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from forge.desktop.office import Office
from preparers.base import PREPARERS, Context
from preparers.files.containers import Member, gzip_bytes, tar_bytes, zip_bytes
from verifiers.base import Tree
from verifiers.same import differences, same_answer, same_state


def picture(form: str, colour: str = "#204080", **options: Any) -> bytes:
    from PIL import Image

    target = io.BytesIO()
    Image.new("RGB", (20, 10), colour).save(target, form, **options)
    return target.getvalue()


def book(
    *, total: str = "=SUM(A1:A3)", value: float = 6, bold: bool = False, third: float = 3, created: int = 2020
) -> bytes:
    import datetime

    target = io.BytesIO()
    with xlsxwriter.Workbook(target) as made:
        made.set_properties({"created": datetime.datetime(created, 1, 1)})
        sheet = made.add_worksheet("Data")
        for row, number in enumerate((1, 2, third)):
            sheet.write_number(row, 0, number)
        sheet.write_formula(3, 0, total, made.add_format({"bold": bold}), value)
    return target.getvalue()


@pytest.fixture
def homes(tmp_path: Path) -> Callable[[dict[str, bytes | str], dict[str, bytes | str]], tuple[Tree, Tree]]:
    def make(one: dict[str, bytes | str], two: dict[str, bytes | str]) -> tuple[Tree, Tree]:
        for name, files in (("one", one), ("two", two)):
            for path, data in files.items():
                target = tmp_path / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data if isinstance(data, bytes) else data.encode())
            (tmp_path / name).mkdir(exist_ok=True)
        return Tree(tmp_path / "one"), Tree(tmp_path / "two")

    return make


@pytest.mark.parametrize(
    ("name", "one", "two", "same"),
    [
        ("a.txt", "x\n", "x\n", True),
        ("a.txt", "x\n", "x", False),
        ("a.json", '{"a": 1, "b": [true]}', '{ "b":[true],\n"a":1.0}', True),
        ("a.json", '{"a": 1}', '{"a": true}', False),
        ("a.json", '{"a": 1}', '{"a": "1"}', False),
        ("a.json", "{broken", "{broken", True),
        ("a.json", "{broken", "{broken ", False),
        ("a.csv", 'A,B\n1,"x y"\n', "A,B\r\n1,x y\r\n\r\n", True),
        ("a.csv", "A,B\n1,2\n", "A;B\n1;2\n", False),
        ("a.csv", "A,B\n1,2\n", "A,B\n2,1\n", False),
        ("a.png", picture("PNG"), picture("PNG", compress_level=1), True),
        ("a.png", picture("PNG"), picture("PNG", "#204081"), False),
        ("a.png", picture("PNG"), picture("JPEG"), False),
        (
            "a.zip",
            zip_bytes([Member("x", b"1"), Member("y", b"2")]),
            zip_bytes([Member("y", b"2"), Member("d", folder=True), Member("x", b"1")], compress=False),
            True,
        ),
        ("a.zip", zip_bytes([Member("x", b"1")]), zip_bytes([Member("x", b"2")]), False),
        ("a.zip", zip_bytes([Member("x.json", b"[1]")]), zip_bytes([Member("x.json", b"[ 1 ]")]), True),
        (
            "a.tgz",
            gzip_bytes(tar_bytes([Member("x", b"1", mtime=5)])),
            gzip_bytes(tar_bytes([Member("x", b"1", mtime=6)])),
            True,
        ),
        (
            "a.docx",
            zip_bytes([Member("word/document.xml", b"<a/>"), Member("docProps/core.xml", b"1")]),
            zip_bytes([Member("word/document.xml", b"<a/>"), Member("docProps/core.xml", b"2")]),
            True,
        ),
        (
            "a.docx",
            zip_bytes([Member("word/document.xml", b"<a/>")]),
            zip_bytes([Member("word/document.xml", b"<b/>")]),
            False,
        ),
        ("a.xlsx", book(), book(created=2021), True),
        ("a.xlsx", book(), book(third=4), False),
        ("a.xlsx", book(), book(bold=True), False),
        ("a.xlsx", book(), book(total="=A1+A2+A3"), False),
        ("a.xlsx", book(), book(value=7), False),
        ("a.xlsx", book(), b"no workbook", False),
    ],
)
def test_files_are_compared_by_what_they_hold(
    name: str, one: bytes | str, two: bytes | str, same: bool, homes: Callable[..., tuple[Tree, Tree]]
) -> None:
    trees = homes({f"Documents/{name}": one}, {f"Documents/{name}": two})
    assert same_state(*trees) is same
    assert differences(*trees) == ([] if same else [f"~/Documents/{name} holds something else"])


def test_presence_kind_mode_and_links_count(homes: Callable[..., tuple[Tree, Tree]]) -> None:
    one, two = homes({"a": "a", "b": "b", "c": "c", "d/e": "e"}, {"a": "a", "b": "b", "c": "c", "f": "f"})
    (one.root / "l").symlink_to("a")
    (two.root / "l").symlink_to("b")
    (two.root / "b").chmod(0o600)
    (two.root / "c").unlink()
    (two.root / "c").mkdir()
    assert differences(one, two) == [
        "~/b has mode 644 and 600",
        "~/c is a file and a folder",
        "~/d is only in the first",
        "~/d/e is only in the first",
        "~/f is only in the second",
        "~/l holds something else",
    ]
    assert len(differences(one, two, limit=2)) == 2


def test_what_a_task_laid_among_settings_counts(homes: Callable[..., tuple[Tree, Tree]]) -> None:
    one, two = homes({".config/app/settings": "1"}, {".config/app/settings": "2"})
    assert differences(one, two) == ["~/.config/app/settings holds something else"]


def test_what_applications_keep_does_not_count(homes: Callable[..., tuple[Tree, Tree]]) -> None:
    info = ".local/share/Trash/info/x.trashinfo"
    one, two = homes(
        {"a": "a", ".config/vlc/x": "1", info: "10:00"},
        {"a": "a", ".config/vlc/x": "2", ".bash_history": "ls", info: "11:00"},
    )
    (two.root / "Downloads").mkdir()
    assert same_state(one, two)
    (two.root / "Downloads/x").write_text("x")
    assert not same_state(one, two)


def test_a_state_is_the_same_as_its_copy_whatever_is_in_it(tmp_path: Path) -> None:
    one = tmp_path / "one"
    for name in (
        "a.zip",
        "b.json",
        "c.csv",
        "d.png",
        "e.xlsx",
        "f.docx",
        "g.tar.gz",
        "h.ods",
        os.fsdecode(b"\xff.txt"),
    ):
        one.mkdir(exist_ok=True)
        (one / name).write_bytes(random.Random(name.encode(errors="replace")).randbytes(200))
    shutil.copytree(one, tmp_path / "two")
    assert same_state(Tree(one), Tree(tmp_path / "two"))


def test_mail_profiles_are_compared_by_what_they_hold(tmp_path: Path) -> None:
    profile = PREPARERS.get("thunderbird.profile")
    homes = {}
    for name, read in (("one", True), ("two", True), ("three", False)):
        mail = {"from": "Ada <ada@mail.example>", "subject": "Hello", "text": "Hi", "date": "2026-03-01T10:00:00"}
        folder = {"path": "Inbox", "messages": [{**mail, "read": read}]}
        params = profile.validate({"accounts": [{"address": "alex@mail.example"}], "folders": [folder]})
        for file in profile.prepare(params, Context()).files:
            path = tmp_path / name / file.path[2:]
            (path if file.folder else path.parent).mkdir(parents=True, exist_ok=True)
            if not file.folder:
                path.write_bytes(file.data)
        homes[name] = Tree(tmp_path / name)
    (homes["two"].root / ".thunderbird/alex.default/places.sqlite").write_bytes(b"bookkeeping")
    assert same_state(homes["one"], homes["two"])
    assert differences(homes["one"], homes["three"]) == ["the mail profiles hold something else"]
    shutil.rmtree(homes["two"].root / ".thunderbird")
    assert not same_state(homes["one"], homes["two"])


@pytest.mark.desktop
def test_formulas_are_recalculated(homes: Callable[..., tuple[Tree, Tree]]) -> None:
    one, two = homes({"a.xlsx": book(value=6)}, {"a.xlsx": book(value=0)})
    assert not same_state(one, two), "the values that the files remember differ"
    with Office() as office:
        assert same_state(one, two, office.client())


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (None, "", True),
        (None, "x", False),
        ("Ada Lovelace", " ada lovelace.", True),
        ("Ada", "Ada L", False),
        ("1,234.50", "1234.50", True),
        ("1234.5", "1234.50", False),
        ("12 kg", "12 g", False),
        ("12 kg", "12kg", True),
        ("12", "13", False),
        ("16 March 2026", "2026-03-16", True),
        ("16 March 2026", "2026-03-17", False),
        ("a, b", "b, a", False),
        ("12 apples and pears", "12", False),
        ("12 or 13", "12 or 13", True),
        ("12 or 13", "13 or 12", False),
    ],
)
def test_answers(one: str | None, two: str | None, same: bool) -> None:
    assert same_answer(one, two) is same
    assert same_answer(two, one) is same
