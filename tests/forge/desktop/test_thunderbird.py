"""Thunderbird on a hand-made profile: ready, readable, and what is done in its windows is in the mailboxes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forge.desktop.slot import Slot
from forge.records import Element

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("thunderbird")]

PROFILE = "~/.thunderbird/alex.default"
INSIDE = "/home/alex/.thunderbird/alex.default/Mail/Local Folders"
PREFS = {
    "mail.accountmanager.accounts": "account1",
    "mail.accountmanager.localfoldersserver": "server1",
    "mail.account.account1.server": "server1",
    "mail.server.server1.type": "none",
    "mail.server.server1.hostname": "Local Folders",
    "mail.server.server1.userName": "nobody",
    "mail.server.server1.name": "Local Folders",
    "mail.server.server1.directory": INSIDE,
    "mail.server.server1.directory-rel": "[ProfD]Mail/Local Folders",
    "mail.server.server1.storeContractID": "@mozilla.org/msgstore/berkeleystore;1",
    "mail.rights.version": 1,
    "mail.shell.checkDefaultClient": False,
    "mail.provider.suppress_dialog_on_startup": True,
    "mailnews.start_page.enabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "app.donation.eoy.version.viewed": 999,
    "mail.tabs.drawInTitlebar": False,
}
MAIL = """From - Mon Mar 16 08:00:00 2026
X-Mozilla-Status: 0000
X-Mozilla-Status2: 00000000
X-Mozilla-Keys:                                                                                 
From: Grace Hopper <grace@example.com>
To: Alex Doe <alex@example.com>
Subject: The figures
Date: Mon, 16 Mar 2026 08:00:00 +0100
Message-ID: <one@example.com>
Content-Type: text/plain

Here they are.

"""


def profile() -> list[tuple[str, bytes, int, bool]]:
    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else f'"{value}"'

    prefs = "".join(f'user_pref("{name}", {text(value)});\n' for name, value in PREFS.items())
    return [
        (f"{PROFILE}/prefs.js", prefs.encode(), 0o644, False),
        (f"{PROFILE}/folderTree.json", b'{"open":{"all":["mailbox://nobody@Local%20Folders"]}}', 0o644, False),
        (f"{PROFILE}/Mail/Local Folders/Figures", MAIL.encode(), 0o644, False),
        (f"{PROFILE}/Mail/Local Folders/Trash", b"", 0o644, False),
        (f"{PROFILE}/Mail/Local Folders/Unsent Messages", b"", 0o644, False),
    ]


def test_it_is_ready_and_what_is_done_is_in_the_mailbox(tmp_path: Path, put: Callable[[bytes], str]) -> None:
    with Slot.open(root=tmp_path, home_files=profile()) as slot:
        slot.launch("thunderbird")
        (window,) = slot.windows()
        assert window.title.endswith("Mozilla Thunderbird")

        def items() -> list[Element]:
            return [e for e in slot.tree("thunderbird") if e.role == "tree item" and e.name.startswith("Figures")]

        slot.settle(lambda: bool(items()))
        slot.input.click(*_middle(items()[0]))

        def message() -> list[Element]:
            return [e for e in slot.tree("thunderbird") if "The figures" in e.name and e.box[2] > 1]

        slot.settle(lambda: bool(message()))
        assert message()
        slot.input.click(*_middle(message()[0]))
        slot.settle()
        slot.input.key("s")  # adds a star
        mailbox = slot.home / ".thunderbird/alex.default/Mail/Local Folders/Figures"
        slot.settle(lambda: b"X-Mozilla-Status: 0005" in mailbox.read_bytes())
        assert b"X-Mozilla-Status: 0005" in mailbox.read_bytes()  # read and starred
        slot.alive()
        paths = [entry.path for entry in slot.snapshot(put).entries]
        assert f"{PROFILE}/Mail/Local Folders/Figures" in paths
        assert not [path for path in paths if path.endswith(".msf") or "thunderbird" not in path]


def _middle(element: Element) -> tuple[int, int]:
    x, y, width, height = element.box
    return x + width // 2, y + height // 2
