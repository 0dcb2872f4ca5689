"""Read message filters (`msgFilterRules.dat`) into words of their own, whatever order or quoting they were written in.

Format: comm-central's nsMsgFilterList::LoadTextFilters and nsMsgSearchTerm::DeStreamNew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from forge.records import PreparerError

_LINE = re.compile(r'^(\w+)="((?:[^"\\]|\\.)*)"\s*$', re.MULTILINE)
_KINDS = {
    "Move to folder": "move",
    "Copy to folder": "copy",
    "AddTag": "tag",
    "Mark flagged": "star",
    "Mark read": "mark-read",
    "Mark unread": "mark-unread",
    "Delete": "delete",
    "Stop execution": "stop",
}


@dataclass(frozen=True)
class Rule:
    """A filter. Conditions are (field, operator, value), actions (kind, value); unknown kinds keep Thunderbird's words."""

    name: str
    enabled: bool
    match: str
    conditions: tuple[tuple[str, str, str], ...]
    actions: tuple[tuple[str, str], ...]
    account: str
    type: int = 17


def read_rules(text: str, account: str, folder_of: Callable[[str], str], shown: str) -> list[Rule]:
    """The filters of one file, in the order in which they run.

    Args:
        text: the file's content.
        account: label of the account it belongs to.
        folder_of: a folder's path by its URI.
        shown: what messages call the file.
    """
    if not text.startswith("version="):
        raise PreparerError(f"{shown} holds no filters: it does not begin with its version")
    found: list[dict[str, list[str]]] = []
    for key, value in _LINE.findall(text):
        if key == "name":
            found.append({})
        if found:
            found[-1].setdefault("action+" if key in ("action", "actionValue") else key, []).append(
                f"{key}={_plain(value)}" if key in ("action", "actionValue") else _plain(value)
            )
    return [_rule(fields, account, folder_of, shown) for fields in found]


def _rule(fields: dict[str, list[str]], account: str, folder_of: Callable[[str], str], shown: str) -> Rule:
    name = fields["name"][0]
    if "condition" not in fields or "enabled" not in fields:
        raise PreparerError(f"{shown}: filter {name!r} is cut off: it has no condition")
    actions: list[tuple[str, str]] = []
    for entry in fields.get("action+", []):
        key, _, value = entry.partition("=")
        if key == "action":
            actions.append((_KINDS.get(value, value), ""))
        elif actions:
            kind = actions[-1][0]
            actions[-1] = (kind, folder_of(value) if kind in ("move", "copy") else value)
    match, conditions = _conditions(fields["condition"][0], name, shown)
    return Rule(
        name,
        fields["enabled"][0] == "yes",
        match,
        conditions,
        tuple(actions),
        account,
        int(fields.get("type", ["17"])[0]),
    )


def _conditions(text: str, name: str, shown: str) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    if text.strip() == "ALL":
        return "all", ()
    found: list[tuple[str, str, str]] = []
    words: set[str] = set()
    at = 0
    term = re.compile(r'\s*(AND|OR) \(("(?:[^"\\]|\\.)*"|[^,]*),([^,]*),("(?:[^"\\]|\\.)*"|[^)]*)\)')
    while at < len(text.rstrip()):
        hit = term.match(text, at)
        if hit is None:
            raise PreparerError(f"{shown}: filter {name!r}: cannot read its condition at {text[at : at + 40]!r}")
        words.add(hit[1])
        found.append((_field(_unquoted(hit[2])), hit[3], _value(hit[2], _unquoted(hit[4]))))
        at = hit.end()
    return ("any" if words == {"OR"} else "all"), tuple(found)


def _field(value: str) -> str:
    return "age" if value == "age in days" else value


def _value(attribute: str, value: str) -> str:
    if attribute == "date":
        try:
            return datetime.strptime(value, "%d-%b-%Y").date().isoformat()
        except ValueError:
            return value
    return value


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
        value = value[1:-1]
    return value.replace('\\"', '"')


def _plain(value: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", value)
