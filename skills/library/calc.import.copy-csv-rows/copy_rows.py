# ruff: noqa: F821
import csv
import os

import sheetpatch


def value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


with open(os.path.expanduser(facts["csv"]), encoding="utf-8", newline="") as file:
    records = list(csv.DictReader(file, delimiter=facts["delimiter"]))
book = sheetpatch.open(facts["path"])
book.set(facts["range"], [[value(record[head]) for head in facts["heads"]] for record in records])
book.save()
