# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
profile.save_attachment(profile.one("Inbox", id=facts["mail"]), facts["name"], facts["to"])
