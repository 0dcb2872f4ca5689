"""A drawn table with a reference for each entry, in which some rows stand twice and some are alike but for the reference."""

LETTERS = {
    "expenses": "EX",
    "stock": "ST",
    "donations": "DN",
    "timesheet": "TS",
    "invoices": "IN",
    "orders": "OR",
    "energy": "MR",
    "mileage": "TR",
    "repairs": "JB",
    "subscriptions": "SB",
}
HEADS = ("Ref", "Entry", "Record", "No.")


def compute(table, topic, copied, gaps, alike, number):
    rows = [list(row) for row in table["rows"]]
    # entries that are alike in everything but the reference, and so are no repetition
    for turn in range(alike):
        place = (2 + 5 * turn) % len(rows)
        rows.insert(min(len(rows), place + 1 + turn), list(rows[place]))
    columns = [dict(column) for column in table["columns"]]
    unique = [
        place
        for place, column in enumerate(columns[:1])
        if alike == 0 and column["type"] == "text" and len({str(row[place]) for row in rows}) == len(rows)
    ]
    if unique:
        key = columns[unique[0]]["name"]
        texts = list(table["text_columns"])
    else:
        taken = {column["name"] for column in columns}
        key = next(head for head in HEADS[number % 3 :] if head not in taken)
        columns = [{"name": key, "type": "text", "role": "code"}, *columns]
        rows = [[f"{LETTERS[topic]}-{number + 7 * place:05}", *row] for place, row in enumerate(rows)]
        texts = [key, *table["text_columns"]]
    order = [(place, 0, row) for place, row in enumerate(rows)]
    for turn, place in enumerate(sorted(set(copied))):
        if place < len(rows):
            order.append((place + gaps[turn % len(gaps)], 1 + turn, list(rows[place])))
    order.sort(key=lambda entry: entry[:2])
    return {
        "table": {**table, "columns": columns, "text_columns": texts, "rows": [row for _, _, row in order]},
        "key": key,
    }
