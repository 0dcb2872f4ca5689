# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.style(facts["range"], **facts["style"])
book.save()
