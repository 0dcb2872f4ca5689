# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.move_sheet(facts["sheet"], 0)
book.save()
