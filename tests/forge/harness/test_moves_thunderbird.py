"""The moves for Thunderbird, in a real window on a prepared profile; what they did is read from the profile's files."""

from collections.abc import Callable
from typing import Any

import pytest

import preparers  # noqa: F401  (registers)
from preparers.base import PREPARERS, Context
from preparers.thunderbird.reading import EXPUNGED, ReadMail, ReadProfile

pytestmark = pytest.mark.desktop


def mail(number: int, **more: Any) -> dict[str, Any]:
    return {
        "date": f"2026-03-{number:02d}T08:15:00",
        "from": f"Person {number} <p{number}@example.org>",
        "to": ["Alex Doe <alex@example.com>"],
        "subject": f"Quarterly report {number}",
        "text": f"Dear Alex,\n\nthe numbers of quarter {number}: {number * 100} EUR.\n\nRegards",
        "read": number % 3 > 0,
        **more,
    }


PARAMS: dict[str, Any] = {
    "accounts": [{"address": "alex@example.com", "name": "Alex Doe"}],
    "folders": [
        {
            "path": "Inbox",
            "messages": [
                *(mail(number) for number in range(1, 15)),
                mail(15, subject="Office furniture", id="root@firm.example"),
                mail(16, subject="Re: Office furniture", answers="root@firm.example"),
                mail(1, subject="Figures", attachments=[{"name": "data.csv", "text": "a,b\n1,2\n"}]),
            ],
        },
        {"path": "Projects/Apollo", "messages": [mail(3, subject="Kickoff")]},
        {"path": "Local Folders/Notes", "messages": []},
    ],
    "contacts": [
        {"name": "Grace Hopper", "email": "grace@example.com", "first": "Grace", "last": "Hopper", "phone": "+1 555 1"},
        {"name": "Alan Turing", "email": "alan@example.com", "first": "Alan", "last": "Turing"},
        {
            "name": "Ada King",
            "email": "ada@example.com",
            "first": "Ada",
            "last": "King",
            "phone": "+44 1",
            "organization": "Mills",
            "note": "likes numbers",
        },
    ],
}


def thunderbird(play_for_real: Callable[..., Any], *steps: dict[str, Any]) -> tuple[Any, ReadProfile, Any]:
    preparer = PREPARERS.get("thunderbird.profile")
    prepared = preparer.prepare(preparer.validate(PARAMS), Context())
    files = [(file.path, file.data, file.mode, file.folder) for file in prepared.files]
    files.append(("~/Documents/plan.txt", b"one\ntwo\n", 0o644, False))
    played = play_for_real(steps, files=files, start=[("thunderbird", None)])
    played.check()
    return played.trajectory, ReadProfile(played.home / ".thunderbird/alex.default"), played.home


def living(profile: ReadProfile, folder: str) -> dict[str, ReadMail]:
    """The messages of a folder by subject, without those that are expunged."""
    return {mail.subject: mail for mail in profile.read_folder(folder) if not mail.status & EXPUNGED}


def test_messages_are_starred_tagged_and_moved(play_for_real: Callable[..., Any]) -> None:
    went, profile, _ = thunderbird(
        play_for_real,
        {"star": "Quarterly report 12"},
        {"tag": {"subject": "Quarterly report 13", "tag": "Work"}},
        {"move_message": {"subject": "Quarterly report 11", "to": "Projects/Apollo"}},
    )
    inbox, apollo = living(profile, "Inbox"), living(profile, "Projects/Apollo")
    assert [subject for subject, mail in inbox.items() if mail.starred] == ["Quarterly report 12"]
    assert {subject: mail.tags for subject, mail in inbox.items() if mail.tags} == {"Quarterly report 13": ("$label2",)}
    assert set(apollo) == {"Kickoff", "Quarterly report 11"}
    assert "Quarterly report 11" not in inbox
    unread = {"Office furniture", *(f"Quarterly report {number}" for number in (3, 6, 9, 12))}
    assert {subject for subject, mail in inbox.items() if not mail.read} == unread, "nothing was opened by the way"
    assert {record.action.kind for record in went.actions} <= {"left_click", "right_click", "scroll", "done"}


@pytest.mark.slow
def test_messages_far_down_in_threads_and_in_other_folders(play_for_real: Callable[..., Any]) -> None:
    _, profile, _ = thunderbird(
        play_for_real,
        {"mark": {"subject": "Quarterly report 3", "read": True}},
        {"mark": {"subject": "Quarterly report 14", "read": False}},
        {"copy_message": {"subject": "Quarterly report 2", "to": "Local Folders/Notes"}},
        {"drag_message": {"subject": "Quarterly report 4", "to": "Projects"}},
        {"delete_message": "Quarterly report 5"},
        {"archive_message": "Quarterly report 7"},
        {"copy_message": {"subject": "Office furniture", "to": "Local Folders/Notes"}},
        {"star": "Re: Office furniture"},
        {"folder": "Projects/Apollo"},
        {"tag": {"subject": "Kickoff", "tag": "Later"}},
        {"message": "Kickoff"},
    )
    inbox = living(profile, "Inbox")
    gone = {"Quarterly report 4", "Quarterly report 5", "Quarterly report 7"}
    assert gone.isdisjoint(inbox)
    assert (inbox["Quarterly report 3"].read, inbox["Quarterly report 14"].read) == (True, False)
    assert inbox["Re: Office furniture"].starred
    assert set(living(profile, "Local Folders/Notes")) == {"Quarterly report 2", "Office furniture"}, (
        "not the whole thread"
    )
    assert set(living(profile, "Projects")) == {"Quarterly report 4"}
    assert set(living(profile, "Trash")) == {"Quarterly report 5"}
    assert set(living(profile, "Archives/2026")) == {"Quarterly report 7"}
    kickoff = living(profile, "Projects/Apollo")["Kickoff"]
    assert (kickoff.tags, kickoff.read) == (("$label5",), True)


@pytest.mark.slow
def test_folders_contacts_and_attachments(play_for_real: Callable[..., Any]) -> None:
    _, profile, home = thunderbird(
        play_for_real,
        {"new_folder": {"name": "Invoices", "parent": "alex@example.com"}},
        {"new_folder": {"name": "March", "parent": "Projects"}},
        {"rename_folder": {"folder": "Projects/March", "to": "April"}},
        {"save_attachment": {"subject": "Figures", "name": "data.csv", "to": "~/Documents/figures.csv"}},
        {
            "new_contact": {
                "first": "Katherine",
                "last": "Johnson",
                "email": "kj@example.com",
                "phone": "+1 202 1",
                "organization": "NASA",
            }
        },
        {"mail_tab": None},
    )
    folders = set(profile.folders)
    assert {"Invoices", "Projects/April", "Projects/Apollo"} <= folders
    assert "Projects/March" not in folders
    assert (home / "Documents/figures.csv").read_text() == "a,b\n1,2\n"
    card = next(card for card in profile.contacts if card.email == "kj@example.com")
    assert (card.name, card.first, card.last) == ("Katherine Johnson", "Katherine", "Johnson")
    assert (card.phone, card.organization) == ("+1 202 1", "NASA")


@pytest.mark.slow
def test_contacts_are_changed_in_their_form(play_for_real: Callable[..., Any]) -> None:
    _, profile, _ = thunderbird(
        play_for_real,
        {"edit_contact": {"contact": "Grace Hopper", "phone": "+1 555 2"}},
        {
            "edit_contact": {
                "contact": "Alan Turing",
                "phone": "+44 20 7",
                "email": "alan@bletchley.example",
                "title": "Fellow",
            }
        },
        {
            "edit_contact": {
                "contact": "Ada King",
                "last": "Lovelace",
                "display": "Ada Lovelace",
                "organization": "",
                "phone": "",
            }
        },
        {"mail_tab": None},
    )
    cards = {card.name: card for card in profile.contacts}
    assert set(cards) == {"Grace Hopper", "Alan Turing", "Ada Lovelace"}
    grace, alan, ada = cards["Grace Hopper"], cards["Alan Turing"], cards["Ada Lovelace"]
    assert (grace.phone, grace.email, grace.first) == ("+1 555 2", "grace@example.com", "Grace")
    assert (alan.phone, alan.email, alan.title) == ("+44 20 7", "alan@bletchley.example", "Fellow")
    assert (ada.last, ada.organization, ada.phone, ada.note) == ("Lovelace", "", "", "likes numbers")
    assert [card.other for card in cards.values() if card.other] == [], "nothing else came to be"


@pytest.mark.slow
def test_a_filter_with_two_conditions_and_two_actions(play_for_real: Callable[..., Any]) -> None:
    went, profile, _ = thunderbird(
        play_for_real,
        {
            "new_filter": {
                "name": "Bills",
                "match": "any",
                "conditions": [{"value": "invoice"}, {"field": "From", "op": "is", "value": "shop@example.org"}],
                "actions": [
                    {"kind": "Move Message to", "value": "Projects/Apollo"},
                    {"kind": "Tag Message", "value": "Work"},
                ],
            }
        },
    )
    rule = profile.filters[0]
    assert (rule.name, rule.enabled, rule.match) == ("Bills", True, "any")
    assert rule.conditions == (("subject", "contains", "invoice"), ("from", "is", "shop@example.org"))
    assert rule.actions == (("move", "Projects/Apollo"), ("tag", "$label2"))
    assert len(went.turns) <= 30


@pytest.mark.slow
def test_drafts_replies_and_messages_to_send(play_for_real: Callable[..., Any]) -> None:
    _, profile, _ = thunderbird(
        play_for_real,
        {
            "write": {
                "to": ["Grace Hopper <grace@example.com>", "x@example.org"],
                "cc": ["y@example.org"],
                "subject": "Minutes",
                "body": "Dear all,\n\nhere they are.\nAlex",
            }
        },
        {"reply": {"subject": "Quarterly report 14", "body": "Thank you!"}},
        {
            "write": {
                "to": ["z@example.org"],
                "subject": "The plan",
                "body": "See the file.",
                "attach": ["~/Documents/plan.txt"],
                "then": "send",
            }
        },
    )
    drafts = living(profile, "Drafts")
    minutes = drafts["Minutes"]
    assert (minutes.to, minutes.cc) == (("Grace Hopper <grace@example.com>", "x@example.org"), ("y@example.org",))
    assert minutes.text is not None
    assert minutes.text.strip() == "Dear all,\n\nhere they are.\nAlex"
    answer = drafts["Re: Quarterly report 14"]
    assert (answer.to, answer.answers != "") == (("Person 14 <p14@example.org>",), True)
    assert answer.text is not None
    assert answer.text.startswith("Thank you!\n\nOn 3/14/26")
    sent = living(profile, "Local Folders/Unsent Messages")["The plan"]
    assert [(file.name, file.data) for file in sent.attachments] == [("plan.txt", b"one\ntwo\n")]
