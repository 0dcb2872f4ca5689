"""What each check takes for right and what it does not, on states made by mailkit."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.harness.layers.mail.python import mailkit
from forge.records import InputError
from verifiers.base import CHECKS, Case, Tree
from verifiers.mail.state import canonical_profile

from . import desk
from .desk import mid

Score = Callable[..., float]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return desk.lay(tmp_path_factory.mktemp("before"))


class Desk:
    """A home that starts as the prepared one; `kit` changes it, `score` grades it."""

    def __init__(self, before: Path, home: Path):
        self.before = before
        self.home = Path(shutil.copytree(before, home))
        self.kit = mailkit.Profile(self.home / desk.PROFILE)

    def take(self, number: int) -> mailkit.Message:
        return self.kit.find(id=mid(number))[0]

    def score(self, check: str, **args: Any) -> float:
        return self.finding(check, **args)[0]

    def finding(self, check: str, **args: Any) -> tuple[float, str]:
        found = CHECKS.get(check)
        result = found.run(Case(Tree(self.before), Tree(self.home, agents=True)), found.validate(args))
        return result.score, result.evidence


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Desk:
    return Desk(before, tmp_path / "after")


# mail.in_folder, mail.flags, mail.tags


def test_several_messages_earn_their_share(after: Desk) -> None:
    after.kit.move(after.take(1), "Projects/Apollo")
    assert after.score("mail.in_folder", messages=[mid(1), mid(2)], folder="Projects/Apollo") == 0.5


def test_a_folder_of_another_account_is_written_with_its_label(after: Desk) -> None:
    after.kit.move(after.take(1), "Club/Inbox")
    assert after.score("mail.in_folder", messages=mid(1), folder="Club/Inbox") == 1.0
    assert after.score("mail.in_folder", messages=mid(1), folder="Inbox") == 0.0


def test_a_message_that_is_nowhere_is_in_no_folder(after: Desk) -> None:
    after.kit.expunge(after.take(1))
    score, evidence = after.finding("mail.in_folder", messages=mid(1), folder="Inbox")
    assert score == 0.0
    assert "is in no folder" in evidence


@pytest.mark.parametrize(("flag", "number"), [("read", 1), ("starred", 1), ("replied", 1), ("forwarded", 1)])
def test_flags_are_read_one_by_one(after: Desk, flag: str, number: int) -> None:
    assert after.score("mail.flags", messages=mid(number), **{flag: True}) == 0.0
    after.kit.flag(after.take(number), **{flag: True})
    assert after.score("mail.flags", messages=mid(number), **{flag: True}) == 1.0


@pytest.mark.parametrize(
    ("tags", "args", "score"),
    [
        (["$label2"], {"tags": "Work"}, 1.0),
        (["$label2"], {"tags": "$label2"}, 1.0),
        (["$label2", "$label1"], {"tags": ["Important", "Work"]}, 1.0),
        (["$label2", "$label1"], {"tags": "Work"}, 0.0),
        (["$label2", "$label1"], {"tags": "Work", "exactly": False}, 1.0),
        (["$label1"], {"tags": "Work", "exactly": False}, 0.0),
        ([], {"tags": []}, 1.0),
    ],
)
def test_tags_by_name_or_key(after: Desk, tags: list[str], args: dict[str, Any], score: float) -> None:
    after.kit.set_tags(after.take(3), tags)
    assert after.score("mail.tags", messages=mid(3), **args) == score


# folders and counts


def test_a_folder_is_spelt_just_so(after: Desk) -> None:
    after.kit.create_folder("Projects/reports")
    score, evidence = after.finding("mail.folder_exists", folder="Projects/Reports")
    assert score == 0.0
    assert "there is Projects/reports" in evidence
    assert after.score("mail.folder_exists", folder="Projects/Reports", exists=False) == 1.0


def test_counts_leave_out_expunged_messages(after: Desk) -> None:
    assert after.score("mail.count", folder="Inbox", count=13, unread=4) == 1.0
    after.kit.delete(after.take(1))
    assert after.score("mail.count", folder="Inbox", count=12, unread=3) == 1.0
    assert after.score("mail.count", folder="Trash", count=1) == 1.0


# filters


RULE: dict[str, Any] = {
    "conditions": [{"field": "subject", "op": ["contains", "is"], "value": "Report"}],
    "actions": [{"kind": "move", "value": "Projects/Apollo"}],
}


@pytest.mark.parametrize(
    ("made", "score"),
    [
        ({}, 1.0),
        ({"conditions": [("subject", "is", "report")]}, 1.0),
        ({"conditions": [("subject", "begins with", "report")]}, 0.0),
        ({"conditions": [("from", "contains", "report")]}, 0.0),
        ({"conditions": [("subject", "contains", "reports")]}, 0.0),
        ({"conditions": [("subject", "contains", "report"), ("from", "contains", "a")]}, 0.0),
        ({"actions": [("copy", "Projects/Apollo")]}, 0.0),
        ({"actions": [("move", "Projects")]}, 0.0),
        ({"actions": [("move", "Projects/Apollo"), ("star", "")]}, 0.0),
        ({"enabled": False}, 0.0),
        ({"type": 16}, 0.0),
        ({"match": "any"}, 1.0),
        ({"account": "Club"}, 0.0),
    ],
)
def test_filters_by_meaning(after: Desk, made: dict[str, Any], score: float) -> None:
    values = {"conditions": [("subject", "contains", "report")], "actions": [("move", "Projects/Apollo")]} | made
    after.kit.add_filter("Any name", **values)
    assert after.score("mail.filter_rule", **RULE) == score


def test_a_filters_name_matters_when_it_is_asked_for(after: Desk) -> None:
    after.kit.add_filter("reports ", [("subject", "contains", "Report")], [("move", "Projects/Apollo")])
    assert after.score("mail.filter_rule", name="Reports", **RULE) == 1.0
    assert after.score("mail.filter_rule", name="Invoices", **RULE) == 0.0


def test_the_order_of_conditions_and_actions_does_not_matter_but_all_or_any_does(after: Desk) -> None:
    conditions = [("from", "is", "a@b.example"), ("subject", "contains", 'x (a "b")')]
    after.kit.add_filter("New", conditions, [("star", ""), ("tag", "Work")], match="any")
    asked = {
        "conditions": [{"field": f, "op": op, "value": value} for f, op, value in reversed(conditions)],
        "actions": [{"kind": "tag", "value": "$label2"}, {"kind": "star"}],
    }
    assert after.score("mail.filter_rule", match="any", **asked) == 1.0
    assert after.score("mail.filter_rule", match="all", **asked) == 0.0


# contacts


@pytest.mark.parametrize(
    ("args", "score"),
    [
        ({"email": "KATHERINE@nasa.example"}, 1.0),
        ({"name": "Katherine Johnson", "phone": "+49 (30) 12-34"}, 1.0),
        ({"name": "Katherine  Johnson "}, 1.0),
        ({"name": "katherine johnson"}, 0.0),
        ({"email": "katherine@nasa.example", "organization": "NASA"}, 1.0),
        ({"email": "katherine@nasa.example", "organization": "ESA"}, 0.0),
        ({"email": "nobody@nasa.example", "exists": False}, 1.0),
        ({"email": "katherine@nasa.example", "exists": False}, 0.0),
        ({"email": "katherine@nasa.example", "in_list": "Pioneers"}, 0.0),
        ({"email": "grace@navy.example", "in_list": "Pioneers"}, 1.0),
    ],
)
def test_contacts(after: Desk, args: dict[str, Any], score: float) -> None:
    after.kit.add_contact("Katherine Johnson", "katherine@nasa.example", phone="+49 30 1234", organization="NASA")
    assert after.score("mail.contact", **args) == score


# drafts and sent mails


def write(after: Desk, **values: Any) -> None:
    note = after.home / "note.txt"
    note.write_text("a note\n")
    after.kit.draft(
        **{"to": "Grace <grace@navy.example>", "subject": "Hello", "text": "Dear Grace,\n\n“quoted”   text\nAlex"}
        | values
    )


@pytest.mark.parametrize(
    ("made", "args", "score"),
    [
        ({}, {"to": "GRACE@navy.example", "subject": "Hello"}, 1.0),
        ({}, {"to": ["grace@navy.example"], "cc": [], "attachments": []}, 1.0),
        ({}, {"to": "alan@bletchley.example"}, 0.0),
        ({"cc": ["a@b.example"]}, {"cc": []}, 0.0),
        ({"to": ["grace@navy.example", "a@b.example"]}, {"to": "grace@navy.example"}, 0.0),
        ({}, {"subject": "hello"}, 0.0),
        ({}, {"body": 'Dear Grace, "quoted" text Alex'}, 1.0),
        ({}, {"body": "Dear Grace"}, 0.0),
        ({}, {"contains": ["Dear Grace,", '"quoted" text']}, 1.0),
        ({}, {"contains": ["Dear Alan"]}, 0.0),
        ({}, {"contains": ["Dear"], "lacks": ["Alex"]}, 0.0),
        ({}, {"subject": "Hello", "folder": "Templates"}, 0.0),
        ({}, {"sender": "alex@example.com", "subject": "Hello"}, 1.0),
    ],
)
def test_drafts(after: Desk, made: dict[str, Any], args: dict[str, Any], score: float) -> None:
    write(after, **made)
    assert after.score("mail.draft", **args) == score


def test_a_drafts_attachment_is_compared_by_its_bytes(after: Desk) -> None:
    message = after.take(4)
    saved = after.kit.save_attachment(message, "figures.csv", after.home / "renamed.csv")
    write(after, attachments=[saved])
    file = {"message": mid(4), "name": "figures.csv"}
    assert after.score("mail.draft", attachments=[file]) == 1.0
    assert after.score("mail.draft", attachments=[]) == 0.0
    assert after.score("mail.draft", attachments=[file, {"sha256": "0" * 64}]) == 0.0
    assert after.score("mail.draft", attachments=[{"message": mid(13), "name": "other.csv"}]) == 0.0


def test_a_draft_that_was_there_before_is_not_a_new_one(before: Path, tmp_path: Path) -> None:
    first = Desk(before, tmp_path / "first")
    write(first)
    second = Desk(first.home, tmp_path / "second")
    assert second.score("mail.draft", subject="Hello") == 0.0
    write(second, text="another text")
    assert second.score("mail.draft", subject="Hello") == 1.0


def test_a_reply_is_tied_to_its_message_and_quotes_do_not_count(after: Desk) -> None:
    text = "On 3/5/26 10:15, Person 5 wrote:\n> the numbers of quarter 5\n\nThanks!"
    write(after, text=text, answers=after.take(5))
    assert after.score("mail.draft", answers=mid(5), body="Thanks!", lacks="numbers of quarter") == 1.0
    assert after.score("mail.draft", answers=mid(6)) == 0.0


def test_an_html_draft_says_the_same(after: Desk) -> None:
    raw = (
        b"Message-ID: <h@example.com>\nDate: Mon, 16 Mar 2026 09:40:00 +0100\nFrom: alex@example.com\n"
        b"To: grace@navy.example\nSubject: Hello\nMIME-Version: 1.0\nContent-Type: text/html; charset=UTF-8\n\n"
        b"<html><head><style>p {}</style></head><body><p>Dear Grace,</p><p>see&nbsp;you<br>on Monday</p>\n"
        b"<blockquote>old words</blockquote></body></html>\n"
    )
    after.kit.append("Drafts", raw)
    assert after.score("mail.draft", body="Dear Grace, see you on Monday") == 1.0


def test_a_sent_mail_may_wait_in_the_outbox(after: Desk) -> None:
    write(after)
    assert after.score("mail.sent_or_unsent", subject="Hello") == 0.0
    after.kit.unsent(to="grace@navy.example", subject="Hello", text="Dear Grace")
    assert after.score("mail.sent_or_unsent", subject="Hello") == 1.0


def test_an_attachment_is_saved_when_its_bytes_are(after: Desk) -> None:
    args = {"message": mid(4), "name": "figures.csv", "path": "~/Documents/f.csv"}
    assert after.score("mail.attachment_saved", **args) == 0.0
    after.kit.save_attachment(after.take(4), "figures.csv", after.home / "Documents/f.csv")
    assert after.score("mail.attachment_saved", **args) == 1.0
    (after.home / "Documents/f.csv").write_text(desk.ATTACHMENT.replace("\n", "\r\n"), newline="")
    assert after.score("mail.attachment_saved", **args) == 0.0


# changed elsewhere


def test_being_shown_is_no_damage_but_becoming_unread_is(after: Desk) -> None:
    after.kit.flag(after.take(1), read=True)
    assert after.score("mail.changed_elsewhere") == 1.0
    assert after.score("mail.changed_elsewhere", keep_unread=True) == 0.0
    after.kit.flag(after.take(2), read=False)
    assert after.score("mail.changed_elsewhere") == 0.0


def test_messages_that_may_only_be_read_may_be_nothing_else(after: Desk) -> None:
    after.kit.flag(after.take(1), read=True)
    after.kit.flag(after.take(2), read=False)
    strict = {"keep_unread": True}
    assert after.score("mail.changed_elsewhere", read=[mid(2)], **strict) == 0.0
    assert after.score("mail.changed_elsewhere", read=[mid(1), mid(2)], **strict) == 1.0
    after.kit.flag(after.take(1), starred=True)
    assert after.finding("mail.changed_elsewhere", read=[mid(1), mid(2)])[0] == 0.0


def test_of_several_messages_those_that_were_right_before_earn_nothing(after: Desk) -> None:
    read = {"messages": [mid(1), mid(2)], "read": True}  # the second is read already
    assert after.score("mail.flags", **read) == 0.0
    after.kit.flag(after.take(1), read=True)
    assert after.score("mail.flags", **read) == 1.0
    there = {"messages": [mid(3), mid(14)], "folder": "Projects/Apollo"}
    assert after.score("mail.in_folder", **there) == 0.0
    after.kit.move(after.take(3), "Projects/Apollo")
    assert after.score("mail.in_folder", **there) == 1.0


OVER_EDITS: list[tuple[Callable[[Desk], Any], dict[str, Any], str]] = [
    (lambda d: d.kit.move(d.take(3), "Projects"), {"messages": mid(3)}, "went from Inbox to Projects"),
    (lambda d: d.kit.copy(d.take(3), "Projects"), {"messages": mid(3)}, "was copied to Projects"),
    (lambda d: d.kit.copy(d.take(3), "Inbox"), {"messages": mid(3)}, "2 times"),
    (lambda d: d.kit.expunge(d.take(3)), {"messages": mid(3)}, "is gone from Inbox"),
    (lambda d: d.kit.expunge(d.take(3)), {"emptied": "Inbox"}, "is gone from Inbox"),
    (lambda d: d.kit.flag(d.take(3), starred=True), {"aspects": "starred"}, "now starred"),
    (lambda d: d.kit.tag(d.take(3), "Work"), {"aspects": ["tags"]}, "has tags $label2"),
    (lambda d: d.kit.create_folder("Projects/New"), {"folders": "Projects/New"}, "folder Projects/New is new"),
    (lambda d: d.kit.remove_folder("Projects/Apollo"), {"folders": "Projects/Apollo", "messages": mid(14)}, "is gone"),
    (lambda d: d.kit.remove_contact("alan@bletchley.example"), {"contacts": "Alan Turing"}, "Alan Turing"),
    (lambda d: d.kit.add_contact("New One", "new@x.example"), {"contacts": "new@x.example"}, "New One"),
    (lambda d: d.kit.remove_filter("Invoices"), {"filters": "Invoices"}, "'Invoices'"),
    (lambda d: d.kit.enable_filter("From the club", True), {"filters": ["From the club"]}, "'From the club'"),
    (lambda d: d.kit.draft(to="a@b.example", text="x"), {"folders": "Drafts"}, "is new in Drafts"),
]


@pytest.mark.parametrize(("edit", "allow", "says"), OVER_EDITS)
def test_over_edits_are_seen_unless_they_are_allowed(
    after: Desk, edit: Callable[[Desk], Any], allow: dict[str, Any], says: str
) -> None:
    edit(after)
    score, evidence = after.finding("mail.changed_elsewhere")
    assert score == 0.0
    assert says in evidence
    assert after.finding("mail.changed_elsewhere", **allow) == (1.0, "nothing else in the profile changed")


def test_an_edited_message_is_named_once(after: Desk) -> None:
    message = after.take(3)
    mail = message.mail
    mail.set_content("something else\n")
    after.kit.replace(message, mail)
    score, evidence = after.finding("mail.changed_elsewhere")
    assert (score, evidence) == (0.0, "'Angebot für Büromöbel' in Inbox was edited")


def test_bookkeeping_is_no_damage(after: Desk) -> None:
    profile = after.home / desk.PROFILE
    (profile / "Mail/pop.example.com/Inbox.msf").write_text("// <!-- <mdb:mork:z v='1.4'/> -->")
    (profile / "prefs.js").write_text((profile / "prefs.js").read_text() + 'user_pref("mail.ui-rdf.version", 61);\n')
    (profile / "Mail/pop.club.example/msgFilterRules.dat").write_text('version="9"\nlogging="no"\n')
    inbox = profile / "Mail/pop.example.com/Inbox"
    inbox.write_bytes(inbox.read_bytes() + b"\n")
    assert after.finding("mail.changed_elsewhere") == (1.0, "nothing else in the profile changed")


def test_accounts_and_tags_count(after: Desk) -> None:
    prefs = after.home / desk.PROFILE / "prefs.js"
    text = prefs.read_text()
    prefs.write_text(text.replace('"Alex Doe"', '"Al Doe"'))
    assert after.finding("mail.changed_elsewhere") == (0.0, "the accounts changed")
    prefs.write_text(text + 'user_pref("mailnews.tags.urgent.tag", "Urgent");\n')
    assert after.finding("mail.changed_elsewhere") == (0.0, "tag 'Urgent' is new")
    assert after.score("mail.changed_elsewhere", tags="Urgent") == 1.0


# arguments and canonical states


@pytest.mark.parametrize(
    ("check", "args"),
    [
        ("mail.in_folder", {"messages": [], "folder": "Inbox"}),
        ("mail.flags", {"messages": "a@b.example"}),
        ("mail.count", {"folder": "Inbox"}),
        ("mail.contact", {}),
        ("mail.draft", {}),
        ("mail.draft", {"attachments": [{"name": "x"}]}),
        ("mail.filter_rule", {"conditions": [], "actions": [{"kind": "star"}]}),
        ("mail.changed_elsewhere", {"mesages": []}),
    ],
)
def test_senseless_arguments_are_refused(check: str, args: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"check {check}"):
        CHECKS.get(check).validate(args)


def test_equal_states_have_one_form(before: Path, tmp_path: Path) -> None:
    states = []
    for name in ("one", "two"):
        after = Desk(before, tmp_path / name)
        if name == "one":
            after.kit.tag(after.take(3), "Work", "Important")
            after.kit.draft(to="a@b.example", text="the same")
        else:
            after.kit.draft(to="a@b.example", text="the  same\n")
            after.kit.tag(after.take(3), "Important", "Work")
        states.append(canonical_profile(after.home / desk.PROFILE))
    assert states[0] == states[1]
    after.kit.tag(after.take(3), "Later")
    assert canonical_profile(after.home / desk.PROFILE) != states[0]
