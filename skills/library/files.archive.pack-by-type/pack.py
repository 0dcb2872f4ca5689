# ruff: noqa: F821
import os
import tarfile
import zipfile
from pathlib import Path

root, target = (Path(os.path.expanduser(facts[name])) for name in ("root", "archive"))
found = sorted(p for p in root.rglob("*") if p.is_file() and p.name.endswith(facts["suffix"]))
target.parent.mkdir(parents=True, exist_ok=True)
if target.suffix == ".zip":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in found:
            archive.write(path, path.relative_to(root))
else:
    with tarfile.open(target, "w:gz") as archive:
        for path in found:
            archive.add(path, path.relative_to(root))
print(f"{len(found)} files in {target}")
