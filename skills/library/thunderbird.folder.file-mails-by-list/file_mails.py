# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
for identity in facts["ids"]:
    profile.move(profile.one("Inbox", id=identity), facts["folder"])
