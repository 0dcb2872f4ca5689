# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
for cell in facts["cells"]:
    book.set(cell, facts["right"])
book.save()
