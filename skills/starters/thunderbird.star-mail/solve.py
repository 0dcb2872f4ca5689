# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
profile.flag(profile.one("Inbox", id=facts["id"]), starred=True)
