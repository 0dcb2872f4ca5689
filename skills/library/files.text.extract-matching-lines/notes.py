import random

# per kind: what may be mentioned, and how lines go ({x} is the thing)
KINDS = {
    "server": (
        ["REQ-4471", "REQ-4502", "REQ-4519", "REQ-4588", "REQ-4630", "REQ-4677"],
        [
            "{t} accepted {x}",
            "{t} {x} took {n} ms",
            "{t} retry of {x}, attempt {m}",
            "{t} wrote {n} rows for {x}",
            "{t} closed {x}, status {m}",
        ],
    ),
    "visitors": (
        ["Hartwell Ltd", "Stadtwerke", "Kestrel Bank", "Green Meadow", "Fibernet", "Olmo Studio"],
        [
            "{t} {m} guests of {x}, gate {m}",
            "{t} badge {n} returned by {x}",
            "{t} {x} waiting in the lobby",
            "{t} parking lot {m} for {x}",
            "{t} {x} left through the side door",
        ],
    ),
    "deliveries": (
        ["PAL-20811", "PAL-20834", "PAL-20867", "PAL-20902", "PAL-20955", "PAL-20971"],
        [
            "{t} {x} unloaded at ramp {m}",
            "{t} weighed {x}: {n} kg",
            "{t} {x} moved to aisle {m}",
            "{t} label of {x} printed again",
            "{t} driver signed for {x}",
        ],
    ),
    "calls": (
        ["Mrs Okafor", "Mr Lindgren", "Ms Petrova", "Dr Halloran", "Mr Tanaka", "Mrs Duarte"],
        [
            "{t} {x} asks for a callback",
            "{t} told {x} that part {n} is late",
            "{t} {x} cancels the visit on the {m}th",
            "{t} left a message for {x}",
            "{t} {x} was put through to accounts",
        ],
    ),
    "maintenance": (
        ["pump P7", "fan F2", "belt B4", "press K9", "oven O1", "crane C3"],
        [
            "{t} checked {x}, all fine",
            "{t} oil of {x} topped up, {m} l",
            "{t} {x} stopped for {n} s",
            "{t} new filter in {x}",
            "{t} noise at {x}, watch it",
        ],
    ),
    "minutes": (
        ["roof repair", "parking rules", "summer party", "new printer", "bike shed", "energy audit"],
        [
            "- {x}: postponed to the next meeting",
            "- {m} offers are in for {x}",
            "- budget of {n} EUR set aside for {x}",
            "- somebody has to ask about {x}",
            "- {x}: decided, {m} in favour",
        ],
    ),
    "tickets": (
        ["INC-3301", "INC-3317", "INC-3342", "INC-3358", "INC-3396", "INC-3405"],
        [
            "{t} {x} opened by desk {m}",
            "{t} {x} waits for the customer",
            "{t} linked {x} to change {n}",
            "{t} priority of {x} now {m}",
            "{t} {x} solved after {n} minutes",
        ],
    ),
    "lab": (
        ["sample QX-18", "sample QX-23", "sample QX-31", "sample QX-47", "sample QX-52", "sample QX-66"],
        [
            "{t} {x}: pH {m}.{n}",
            "{t} {x} into freezer {m}",
            "{t} diluted {x} 1:{n}",
            "{t} {x} turned cloudy",
            "{t} spectrum {n} taken of {x}",
        ],
    ),
    "laundry": (
        ["Hotel Aurora", "Casa Verde", "Seaview Inn", "Old Town Spa", "Linden Clinic", "Marina Club"],
        [
            "{t} {n} towels for {x}",
            "{t} {x}: {m} bags picked up",
            "{t} stain on sheet {n} of {x}",
            "{t} {x} wants delivery at {m}",
            "{t} invoice {n} sent to {x}",
        ],
    ),
    "press": (
        ["Evening Post", "Radio Nord", "City Blog", "Weekly Lens", "Harbour TV", "Trade News"],
        [
            "{t} {x} asks for {m} photos",
            "{t} interview with {x} moved",
            "{t} sent statement {n} to {x}",
            "{t} {x} prints a correction",
            "{t} {x} on the list for the tour",
        ],
    ),
}
FILLER = [
    "{t} nothing to report",
    "{t} shift handed over",
    "{t} system restarted",
    "{t} lunch break",
    "{t} {n} entries checked",
    "{t} door {m} closed",
]
PEOPLE = ["anna", "bilal", "chen", "dora", "emil", "fatima", "goran", "hana"]


def compute(kind, seed, number, busy, naming, ext, decoy):
    rng = random.Random(f"{kind}/{seed}")
    things, patterns = KINDS[kind]

    def write():
        minute, lines = 360, []
        for _ in range(max(4, busy + rng.randint(-2, 2))):
            minute += rng.randint(3, 55)
            pattern = rng.choice(FILLER) if rng.random() < 0.2 else rng.choice(patterns)
            lines.append(
                pattern.format(
                    t=f"{minute // 60 % 24:02d}:{minute % 60:02d}",
                    x=rng.choice(things),
                    n=rng.randint(11, 980),
                    m=rng.randint(4, 9),
                )
            )
        return lines

    def called(place):
        return {
            "days": f"2026-02-{place + 3:02d}",
            "weeks": f"week-{place + 14}",
            "people": PEOPLE[place],
            "plain": f"{kind}-{place + 1}",
        }[naming]

    files = []
    for place in range(number):
        lines = write()
        files.append({"name": called(place) + ext, "lines": lines, "text": "\n".join(lines) + "\n"})
    others = [
        {"name": called(place) + decoy, "text": "\n".join(write()) + "\n"}
        for place in sorted(rng.sample(range(number), 2))
    ]
    return {"files": files, "others": others, "things": things}
