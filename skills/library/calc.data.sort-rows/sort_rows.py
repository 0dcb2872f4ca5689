# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.sort(facts["data"], facts["column"], facts["falling"])
book.save()
