# ruff: noqa: F821
from datetime import date

import sheetpatch

book = sheetpatch.open(facts["path"])
for row in facts["rows"]:
    book.set(facts["sheet"] + row["day_cell"], date.fromisoformat(row["day"]))
    book.set(facts["sheet"] + row["subject_cell"], row["subject"])
book.save()
