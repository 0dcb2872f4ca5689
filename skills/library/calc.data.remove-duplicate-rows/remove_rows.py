# ruff: noqa: F821
import datetime
import re

import sheetpatch

book = sheetpatch.open(facts["path"])
first, last = facts["data"].split(":")
left, top, right, bottom = (
    *re.fullmatch(r"([A-Z]+)(\d+)", first).groups(),
    *re.fullmatch(r"([A-Z]+)(\d+)", last).groups(),
)
start, end = facts["start"], int(top) + len(facts["rows"]) - 1
rows = [
    [
        datetime.date.fromisoformat(value) if kind == "date" and value else value
        for kind, value in zip(facts["types"], row, strict=False)
    ]
    for row in facts["rows"][start - int(top) :]
]
if rows:
    book.set(f"{facts['prefix']}{left}{start}:{right}{end}", rows)
book.clear(f"{facts['prefix']}{left}{end + 1}:{right}{bottom}")
book.save()
