"""mailkit changes profiles as Thunderbird does: in place where it can, appending where it must."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from forge.harness.layers.mail.python import mailkit
from preparers.thunderbird.reading import ReadProfile

from . import desk
from .desk import mid


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return desk.lay(tmp_path)


@pytest.fixture
def kit(home: Path) -> mailkit.Profile:
    return mailkit.Profile(home / desk.PROFILE)


def test_it_needs_nothing_but_the_standard_library(home: Path) -> None:
    """As in the guest: a bare Python with the layer's folder on its path."""
    layer = Path(mailkit.__file__).parents[1]
    program = (
        "import mailkit\n"
        "profile = mailkit.Profile()\n"
        "profile.move(profile.one('Inbox', subject='Büromöbel'), 'Projects/Apollo')\n"
        "print(*[m.subject for m in profile.messages('Projects/Apollo')], sep='|')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(layer)!r})\n{program}"],
        env={"HOME": str(home), "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Apollo kickoff|Angebot für Büromöbel\n"


def test_messages_are_found_by_words_and_by_id(kit: mailkit.Profile) -> None:
    assert len(kit.find("Inbox", subject="quarterly")) == 10
    assert kit.one(sender="joerg@").subject == "Angebot für Büromöbel"
    assert kit.one(id=f"<{mid(16)}>").folder == "Local Folders/Notes"
    with pytest.raises(LookupError, match="10 messages match"):
        kit.one("Inbox", subject="Quarterly")
    with pytest.raises(LookupError, match="no folder 'Nowhere'; there are Archives"):
        kit.messages("Nowhere")


def test_flags_and_tags_are_set_without_moving_a_byte(kit: mailkit.Profile, home: Path) -> None:
    path = home / desk.PROFILE / "Mail/pop.example.com/Inbox"
    size = path.stat().st_size
    kit.flag(kit.one("Inbox", subject="report 7"), starred=True, read=False)
    kit.tag(kit.one("Inbox", subject="report 7"), "Work", "Later")
    assert path.stat().st_size == size
    message = kit.one("Inbox", subject="report 7")
    assert (message.starred, message.read, message.tags) == (True, False, ["$label2", "$label5"])
    kit.untag(message, "Work")
    assert kit.one("Inbox", subject="report 7").tags == ["$label5"]


def test_a_moved_message_stays_expunged_where_it_was(kit: mailkit.Profile, home: Path) -> None:
    index = home / desk.PROFILE / "Mail/pop.example.com/Inbox.msf"
    index.write_text("stale")
    before = len((home / desk.PROFILE / "Mail/pop.example.com/Inbox").read_bytes())
    kit.move(kit.one("Inbox", subject="report 7"), "Projects/Apollo")
    data = (home / desk.PROFILE / "Mail/pop.example.com/Inbox").read_bytes()
    assert len(data) == before
    assert data.count(b"X-Mozilla-Status: 0009") == 1
    assert not index.exists()
    read = ReadProfile(home / desk.PROFILE)
    assert [mail.folder for mail in read.messages if mail.id == mid(7)] == ["Projects/Apollo"]


def test_deleting_moves_to_the_accounts_own_trash_and_from_there_for_good(kit: mailkit.Profile) -> None:
    kit.delete(kit.one("Club/Inbox"))
    assert [m.subject for m in kit.messages("Club/Trash")] == ["Club evening"]
    kit.delete(kit.one("Club/Trash"))
    assert kit.messages("Club/Trash") == []


def test_a_message_that_is_gone_cannot_be_changed(kit: mailkit.Profile) -> None:
    message = kit.one("Inbox", subject="report 7")
    kit.move(message, "Projects")
    with pytest.raises(LookupError, match="no longer in Inbox"):
        kit.flag(message, read=True)


def test_folders_are_made_renamed_and_removed(kit: mailkit.Profile) -> None:
    kit.create_folder("Projects/Apollo/Minutes")
    kit.rename_folder("Projects/Apollo", "Projects/Artemis")
    assert kit.messages("Projects/Artemis")[0].subject == "Apollo kickoff"
    assert "Projects/Artemis/Minutes" in kit.folders()
    kit.remove_folder("Projects/Artemis")
    assert not [folder for folder in kit.folders() if folder.startswith("Projects/A")]
    with pytest.raises(LookupError, match="parent folder is missing"):
        kit.create_folder("Nowhere/Below")
    with pytest.raises(FileExistsError):
        kit.create_folder("Projects")


def test_written_mails_read_back(kit: mailkit.Profile, home: Path) -> None:
    note = home / "Übersicht.csv"
    note.write_text("a;b\n")
    answered = kit.one("Inbox", subject="report 5")
    kit.unsent(
        to=["Müller, Jörg <joerg@firma.example>", "a@b.example"],
        bcc="c@d.example",
        subject="Grüße",
        text="From me\n\nfür Sie",
        attachments=[note],
        answers=answered,
    )
    (mail,) = ReadProfile(home / desk.PROFILE).read_folder("Local Folders/Unsent Messages")
    assert mail.to == ("Müller, Jörg <joerg@firma.example>", "a@b.example")
    assert (mail.bcc, mail.subject, mail.text) == (("c@d.example",), "Grüße", "From me\n\nfür Sie")
    assert [(file.name, file.data) for file in mail.attachments] == [("Übersicht.csv", b"a;b\n")]
    assert (mail.answers, mail.status) == (mid(5), 0x0800)
    assert kit.one("Inbox", subject="report 5").status & mailkit.REPLIED


def test_filters_are_added_first_switched_and_removed(kit: mailkit.Profile, home: Path) -> None:
    kit.add_filter('A "quoted" one', [("date", "is after", "2026-03-16")], [("copy", "Local Folders/Notes")])
    rules = ReadProfile(home / desk.PROFILE).filters
    assert [rule.name for rule in rules] == ['A "quoted" one', "Invoices", "From the club"]
    assert rules[0].conditions == (("date", "is after", "2026-03-16"),)
    assert rules[0].actions == (("copy", "Local Folders/Notes"),)
    kit.enable_filter('A "quoted" one', False)
    kit.remove_filter("Invoices")
    rules = ReadProfile(home / desk.PROFILE).filters
    assert [(rule.name, rule.enabled) for rule in rules] == [('A "quoted" one', False), ("From the club", False)]
    with pytest.raises(LookupError, match="there is no filter 'Nothing'; the filters are"):
        kit.remove_filter("Nothing")


def test_contacts_are_added_with_all_their_fields(kit: mailkit.Profile, home: Path) -> None:
    kit.add_contact("Zoë de Vries", "zoe@x.example", phone="+31 20 1", organization="Tulpen, Co", note="a\nb; c")
    card = next(card for card in ReadProfile(home / desk.PROFILE).contacts if card.email == "zoe@x.example")
    assert (card.name, card.first, card.last) == ("Zoë de Vries", "Zoë", "de Vries")
    assert (card.phone, card.organization, card.note) == ("+31 20 1", "Tulpen, Co", "a\nb; c")
    with pytest.raises(LookupError, match="no contact has the address"):
        kit.remove_contact("nobody@x.example")


def test_a_locked_address_book_is_said_to_be_thunderbirds(kit: mailkit.Profile, home: Path) -> None:
    other = sqlite3.connect(home / desk.PROFILE / "abook.sqlite")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BlockingIOError, match="quit it first"):
        kit.add_contact("A B", "a@b.example")
    other.close()


def test_a_profile_without_accounts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prefs.js").write_text("")
    with pytest.raises(LookupError, match="names no mail account"):
        mailkit.Profile(tmp_path)
