"""A log of mails with some rows, and room for more."""

from datetime import date, timedelta
from random import Random

THINGS = ["Delivery of the samples", "Keys for the side door", "New price list", "Appointment on Monday", "Lost parcel",
          "Minutes of the meeting", "Reminder, second", "Question about the contract", "Parking permit",
          "Holiday dates", "Broken link", "Room for the workshop", "Change of address", "Photographs", "Order form",
          "Visit of the school class", "Water meter", "Access card"]  # fmt: skip
LOOKS = {
    "plain": {"header": {"bold": True}},
    "titled": {"titles": ["Log of incoming mail", "one row a mail"], "title_look": {"bold": True}, "at": "B4"},
    "banded": {"header": {"bold": True, "fill": "DDEBF7"}, "banded": "F3F8FC"},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
    "frozen": {"header": {"bold": True, "fill": "FFF2CC"}, "freeze": "A2"},
    "two-sheets": {"header": {"bold": True, "color": "7F6000"}, "at": "A2"},
    "remarks": {"header": {"italic": True, "bold": True}},
}


def compute(mails, heads, dress, old, owner, seed):
    dice = Random(f"{dress} {old} {seed}")
    first = min(mail["date"][:10] for mail in mails)
    day = date.fromisoformat(first) - timedelta(days=old * 5 + 3)
    things = dice.sample(THINGS, old)
    rows = []
    for thing in things:
        day += timedelta(days=dice.randint(0, 5))
        rows.append([day.isoformat(), thing, dice.choice([owner, "front desk", "nobody yet"])])
    columns = [{"name": heads[0], "type": "date", "format": "yyyy-mm-dd", "width": 16},
               {"name": heads[1], "type": "text", "width": 48}, {"name": "Handled by", "type": "text"}]  # fmt: skip
    if dress == "remarks":
        columns.append({"name": "Remark", "type": "text", "width": 24})
        rows = [[*row, dice.choice([None, None, "filed", "answered by phone"])] for row in rows]
    sheet = {"name": "Log", "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}
    at = sheet.get("at", "A1")
    begin = int(at[1:]) + old + 1
    sheet["styles"] = [{"range": f"{at[0]}{begin}:{at[0]}{begin + 30}", "look": {"format": "yyyy-mm-dd"}}]
    sheets, main = [sheet], 0
    if dress == "two-sheets":
        sheets = [{"name": "Rules", "cells": [{"cell": "A1", "value": "Every mail gets a row of its own."}]}, sheet]
        main = 1
    taken = {thing.lower() for thing in things}
    plain = not any(old.startswith(mail["subject"].lower()) for mail in mails for old in taken if mail["subject"])
    return {"sheets": sheets, "main": main, "plain": plain}
