# ruff: noqa: F821
import os
import sqlite3

import sheetpatch

rows = [[str(value or "") for value in row] for row in sheetpatch.open(facts["path"]).rows(facts["used"])]
top = next(place for place, row in enumerate(rows) if facts["heading"] in row)
column = rows[top].index(facts["heading"])
names = {facts["name"], facts["last"] + " " + facts["first"]}
row = next(
    row for row in rows[top + 1 :] if names & set(row[: column + 1]) or {facts["first"], facts["last"]} <= set(row)
)
base = sqlite3.connect(os.path.expanduser("~/.thunderbird/alex.default/abook.sqlite"))
with base:
    (card,) = base.execute("select card from properties where value = ?", (facts["email"],)).fetchone()
    # in the card's own field and in its vCard
    base.execute("update properties set value = replace(value, ?, ?) where card = ?", (facts["old"], row[column], card))
base.close()
