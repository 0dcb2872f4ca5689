# ruff: noqa: F821
import os
from decimal import ROUND_HALF_UP, Decimal

import sheetpatch

numbers = [Decimal(str(row[0])) for row in sheetpatch.open(facts["path"]).rows(facts["data"])]
form = Decimal(1) if facts["decimals"] == 0 else Decimal("0.01")
total, largest = (f"{value.quantize(form, ROUND_HALF_UP):f}" for value in (sum(numbers), max(numbers)))
shown = [total, str(len(numbers)), largest]
with open(os.path.expanduser(facts["to"]), "w", encoding="utf-8") as file:
    for place in facts["order"]:
        file.write(facts["labels"][place] + facts["mark"] + shown[place] + "\n")
