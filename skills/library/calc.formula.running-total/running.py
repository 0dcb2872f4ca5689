# ruff: noqa: F821
import sheetpatch

book = sheetpatch.open(facts["path"])
book.set(facts["prefix"] + facts["head"], facts["heading"])
for one in facts["cells"]:
    book.set(facts["prefix"] + one["cell"], one["formula"])
book.save()
