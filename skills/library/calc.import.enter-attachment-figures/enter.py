# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
for row in facts["rows"]:
    book.set(row["cell"], row["amount"])
book.save()
