# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.number_format(facts["range"], facts["code"])
book.save()
