# ruff: noqa: F821
import re

import mailkit
import sheetpatch

rows = [[str(value or "") for value in row] for row in sheetpatch.open(facts["path"]).rows(facts["used"])]
top = next(place for place, row in enumerate(rows) if facts["key"] in row and facts["heading"] in row)
key, mark = rows[top].index(facts["key"]), rows[top].index(facts["heading"])
numbers = [row[key] for row in rows[top + 1 :] if row[mark] == facts["value"]]
profile = mailkit.Profile()
for message in profile.messages("Inbox"):
    if any(re.search(rf"(?<![\w-]){re.escape(number)}(?!\w)", message.subject) for number in numbers):
        profile.tag(message, facts["tag"])
