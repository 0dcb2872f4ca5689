"""Read an address book: SQLite, a vCard a contact. Works on a copy, so that a lock or a write-ahead log is no matter."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from forge.records import PreparerError


@dataclass(frozen=True)
class Card:
    """A contact. `other` holds every further property of the vCard, so that a change of one can be seen."""

    uid: str
    name: str
    email: str
    first: str = ""
    last: str = ""
    second_email: str = ""
    phone: str = ""
    organization: str = ""
    title: str = ""
    nickname: str = ""
    note: str = ""
    other: tuple[str, ...] = ()


@dataclass(frozen=True)
class CardList:
    """A mailing list; members by address."""

    name: str
    nickname: str
    description: str
    members: tuple[str, ...]


def read_book(path: Path, shown: str) -> tuple[tuple[Card, ...], tuple[CardList, ...]]:
    """All cards, by id, and all lists, by name. Raises PreparerError when the file is missing or no address book."""
    if not path.is_file() or path.is_symlink():
        raise PreparerError(f"{shown} is missing", mend="prepare the profile again")
    with tempfile.TemporaryDirectory(prefix="forge-book-") as folder:
        copy = Path(folder, "book.sqlite")
        shutil.copyfile(path, copy)
        log = path.with_name(path.name + "-wal")
        if log.is_file() and not log.is_symlink():
            shutil.copyfile(log, copy.with_name("book.sqlite-wal"))
        book = sqlite3.connect(copy)
        try:
            properties = book.execute("SELECT card, name, value FROM properties").fetchall()
            lists = book.execute("SELECT uid, name, nickName, description FROM lists").fetchall()
            members = book.execute("SELECT list, card FROM list_cards").fetchall()
        except sqlite3.DatabaseError as error:
            raise PreparerError(f"{shown} is no address book: {error}") from None
        finally:
            book.close()
    cards: dict[str, dict[str, str]] = {}
    for uid, name, value in properties:
        cards.setdefault(str(uid), {})[str(name)] = str(value)
    found = {uid: _card(uid, values) for uid, values in sorted(cards.items())}
    return tuple(found.values()), tuple(
        CardList(
            str(name),
            str(nickname or ""),
            str(description or ""),
            tuple(sorted(found[card].email for uid_, card in members if uid_ == uid and card in found)),
        )
        for uid, name, nickname, description in sorted(lists, key=lambda row: str(row[1]))
    )


def _card(uid: str, values: dict[str, str]) -> Card:
    if "_vCard" not in values:
        return Card(
            uid,
            values.get("DisplayName", ""),
            values.get("PrimaryEmail", ""),
            values.get("FirstName", ""),
            values.get("LastName", ""),
            values.get("SecondEmail", ""),
            values.get("WorkPhone", "") or values.get("CellularNumber", "") or values.get("HomePhone", ""),
            values.get("Company", ""),
            values.get("JobTitle", ""),
            values.get("NickName", ""),
            values.get("Notes", ""),
        )
    entries = _entries(values["_vCard"])

    def first(key: str) -> str:
        return next((value for name, _, value in entries if name == key), "")

    names = [_plain(part) for part in _split(first("N"))] + ["", ""]
    mails = [(_preference(parameters), value) for name, parameters, value in entries if name == "EMAIL"]
    addresses = [_plain(value) for _, value in sorted(mails, key=lambda item: item[0])] + ["", ""]
    known = {"BEGIN", "VERSION", "END", "UID", "FN", "N", "EMAIL", "TEL", "ORG", "TITLE", "NICKNAME", "NOTE"}
    phones = [re.sub(r"^tel:", "", _plain(value)) for name, _, value in entries if name == "TEL"]
    return Card(
        uid,
        _plain(first("FN")),
        addresses[0],
        names[1],
        names[0],
        addresses[1],
        phones[0] if phones else "",
        _plain(_split(first("ORG"))[0]),
        _plain(first("TITLE")),
        _plain(first("NICKNAME")),
        _plain(first("NOTE")),
        tuple(sorted([f"{name}:{_plain(value)}" for name, _, value in entries if name not in known] + phones[1:])),
    )


def _entries(vcard: str) -> list[tuple[str, str, str]]:
    """(name, parameters, raw value) of each property, groups (`item1.EMAIL`) stripped."""
    found = []
    for line in re.sub(r"\r?\n[ \t]", "", vcard).replace("\r\n", "\n").split("\n"):
        head, separator, value = line.partition(":")
        if separator:
            name, _, parameters = head.partition(";")
            found.append((name.rpartition(".")[2].upper(), parameters.upper(), value))
    return found


def _preference(parameters: str) -> int:
    found = re.search(r"PREF=\"?(\d+)", parameters)
    return int(found[1]) if found else 101


def _split(value: str) -> list[str]:
    """The components of a structured value, split at unescaped semicolons."""
    return re.findall(r"((?:[^;\\]|\\.)*)(?:;|$)", value, re.DOTALL)


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], value)
