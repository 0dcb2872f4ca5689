# ruff: noqa: F821
import os
from datetime import date, datetime
from pathlib import Path

root = Path(os.path.expanduser(facts["root"]))
for path in sorted(root.iterdir()):
    if not path.is_file() or path.suffix != facts["suffix"] or path.name not in facts["names"]:
        continue
    day = date.fromisoformat(facts["day"])
    if facts["rule"] == "written":
        line = next(line for line in path.read_text().splitlines() if line.startswith("Date: "))
        day = datetime.strptime(line[6:].strip(), "%d %B %Y").date()
    path.rename(root / (day.strftime(facts["form"]) + facts["joiner"] + path.name))
