"""Whole mailboxes, drawn by seed: threads about invoices, trips, school and more, in differently built folders.

`draw_mailbox` gives a fragment of the parameters of `thunderbird.profile`. Every message has an explicit id, so that a
workflow can name it before the profile is made, and subjects of threads are unique within a mailbox.
"""

from __future__ import annotations

import base64
import random
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from forge.records import JSON, Guest, InputError
from preparers.thunderbird.attachments import make_file
from preparers.thunderbird.chance import pick, some, whole
from preparers.thunderbird.layout import OWN_FOLDERS
from preparers.thunderbird.params import join_person, split_person
from preparers.thunderbird.people import Person, data, draw_companies, draw_people

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LABELS = ("$label1", "$label2", "$label3", "$label4", "$label5")


def kinds() -> list[str]:
    """The ways in which a mailbox can be built."""
    return list(data("mailboxes")["kinds"])


def matters() -> list[str]:
    """The subject matters of threads."""
    return [name for name in data("threads") if name != "values"]


def kind_words() -> dict[str, str]:
    """Kind of mailbox to what it is built of, in words."""
    return {name: _kind_words(plan) for name, plan in data("mailboxes")["kinds"].items()}


def matter_words() -> dict[str, str]:
    """Subject matter to who writes such mails, and what is attached to some of them."""
    found = {}
    for name, kind in data("threads").items():
        if name == "values":
            continue
        files = {
            step["attach"].rpartition(".")[2]
            for thread in kind["threads"]
            for step in thread["mails"]
            if "attach" in step
        }
        found[name] = f"from a {kind['from']}{', some with .' + '/.'.join(sorted(files)) if files else ''}"
    return found


def draw_mailbox(kind: str, size: int, rng: random.Random, guest: Guest) -> dict[str, JSON]:
    """Parameters for `thunderbird.profile`: accounts, folders with mails, contacts, lists, filters, tags.

    Args:
        kind: one of `kinds()`.
        size: how many messages, about, replies included; 5 to 400.
        rng: only its `random()` is used.
        guest: its clock is the newest that a mail can be.

    Raises:
        InputError: there is no such kind.
    """
    if kind not in kinds():
        raise InputError(f"there is no mailbox of the kind {kind!r}", mend=f"known are {', '.join(kinds())}")
    plan = data("mailboxes")["kinds"][kind]
    cast = _Cast.draw(rng)
    names = _names(rng, cast, guest.now.year)
    folders: dict[str, list[dict[str, JSON]]] = {}
    for template, spec in plan["folders"].items():
        path = template.format(**names)
        folders[path] = []
        wanted = max(1, round(size * spec["share"]))
        newest = guest.now - timedelta(days=spec.get("back", 0))
        while len(folders[path]) < wanted:
            matter = pick(rng, spec["matters"])
            received, sent = _thread(matter, cast, rng, newest, path)
            folders[path] += received[: wanted - len(folders[path])]
            if received:
                folders.setdefault(f"{plan['second']}/Sent" if path.startswith("Club/") else "Sent", []).extend(sent)
    _mark(folders, plan, rng)
    for mails in folders.values():
        mails.sort(key=lambda mail: (mail["date"], mail["id"]))
    contacts = _contacts(cast, plan["contacts"], rng)
    return {
        "accounts": [cast.account, *([cast.second(plan["second"])] if "second" in plan else [])],
        "folders": [{"path": path, "messages": mails} for path, mails in folders.items()],
        "contacts": contacts,
        "lists": _lists(contacts, plan.get("lists", 0), rng),
        "filters": _filters(folders, cast, plan.get("filters", 0), rng),
        "tags": [{"key": "receipt", "name": "Receipt", "color": "#009900"}] if plan.get("own_tag") else [],
    }


def listing(mailbox: dict[str, JSON]) -> list[dict[str, JSON]]:
    """The messages of a drawn mailbox, flat: its fields, its folder, its sender's name and address, whether it is unique.

    A message is unique when no other one in the mailbox has its subject, or a subject that contains it.
    """
    flat = [(folder["path"], mail) for folder in mailbox["folders"] for mail in folder["messages"]]
    subjects = [mail["subject"].casefold() for _, mail in flat]
    return [
        {
            **mail,
            "folder": path,
            "from_name": split_person(mail["from"])[0],
            "from_address": split_person(mail["from"])[1],
            "unique": sum(mail["subject"].casefold() in subject for subject in subjects) == 1,
        }
        for path, mail in flat
    ]


@dataclass
class _Cast:
    """Who is in a mailbox, and which subjects are taken."""

    account: dict[str, JSON]
    owner: Person
    colleagues: list[Person]
    friends: list[Person]
    companies: list[dict[str, str]]
    staff: dict[str, list[Person]]
    club: list[Person]
    school: list[Person]
    subjects: set[str] = field(default_factory=set)

    @classmethod
    def draw(cls, rng: random.Random) -> _Cast:
        own = pick(rng, data("people")["own"])
        employer = {"name": own["company"], "domain": own["domain"]}
        person = draw_people(1, rng, company=employer)[0]
        local = "alex." + person["address"].partition("@")[0].rpartition(".")[2]
        owner = person | {"first": "Alex", "name": f"Alex {person['last']}", "address": f"{local}@{own['domain']}"}
        companies = draw_companies(8, rng)
        staff = {company["name"]: draw_people(2, rng, company=company) for company in companies}
        return cls(
            account={"address": owner["address"], "name": owner["name"]},
            owner=owner,
            colleagues=draw_people(5, rng, company=employer),
            friends=draw_people(6, rng),
            companies=companies,
            staff=staff,
            club=draw_people(4, rng, company={"name": "Rowing Club", "domain": "rowing-club.example"}),
            school=draw_people(3, rng, company={"name": "Linden School", "domain": "linden-school.example"}),
        )

    def second(self, label: str) -> dict[str, JSON]:
        return {"address": "alex@rowing-club.example", "name": self.owner["name"], "label": label}

    def sender(self, kind: str, rng: random.Random) -> tuple[Person, dict[str, str]]:
        """Somebody who writes such mails, and the company in whose name."""
        company = pick(rng, self.companies)
        if kind == "company":
            return pick(rng, self.staff[company["name"]]), company
        if kind in ("service", "newsletter"):
            local = "support" if kind == "service" else "news"
            name = f"{company['name']} {'Support' if kind == 'service' else 'News'}"
            address = f"{local}@{company['domain']}"
            agent = pick(rng, self.staff[company["name"]])
            return agent | {"name": name, "address": address, "mailbox": join_person(name, address)}, company
        people = {"colleague": self.colleagues, "friend": self.friends, "club": self.club, "school": self.school}[kind]
        person = pick(rng, people)
        return person, {"name": person["company"] or person["name"], "domain": person["domain"]}


def _kind_words(plan: dict[str, Any]) -> str:
    folders = []
    for path, spec in plan["folders"].items():
        matters = ", ".join(dict.fromkeys(spec["matters"])) + ("; older" if spec.get("back") else "")
        folders.append(f"{path} {round(spec['share'] * 100)} % ({matters})")
    more = [f"{plan['contacts']} contacts"]
    more += [f"a second account {plan['second']}"] if "second" in plan else []
    counted = ((plan.get("lists", 0), "mailing list"), (plan.get("filters", 0), "filter"))
    more += [f"{count} {word}{'s' if count > 1 else ''}" for count, word in counted if count]
    more += ["a tag Receipt"] if plan.get("own_tag") else []
    shares = ", ".join(f"{round(plan[key] * 100)} % {key}" for key in ("unread", "starred", "tagged") if plan[key])
    return f"{', '.join(folders)}; {', '.join(more)}; {shares}"


def _names(rng: random.Random, cast: _Cast, year: int) -> dict[str, str]:
    """What the folders' names are made of."""
    projects = some(rng, data("mailboxes")["names"], 2)
    companies = some(rng, [company["name"] for company in cast.companies], 3)
    return {
        "project": projects[0],
        "project_2": projects[1],
        "company": companies[0],
        "company_2": companies[1],
        "company_3": companies[2],
        "year": str(year),
        "last_year": str(year - 1),
        "year_before": str(year - 2),
    }


def _thread(
    matter: str, cast: _Cast, rng: random.Random, newest: datetime, folder: str
) -> tuple[list[dict[str, JSON]], list[dict[str, JSON]]]:
    """(received, sent) messages of one new thread."""
    kind = data("threads")[matter]
    template = pick(rng, kind["threads"])
    person, company = cast.sender(kind["from"], rng)
    begin = _by_day(newest - timedelta(days=whole(rng, 1, 60)), rng)
    for _ in range(40):
        slots = _slots(cast, person, company, rng, begin)
        subject = template["subject"].format(**slots)
        if subject.casefold() not in cast.subjects:
            break
    else:
        return [], []
    cast.subjects.add(subject.casefold())
    me = join_person(
        cast.owner["name"], "alex@rowing-club.example" if folder.startswith("Club/") else cast.owner["address"]
    )
    other = pick(rng, [p for p in cast.colleagues + cast.friends if p["name"] != person["name"]])
    received: list[dict[str, JSON]] = []
    sent: list[dict[str, JSON]] = []
    moment, above = begin, ""
    for number, step in enumerate(template["mails"]):
        if moment > newest:
            break
        by = step.get("by", "same")
        writer = {"me": me, "same": person["mailbox"], "other": other["mailbox"]}[by]
        first = {"me": cast.owner, "same": person, "other": other}[by]["first"]
        text = step["text"].format(**slots | {"first": person["first"] if by == "me" else first}).strip("\n")
        mail: dict[str, JSON] = {
            "from": writer,
            "to": [person["mailbox"] if by == "me" else me],
            "subject": subject if number == 0 else f"Re: {subject}",
            "date": moment.isoformat(timespec="seconds"),
            "text": text,
            "answers": above,
        }
        if template.get("html"):
            mail["html"] = _html(text)
        if "attach" in step:
            name = step["attach"].format(**slots)
            content = make_file(name, subject, slots, rng)
            mail["attachments"] = [{"name": name, "base64": base64.b64encode(content).decode()}]
        mail["id"] = above = _message_id(mail, rng)
        (sent if by == "me" else received).append(mail)
        moment += timedelta(hours=whole(rng, 1, 40), minutes=whole(rng, 1, 59))
        if not 7 <= moment.hour < 21:
            moment = _by_day(moment + timedelta(days=1), rng)
    return received, sent


def _by_day(moment: datetime, rng: random.Random) -> datetime:
    """That day, at a time when people write mails."""
    return moment.replace(hour=whole(rng, 7, 19), minute=whole(rng, 0, 59), second=0)


def _slots(cast: _Cast, person: Person, company: dict[str, str], rng: random.Random, begin: datetime) -> dict[str, str]:
    values = data("threads")["values"]
    soon, later = begin + timedelta(days=whole(rng, 2, 9)), begin + timedelta(days=whole(rng, 10, 24))
    return {
        "me": cast.owner["first"],
        "my_name": cast.owner["name"],
        "first": person["first"],
        "name": person["name"],
        "company": company["name"],
        "number": str(whole(rng, 10000, 99999)),
        "amount": f"{whole(rng, 12, 4800):,}.{whole(rng, 0, 99):02d} EUR",
        "count": str(whole(rng, 3, 48)),
        "item": pick(rng, values["item"]),
        "place": pick(rng, values["place"]),
        "time": f"{whole(rng, 8, 18):02d}:{pick(rng, ('00', '15', '30', '45'))}",
        "day": f"{_DAYS[soon.weekday()]}, {soon.day} {_MONTHS[soon.month - 1]}",
        "later": f"{later.day} {_MONTHS[later.month - 1]}",
        "month": f"{_MONTHS[begin.month - 1]} {begin.year}",
    }


def _message_id(mail: dict[str, JSON], rng: random.Random) -> str:
    digits = "".join(pick(rng, "0123456789abcdef") for _ in range(20))
    return f"{digits}@{split_person(str(mail['from']))[1].partition('@')[2]}"


def _html(text: str) -> str:
    """A newsletter's HTML: the first paragraph as heading."""
    escape = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    title, *rest = re.sub("[&<>]", lambda m: escape[m[0]], text).split("\n\n")
    body = "\n".join(f"<p>{part.replace(chr(10), '<br>')}</p>" for part in rest)
    return f'<html>\n<body style="font-family: sans-serif">\n<h1>{title}</h1>\n{body}\n</body>\n</html>'


def _mark(folders: dict[str, list[dict[str, JSON]]], plan: dict[str, Any], rng: random.Random) -> None:
    """Read, starred, replied, tags."""
    answered = {mail["answers"] for mails in folders.values() for mail in mails if "Re: " in mail["subject"]}
    for path, mails in folders.items():
        own = path.rpartition("/")[2] in OWN_FOLDERS[1:]
        for mail in mails:
            chances = [rng.random() for _ in range(4)]
            mail["replied"] = mail["id"] in answered and not own
            mail["read"] = own or mail["replied"] or chances[0] >= plan["unread"]
            mail["starred"] = not own and chances[1] < plan["starred"]
            tag = _LABELS[min(int(chances[3] * 5), 4)]
            mail["tags"] = [tag] if not own and chances[2] < plan["tagged"] else []


def _contacts(cast: _Cast, count: int, rng: random.Random) -> list[dict[str, JSON]]:
    everybody = cast.colleagues + cast.friends + cast.club + [p for people in cast.staff.values() for p in people]
    found = {person["address"]: person for person in some(rng, everybody, count)}
    return [
        {
            "name": person["name"],
            "email": person["address"],
            "first": person["first"],
            "last": person["last"],
            "phone": person["phone"] if rng.random() < 0.6 else "",
            "organization": person["company"],
            "title": person["role"] if person["company"] and rng.random() < 0.5 else "",
        }
        for person in found.values()
    ]


def _lists(contacts: list[dict[str, JSON]], count: int, rng: random.Random) -> list[dict[str, JSON]]:
    names = some(rng, ("Board", "Team lunch", "Neighbours", "Reading circle", "Carpool"), count)
    return [{"name": name, "members": [c["email"] for c in some(rng, contacts, 4)]} for name in names]


def _filters(
    folders: dict[str, list[dict[str, JSON]]], cast: _Cast, count: int, rng: random.Random
) -> list[dict[str, JSON]]:
    targets = [path for path in folders if path.rpartition("/")[2] not in OWN_FOLDERS]
    found = []
    for company in some(rng, cast.companies, count):
        name, value = pick(rng, (("from", company["domain"]), ("subject", company["name"])))
        action = {"kind": "move", "value": pick(rng, targets)}
        condition = {"field": name, "op": "contains", "value": value}
        found.append({"name": f"Mail from {company['name']}", "conditions": [condition], "actions": [action]})
    return found
