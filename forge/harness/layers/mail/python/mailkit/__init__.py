"""Read and change a Thunderbird profile from a script, leaving files that Thunderbird opens as if it had done it itself.

Standard library only. Folders are written as the folder pane shows them: `Inbox` or `Projects/Apollo` for the first
account, `LABEL/Inbox` for another one, `Local Folders/Notes`.

    profile = mailkit.Profile()
    message = profile.one("Inbox", subject="Invoice 4711")
    print(message.sender, message.date, message.tags, message.text)
    profile.flag(message, read=True, starred=True)
    profile.tag(message, "Work")
    profile.create_folder("Invoices")
    profile.move(message, "Invoices")
    profile.edit_contact("grace@navy.example", phone="+49 30 777")
    profile.enable_filter("Bills", False)
    profile.draft(to="Grace Hopper <grace@navy.example>", subject="Paid", text="Dear Grace, it is paid.")

A message that was moved stays in its old file, marked expunged, as Thunderbird leaves it until it compacts. While
Thunderbird runs, a folder that it has open goes on showing what it showed, though its own changes and these do not harm
each other; the address book is locked (BlockingIOError). Not covered: IMAP and maildir.
"""

from .message import EXPUNGED, FORWARDED, READ, REPLIED, STARRED, Message, mbox_bytes
from .profile import OUTBOX, PROFILE, TAGS, Account, Profile

__all__ = [
    "EXPUNGED",
    "FORWARDED",
    "OUTBOX",
    "PROFILE",
    "READ",
    "REPLIED",
    "STARRED",
    "TAGS",
    "Account",
    "Message",
    "Profile",
    "mbox_bytes",
]
