"""Divides a table's rows between a workbook and four CSV files; the workbook's sheet is dressed one way or another."""

from hashlib import sha256

NAMES = {
    "month": ["january", "february", "march", "april"],
    "branch": ["north", "south", "east", "west"],
    "batch": ["batch-1", "batch-2", "batch-3", "batch-4"],
    "date": ["2026-02-16", "2026-02-23", "2026-03-02", "2026-03-09"],
}
LOOKS = {
    "plain": {"at": "A1"},
    "titled": {"at": "B4", "titles": ["Collected figures", "new rows go to the end"]},
    "coloured": {"at": "A1", "header": {"bold": True, "fill": "DDEBF7"}, "freeze": "A2"},
    "framed": {"at": "B2", "header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}},
    "banded": {"at": "C3", "header": {"bold": True, "fill": "375623", "color": "FFFFFF"}, "banded": "E2EFDA"},
}


def compute(table, have, size, order, naming, delimiter, dress, other, owner):
    def number(*what):
        return int.from_bytes(sha256(repr((table["file"], have, size, *what)).encode()).digest()[:4], "big")

    kept = [
        i for i, c in enumerate(table["columns"]) if c["type"] in ("text", "integer", "number", "currency", "date")
    ][:6]
    kept = [i for i in kept if all(row[i] not in (None, "") for row in table["rows"])]
    columns = [{**table["columns"][i], "formula": ""} for i in kept]
    rows = [[row[i] for i in kept] for row in table["rows"]]
    heads = [c["name"] for c in columns]
    turned = list(heads)
    if order == "turned":
        turned = sorted(heads, key=lambda h: number("turned", h))
    files, parts = [], []
    for n in range(4):
        part = rows[have + n * size : have + (n + 1) * size]
        name = f"{table['file']}-{NAMES[naming][n]}.csv"
        parts.append({"name": name, "rows": part})
        files.append(
            {
                "kind": "csv",
                "path": name,
                "header": turned,
                "rows": [[row[heads.index(h)] for h in turned] for row in part],
                "delimiter": delimiter,
            }
        )
    files.append({"kind": "text", "path": "readme.txt", "text": f"Exports, one file each. Questions to {owner}.\n"})
    main = {
        "name": table["sheet"],
        "table": {**table, "columns": columns, "rows": rows[:have], "numeric_columns": [], "category_columns": [], "text_columns": [], "date_columns": []},
        **LOOKS[dress],
    }  # fmt: skip
    info = {
        "name": "About",
        "cells": [{"cell": "A1", "value": table["title"]}, {"cell": "A2", "value": f"Kept by {owner}"}],
    }
    sheets = {"none": [main], "before": [info, main], "behind": [main, info]}[other]
    return {
        "sheets": sheets,
        "main": 1 if other == "before" else 0,
        "files": files,
        "parts": parts,
        "heads": heads,
        "csv_heads": turned,
        "fits": len(heads) >= 3 and len(rows) == have + 4 * size and (order == "same" or turned != heads),
    }
