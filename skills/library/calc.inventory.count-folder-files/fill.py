# ruff: noqa: F821
import os
from pathlib import Path

import sheetpatch

names = [name for _, _, files in os.walk(Path(facts["folder"]).expanduser()) for name in files]
book = sheetpatch.open(facts["path"])
for row in facts["rows"]:
    count = sum(Path(name).suffix.lower() in row["suffixes"] for name in names)
    book.set(facts["sheet"] + row["cell"], count)
book.save()
