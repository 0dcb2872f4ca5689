# ruff: noqa: F821
import json
import os

path = os.path.expanduser(facts["path"])
with open(path, encoding="utf-8") as file:
    value = json.load(file)
place = value
for part in facts["section"].split(".") if facts["section"] else []:
    place = place[part]
place[facts["key"]] = facts["new"]
with open(path, "w", encoding="utf-8") as file:
    json.dump(value, file, indent=facts["indent"], ensure_ascii=False)
    file.write("\n")
