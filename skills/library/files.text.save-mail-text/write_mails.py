"""Three mails on one matter into the inbox, each with six labelled details; and a few notes that are there already."""

from datetime import date, datetime, timedelta
from hashlib import sha256

HOUSES = ["Harbour View", "Linden Court", "Old Mill", "Station Lodge", "Garden House", "Blue Gate"]
TOWNS = ["Bergen", "Graz", "Porto", "Ghent", "Turku", "Leeds", "Bari", "Arles"]
MATTERS = {
    "hotel": (
        "Your booking at {house}",
        [
            ("Booking number", "code"),
            ("Arrival", "date"),
            ("Departure", "later"),
            ("Room", "room"),
            ("Price", "price"),
            ("Check-in", "time"),
        ],
    ),
    "train": (
        "Ticket to {town}",
        [
            ("Order", "code"),
            ("Travel day", "date"),
            ("Departure", "time"),
            ("Coach and seat", "seat"),
            ("Price", "price"),
            ("Valid until", "later"),
        ],
    ),
    "delivery": (
        "Delivery of order {n}",
        [
            ("Parcel number", "code"),
            ("Delivery day", "date"),
            ("Between", "span"),
            ("Weight", "weight"),
            ("Amount due", "price"),
            ("Return by", "later"),
        ],
    ),
    "repair": (
        "Repair job {n}",
        [
            ("Job number", "code"),
            ("Brought in", "date"),
            ("Ready on", "later"),
            ("Estimate", "price"),
            ("Technician", "person"),
            ("Pick-up from", "time"),
        ],
    ),
    "course": (
        "Registration for course {n}",
        [
            ("Registration", "code"),
            ("First session", "date"),
            ("Last session", "later"),
            ("Begins at", "time"),
            ("Fee", "price"),
            ("Room", "room"),
        ],
    ),
    "theatre": (
        "Tickets for {house}",
        [
            ("Reference", "code"),
            ("Performance", "date"),
            ("Doors open", "time"),
            ("Seats", "seat"),
            ("Total", "price"),
            ("Exchange until", "later"),
        ],
    ),
    "rental car": (
        "Rental in {town}",
        [
            ("Contract", "code"),
            ("Pick-up", "date"),
            ("Return", "later"),
            ("Car", "car"),
            ("Deposit", "price"),
            ("Office opens", "time"),
        ],
    ),
    "doctor": (
        "Appointment at {house}",
        [
            ("Patient number", "code"),
            ("Day", "date"),
            ("Time", "time"),
            ("Room", "room"),
            ("Doctor", "person"),
            ("Consultation hours", "span"),
        ],
    ),
    "storage": (
        "Storage unit {n}",
        [
            ("Contract", "code"),
            ("Rented from", "date"),
            ("Rented until", "later"),
            ("Unit", "seat"),
            ("Monthly rent", "price"),
            ("Gate closes", "time"),
        ],
    ),
    "warranty": (
        "Warranty for order {n}",
        [
            ("Serial number", "code"),
            ("Bought on", "date"),
            ("Ends on", "later"),
            ("Purchase price", "price"),
            ("Contact", "person"),
            ("Hotline", "span"),
        ],
    ),
}
OPENINGS = [
    "thank you, everything is settled. These are the details:",
    "as promised, here is what you need to know:",
    "please check the following and let me know if something is wrong:",
]
CLOSINGS = ["Please keep this mail.", "I look forward to it.", "If anything changes, just write to me."]
PEOPLE = ["Ines Falk", "Omar Rossi", "Wanda Kowal", "Peter Lund", "Maya Singh", "Tom Adler"]
CARS = ["Opel Corsa", "Skoda Fabia", "Fiat Panda", "Renault Clio", "Kia Rio", "VW Polo"]
NOTES = ["shopping", "phone numbers", "ideas", "gifts", "books", "to do"]


def compute(folders, me, people, matter, number):
    title, labels = MATTERS[matter]
    new, mails = [], []
    for place in range(3):
        person = people[place if pick(number, "same") % 2 else min(place, 1)]
        day = date(2026, 3, 20) + timedelta(days=pick(number, place, "day") % 150)
        details = [{"label": label, "value": value(sort, number, place, label, day)} for label, sort in labels]
        subject = title.format(
            house=HOUSES[(pick(number, "house") + place) % len(HOUSES)],
            town=TOWNS[(pick(number, "town") + place) % len(TOWNS)],
            n=4100 + pick(number, "n") % 5000 + 7 * place,
        )
        text = "\n".join(
            [f"Dear {me['name'].split()[0]},", "", OPENINGS[pick(number, place, "o") % 3], ""]
            + [f"{d['label']}: {d['value']}" for d in details]
            + ["", CLOSINGS[pick(number, place, "c") % 3], "", "Kind regards", person["name"], ""]
        )
        key = f"{matter.replace(' ', '-')}-{number}-{place}@{person['domain'] or 'mailhaus.example'}"
        sent = datetime(2026, 3, 15, 17, 40) - timedelta(
            hours=11 * place + pick(number, place, "h") % 9, minutes=pick(number, place, "m") % 50
        )
        mails.append({"id": key, "subject": subject, "details": details})
        new.append(
            {
                "id": key,
                "from": person["mailbox"],
                "to": [f"{me['name']} <{me['address']}>"],
                "subject": subject,
                "date": sent.isoformat(),
                "text": text,
                "read": place != 1,
            }
        )
    boxes = []
    for folder in folders:
        if folder["path"] == "Inbox":
            folder = {**folder, "messages": sorted(folder["messages"] + new, key=lambda mail: mail["date"])}
        boxes.append(folder)
    notes = [
        {
            "kind": "text",
            "path": f"{name}.txt",
            "text": "".join(f"- {name} {pick(number, name, k) % 90 + 10}\n" for k in range(2 + pick(name) % 3)),
        }
        for name in sorted(NOTES, key=lambda name: pick(number, name))[: 2 + pick(number, "notes") % 3]
    ]
    return {"folders": boxes, "mails": mails, "notes": notes}


def value(sort, number, place, label, day):
    n = pick(number, place, label)
    if sort == "code":
        return "".join("ABCDEFGHJKLMNPQRSTUVWXYZ"[pick(n, k) % 24] for k in range(2)) + f"-{n % 900000 + 100000}"
    if sort == "date":
        return long(day)
    if sort == "later":
        return long(day + timedelta(days=1 + n % 20))
    if sort == "time":
        return f"{7 + n % 12:02}:{n // 12 % 12 * 5:02}"
    if sort == "span":
        return f"{8 + n % 4}:00 to {13 + n // 4 % 6}:00"
    if sort == "room":
        return f"{n % 5 + 1}{n // 5 % 30 + 1:02}"
    if sort == "seat":
        return f"{n % 28 + 1}, {n // 28 % 80 + 11}"
    if sort == "price":
        return f"{n % 700 + 20}.{n // 700 % 100:02} EUR"
    if sort == "weight":
        return f"{n % 19 + 1}.{n // 19 % 10} kg"
    if sort == "car":
        return CARS[n % len(CARS)]
    return PEOPLE[n % len(PEOPLE)]


def long(day):
    return f"{day.day} {day:%B %Y}"


def pick(*what):
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4], "big")
