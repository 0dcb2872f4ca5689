"""A small table of figures by category, dressed one way or another, among other sheets."""

from hashlib import sha256

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]  # fmt: skip
SUBJECTS = {
    # sheet, word for the title, name of the category, its values, headings, from, to
    "sales": ("Sales", "Sales", "Region", ["North", "South", "East", "West", "Centre", "Coast", "Lakes", "Highlands", "Islands", "Border", "Capital", "Abroad"], ["Orders", "Revenue", "Returns"], 40, 900),
    "visitors": ("Visitors", "Visitors", "Month", MONTHS, ["Adults", "Children", "Groups"], 20, 1800),
    "energy": ("Energy", "Energy use", "Building", ["Main house", "Workshop", "Gym", "Canteen", "Library", "Garage", "Annex", "Store", "Greenhouse", "Boathouse", "Gatehouse", "Lab"], ["Power", "Gas", "Water"], 100, 9000),
    "library": ("Loans", "Loans", "Section", ["Crime", "Travel", "History", "Poetry", "Comics", "Cooking", "Science", "Music", "Art", "Sports", "Nature", "Languages"], ["Loans", "Renewals", "Reservations"], 5, 600),
    "clinic": ("Appointments", "Appointments", "Ward", ["Eyes", "Heart", "Children", "Bones", "Skin", "Teeth", "Ears", "Lungs", "Nerves", "Kidneys", "Imaging", "Surgery"], ["Booked", "Kept", "Cancelled"], 8, 350),
    "farm": ("Harvest", "Harvest", "Crop", ["Wheat", "Barley", "Oats", "Rye", "Maize", "Potatoes", "Carrots", "Beets", "Beans", "Peas", "Apples", "Hops"], ["Last year", "This year", "Plan"], 10, 480),
    "website": ("Traffic", "Web traffic", "Page", ["Home", "Shop", "Blog", "Contact", "Jobs", "Press", "Support", "Forum", "Events", "Prices", "About", "Search"], ["Visits", "Downloads", "Comments"], 3, 5200),
    "harbour": ("Harbour", "Cargo", "Berth", ["Quay A", "Quay B", "Quay C", "Quay D", "Oil pier", "Ferry pier", "Dock 1", "Dock 2", "Dock 3", "Dock 4", "Grain pier", "Repair yard"], ["Ships", "Containers", "Passengers"], 2, 2400),
    "school": ("Clubs", "Club members", "Club", ["Chess", "Choir", "Drama", "Robotics", "Rowing", "Judo", "Debate", "Garden", "Film", "Dance", "Maths", "Radio"], ["Autumn", "Spring", "Summer"], 4, 48),
    "fleet": ("Fleet", "Fleet costs", "Vehicle", ["Van 1", "Van 2", "Van 3", "Truck 1", "Truck 2", "Car 1", "Car 2", "Car 3", "Minibus", "Tractor", "Crane", "Forklift"], ["Fuel", "Repairs", "Insurance"], 60, 3900),
}  # fmt: skip
LOOKS = {
    "plain": {"at": "A1"},
    "titled": {"at": "B4", "titles": ["Figures by category", "checked and complete"]},
    "coloured": {"at": "A1", "header": {"bold": True, "fill": "DDEBF7"}, "freeze": "A2"},
    "noted": {
        "at": "A2",
        "notes": [{"cell": "A2", "text": "Counted by hand in the first weeks."}],
        "header": {"bold": True},
    },
    "framed": {"at": "B2", "header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}},
    "banded": {"at": "C3", "header": {"bold": True, "fill": "375623", "color": "FFFFFF"}, "banded": "E2EFDA"},
}


def compute(subject, count, dress, total, others, owner):
    sheet, word, category, pool, heads, low, high = SUBJECTS[subject]

    def number(*what):
        return int.from_bytes(sha256(repr((subject, count, dress, owner, *what)).encode()).digest()[:4], "big")

    chosen = pool[:count] if category == "Month" else sorted(pool, key=lambda name: number("order", name))[:count]
    rows = [
        [name, *(low + number("value", name, head) % (high - low) for head in heads), owner if number("who", name) % 3 else ""]
        for name in chosen
    ]  # fmt: skip
    columns = [{"name": category, "type": "text"}]
    columns += [{"name": head, "type": "integer"} for head in heads]
    columns.append({"name": "Reported by", "type": "text"})
    main = {"name": sheet, "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}
    if total:
        main["total"] = {"columns": heads, "label": "Total", "look": {"bold": True}}
    notes = {
        "name": "Notes",
        "cells": [
            {"cell": "A1", "value": "About this workbook"},
            {"cell": "A3", "value": f"Kept by {owner}"},
            {"cell": "A4", "value": "Figures come in once a month."},
        ],
    }
    targets = {
        "name": "Targets",
        "table": {
            "columns": [{"name": category, "type": "text"}, {"name": "Target", "type": "integer"}],
            "rows": [[name, (low + high) // 2 + number("target", name) % low] for name in chosen],
        },
    }
    sheets = (
        ([notes] if others in ("before", "both") else []) + [main] + ([targets] if others in ("behind", "both") else [])
    )
    return {
        "sheets": sheets,
        "main": 1 if others in ("before", "both") else 0,
        "word": word,
        "category": category,
        "heads": heads,
    }
