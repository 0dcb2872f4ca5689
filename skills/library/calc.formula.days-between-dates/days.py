# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
for line in facts["lines"]:
    book.set(facts["sheet"] + line["cell"], line["formula"])
book.save()
