"""Drawn mailboxes: plausible, different, and the same on every Python."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from forge.records import Guest, InputError, canonical_json, digest
from preparers.thunderbird.attachments import pdf
from preparers.thunderbird.mails import draw_mailbox, kinds, listing, matters
from preparers.thunderbird.params import ProfileParams
from preparers.thunderbird.people import ascii_name, draw_people


class OnlyRandom(random.Random):
    """A generator that refuses everything but `random()`."""

    def getrandbits(self, k: int) -> int:
        raise AssertionError("only random() is the same on every Python")


@pytest.mark.parametrize("kind", kinds())
def test_only_random_is_used_and_equal_seeds_give_equal_mailboxes(kind: str) -> None:
    one, other = (draw_mailbox(kind, 25, OnlyRandom(7), Guest()) for _ in (1, 2))
    assert canonical_json(one) == canonical_json(other)
    assert digest(one) != digest(draw_mailbox(kind, 25, OnlyRandom(8), Guest()))


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("size", [5, 60])
def test_mailboxes_are_valid_parameters_of_about_the_size(kind: str, size: int) -> None:
    params = ProfileParams.model_validate(draw_mailbox(kind, size, random.Random(size), Guest()))
    count = sum(len(folder.messages) for folder in params.folders)
    assert size <= count <= 2 * size + 6


def test_there_are_enough_kinds_and_matters() -> None:
    assert len(kinds()) >= 5
    assert len(matters()) >= 8


@pytest.mark.parametrize("kind", kinds())
def test_no_mail_is_newer_than_the_clock_and_ids_differ(kind: str) -> None:
    guest = Guest(clock="2026-03-16T09:30:00")
    messages = listing(draw_mailbox(kind, 60, random.Random(1), guest))
    assert max(message["date"] for message in messages) <= guest.clock
    assert len({message["id"] for message in messages}) == len(messages)


@pytest.mark.parametrize("kind", kinds())
def test_threads_have_subjects_of_their_own(kind: str) -> None:
    roots = [m["subject"] for m in listing(draw_mailbox(kind, 60, random.Random(2), Guest())) if not m["answers"]]
    assert len(set(roots)) == len(roots)


def test_some_messages_are_named_by_their_subject_alone() -> None:
    messages = listing(draw_mailbox("plain", 40, random.Random(3), Guest()))
    unique = [message for message in messages if message["unique"]]
    assert len(unique) >= 10
    for message in unique:
        assert sum(message["subject"].casefold() in other["subject"].casefold() for other in messages) == 1


def test_archives_hold_mails_of_their_year() -> None:
    mailbox = draw_mailbox("archive", 60, random.Random(4), Guest())
    years = {folder["path"]: {m["date"][:4] for m in folder["messages"]} for folder in mailbox["folders"]}
    assert years["Archives/2025"] == {"2025"}
    assert years["Archives/2024"] == {"2024"}


def test_addresses_reach_nobody_and_names_are_plain_in_them() -> None:
    people = draw_people(200, random.Random(5))
    assert len({person["name"] for person in people}) == 200
    assert all(person["address"].endswith(".example") for person in people)
    assert all(person["address"].isascii() for person in people)
    assert ascii_name("Müller") == "mueller"
    assert ascii_name("van Dijk") == "vandijk"
    assert ascii_name("Yılmaz") == "yilmaz"


def _offsets(data: bytes) -> Iterator[tuple[int, int]]:
    start = int(data.split(b"startxref\n")[1].split(b"\n")[0])
    for number, line in enumerate(data[start:].split(b"\n")[3:8], 1):
        yield number, int(line[:10])


def test_pdf_cross_references_point_at_their_objects() -> None:
    data = pdf(["Invoice (1)", "Grüße"])
    for number, offset in _offsets(data):
        assert data[offset:].startswith(b"%d 0 obj" % number)
    assert b"(Invoice \\(1\\)) Tj" in data


def test_a_kind_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"no mailbox of the kind 'nothing'(?s:.)*plain, projects"):
        draw_mailbox("nothing", 5, random.Random(1), Guest())
