"""A table with three columns of dates, one after the other in each row, and an empty column for the days."""

from datetime import date, timedelta
from random import Random

# label column, person column, the three dates, greatest gaps, labels, status words, file names
TOPICS = {
    "orders": ("Article", "Customer", ["Ordered", "Shipped", "Delivered"], (9, 14),
               ["Desk lamp", "Office chair", "Whiteboard", "Filing cabinet", "Projector", "Label printer", "Footrest"],
               ["complete", "partial", "checked"], ["order-tracking", "deliveries", "orders-log"]),
    "repairs": ("Device", "Reported by", ["Received", "Repaired", "Picked up"], (20, 12),
                ["Laptop", "Coffee machine", "Printer", "Drill", "Bicycle", "Dishwasher", "Scanner"],
                ["warranty", "paid", "goodwill"], ["repair-desk", "workshop-log", "repairs"]),
    "invoices": ("Invoice", "Client", ["Issued", "Reminded", "Paid"], (30, 25),
                 ["Consulting", "Maintenance", "Training", "Hosting", "Design work", "Audit"],
                 ["transfer", "card", "cheque"], ["receivables", "payment-times", "invoices-paid"]),
    "hiring": ("Position", "Applicant", ["Applied", "Interviewed", "Started"], (25, 80),
               ["Accountant", "Developer", "Receptionist", "Buyer", "Technician", "Trainee"],
               ["referral", "advert", "agency"], ["recruiting", "hiring-times", "new-colleagues"]),
    "loans": ("Title", "Borrower", ["Lent", "Reminded", "Returned"], (28, 20),
              ["Atlas of Rivers", "Bread and Salt", "The Tin Flute", "Garden Year", "Old Maps", "Winter Light"],
              ["good", "worn", "damaged"], ["book-loans", "lending-list", "library-returns"]),
    "permits": ("Permit", "Applicant", ["Submitted", "Reviewed", "Granted"], (40, 30),
                ["Balcony", "Garage", "Street stall", "Scaffolding", "Carport", "Sign board"],
                ["north", "south", "centre"], ["permits", "building-office", "permit-times"]),
    "translations": ("Text", "Translator", ["Commissioned", "Begun", "Finished"], (10, 35),
                     ["User manual", "Contract", "Website", "Brochure", "Patent", "Press release"],
                     ["German", "Spanish", "Polish"], ["translations", "translation-jobs", "language-desk"]),
    "exhibits": ("Exhibit", "Lender", ["Requested", "Arrived", "Sent back"], (60, 150),
                 ["Bronze mask", "Astrolabe", "Portrait of a miller", "Clay lamp", "Ship model", "Tapestry"],
                 ["hall 1", "hall 2", "foyer"], ["loan-exhibits", "museum-loans", "exhibits"]),
    "claims": ("Claim", "Insured", ["Filed", "Inspected", "Settled"], (18, 50),
               ["Water damage", "Hail", "Theft", "Broken glass", "Fire", "Rear-end collision"],
               ["car", "home", "business"], ["claims", "claims-register", "settlements"]),
    "samples": ("Sample", "Collected by", ["Taken", "Tested", "Released"], (6, 15),
                ["River water", "Soil", "Milk", "Paint chip", "Dust", "Feed"],
                ["passed", "repeated", "open"], ["lab-samples", "sample-book", "lab-turnaround"]),
}  # fmt: skip


def compute(topic, rows, place, seed, names, heading, dateformat):
    dice = Random(f"{topic} {seed}")
    label, person, dates, gaps, things, states, files = TOPICS[topic]
    begin = date(2025, 1, 6) + timedelta(days=dice.randrange(200))
    lines = []
    for name in names[:rows]:
        begin += timedelta(days=dice.randrange(0, 6))
        second = begin + timedelta(days=dice.randint(1, gaps[0]))
        third = second + timedelta(days=dice.randint(2, gaps[1]))
        lines.append([dice.choice(things), name, *(d.isoformat() for d in (begin, second, third)), None,
                      dice.choice(states), round(dice.uniform(20, 900), 2)])  # fmt: skip
    columns = [
        {"name": label, "type": "text", "role": "label"},
        {"name": person, "type": "text", "role": "person"},
        *({"name": name, "type": "date", "format": dateformat, "role": "date"} for name in dates),
        {"name": heading, "type": "integer", "width": 14},
        {"name": "Status" if topic in ("orders", "loans", "samples", "repairs") else "Kind", "type": "text",
         "role": "category", "choices": states},
        {"name": "Cost", "type": "currency", "role": "measure", "format": "#,##0.00"},
    ]  # fmt: skip
    columns = [{"format": "", "unit": "", "formula": "", "choices": [], "role": "", **column} for column in columns]
    order = [0, 1, 2, 3, 4, 6, 7, 5] if place == "end" else list(range(8))
    columns = [columns[i] for i in order]
    lines = [[line[i] for i in order] for line in lines]
    table = {
        "topic": topic,
        "title": f"{topic.capitalize()} and their dates",
        "sheet": topic.capitalize(),
        "file": dice.choice(files),
        "columns": columns,
        "rows": lines,
        "numeric_columns": ["Cost"],
        "category_columns": [columns[order.index(6)]["name"]],
        "text_columns": [label, person],
        "date_columns": dates,
    }
    return {"table": table, "dates": dates, "file": table["file"]}
