# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.rename(facts["old"], facts["new"])
book.save()
