# ruff: noqa: F821
import os

path = os.path.expanduser(facts["path"])
with open(path, encoding="utf-8", newline="") as file:
    lines = file.read().split("\n")
section = ""
for place, line in enumerate(lines):
    if line.startswith("["):
        section = line.strip("[] ")
    elif section == facts["section"] and line.startswith(facts["key"] + facts["spacing"]):
        lines[place] = facts["key"] + facts["spacing"] + facts["value"]
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write("\n".join(lines))
