"""A real Thunderbird: it opens what was prepared and what mailkit wrote, and the checks read what it leaves behind.

With FORGE_RECORD=1 the state after the acts is kept in `data/` for the other tests.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.desktop.slot import Slot
from forge.harness.environment import Hint, SlotEnvironment
from forge.harness.layers.mail.python import mailkit
from forge.harness.moves import MOVES
from forge.harness.moves.hands import Hands
from forge.records import Guest
from verifiers.base import CHECKS, Case, Tree

from . import desk

RECORD = os.environ.get("FORGE_RECORD", "")


def opened(files: Any) -> Slot:
    return Slot.open(Guest(), home_files=[(f.path, f.data, f.mode, f.folder) for f in files])


async def play(slot: Slot, acts: list[tuple[str, Any]]) -> None:
    """Carry out moves on a slot, one by one."""
    environment = SlotEnvironment(slot, lambda data: hashlib.sha256(data).hexdigest())
    hands = Hands(slot)
    try:
        for name, value in acts:
            move = MOVES.get(name)
            steps: Iterator[Any] = move.run(hands, move.validate(value))
            while (act := await environment.run(lambda s=steps: next(s, None))) is not None:
                last = len(act.actions) - 1
                for place, action in enumerate(act.actions):
                    hint = Hint(act.elements[place], act.until if place == last else None, place == last)
                    result = await environment.act(action, hint)
                    assert not result.error, f"{name}: {result.output}"
    finally:
        environment.close()


@pytest.mark.slow
@pytest.mark.desktop
async def test_the_checks_read_what_thunderbird_leaves(tmp_path: Path) -> None:
    with opened(desk.files()) as slot:
        slot.launch("thunderbird")
        await play(slot, desk.ACTS)
        # What is not yet on disk is not done; Thunderbird writes the outbox a moment after its window has closed.
        outbox = slot.home / desk.PROFILE / "Mail/Local Folders/Unsent Messages"
        slot.settle(lambda: outbox.is_file() and outbox.read_bytes().endswith(b"--\n\n"), timeout=8)
        if RECORD:
            desk.record(slot.home)
        case = Case(before=Tree(desk.lay(tmp_path)), after=Tree(slot.home))
        scores = {
            name: CHECKS.get(check).run(case, CHECKS.get(check).validate(a))
            for name, (check, a) in desk.CRITERIA.items()
        }
        elsewhere = CHECKS.get("mail.changed_elsewhere")
        scores["elsewhere"] = elsewhere.run(case, elsewhere.validate(desk.ALLOWED))
    assert {name: found.evidence for name, found in scores.items() if found.score != 1.0} == {}


@pytest.mark.desktop
def test_thunderbird_shows_what_mailkit_wrote() -> None:
    with opened(desk.files()) as slot:
        profile = mailkit.Profile(slot.home / desk.PROFILE)
        profile.create_folder("Projects/Reports")
        profile.move(profile.one("Inbox", subject="Quarterly report 9"), "Projects/Reports")
        profile.delete(profile.one("Inbox", subject="Quarterly report 8"))
        profile.flag(profile.one("Inbox", subject="Quarterly report 10"), starred=True, read=False)
        profile.tag(profile.one("Inbox", subject="Quarterly report 11"), "Work")
        profile.add_contact("Katherine Johnson", "kj@nasa.example")
        profile.add_filter("From Alan", [("from", "is", "alan@bletchley.example")], [("move", "Projects/Apollo")])
        profile.draft(to="grace@navy.example", subject="Hello", text="Dear Grace,\n\nbye")
        slot.launch("thunderbird")
        names = _names(slot)
        assert "Projects/Reports" in names
        assert any(name.startswith("Starred, Quarterly report 10, Unread, ") for name in names)
        assert not any("Quarterly report 9," in name or "Quarterly report 8," in name for name in names)
        for folder, subject in (
            ("Projects/Reports", "Quarterly report 9"),
            ("Drafts", "Hello"),
            ("Trash", "Quarterly report 8"),
        ):
            _open(slot, folder)
            slot.settle(lambda s=subject: any(s in name for name in _names(slot)), timeout=8)
            assert any(subject in name for name in _names(slot)), folder
        assert [mail.subject for mail in profile.messages("Projects/Reports")] == ["Quarterly report 9"]


@pytest.mark.desktop
def test_a_prepared_filter_shows_and_runs() -> None:
    with opened(desk.files()) as slot:
        profile = mailkit.Profile(slot.home / desk.PROFILE)
        profile.add_filter("Odd (ones)", [("subject", "is", "Quarterly report 7")], [("move", "Projects/Apollo")])
        slot.launch("thunderbird")
        _click(slot, "alex@example.com", "tree item", button=3)
        _click(slot, "Message Filters", "menu item")
        _click(slot, "Odd (ones)", "check box")
        _click(slot, "Run selected filter(s) on:", "combo box")
        _click(slot, "Inbox", "menu item")
        _click(slot, "Run Now", "push button")
        target = slot.home / desk.PROFILE / "Mail/pop.example.com/Projects.sbd/Apollo"
        slot.settle(lambda: b"Quarterly report 7" in target.read_bytes(), timeout=10)
        shown = [e.name for e in slot.tree("thunderbird") if e.role == "check box"]
        assert {"Odd (ones)", "Invoices", "From the club"} <= set(shown)
        assert [mail.subject for mail in profile.messages("Projects/Apollo")] == [
            "Apollo kickoff",
            "Quarterly report 7",
        ]
        assert profile.find("Inbox", subject="report 7") == []


def _click(slot: Slot, name: str, role: str, button: int = 1) -> None:
    """Click the thing near its upper left corner, once it shows."""
    found = []

    def shows() -> bool:
        found[:] = [e for e in slot.tree("thunderbird") if e.role == role and e.name == name and e.box[2] > 1]
        return bool(found)

    slot.settle(shows, timeout=10)
    assert found, f"no {role} {name!r}"
    x, y, width, height = found[0].box
    slot.input.click(x + min(width // 2, 90), y + min(height // 2, 14), button=button)
    slot.settle()


def _names(slot: Slot) -> list[str]:
    return [element.name for element in slot.tree("thunderbird")]


def _open(slot: Slot, folder: str) -> None:
    row = next(e for e in slot.tree("thunderbird") if e.role == "tree item" and e.name.split(", ")[0] == folder)
    slot.input.click(row.box[0] + 80, row.box[1] + 14)
