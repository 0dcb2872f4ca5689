"""The modules of the guest as the catalogue tells of them: examples run, changes read back by the preparers' own eyes."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import preparers  # noqa: F401 - registers
from forge.harness.layers.mail.python import mailkit
from preparers.base import PREPARERS, Context
from preparers.thunderbird.reading import ReadProfile
from skills.authoring import catalogue, guest

MAIL = {
    "from": "Grace Hopper <grace@navy.example>",
    "to": ["Alex Doe <alex@example.com>"],
    "date": "2026-03-02T10:15:00",
}
PROFILE = {
    "accounts": [{"address": "alex@example.com", "name": "Alex Doe"}],
    "folders": [
        {
            "path": "Inbox",
            "messages": [
                {"id": "a@x.example", "subject": "Invoice 4711", "text": "Dear Alex", "read": False, **MAIL},
                {"id": "b@x.example", "subject": "Minutes", "text": "As promised", "tags": ["$label4"], **MAIL},
                {"id": "c@x.example", "subject": "Old news", "starred": True, **MAIL},
            ],
        },
        {"path": "Projects"},
    ],
    "contacts": [
        {
            "name": "Grace Hopper", "email": "grace@navy.example", "first": "Grace", "last": "Hopper", "phone": "+49 30 1",
            "organization": "Navy", "title": "Rear Admiral", "note": "likes tea; and\nclocks",
        },
        {"name": "Alan Turing", "email": "alan@king.example", "second_email": "prof@king.example"},
    ],
    "filters": [
        {"name": "Bills", "conditions": [{"field": "subject", "value": "bill"}], "actions": [{"kind": "star"}]},
        {"name": "News", "enabled": False, "conditions": [{"field": "from", "value": "n"}], "actions": [{"kind": "delete"}]},
    ],
}  # fmt: skip
BOOK = {
    "path": "~/Documents/budget.xlsx",
    "sheets": [
        {
            "name": "Data",
            "at": "A2",
            "table": {
                "columns": [{"name": "Item"}, {"name": "Kind"}, {"name": "Price", "type": "currency"}],
                "rows": [[f"Item {number}", "office", number * 1.5] for number in range(24)],
            },
        }
    ],
}


def lay(name: str, values: dict[str, Any], home: Path) -> Any:
    """Prepare something into a home; gives what reads its facts back."""
    preparer = PREPARERS.get(name)
    params = preparer.validate(values)
    for file in preparer.prepare(params, Context()).files:
        path = home / file.path[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    return lambda: preparer.inspect(home, params)


def run(program: str, home: Path) -> str:
    """As in the guest: a bare Python with the layers' folders on its path."""
    layers = [str(Path(guest.module(name).__file__ or "").parents[1]) for name in guest.MODULES]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {layers!r}\n{program}"],
        env={"HOME": str(home), "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1", "TZ": "Europe/Berlin"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def example_of(name: str) -> str:
    """The indented lines of a module's description."""
    lines = catalogue.describe("modules", name).splitlines()
    return textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))


@pytest.fixture
def seen(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    return lay("thunderbird.profile", PROFILE, tmp_path)


@pytest.fixture
def kit(seen: Any, tmp_path: Path) -> mailkit.Profile:
    return mailkit.Profile(tmp_path / ".thunderbird/alex.default")


@pytest.mark.parametrize("name", guest.MODULES)
def test_every_public_function_is_described(name: str) -> None:
    text = catalogue.describe("modules", name)
    found = guest.module(name)
    for public in found.__all__:
        thing = getattr(found, public)
        if isinstance(thing, type) and not issubclass(thing, Exception):
            methods = [key for key, value in vars(thing).items() if callable(value) and not key.startswith("_")]
            assert [method for method in methods if not re.search(rf"`{method}\(", text)] == []
        elif callable(thing) and not isinstance(thing, type) and public != "Value":
            assert f"`{name}.{public}(" in text


def test_the_example_of_sheetpatch_runs(tmp_path: Path) -> None:
    seen = lay("calc.workbook", BOOK, tmp_path)
    assert seen()["main"]["used"] == "A2:C26"
    run(example_of("sheetpatch"), tmp_path)
    cell = openpyxl.load_workbook(tmp_path / "Documents/budget.xlsx")["Data"]["C27"]
    assert (cell.value, cell.font.bold, cell.number_format) == ("=SUM(C3:C26)", True, "#,##0.00 [$€-407]")
    assert seen()["main"]["used"] == "A2:C27"


def test_the_example_of_mailkit_runs(seen: Any, tmp_path: Path) -> None:
    said = run("import mailkit\n" + example_of("mailkit"), tmp_path)
    assert said == "Grace Hopper <grace@navy.example> 2026-03-02T10:15:00 [] Dear Alex\n"
    facts = seen()
    mails = {mail["subject"]: mail for mail in facts["messages"]}
    invoice = mails["Invoice 4711"]
    assert [invoice[key] for key in ("folder", "read", "starred", "tags")] == ["Invoices", True, True, ["$label2"]]
    assert [mails["Paid"][key] for key in ("folder", "from", "to")] == [
        "Drafts", "Alex Doe <alex@example.com>", ["Grace Hopper <grace@navy.example>"],
    ]  # fmt: skip
    assert [(card["email"], card["phone"]) for card in facts["contacts"]] == [
        ("alan@king.example", ""), ("grace@navy.example", "+49 30 777"),
    ]  # fmt: skip
    assert [(rule["name"], rule["enabled"]) for rule in facts["filters"]] == [("Bills", False), ("News", False)]


def changed(before: Any, after: Any) -> set[str]:
    """The facts that differ."""
    return {key for key in before if before[key] != after[key]}


def test_mails_are_copied_moved_deleted_and_marked(kit: mailkit.Profile, seen: Any) -> None:
    before = seen()
    news = kit.one(subject="old news")
    kit.flag(news, read=False)
    kit.flag(news, starred=False)  # each change sees what was changed before it
    kit.tag(news, "To Do")
    kit.tag(news, "Later")
    kit.copy(news, "Projects")
    kit.untag(kit.one(id="b@x.example"), "To Do")
    kit.move(kit.one(id="b@x.example"), "Archives")
    kit.delete(kit.one(id="a@x.example"))
    facts = seen()
    keys = ("subject", "folder", "read", "starred")
    told = sorted((*(mail[key] for key in keys), tuple(mail["tags"])) for mail in facts["messages"])
    assert told == [
        ("Invoice 4711", "Trash", False, False, ()),
        ("Minutes", "Archives", True, False, ()),
        ("Old news", "Inbox", False, False, ("$label4", "$label5")),
        ("Old news", "Projects", False, False, ("$label4", "$label5")),
    ]
    assert changed(before, facts) == {"messages", "folders"}


def test_a_contact_is_changed_in_one_field_and_stays_the_same_in_all_others(kit: mailkit.Profile, seen: Any) -> None:
    before = seen()
    kit.edit_contact("GRACE@navy.example", phone="+49 40 2")
    facts = seen()
    assert changed(before, facts) == {"contacts"}
    assert facts["contacts"][1] == {**before["contacts"][1], "phone": "+49 40 2"}
    kit.edit_contact(
        "prof@king.example", email="alan@bletchley.example", first="Alan", last="M. Turing", phone="+44 1; 2"
    )
    card = next(card for card in seen()["contacts"] if card["name"] == "Alan Turing")
    assert [card[key] for key in ("email", "second_email", "first", "last", "phone")] == [
        "alan@bletchley.example", "prof@king.example", "Alan", "M. Turing", "+44 1; 2",
    ]  # fmt: skip
    kit.edit_contact("alan@bletchley.example", second_email="", phone="", note="x, y")
    assert kit.contact("alan@bletchley.example")["note"] == "x, y"
    card = next(card for card in seen()["contacts"] if card["name"] == "Alan Turing")
    assert (card["second_email"], card["phone"], card["note"]) == ("", "", "x, y")


def test_what_a_card_holds_besides_is_kept(kit: mailkit.Profile, tmp_path: Path) -> None:
    """Cards of a real Thunderbird have more lines and groups than ours."""
    import sqlite3

    book = sqlite3.connect(tmp_path / ".thunderbird/alex.default/abook.sqlite")
    with book:
        (card,) = book.execute("SELECT card FROM properties WHERE value = 'grace@navy.example'").fetchone()
        lines = [
            "BEGIN:VCARD", "VERSION:4.0", "item1.EMAIL;PREF=1:grace@navy.example", "FN:Grace Hopper", "N:Hopper;Grace;B.;Dr;",
            "TEL;TYPE=work;VALUE=URI:tel:+1-555", "TEL;TYPE=home:+1 556", "ORG:Navy;Yards and", "  Docks", "BDAY:19061209",
            "UID:1", "END:VCARD", "",
        ]  # fmt: skip
        vcard = "\r\n".join(lines)
        book.execute("UPDATE properties SET value = ? WHERE card = ? AND name = '_vCard'", (vcard, card))
    book.close()
    assert kit.contact("grace@navy.example")["phone"] == "+1-555"
    kit.edit_contact("grace@navy.example", phone="+1 999", organization="Univac", last="Murray")
    found = next(
        c for c in ReadProfile(tmp_path / ".thunderbird/alex.default").contacts if c.email == "grace@navy.example"
    )
    assert (found.phone, found.organization, found.first, found.last) == ("+1 999", "Univac", "Grace", "Murray")
    assert found.other == ("+1 556", "BDAY:19061209")
    with sqlite3.connect(tmp_path / ".thunderbird/alex.default/abook.sqlite") as book:
        (text,) = book.execute("SELECT value FROM properties WHERE name = '_vCard' AND card = ?", (card,)).fetchone()
        assert "N:Murray;Grace;B.;Dr;\r\n" in text
        assert "ORG:Univac;Yards and Docks\r\n" in text
        (last,) = book.execute("SELECT value FROM properties WHERE name = 'LastName' AND card = ?", (card,)).fetchone()
        assert last == "Murray"
    book.close()


def test_a_contact_or_filter_that_is_not_there_is_said_with_those_that_are(kit: mailkit.Profile) -> None:
    with pytest.raises(LookupError, match=r"there are alan@king\.example, grace@navy\.example"):
        kit.edit_contact("nobody@x.example", phone="1")
    with pytest.raises(TypeError, match="a contact has no 'fax'; it has name, email"):
        kit.edit_contact("alan@king.example", fax="1")
    with pytest.raises(LookupError, match="there is no filter 'Bill'; the filters are Bills, News"):
        kit.enable_filter("Bill", True)


def test_filters_are_switched_to_what_is_asked_however_they_were(kit: mailkit.Profile, seen: Any) -> None:
    before = seen()
    kit.enable_filter("Bills", True)
    assert changed(before, seen()) == set()
    kit.enable_filter("News", True)
    assert kit.filters() == {"Bills": True, "News": True}
    assert changed(before, seen()) == {"filters"}
