"""Papers of one kind, as text in three types, each with a line "Date: ..." and with other dates that are not meant."""

from datetime import date, timedelta
from hashlib import sha256

STEMS = {
    "minutes": [
        "board",
        "works council",
        "safety group",
        "IT round",
        "canteen",
        "parking",
        "training",
        "budget talk",
        "site team",
        "sales weekly",
        "fire wardens",
        "green office",
    ],
    "receipts": [
        "taxi",
        "hotel",
        "lunch",
        "train",
        "printer paper",
        "toner",
        "parking garage",
        "flowers",
        "batteries",
        "museum",
        "coffee beans",
        "postage",
    ],
    "letters": [
        "landlord",
        "insurance",
        "tax office",
        "school",
        "bank",
        "neighbour",
        "water works",
        "library",
        "choir",
        "notary",
        "dentist",
        "garage",
    ],
    "inspections": [
        "lift",
        "boiler",
        "ladders",
        "first-aid box",
        "playground",
        "roof",
        "smoke alarms",
        "forklift",
        "gate",
        "sprinkler",
        "racks",
        "crane",
    ],
    "interviews": [
        "Amira",
        "Bogdan",
        "Carla",
        "Dmitri",
        "Esther",
        "Fatou",
        "Gustav",
        "Hanneke",
        "Ines",
        "Jonas",
        "Kemal",
        "Lucia",
    ],
    "deliveries": [
        "flour",
        "glass",
        "tiles",
        "cables",
        "labels",
        "pallets",
        "paint",
        "screws",
        "gravel",
        "tea",
        "chairs",
        "lamps",
    ],
    "recipes": [
        "lentil soup",
        "plum cake",
        "rye bread",
        "curry",
        "pancakes",
        "goulash",
        "pesto",
        "apple jam",
        "dumplings",
        "risotto",
        "pickles",
        "waffles",
    ],
    "rehearsals": [
        "brass",
        "strings",
        "soloists",
        "choir tutti",
        "altos",
        "basses",
        "percussion",
        "sectionals",
        "stage run",
        "lights",
        "band",
        "overture",
    ],
    "measurements": [
        "probe-1",
        "probe-2",
        "north wall",
        "south wall",
        "cellar",
        "attic",
        "river gauge",
        "well",
        "greenhouse",
        "hive-3",
        "silo",
        "tank",
    ],
}
LINES = [
    "Nothing unusual this time.",
    "Two points are still open.",
    "See the copy in the binder.",
    "Checked and found in order.",
    "To be discussed again.",
    "Filed under {n}.",
    "Took {n} minutes.",
    "Reference {n}/{m}.",
]
OTHER = ["Next one: {day}", "To be answered by {day}", "Valid until {day}"]


def compute(kind, number):
    items, dates = [], {}
    start = date(2025, 3, 1)
    stems = sorted(STEMS[kind], key=lambda stem: pick(kind, number, stem))
    left = 0
    for place, suffix in enumerate([".txt", ".md", ".log"]):
        for _ in range(2 + pick(kind, number, suffix, "count") % 3):
            stem = stems[left % len(stems)]
            left += 1
            name = stem + suffix
            day = start + timedelta(days=pick(kind, number, name) % 360)
            other = day + timedelta(days=10 + pick(kind, number, name, "other") % 60)
            body = [
                ("# " if suffix == ".md" else "") + stem[0].upper() + stem[1:],
                "",
                f"Date: {long(day)}",
                OTHER[pick(name, number, "o") % len(OTHER)].format(day=long(other)),
                "",
            ]
            for line in range(1 + pick(name, number, "lines") % 4):
                chosen = LINES[pick(name, number, line) % len(LINES)]
                body.append(chosen.format(n=pick(name, line) % 80 + 5, m=pick(name, line, "m") % 900 + 100))
            items.append({"kind": "text", "path": name, "text": "\n".join(body) + "\n"})
            dates[name] = day.isoformat()
            if place == pick(kind, number, "old") % 3 and len(items) % 2 == 0:
                items.append({"kind": "text", "path": "done/" + stem + " old" + suffix, "text": "\n".join(body) + "\n"})
    items.append({"kind": "image", "path": "scan.png", "width": 160, "height": 120, "scene": "scan", "variant": number})
    items.append(
        {
            "kind": "csv",
            "path": "list.csv",
            "header": ["Name", "Pages"],
            "rows": [[s, 1 + pick(s, number) % 9] for s in stems[:5]],
        }
    )
    return {"items": items, "dates": dates}


def long(day):
    return f"{day.day} {day:%B %Y}"


def pick(*what):
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4], "big")
