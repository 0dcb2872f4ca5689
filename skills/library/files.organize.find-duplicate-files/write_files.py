"""Two folders with files; some are in both, mostly under another name, and some only look as if they were."""

from hashlib import sha256

WORDS = [
    "spring fair",
    "inventory",
    "guest list",
    "opening hours",
    "price list",
    "seating",
    "timetable",
    "packing list",
    "rota",
    "thank-you note",
    "floor plan",
    "budget",
    "menu",
    "playlist",
    "route",
    "checklist",
    "phone tree",
    "raffle",
    "posters",
    "keys",
]
KINDS = {
    "notes": ["text", "text", "markdown"],
    "lists": ["csv", "csv", "text"],
    "pictures": ["image"],
    "settings": ["json", "ini"],
    "mixed": ["text", "csv", "image", "json", "markdown", "ini"],
}
SUFFIX = {"text": ".txt", "markdown": ".md", "csv": ".csv", "image": ".png", "json": ".json", "ini": ".ini"}
OTHER_NAMES = [
    "{stem} (1)",
    "Copy of {stem}",
    "{stem} new",
    "{stem}-2",
    "file{n}",
    "untitled {n}",
    "{stem} final",
    "{n}",
]
YEARS = ["", "", "2023/", "2024/", "2025/"]
SINCE = ["", "", "", "", "older/"]


def compute(kind, number, kept, fresh):
    items, pairs = [], []
    stems = sorted(WORDS, key=lambda word: pick(number, word))
    both = 3 + pick(number, "both") % 3
    roles = (
        ["both"] * both
        + ["namesake"] * 2
        + ["kept"] * (1 + pick(number, "k") % 3)
        + ["fresh"] * (2 + pick(number, "f") % 3)
    )
    for place, role in enumerate(roles):
        stem, sort = stems[place], KINDS[kind][pick(number, place, "kind") % len(KINDS[kind])]
        suffix = SUFFIX[sort]
        n = 1000 + 100 * place + pick(number, place, "n") % 100
        before = kept + "/" + YEARS[pick(number, place, "year") % len(YEARS)] + stem + suffix
        folder = fresh + "/" + SINCE[pick(number, place, "since") % len(SINCE)]
        new = OTHER_NAMES[pick(number, place, "name") % len(OTHER_NAMES)].format(stem=stem, n=n)
        if role == "both":
            same = stem if place == 0 else new
            items.append(item(before, sort, stem, number, 0))
            items.append(item(folder + same + suffix, sort, stem, number, 0))
            pairs.append({"kept": before, "fresh": folder + same + suffix})
            if place == 1:  # one that is there three times
                items.append(item(fresh + "/" + f"once more {n}" + suffix, sort, stem, number, 0))
                pairs.append({"kept": before, "fresh": fresh + "/" + f"once more {n}" + suffix})
        elif role == "namesake":
            items.append(item(before, sort, stem, number, 0))
            items.append(item(folder + stem + suffix, sort, stem, number, 1))
        elif role == "kept":
            items.append(item(before, sort, stem, number, 0))
        else:
            items.append(item(folder + (stem if place % 2 else new) + suffix, sort, stem, number, 0))
    return {"items": items, "pairs": pairs}


def item(path, sort, stem, number, version):
    """The same content for the same stem and version; another version has as many letters, but other figures."""
    figures = [10 + pick(number, stem, version, k) % 90 for k in range(8)]
    if sort == "image":
        return {
            "kind": "image",
            "path": path,
            "width": 240,
            "height": 160,
            "scene": ["landscape", "portrait", "chart", "scan"][pick(stem) % 4],
            "variant": pick(number, stem, version) % 100000,
        }
    if sort == "csv":
        rows = [[f"{stem} {k + 1}", figures[k], figures[k + 1]] for k in range(6)]
        return {"kind": "csv", "path": path, "header": ["What", "First", "Second"], "rows": rows}
    if sort == "json":
        return {"kind": "json", "path": path, "value": {"name": stem, "size": figures[0], "steps": figures[1:5]}}
    if sort == "ini":
        sections = {
            "general": {"name": stem, "port": str(4000 + figures[0])},
            "limits": {"rows": str(figures[1]), "hours": str(figures[2])},
        }
        return {"kind": "ini", "path": path, "sections": sections}
    mark = "# " if sort == "markdown" else ""
    lines = [mark + stem[0].upper() + stem[1:], ""]
    lines += [f"- Point {k + 1}: {figures[k]} of {figures[k + 1]}, see page {figures[k + 2]}." for k in range(5)]
    return {"kind": "text", "path": path, "text": "\n".join(lines) + "\n"}


def pick(*what):
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4], "big")
