import random

WHO = [
    "Hartwell",
    "Okafor",
    "Lindgren",
    "Petrova",
    "Tanaka",
    "Duarte",
    "Kestrel",
    "Fibernet",
    "Olmo",
    "Marchetti",
    "Novak",
    "Brandt",
    "Silva",
    "Aurora",
    "Greenfield",
    "Halloran",
    "Ismail",
    "Jansen",
    "Weber",
    "Yilmaz",
]
THINGS = [
    "pump-P7",
    "fan-F2",
    "boiler",
    "lift",
    "gate",
    "server-rack",
    "printer-3",
    "forklift",
    "alarm",
    "projector",
    "oven",
    "dishwasher",
    "heating",
    "router",
    "scanner",
    "press-K9",
    "crane",
    "compressor",
    "camera-4",
    "door-east",
]
PLACES = [
    "hall",
    "attic",
    "cellar",
    "yard",
    "roof",
    "kitchen",
    "stairs",
    "lobby",
    "garage",
    "office-2",
    "studio",
    "canteen",
    "workshop",
    "garden",
    "store",
    "gym",
    "library",
    "ramp",
    "tower",
    "bridge",
]
# per topic: what the names are made of, their pattern, the kind of file
TOPICS = {
    "contracts": (WHO, "contract {x} {y}.docx", "docx", "Partner"),
    "receipts": (WHO, "receipt-{n}-{x}.png", "image", "Shop"),
    "manuals": (THINGS, "{x}-manual.txt", "text", "Machine"),
    "certificates": (THINGS, "certificate_{x}_{y}.png", "image", "Device"),
    "minutes": (PLACES, "{y}-{m:02d} minutes {x}.md", "text", "Room"),
    "plans": (PLACES, "plan-{x}-v{v}.png", "image", "Part"),
    "applications": (WHO, "application {x}.docx", "docx", "Name"),
    "reports": (PLACES, "report_{n}_{x}.txt", "text", "Site"),
}
KEEPERS = ["Nina", "Sven", "Marco", "Hana", "Priya", "Kofi"]
LOOKS = {
    "plain": {},
    "titled": {"titles": ["Register", "as it should be"], "at": "A4"},
    "coloured": {"header": {"bold": True, "fill": "DDEBF7"}, "banded": "F7FBFF"},
    "noted": {"freeze": "A2", "autofilter": True},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
    "shifted": {"at": "C5", "header": {"bold": True}},
}


def item(kind, path, word, rng):
    if kind == "docx":
        return {
            "kind": "docx",
            "path": path,
            "paragraphs": [{"text": word, "style": "title"}, {"text": f"Number {rng.randint(100, 999)}"}],
        }
    if kind == "image":
        return {
            "kind": "image",
            "path": path,
            "width": 320,
            "height": 240,
            "scene": "scan",
            "variant": rng.randint(0, 999),
        }
    return {"kind": "text", "path": path, "text": f"{word}\n\nNumber {rng.randint(100, 999)}\n"}


def compute(topic, seed, rows, gone, column, listed, order, dress):
    rng = random.Random(f"{topic}/{seed}/{rows}")
    pool, pattern, kind, about = TOPICS[topic]
    picked = rng.sample(pool, rows + 2)
    made = [
        (
            x,
            pattern.format(
                x=x.lower() if "-" in pattern else x,
                y=rng.randint(2021, 2025),
                n=rng.randint(1000, 9999),
                m=rng.randint(1, 12),
                v=rng.randint(1, 4),
            ),
        )
        for x in picked
    ]
    listing, extra = made[:rows], made[rows:]
    items = [item(kind, name, x, rng) for place, (x, name) in enumerate(listing) if place not in gone]
    items += [item(kind, name, x, rng) for x, name in extra]
    # one of the missing ones lies elsewhere, of another there is only a file of nearly the same name
    first, second = sorted(gone)[0], sorted(gone)[1]
    items.append(item(kind, "old/" + listing[first][1], listing[first][0], rng))
    stem, dot, end = listing[second][1].rpartition(".")
    items.append(item(kind, f"{stem}-draft{dot}{end}", listing[second][0], rng))
    columns = [
        {"name": about, "type": "text"},
        {"name": listed, "type": "text"},
        {"name": "Keeper", "type": "text"},
        {"name": "Pages", "type": "integer"},
    ]
    table = [[x, name, rng.choice(KEEPERS), rng.randint(1, 40)] for x, name in listing]
    at = {"first": 0, "middle": 2, "last": 4}[order]
    columns.insert(at, {"name": column, "type": "text"})
    for row in table:
        row.insert(at, None)
    sheet = {"name": topic.capitalize(), "table": {"columns": columns, "rows": table}, **LOOKS[dress]}
    return {"sheet": sheet, "items": items, "files": [name for _, name in listing]}
