# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
profile.tag(profile.one("Inbox", id=facts["id"]), facts["tag"])
