"""Files to open when screens are harvested: workbooks, texts, slides, pictures, pages, mailboxes, folders; drawn by seed.

The same seed gives the same names and words; formats that write the time into themselves may differ in bytes.
"""

from __future__ import annotations

import html
import io
import random
from importlib import import_module
from typing import Any

from forge.desktop.slot import File
from forge.records import Guest
from preparers.base import PREPARERS, Context
from preparers.calc.tables import draw_table, topics
from preparers.files.drawing import draw_tree, tree_kinds
from preparers.thunderbird.mails import draw_mailbox, kinds


def workbook(seed: int, path: str = "~/Documents/figures.xlsx", sheets: int = 3) -> list[File]:
    """A workbook with a table of another topic on each sheet."""
    rng = random.Random(f"workbook {seed}")
    tables = [draw_table(topic, 36, rng) for topic in rng.sample(topics(), sheets)]
    names = [f"{table['sheet']} {number + 1}" for number, table in enumerate(tables)]
    made = [{"name": name, "table": _table(table)} for name, table in zip(names, tables, strict=True)]
    return _prepared("calc.workbook", {"path": path, "sheets": made})


def text_document(seed: int, path: str = "~/Documents/report.docx") -> list[File]:
    """A text with headings, lists and a table."""
    from docx import Document

    rng = random.Random(f"text {seed}")
    table = draw_table(rng.choice(topics()), 8, rng)
    document = Document()
    document.add_heading(str(table["title"]), 0)
    for number in range(1, 4):
        document.add_heading(f"Part {number}", 1)
        document.add_paragraph(" ".join(_sentence(rng, table) for _ in range(3)))
        document.add_paragraph(_sentence(rng, table), style="List Bullet")
    columns = [str(column["name"]) for column in table["columns"]]
    grid = document.add_table(rows=1, cols=len(columns), style="Table Grid")
    for cell, name in zip(grid.rows[0].cells, columns, strict=True):
        cell.text = name
    for row in table["rows"]:
        for cell, value in zip(grid.add_row().cells, row, strict=True):
            cell.text = str(value)
    out = io.BytesIO()
    document.save(out)
    return [(path, out.getvalue(), 0o644, False)]


def slides(seed: int, path: str = "~/Documents/talk.pptx") -> list[File]:
    """A presentation of five slides."""
    from pptx import Presentation

    rng = random.Random(f"slides {seed}")
    show = Presentation()
    for number in range(5):
        table = draw_table(rng.choice(topics()), 6, rng)
        slide = show.slides.add_slide(show.slide_layouts[0 if number == 0 else 1])
        slide.shapes.title.text = str(table["title"])
        slide.placeholders[1].text = "\n".join(_sentence(rng, table) for _ in range(1 if number == 0 else 4))
    out = io.BytesIO()
    show.save(out)
    return [(path, out.getvalue(), 0o644, False)]


def picture(seed: int, path: str = "~/Pictures/picture.png") -> list[File]:
    """A colourful picture."""
    from PIL import Image, ImageDraw

    rng = random.Random(f"picture {seed}")
    image = Image.new("RGB", (640, 480), _colour(rng))
    draw = ImageDraw.Draw(image)
    for _ in range(40):
        x, y, size = rng.randrange(640), rng.randrange(480), rng.randrange(20, 160)
        shape = rng.choice([draw.ellipse, draw.rectangle])
        shape((x - size, y - size, x + size, y + size), fill=_colour(rng), outline=_colour(rng))
    out = io.BytesIO()
    image.save(out, "PNG")
    return [(path, out.getvalue(), 0o644, False)]


def sound(path: str = "~/Music/tone.wav") -> list[File]:
    """Ten seconds of silence."""
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(160_000))
    return [(path, out.getvalue(), 0o644, False)]


def plain_text(seed: int, path: str = "~/Documents/notes.txt") -> list[File]:
    """A text file of some lines."""
    rng = random.Random(f"plain {seed}")
    table = draw_table(rng.choice(topics()), 30, rng)
    return [(path, "".join(_sentence(rng, table) + "\n" for _ in range(40)).encode(), 0o644, False)]


def mailbox(seed: int) -> list[File]:
    """A mail profile."""
    rng, guest = random.Random(f"mailbox {seed}"), Guest()
    kind = sorted(kinds())[seed % len(kinds())]
    return _prepared("thunderbird.profile", draw_mailbox(kind, 90, rng, guest), Context(guest=guest))


def folders(seed: int, count: int = 3) -> tuple[list[File], list[str]]:
    """Folder trees in the home, and all their folders as paths inside the guest."""
    rng = random.Random(f"folders {seed}")
    files: list[File] = []
    for kind in rng.sample(sorted(tree_kinds()), count):
        drawn = draw_tree(kind, "large", rng)
        files += _prepared("files.tree", drawn)
    inside = {path.rpartition("/")[0] for path, *_ in files}
    return _unique(files), sorted(path for path in inside if path != "~")


def pages(seed: int, count: int = 6) -> tuple[list[File], list[str]]:
    """Web pages with links, forms and tables below ~/site, and their addresses."""
    files: list[File] = []
    for number in range(count):
        rng = random.Random(f"page {seed} {number}")
        name = f"~/site/page-{seed}-{number}.html"
        files.append((name, _page(rng, number).encode(), 0o644, False))
    return files, [f"file:///home/alex/{path[2:]}" for path, *_ in files]


_FIELDS = (
    "Full name", "Company", "Street", "Postal code", "Town", "Country", "Telephone", "E-mail address", "Date of birth",
    "Order number", "Customer number", "Delivery note", "Reference", "Account holder", "Bank name", "Width in cm",
    "Number of guests", "Arrival", "Departure", "Room number", "Licence plate", "Message to the shop", "Gift card code",
    "Newsletter topic", "Job title", "Department", "Cost centre", "Invoice address", "Voucher", "Preferred language",
)  # fmt: skip
_CHECKS = (
    "Send me a copy", "I accept the terms", "Express delivery", "Gift wrapping", "Insure the parcel", "Remember my choice",
    "Subscribe to the newsletter", "Bill to another address", "Call before delivery", "Vegetarian menu", "Late arrival",
    "Pay by invoice", "Include spare parts", "Show sold-out items", "Only items in stock", "Hide prices", "Large print",
)  # fmt: skip
_CHOICES = {
    "Payment": ("Credit card", "Bank transfer", "Cash on delivery"),
    "Size": ("Small", "Medium", "Large", "Extra large"),
    "Delivery day": ("Weekday", "Saturday", "Any day"),
    "Seat": ("Window seat", "Aisle seat", "No preference"),
    "Colour": ("Dark green", "Light grey", "Navy blue", "Warm white"),
    "Time of day": ("Morning", "Afternoon", "Evening"),
}
_LINKS = (
    "Opening hours", "How to find us", "Terms of delivery", "Privacy notice", "Contact form", "Our team", "Press room",
    "Gift ideas", "Spare parts", "Repair service", "Track a parcel", "Size guide", "Frequently asked questions",
    "Return an item", "Open positions", "Annual report", "Course dates", "Member login", "Photo gallery", "Price list",
    "Events calendar", "Download catalogue", "Volunteer with us", "Visitor rules", "Lost property", "Group bookings",
)  # fmt: skip
_BUTTONS = (
    "Place order", "Add to basket", "Check availability", "Request a quote", "Apply filter", "Save draft", "Show details",
    "Compare selected", "Start over", "Upload photo", "Book now", "Join the list", "Continue shopping", "Preview letter",
    "Calculate shipping", "Export table", "Print label", "Reserve table", "Claim discount", "Rate this page",
)  # fmt: skip


def _page(rng: random.Random, number: int) -> str:
    """A page: links at the top and the side, a form or a table, buttons, links at the foot."""
    table = draw_table(rng.choice(topics()), 14, rng)
    links = rng.sample(_LINKS, 12)
    hue = rng.randrange(360)
    style = (
        f"body{{font:{rng.choice([14, 15, 16])}px {rng.choice(['sans-serif', 'serif'])};margin:0;"
        f"background:hsl({hue},30%,{rng.choice([97, 94, 85])}%);color:#222}}"
        f"nav{{background:hsl({hue},45%,35%);padding:10px}}nav a{{color:#fff;margin-right:22px}}"
        "main{display:flex;gap:30px;padding:16px;background:#fff}label{display:inline-block;min-width:150px}"
        ".f{margin:7px 0}aside a{display:block;margin:9px 0}td,th{padding:4px 12px;border-bottom:1px solid #ccc}"
        "footer a{margin:0 14px}button{margin:6px 10px 6px 0;padding:5px 12px}"
    )
    title = f"{table['title']} {rng.randrange(100, 999)}"
    body = _form(rng) if number % 2 == 0 else _list(rng, table)
    foot = "".join(_link(text) for text in links[9:])
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title><style>{style}</style>"
        f"<nav>{''.join(_link(text) for text in links[:5])}</nav><main><aside>"
        f"{''.join(_link(text) for text in links[5:9])}</aside><section><h1>{html.escape(title)}</h1>{body}</section></main>"
        f"<footer>{foot}</footer></html>"
    )


def _form(rng: random.Random) -> str:
    parts = []
    for number, field in enumerate(rng.sample(_FIELDS, 7)):
        tag = "<textarea rows=2 cols=30" if number == 5 else "<input size=26"
        end = "</textarea>" if number == 5 else ""
        parts.append(f"<div class=f><label for=f{number}>{field}</label>{tag} id=f{number}>{end}</div>")
    name, choices = rng.choice(sorted(_CHOICES.items()))
    options = "".join(f"<option>{choice}</option>" for choice in choices)
    parts.append(f"<div class=f><label for=s>{name}</label><select id=s>{options}</select></div>")
    name, choices = rng.choice([item for item in sorted(_CHOICES.items()) if item[0] != name])
    radios = "".join(f"<label><input type=radio name=r> {choice}</label>" for choice in choices)
    parts.append(f"<div class=f>{radios}</div>")
    parts += [f"<div class=f><label><input type=checkbox> {text}</label></div>" for text in rng.sample(_CHECKS, 3)]
    parts.append("".join(f"<button type=button>{text}</button>" for text in rng.sample(_BUTTONS, 3)))
    return f"<form>{''.join(parts)}</form>"


def _list(rng: random.Random, table: dict[str, Any]) -> str:
    columns = [str(column["name"]) for column in table["columns"]][:5]
    texts = [i for i, column in enumerate(table["columns"][:5]) if column["role"] in ("label", "person", "code")]
    linked = texts[0] if texts else 0
    rows = "".join(
        "<tr>" + "".join(
            f"<td>{_link(str(value)) if i == linked else html.escape(str(value))}</td>" for i, value in enumerate(row[:5])
        ) + "</tr>"
        for row in table["rows"]
    )  # fmt: skip
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    buttons = "".join(f"<button type=button>{text}</button>" for text in rng.sample(_BUTTONS, 4))
    return f"<p><input type=search aria-label='Search this list' size=24> {buttons}</p><table><tr>{head}</tr>{rows}</table>"


def _link(text: str) -> str:
    return f'<a href="#">{html.escape(text)}</a>'


def _table(table: dict[str, Any]) -> dict[str, Any]:
    return {key: table[key] for key in ("columns", "rows")}


def _sentence(rng: random.Random, table: dict[str, Any]) -> str:
    row = rng.choice(table["rows"])
    column = rng.randrange(len(row))
    return f"In {table['title'].lower()} the {str(table['columns'][column]['name']).lower()} is {row[column]}."


def _colour(rng: random.Random) -> tuple[int, int, int]:
    return rng.randrange(256), rng.randrange(256), rng.randrange(256)


def _prepared(name: str, values: dict[str, Any], context: Context | None = None) -> list[File]:
    import_module("preparers")  # registers them
    preparer = PREPARERS.get(name)
    made = preparer.prepare(preparer.validate(values), context or Context())
    return [(file.path, file.data, file.mode, file.folder) for file in made.files]


def _unique(files: list[File]) -> list[File]:
    return list({file[0]: file for file in files}.values())
