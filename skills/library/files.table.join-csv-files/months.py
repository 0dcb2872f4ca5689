import random

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

TOPICS = {
    "sales": (
        ["Date", "Article", "Pieces", "Amount"],
        ["desk lamp", "office chair", "shelf 80 cm", "paper A4", "whiteboard", "monitor arm"],
        (1, 40),
        (9, 900),
    ),
    "stock": (
        ["Day", "Part", "Delivered", "Unit price"],
        ["M8 bolt", "hinge", "gasket 40", "bearing 6204", "cable tie", "fuse 10A"],
        (5, 500),
        (1, 60),
    ),
    "energy": (
        ["Reading", "Meter", "kWh", "Cost"],
        ["hall", "office east", "office west", "canteen", "server room"],
        (40, 900),
        (12, 280),
    ),
    "mileage": (
        ["Date", "Vehicle", "Kilometres", "Fuel"],
        ["van 1", "van 2", "pool car", "trailer truck"],
        (12, 640),
        (5, 110),
    ),
    "tickets": (
        ["Closed", "Queue", "Minutes", "Score"],
        ["printing", "accounts", "network", "phones", "doors"],
        (4, 240),
        (1, 10),
    ),
    "donations": (
        ["Date", "Campaign", "Gifts", "Sum"],
        ["spring letter", "street stall", "online form", "legacy", "concert"],
        (1, 60),
        (20, 4000),
    ),
    "bookings": (
        ["Arrival", "Room", "Nights", "Price"],
        ["garden room", "attic", "suite", "double 4", "single 2"],
        (1, 14),
        (60, 1400),
    ),
    "hours": (
        ["Date", "Project", "Hours", "Billed"],
        ["bridge", "town hall", "school roof", "harbour", "archive"],
        (1, 10),
        (80, 950),
    ),
}


def compute(topic, seed, style, year, month, total, busy):
    rng = random.Random(f"{topic}/{seed}")
    header, things, whole, money = TOPICS[topic]
    months = []
    for number in range(total):
        y, m = divmod(year * 12 + month - 1 + number, 12)
        m += 1
        name = {
            "iso": f"{topic}_{y}-{m:02d}.csv",
            "word": f"{topic}-{MONTHS[m - 1][:3].lower()}-{y}.csv",
            "numbered": f"{m:02d}-{y}_{topic}.csv",
            "long": f"{topic} {MONTHS[m - 1]} {y}.csv",
        }[style]
        days = sorted(rng.sample(range(1, 29), max(2, busy + rng.randint(-1, 2))))
        rows = [
            [f"{y}-{m:02d}-{d:02d}", rng.choice(things), rng.randint(*whole), f"{rng.uniform(*money):.2f}"]
            for d in days
        ]
        months.append({"label": f"{MONTHS[m - 1]} {y}", "name": name, "rows": rows})
    return {
        "header": header,
        "other_header": ["Year", "Target"],
        "other_rows": [[str(year + n), rng.randint(20, 90) * 100] for n in range(3)],
        "months": months,
    }
