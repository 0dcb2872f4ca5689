# ruff: noqa: F821
import os
from pathlib import Path

folder, result = (Path(os.path.expanduser(facts[name])) for name in ("folder", "result"))
found = []
for path in sorted(folder.iterdir()):
    if path.is_file() and path.name.endswith(facts["ext"]):
        found += [line for line in path.read_text(encoding="utf-8").splitlines() if facts["thing"] in line]
result.write_text("\n".join(found) + "\n", encoding="utf-8")
print(f"{len(found)} lines")
