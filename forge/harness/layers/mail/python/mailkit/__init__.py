"""Read and change a Thunderbird profile from a script, leaving files that Thunderbird opens as if it had done it itself.

Part of the terminal layer `mail` (in the guest: `import mailkit`), and what spoils solved states on the host. Standard
library only. Folders are written as the folder pane shows them: `Inbox` or `Projects/Apollo` for the first account,
`LABEL/Inbox` for another one, `Local Folders/Notes`.

    profile = mailkit.Profile()
    message = profile.one("Inbox", subject="Invoice 4711")
    profile.move(message, "Invoices")

A moved or deleted message stays in its old file, marked expunged (status bit 0008), as Thunderbird leaves it until it
compacts. The `.msf` index of a changed folder is removed; Thunderbird builds it anew at its next start.

While Thunderbird runs: a folder that it has open goes on showing what it showed, though its own changes and these do not
harm each other; the address book is locked (BlockingIOError). Not covered: IMAP and maildir.
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
