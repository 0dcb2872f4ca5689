"""People and companies, drawn by seed: names of many languages, addresses that can never reach anybody."""

from __future__ import annotations

import functools
import random
import re
import unicodedata
from pathlib import Path
from typing import Any

import yaml

from preparers.thunderbird.chance import pick, some, whole

Person = dict[str, str]
"""name, first, last, address, mailbox (`Name <address>`), company, domain, role, phone."""


@functools.cache
def data(name: str) -> dict[str, Any]:
    """A data file of this package."""
    return dict(yaml.safe_load((Path(__file__).parent / "data" / f"{name}.yaml").read_text("utf-8")))


def company_names() -> list[str]:
    """The names of all companies that can be drawn."""
    return [company["name"] for company in data("people")["companies"]]


def draw_companies(count: int, rng: random.Random) -> list[dict[str, str]]:
    """Different companies: name, domain, trade."""
    return [dict(company) for company in some(rng, data("people")["companies"], count)]


def draw_people(count: int, rng: random.Random, *, company: dict[str, str] | None = None) -> list[Person]:
    """Different people.

    Args:
        count: how many; at most 1500.
        rng: only its `random()` is used.
        company: whom they work for (name, domain); without it each is a private person.
    """
    known = data("people")
    found: dict[str, Person] = {}
    while len(found) < count:
        first, last = pick(rng, known["first"]), pick(rng, known["last"])
        domain = company["domain"] if company else pick(rng, known["private"])
        style = "{f}.{l}" if company else pick(rng, ("{f}.{l}", "{f}{l}", "{l}.{f}", "{f}.{l}{n}"))
        local = style.format(f=ascii_name(first), l=ascii_name(last), n=whole(rng, 2, 99))
        name = f"{first} {last}"
        found.setdefault(
            name,
            {
                "name": name,
                "first": first,
                "last": last,
                "address": f"{local}@{domain}",
                "mailbox": f"{name} <{local}@{domain}>",
                "company": company["name"] if company else "",
                "domain": domain,
                "role": pick(rng, known["roles"]),
                "phone": f"+49 {whole(rng, 30, 99)} {whole(rng, 100000, 999999)}",
            },
        )
    return list(found.values())


def ascii_name(name: str) -> str:
    """A name as it stands in an address: Müller is mueller, Yılmaz is yilmaz, van Dijk is vandijk."""
    lower = name.lower()
    for char, plain in data("people")["ascii"].items():
        lower = lower.replace(char, plain)
    bare = unicodedata.normalize("NFKD", lower).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z-]", "", bare)
