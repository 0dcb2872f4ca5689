# ruff: noqa: F821
import os
from pathlib import Path

import mailkit

mail = mailkit.Profile().one("Inbox", id=facts["id"])
said = dict(line.strip().split(": ", 1) for line in mail.text.splitlines() if ": " in line)
lines = [f"{label}: {said[label]}" if facts["shape"] == "label" else said[label] for label in facts["labels"]]
path = Path(os.path.expanduser(facts["path"]))
path.write_text("\n".join(lines) + "\n", encoding="utf-8")
print(path.read_text(encoding="utf-8"))
