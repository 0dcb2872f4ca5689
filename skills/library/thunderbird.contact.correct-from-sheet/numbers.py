"""The address book with old phone numbers, and a workbook with the right ones of the same people and of others."""

from hashlib import sha256

HEADS = {
    # style: file, sheet, columns; N name, P phone, E address, others are made up
    "phones": ("phone-list", "Phone list", ["Name", "Department", "Phone"]),
    "directory": ("staff-directory", "Directory", ["Name", "E-mail", "Office", "Phone", "Remarks"]),
    "extension": ("new-numbers", "New numbers", ["No.", "Name", "Old number", "New number"]),
    "members": ("partners", "Contacts", ["Last name", "First name", "Role", "E-mail", "Phone"]),
    "shifts": ("on-call-rota", "On call", ["Week", "Name", "Phone", "Deputy"]),
    "moved": ("after-the-move", "Desks", ["Desk", "Name", "Phone", "Floor"]),
}
LOOKS = {
    "plain": {},
    "titled": {"titles": ["Phone numbers", "as of March 2026"], "at": "B4"},
    "coloured": {"header": {"bold": True, "fill": "DDEBF7"}, "banded": "F7FBFF", "freeze": "A2"},
    "noted": {"notes": [{"cell": "A1", "text": "Checked by telephone."}], "header": {"bold": True}},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
}
DEPARTMENTS = ["Accounts", "Sales", "Workshop", "Warehouse", "Reception", "IT", "Purchasing"]
REMARKS = ["", "", "mornings only", "part time", "", "new since January"]


def compute(box, more, number, style, dress):
    def pick(*what):
        return int.from_bytes(sha256(repr((number, *what)).encode()).digest()[:4], "big")

    def phone(*what):
        return f"+49 {30 + pick('area', *what) % 60} {100000 + pick('phone', *what) % 900000}"

    contacts = []
    for contact in box.get("contacts", []):
        old = contact.get("phone") or phone("old", contact["email"])
        contacts.append({**contact, "phone": old})
    known = {contact["name"] for contact in contacts if contact.get("first") and contact.get("last")}
    people = [
        {"name": c["name"], "first": c["first"], "last": c["last"], "email": c["email"], "old": c["phone"]}
        for c in contacts
        if c["name"] in known and c["name"] == c["first"] + " " + c["last"]
    ]
    eligible = sorted({person["name"] for person in people})
    taken = {contact["name"] for contact in contacts}
    for person in more:
        if person["name"] not in taken:
            people.append({**person, "email": person["address"], "old": phone("old", person["name"])})
    people.sort(key=lambda person: pick("order", person["name"]))
    right = {person["name"]: phone("new", person["name"]) for person in people}
    file, sheet, heads = HEADS[style]
    rows, earlier = [], []
    for place, person in enumerate(people):
        other = people[(place + 3) % len(people)]
        values = {
            "Name": person["name"],
            "First name": person["first"],
            "Last name": person["last"],
            "E-mail": person["email"],
            "Phone": right[person["name"]],
            "New number": right[person["name"]],
            "Old number": person["old"],
            "Department": DEPARTMENTS[pick("dep", person["name"]) % len(DEPARTMENTS)],
            "Role": person.get("role") or DEPARTMENTS[pick("role", person["name"]) % len(DEPARTMENTS)],
            "Office": f"{'ABC'[pick('house', person['name']) % 3]} {pick('room', person['name']) % 40 + 100}",
            "Desk": f"D{place + 11}",
            "Floor": f"{pick('floor', person['name']) % 4 + 1}",
            "Remarks": REMARKS[pick("remark", person["name"]) % len(REMARKS)],
            "No.": f"{place + 1:03}",
            "Week": f"2026-W{place + 10:02}",
            "Deputy": other["name"],
        }
        rows.append([values[head] or None for head in heads])
        earlier.append([person["name"], person["old"]])
    columns = [{"name": head, "type": "text"} for head in heads]
    sheets = [{"name": sheet, "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}]
    main = 0
    if pick("sheets") % 3 == 0:
        old = {"columns": [{"name": "Name", "type": "text"}, {"name": "Phone", "type": "text"}], "rows": earlier}
        sheets.insert(pick("place") % 2, {"name": "2024", "table": old})
        main = [each["name"] for each in sheets].index(sheet)
    return {
        "box": {**box, "contacts": contacts},
        "sheets": sheets,
        "main": main,
        "file": file,
        "heading": "New number" if "New number" in heads else "Phone",
        "names": eligible,
        "right": [{"name": name, "phone": right[name]} for name in sorted(right)],
    }
