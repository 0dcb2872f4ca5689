"""What a profile is written from can be read back from its bytes, and the same parameters give the same bytes."""

from __future__ import annotations

import email
import email.policy
import mailbox
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from forge.records import Guest
from preparers.base import Context
from preparers.thunderbird.mails import draw_mailbox, kinds
from preparers.thunderbird.profile import ThunderbirdProfile

from .profiles import OWNER, PROFILES, lay, mail

PREPARER = ThunderbirdProfile()
POP = ".thunderbird/alex.default/Mail/pop.example.com"


def prepared(home: Path, **values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(facts, what is read back) of a profile of these parameters, laid out below `home`."""
    params = PREPARER.validate({"accounts": [OWNER], **values})
    made = PREPARER.prepare(params, Context())
    return made.facts, PREPARER.inspect(lay(made, home), params)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(PROFILES)
def test_inspect_of_prepare_is_facts(values: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as home:
        facts, read = prepared(Path(home), **values)
    assert read == facts


@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(PROFILES)
def test_the_same_parameters_give_the_same_bytes(values: dict[str, Any]) -> None:
    params = PREPARER.validate(values)
    assert PREPARER.prepare(params, Context()).files == PREPARER.prepare(params, Context()).files


def test_bytes_do_not_depend_on_the_process(tmp_path: Path) -> None:
    program = (
        "import hashlib, random\n"
        "from forge.records import Guest\n"
        "from preparers.base import Context\n"
        "from preparers.thunderbird.mails import draw_mailbox\n"
        "from preparers.thunderbird.profile import ThunderbirdProfile as T\n"
        "p = T().validate(draw_mailbox('suppliers', 12, random.Random(4), Guest()))\n"
        "h = hashlib.sha256()\n"
        "[h.update(f.path.encode() + f.data) for f in T().prepare(p, Context()).files]\n"
        "print(h.hexdigest())\n"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "TZ": zone, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(hashes) == 1
    assert hashes != {""}


@pytest.mark.parametrize("kind", kinds())
def test_drawn_mailboxes_round_trip(kind: str, tmp_path: Path) -> None:
    facts, read = prepared(tmp_path, **draw_mailbox(kind, 30, random.Random(kind), Guest()))
    assert read == facts


def test_other_libraries_read_what_was_meant(tmp_path: Path) -> None:
    """The stdlib's strictest reader, not ours: addresses, dates, parts and file names."""
    prepared(
        tmp_path,
        folders=[
            {
                "path": "Inbox",
                "messages": [
                    mail(
                        12,
                        **{"from": "Müller, Jörg <joerg@firma.example>"},
                        subject="Angebot: Stühle, 2 % Rabatt",
                        text="Grüße\nFrom here on",
                        html="<p>Grüße</p>",
                        attachments=[{"name": "Übersicht 2026.csv", "text": "a,b\n1,2\n"}],
                    )
                ],
            }
        ],
    )
    box = mailbox.mbox(tmp_path / POP / "Inbox", create=False)
    assert len(box) == 1
    only = email.message_from_bytes(box.get_bytes(0), policy=email.policy.default)
    box.close()
    (sender,) = only["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Müller, Jörg", "joerg@firma.example")
    assert only["Subject"] == "Angebot: Stühle, 2 % Rabatt"
    assert only["Date"].datetime.isoformat() == "2026-03-12T10:15:00+01:00"
    assert only.get_body(("plain",)).get_content() == "Grüße\nFrom here on\n"
    assert only.get_body(("html",)).get_content() == "<p>Grüße</p>\n"
    (attachment,) = only.iter_attachments()
    assert attachment.get_filename() == "Übersicht 2026.csv"
    assert attachment.get_payload(decode=True) == b"a,b\n1,2\n"
    assert not only.defects


def test_no_line_is_mistaken_for_a_message_or_is_too_long(tmp_path: Path) -> None:
    text = "From me\n>From you\n" + "x" * 3000 + "\n" + "ü" * 900
    prepared(tmp_path, folders=[{"path": "Inbox", "messages": [mail(1, text=text), mail(2)]}])
    data = (tmp_path / POP / "Inbox").read_bytes()
    assert len([line for line in data.split(b"\n") if line.startswith(b"From ")]) == 2
    assert max(map(len, data.split(b"\n"))) <= 998


@pytest.mark.parametrize(
    "name", ["=?UTF-8?B?eA==?=", 'a "b" c.txt', "50%.csv", "a;b=c.txt", "Übersicht " * 9 + ".ods", "'"]
)
def test_attachments_keep_odd_names(name: str, tmp_path: Path) -> None:
    attachment = {"name": name, "text": "x"}
    facts, read = prepared(tmp_path, folders=[{"path": "Inbox", "messages": [mail(1, attachments=[attachment])]}])
    assert read["messages"][0]["attachments"][0]["name"] == name
    assert read == facts


def test_threads_carry_references_of_all_that_is_above(tmp_path: Path) -> None:
    first = mail(1, id="a@x.example")
    second = mail(2, id="b@x.example", answers="a@x.example")
    third = mail(3, id="c@x.example", answers="b@x.example")
    prepared(tmp_path, folders=[{"path": "Inbox", "messages": [third, first, second]}])
    data = (tmp_path / POP / "Inbox").read_text()
    assert "In-Reply-To: <b@x.example>\nReferences: <a@x.example>\n <b@x.example>\n" in data


def test_equal_mails_get_ids_of_their_own(tmp_path: Path) -> None:
    facts, read = prepared(tmp_path, folders=[{"path": "Inbox", "messages": [mail(1), mail(1)]}])
    assert len({message["id"] for message in read["messages"]}) == 2
    assert read == facts


def test_the_address_book_is_a_plain_sqlite_file_of_schema_4(tmp_path: Path) -> None:
    prepared(tmp_path, contacts=[{"name": "Grace Hopper", "email": "grace@navy.example", "note": "one\ntwo, three"}])
    book = sqlite3.connect(tmp_path / ".thunderbird/alex.default/abook.sqlite")
    assert book.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert book.execute("PRAGMA user_version").fetchone() == (4,)
    (card,) = book.execute("SELECT value FROM properties WHERE name = '_vCard'").fetchone()
    book.close()
    assert "NOTE:one\\ntwo\\, three\r\n" in card


def test_names_of_contacts_keep_their_backslashes_and_commas(tmp_path: Path) -> None:
    contact = {"name": "a\\, b; c", "email": "a@b.example", "first": "x\\", "last": "\\", "organization": "Co, \\n"}
    facts, read = prepared(tmp_path, contacts=[contact])
    assert read == facts


def test_parents_of_a_folder_and_the_usual_folders_are_there(tmp_path: Path) -> None:
    facts, _ = prepared(tmp_path, folders=[{"path": "Projects/Apollo/Minutes"}, {"path": "Local Folders/Notes"}])
    paths = [folder["path"] for folder in facts["folders"]]
    assert {"Inbox", "Drafts", "Sent", "Trash", "Projects", "Projects/Apollo", "Projects/Apollo/Minutes"} <= set(paths)
    assert paths[-3:] == ["Local Folders/Notes", "Local Folders/Trash", "Local Folders/Unsent Messages"]
