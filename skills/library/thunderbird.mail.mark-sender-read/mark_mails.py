# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
for number in facts["ids"]:
    profile.flag(profile.one(facts["folder"], id=number), read=True)
