"""A mail with a CSV, the sheet that waits for its figures, and the mailbox with the mail put into the inbox."""

from hashlib import sha256

ITEMS = {
    "repairs": ["Boiler", "Lift", "Roof", "Windows", "Gate", "Lighting", "Plumbing"],
    "catering": ["Breakfast", "Lunch", "Coffee", "Cakes", "Drinks", "Staff", "Tableware"],
    "travel": ["Trains", "Flights", "Hotels", "Taxis", "Meals", "Parking", "Fees"],
    "printing": ["Flyers", "Posters", "Brochures", "Envelopes", "Cards", "Labels", "Banners"],
    "cleaning": ["Offices", "Kitchen", "Stairs", "Windows", "Carpets", "Yard", "Bins"],
    "energy": ["Gas", "Power", "District heat", "Water", "Oil", "Solar feed-in", "Standing charge"],
}
MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
LOOKS = {
    "plain": {},
    "titled": {"titles": ["Budget and actual figures", "to be filled in once the bill is there"], "at": "B4"},
    "coloured": {"header": {"bold": True, "fill": "DDEBF7"}, "at": "A1", "banded": "F7FBFF"},
    "noted": {"notes": [{"cell": "D2", "text": "Difference to the plan goes into the minutes."}], "freeze": "A2"},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
}


def compute(box, matter, month, lines, sender, owner, dress):
    def number(*what):
        return int.from_bytes(sha256(repr((matter, month, sender, *what)).encode()).digest()[:4], "big")

    names = sorted(ITEMS[matter], key=lambda name: number("order", name))[:lines]
    amounts = [(number("amount", name) % 90000 + 4000) / 100 for name in names]
    planned = [
        round(amount * (80 + number("plan", name) % 40) / 100) for name, amount in zip(names, amounts, strict=True)
    ]
    mixed = sorted(zip(names, amounts, strict=True), key=lambda pair: number("csv", pair[0]))
    text = "Item,Amount\n" + "".join(f"{name},{amount:.2f}\n" for name, amount in mixed)
    subject = f"{matter.capitalize()} in {MONTHS[month - 1]}: the bill in figures"
    attachment = f"{matter}-{month:02}.csv"
    identity = sha256(repr((subject, sender)).encode()).hexdigest()[:20] + "@figures.example"
    inbox = next(folder for folder in box["folders"] if folder["path"] == "Inbox")
    newest = max((mail["date"] for mail in inbox["messages"]), default="2026-03-02T09:00:00")
    mail = {
        "id": identity,
        "from": sender,
        "to": inbox["messages"][0]["to"] if inbox["messages"] else [],
        "subject": subject,
        "date": newest,
        "text": f"Hello,\n\nattached are the amounts for {MONTHS[month - 1]}, one line an item.\n\nRegards\n",
        "attachments": [{"name": attachment, "text": text}],
        "read": True,
    }
    folders = [
        {**folder, "messages": [*folder["messages"], mail]} if folder is inbox else folder for folder in box["folders"]
    ]
    columns = [
        {"name": "Item", "type": "text"},
        {"name": "Planned", "type": "currency"},
        {"name": "Actual", "type": "number"},
        {"name": "Responsible", "type": "text"},
    ]
    rows = [[name, plan, None, owner] for name, plan in zip(names, planned, strict=True)]
    sheet = {"name": matter.capitalize(), "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}
    return {
        "box": {**box, "folders": folders},
        "sheet": sheet,
        "mail": identity,
        "attachment": attachment,
        "subject": subject,
        "items": names,
        "amounts": amounts,
    }
