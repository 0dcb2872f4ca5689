# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.set(facts["cell"], facts["value"])
book.save()
