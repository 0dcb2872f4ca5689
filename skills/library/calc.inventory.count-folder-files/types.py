"""The sheet that lists types of files: those of the tree, and some that do not occur."""

from random import Random

NAMES = {
    ".txt": "Plain text", ".md": "Markdown notes", ".csv": "CSV tables", ".json": "JSON data", ".ini": "Settings",
    ".png": "PNG pictures", ".jpg": "JPEG pictures", ".jpeg": "JPEG pictures", ".gif": "GIF pictures",
    ".bmp": "Bitmaps", ".docx": "Word documents", ".pptx": "Presentations", ".zip": "Zip archives",
    ".html": "Web pages", ".css": "Style sheets", ".js": "JavaScript", ".py": "Python code", ".log": "Logs",
    ".xml": "XML files", ".tsv": "Tab-separated tables", ".sh": "Shell scripts", ".pdf": "PDF documents",
    ".mp4": "Videos", ".wav": "Sounds", ".svg": "Drawings", ".odt": "Text documents", ".bin": "Binary data",
    ".yaml": "YAML files", ".toml": "TOML files", ".cfg": "Settings", ".eml": "Mails", ".mp3": "Music",
}  # fmt: skip
EXTRA = [".pdf", ".mp4", ".svg", ".wav", ".odt", ".xml", ".gif"]
LOOKS = {
    "plain": {"header": {"bold": True}},
    "titled": {"titles": ["Types of files", "counted by hand, so far"], "title_look": {"bold": True}, "at": "B4"},
    "banded": {"header": {"bold": True, "fill": "E2EFDA"}, "banded": "F4FAF1"},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
    "noted": {"header": {"italic": True}, "freeze": "A2"},
    "two-sheets": {"header": {"bold": True, "fill": "FFF2CC"}},
    "with-last-year": {"header": {"bold": True, "color": "1F4E79"}, "at": "A2", "titles": ["Inventory of files"]},
}


def compute(root, paths, absent, grouping, dress, heading, seed):
    dice = Random(f"{root} {seed}")
    seen = {}
    for path in paths:
        name = path.rsplit("/", 1)[1]
        if "." in name[1:]:
            suffix = "." + name.rsplit(".", 1)[1]
            seen[suffix] = seen.get(suffix, 0) + 1
    there = sorted(s for s in seen if s in NAMES and not (s.upper() in seen or s.title() in seen))
    dice.shuffle(there)
    there = there[:6]
    types = [[suffix] for suffix in there]
    if grouping == "pairs" and len(there) >= 4:
        types = [there[:2], *([s] for s in there[2:])]
    missing = [s for s in EXTRA if s not in seen]
    types += [[s] for s in dice.sample(missing, min(absent, len(missing)))]
    dice.shuffle(types)
    rows = []
    for kind in types:
        label = " and ".join(dict.fromkeys(NAMES[s] for s in kind))
        rows.append([label, ", ".join(kind), None, dice.choice(["", "", "keep", "may go", "ask first"])])
    columns = [
        {"name": "Type", "type": "text"},
        {"name": "Suffix", "type": "text"},
        {"name": heading, "type": "integer", "width": 14},
        {"name": "Remark", "type": "text"},
    ]
    if dress == "with-last-year":
        columns.insert(2, {"name": "Last year", "type": "integer"})
        rows = [[*row[:2], dice.randint(0, 40), *row[2:]] for row in rows]
    sheet = {"name": "Types", "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}
    if dress == "noted":
        sheet["notes"] = [{"cell": "A1", "text": "Files only, folders do not count."}]
    sheets = [sheet]
    main = 0
    if dress == "two-sheets":
        cover = {
            "name": "About",
            "cells": [{"cell": "A1", "value": "Who counts"}, {"cell": "B1", "value": "the office"}],
        }
        sheets = [cover, sheet]
        main = 1
    return {"sheets": sheets, "types": types, "main": main}
