"""A workbook that says how orders (invoices, ...) stand, and a mailbox with mails about them."""

from datetime import datetime, timedelta
from hashlib import sha256

MATTERS = {
    # what: (one, many, file, sheet, column of numbers, number, other columns, column of marks, marks, subjects)
    "order": ("order", "orders", "orders-spring", "Orders", "Order", "SO-{n}", ["Customer", "Value"], "Payment", ["paid", "open", "reminded"],
        ["Order {n}: when will it come?", "Change of address for order {n}", "Order {n} for our office", "My order {n} of last week"]),
    "invoice": ("invoice", "invoices", "invoice-ledger", "Invoices", "Invoice", "RE{n}", ["Client", "Value"], "State", ["settled", "overdue", "open"],
        ["Invoice {n}", "Question about invoice {n}", "Invoice {n}, your reference", "Copy of invoice {n} please"]),
    "booking": ("booking", "bookings", "room-bookings", "Bookings", "Booking", "B{n}", ["Guest", "Date"], "Deposit", ["received", "missing", "waived"],
        ["Booking {n}: two more chairs", "Arrival time, booking {n}", "Booking {n} for the workshop", "Change to booking {n}"]),
    "ticket": ("ticket", "tickets", "helpdesk", "Tickets", "No.", "T-{n}", ["Reported by", "Date"], "Status", ["solved", "waiting", "escalated"],
        ["[T-{n}] Printer on the second floor", "[T-{n}] Cannot log in", "[T-{n}] Screen stays dark", "[T-{n}] Licence has run out"]),
    "registration": ("registration", "registrations", "summer-course", "Participants", "Registration", "R-{n}", ["Name", "Fee"], "Paid", ["yes", "no", "part"],
        ["Registration {n}: diet", "Registration {n} and the bus", "Question on registration {n}", "Registration {n}: a second person"]),
    "delivery": ("delivery", "deliveries", "incoming-goods", "Deliveries", "Delivery", "LS {n}", ["From", "Date"], "Checked", ["complete", "short", "damaged"],
        ["Delivery {n} is on its way", "Delivery note {n}", "Delivery {n}: pallets", "About delivery {n}"]),
    "application": ("application", "applications", "grants-2026", "Applications", "File no.", "GA/{n}", ["Applicant", "Value"], "Decision", ["granted", "refused", "put off"],
        ["Application {n}: missing page", "Your letter on {n}", "Application {n}, budget", "Documents for {n}"]),
    "repair": ("repair job", "repair jobs", "workshop-jobs", "Jobs", "Job", "J{n}", ["Customer", "Date"], "Paid by", ["card", "cash", "transfer"],
        ["Job {n}: is it ready?", "Estimate for job {n}", "Job {n}, spare part", "Picking up job {n}"]),
}  # fmt: skip
LOOKS = {
    "plain": {},
    "titled": {"titles": ["List", "kept by hand"], "at": "B4"},
    "coloured": {"header": {"bold": True, "fill": "E2EFDA"}, "banded": "F5FAF2", "freeze": "A2"},
    "noted": {"notes": [{"cell": "A1", "text": "Ask before you change a line."}], "header": {"bold": True}},
    "framed": {"header": {"bold": True, "border": "thin"}, "body": {"border": "thin"}, "at": "B2"},
}
TEXTS = [
    "Hello,\n\nI am writing about {n}. Could you have a look?\n\nBest regards\n{who}\n",
    "Good morning,\n\nit is about {n}, as in the subject. Thank you for your help.\n\n{who}\n",
    "Hi,\n\nplease see the subject; the number is {n}.\n\n{who}\n",
]


def compute(box, matter, lines, clients, number, dress):
    def pick(*what):
        return int.from_bytes(sha256(repr((matter, number, *what)).encode()).digest()[:4], "big")

    one, many, file, sheet, key, form, others, heading, values, subjects = MATTERS[matter]
    first = 1000 + pick("first") % 7000
    step = 1 + pick("step") % 3
    inbox = next(folder for folder in box["folders"] if folder["path"] == "Inbox")
    mails = list(inbox["messages"])
    newest = max((mail["date"] for mail in mails), default="2026-03-12T09:00:00")
    to = next((mail["to"] for mail in mails if mail.get("to")), [])
    entries, rows = [], []
    for place in range(int(lines)):
        client = clients[place % len(clients)]
        bare = str(first + place * step)
        name = form.format(n=bare)
        status = values[pick("status", place) % 3]
        written = []
        for turn in range([1, 1, 1, 1, 2, 0][pick("mails", place) % 6]):
            subject = subjects[(pick("subject", place) + turn) % len(subjects)]
            subject = subject.format(n=bare if "T-" in subject else name)
            date = datetime.fromisoformat(newest) - timedelta(
                hours=7 * place + 5 * turn + 3, minutes=pick("minute", place, turn) % 60
            )
            identity = (
                sha256(repr((matter, number, name, turn)).encode()).hexdigest()[:20]
                + "@"
                + client["address"].split("@")[1]
            )
            text = TEXTS[pick("text", place, turn) % len(TEXTS)].format(n=name, who=client["name"])
            mail = {"id": identity, "from": client["mailbox"], "to": to, "subject": subject, "text": text}
            mails.append({**mail, "date": date.isoformat(), "read": pick("read", place, turn) % 3 > 0})
            written.append({"id": identity, "subject": subject, "sender": client["name"]})
        entries.append({"number": name, "status": status, "mails": written})
        made_up = {
            "Date": f"2026-0{pick('month', place) % 3 + 1}-{pick('day', place) % 27 + 1:02}",
            "Value": (pick("value", place) % 90000 + 1500) / 100,
            "Fee": 20.0 + pick("fee", place) % 12 * 5,
        }
        rows.append([name, *(made_up.get(head, client["name"]) for head in others), status])
    types = {"Date": "date", "Value": "currency", "Fee": "currency"}
    heads = [key, *others, heading]
    columns = [{"name": head, "type": types.get(head, "text")} for head in heads]
    if pick("shuffle") % 2:
        rows.sort(key=lambda row: pick("row", row[0]))
    sheets = [{"name": sheet, "table": {"columns": columns, "rows": rows}, **LOOKS[dress]}]
    if pick("second") % 3 == 0:
        # an earlier list, where the same numbers stood differently
        older = [[row[0], values[(values.index(row[-1]) + 1) % 3]] for row in rows[: len(rows) * 2 // 3]]
        table = {"columns": [{"name": key, "type": "text"}, {"name": heading, "type": "text"}], "rows": older}
        sheets.insert(pick("where") % 2, {"name": "As of January", "table": table})
    folders = [{**folder, "messages": mails} if folder is inbox else folder for folder in box["folders"]]
    return {
        "box": {**box, "folders": folders},
        "sheets": sheets,
        "main": [each["name"] for each in sheets].index(sheet),
        "file": file,
        "one": one,
        "many": many,
        "key": key,
        "heading": heading,
        "values": values,
        "entries": entries,
    }
