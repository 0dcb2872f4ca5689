# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
profile.move(profile.one("Inbox", id=facts["id"]), facts["folder"])
