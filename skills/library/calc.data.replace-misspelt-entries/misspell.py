"""Misspells one value of a column in some of its rows; a further column may keep the entries as they were typed."""

from hashlib import sha256

COUNT = 4  # so many rows are misspelt; the others that have the value are right


def slipped(word, slip, start):
    letters = [i for i in range(1, len(word) - 1) if word[i].isalpha()]
    for at in letters[start % max(1, len(letters)) :] + letters:
        a, b = word[at], word[at + 1]
        if slip == "swapped" and b.isalpha() and a.lower() != b.lower():
            return word[:at] + b + a + word[at + 2 :]
        if slip == "dropped":
            return word[:at] + word[at + 1 :]
        if slip == "doubled" and a != b and word[at - 1] != a:
            return word[:at] + a + word[at:]
        if slip == "vowel" and a in "aeiou":
            return word[:at] + {"a": "e", "e": "a", "i": "e", "o": "u", "u": "o"}[a] + word[at + 1 :]
        if slip == "split" and a.isalpha() and b.isalpha() and 1 < at < len(word) - 3:
            return word[: at + 1] + " " + word[at + 1 :]
    return word


def compute(table, column, which, slip, raw):
    def number(*what):
        return int.from_bytes(
            sha256(repr((column, which, slip, len(table["rows"]), *what)).encode()).digest()[:4], "big"
        )

    names = [c["name"] for c in table["columns"]]
    at = names.index(column)
    values = [row[at] for row in table["rows"]]
    often = sorted(
        {v for v in values if isinstance(v, str) and len(v) >= 5 and v.isascii() and values.count(v) > COUNT}
    )
    if not often:
        return {"table": table, "right": "", "wrong": "", "rows": [0, 0, 0, 0], "intact": 0, "fits": False}
    right = often[which % len(often)]
    wrong = slipped(right, slip, number("where"))
    places = [i for i, v in enumerate(values) if v == right]
    rows = sorted(sorted(places, key=lambda i: number("row", i))[:COUNT])
    new = [[*row[:at], wrong if i in rows else row[at], *row[at + 1 :]] for i, row in enumerate(table["rows"])]
    columns = table["columns"]
    texts = table["text_columns"]
    taken = any(wrong.lower() in str(value).lower() for row in table["rows"] for value in row)
    if raw != "none":
        columns = [*columns, {**columns[at], "name": raw, "choices": [], "role": "label"}]
        new = [[*row, row[at]] for row in new]
        texts = [*texts, raw]
    return {
        "table": {**table, "columns": columns, "rows": new, "text_columns": texts},
        "right": right,
        "wrong": wrong,
        "rows": rows,
        "intact": len(places) - len(rows),
        "fits": wrong != right and not taken,
    }
