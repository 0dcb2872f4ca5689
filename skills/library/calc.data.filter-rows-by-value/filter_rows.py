# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.autofilter(facts["range"], facts["sheet"], **{facts["letter"]: [facts["value"]]})
book.save()
