# ruff: noqa: F821
import os
from pathlib import Path

source, target = (Path(os.path.expanduser(facts[name])) for name in ("source", "target"))
for path in sorted(p for p in source.rglob("*") if p.is_file() and p.parent != target):
    if (target / path.name).exists():
        raise SystemExit(f"{path.name} is there already")
    path.rename(target / path.name)
