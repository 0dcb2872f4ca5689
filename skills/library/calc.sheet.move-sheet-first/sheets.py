"""More sheets around those of a layout: months, branches, papers ... in the order in which people have them."""

from random import Random

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December"]  # fmt: skip
BRANCHES = ["Leeds", "Utrecht", "Porto", "Graz", "Lyon", "Turku", "Malmo", "Gdansk"]
TEAMS = ["Sales", "Workshop", "Kitchen", "Front desk", "Garden", "Archive", "Transport"]
PAPERS = ["Notes", "Contacts", "Assumptions", "Price list", "To do", "Sources", "Changes"]
HEADERS = [{}, {"bold": True}, {"bold": True, "fill": "DDEBF7"}, {"italic": True, "border": "thin"}]
TABS = ["", "", "C00000", "70AD47", "4472C4", "FFC000"]
NOTES = ["agreed with the bank", "call again in May", "see the minutes", "figures still rough", "ask the warehouse",
         "done, but not filed", "taken over from last year", "compare with the letter"]  # fmt: skip


def compute(sheets, tables, scheme, extras, seed):
    dice = Random(f"{scheme} {extras} {seed}")
    begin = dice.randrange(12)
    names = {
        "months": [MONTHS[(begin + i) % 12] for i in range(extras)],
        "quarters": [f"Q{(begin + i) % 4 + 1} {2023 + (begin + i) // 4}" for i in range(extras)],
        "branches": dice.sample(BRANCHES, extras),
        "teams": dice.sample(TEAMS, extras),
        "papers": dice.sample(PAPERS, extras),
        "years": [str(2018 + begin % 4 + i) for i in range(extras)],
        "topics": [f"{tables[1 + i % 2]['sheet']} {'ABC'[i // 2]}" for i in range(extras)],
    }[scheme]
    taken = {sheet["name"].lower() for sheet in sheets}
    more = []
    for i, name in enumerate(names):
        name = name if name.lower() not in taken else name + " (2)"
        sheet = {"name": name, "tab_color": dice.choice(TABS)}
        if scheme == "papers":
            columns = [{"name": "No.", "type": "integer"}, {"name": "Text", "type": "text"}]
            rows = [[k + 1, dice.choice(NOTES)] for k in range(dice.randint(3, 9))]
            sheet["table"] = {"columns": columns, "rows": rows}
        else:
            table = tables[0] if scheme in ("months", "quarters", "years") else tables[1 + i % 2]
            rows = list(table["rows"])
            dice.shuffle(rows)
            sheet["table"] = {"columns": table["columns"], "rows": rows[: dice.randint(4, max(4, len(rows)))]}
        sheet["header"] = dice.choice(HEADERS)
        sheet["at"] = dice.choice(["A1", "A1", "B2", "A3"])
        more.append(sheet)
    split = dice.choice([0, 1, extras])
    return {"sheets": [*more[:split], *sheets, *more[split:]], "main": split}
