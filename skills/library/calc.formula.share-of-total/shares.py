# ruff: noqa: F821
import re

import sheetpatch

book = sheetpatch.open(facts["path"])
book.set(facts["prefix"] + facts["heading_cell"], facts["heading"])
for cell in facts["cells"]:
    row = re.sub("[A-Z]", "", cell)
    book.set(facts["prefix"] + cell, f"={facts['column']}{row}/SUM({facts['total']})")
book.number_format(facts["prefix"] + facts["range"], facts["code"])
book.save()
