# ruff: noqa: F821
import email.utils

import mailkit

profile = mailkit.Profile()
name, address = email.utils.parseaddr(profile.one("Inbox", id=facts["id"]).sender)
first, _, last = name.partition(" ")
profile.add_contact(name, address, first=first, last=last)
