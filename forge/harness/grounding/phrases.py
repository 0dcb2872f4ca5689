"""Instructions that name a thing, or say what it is for.

What a thing is for comes from the application where it tells (its description, its key), from `functions.yaml` for what
every user knows, and else from its kind.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

from forge.harness.grounding.visible import BUTTONS, Thing, clean

T = TypeVar("T")


def pick(options: list[T], *seed: str) -> T:
    """One of several, by a hash: the same every time."""
    return options[int.from_bytes(hashlib.sha256("\0".join(seed).encode()).digest()[:4], "big") % len(options)]


def by_name(thing: Thing, *, with_word: bool, with_home: bool, seed: str = "") -> str:
    """An instruction with the thing's name; with its kind and its home where the name alone is not enough."""
    home = f" in {thing.home}" if with_home else ""
    if thing.word == "cell":
        forms = ['Click the cell that contains "{n}"', 'Select the cell with "{n}" in it', 'Where is the cell "{n}"?']
    elif with_word:
        forms = ['Click the {w} "{n}"{h}', 'Click on the "{n}" {w}{h}', 'Point at the "{n}" {w}{h}', 'The {w} "{n}"{h}']
    else:
        forms = ['Click "{n}"', 'Click on "{n}"', 'Where is "{n}"?', 'Point at "{n}"']
    return pick(forms, seed, thing.context, thing.name, "name").format(n=thing.name, w=thing.word, h=home)


def by_function(thing: Thing, seed: str = "") -> str | None:
    """An instruction that says what the thing does; None where nothing more than its name is known."""
    known = _described(thing) or _known(thing) or _by_key(thing)
    return known or _by_kind(thing, seed)


@cache
def functions() -> dict[str, str]:
    """What well-known controls do, by their names in lower case."""
    return {str(name).lower(): str(phrase) for name, phrase in _bank()["functions"].items()}


@cache
def verbs() -> frozenset[str]:
    """Words with which the name of a command begins."""
    return frozenset(_bank()["verbs"].split())


@cache
def _bank() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        files("forge.harness.grounding").joinpath("functions.yaml").read_text("utf-8")
    )
    return found


def _described(thing: Thing) -> str | None:
    """What the application itself says: only a whole phrase that begins with a verb and is more than the name."""
    text = " ".join(thing.detail.description.split()).rstrip(".")
    text = re.sub(r"\s*\((Ctrl|Alt|Shift|F\d)[^)]*\)$", "", text)
    words = text.split()
    if not 3 <= len(words) <= 16 or text.lower() == thing.name.lower() or len(text) > 100:
        return None
    first = words[0].lower()
    if first in verbs():
        return text[0].upper() + text[1:]
    if first.removesuffix("s") in verbs() and first not in ("settings",):
        return f"Use the {thing.word} that {_lower(text)}" if text[0].isupper() else None
    return None


def _known(thing: Thing) -> str | None:
    if thing.word not in ("button", "menu entry", "submenu", "menu"):
        return None
    name = thing.name.lower()
    if thing.context.startswith("dialog ") and name in ("ok", "cancel", "close", "apply", "reset", "help", "yes", "no"):
        title = thing.context.removeprefix("dialog ").split(",")[0]
        return {
            "ok": f'Confirm the "{title}" dialog', "cancel": f'Leave the "{title}" dialog without changing anything',
            "close": f'Close the "{title}" dialog', "apply": f'Put the settings of "{title}" into effect and stay here',
            "reset": f'Set everything in "{title}" back as it was', "help": f'Get help on the "{title}" dialog',
        }.get(name)  # fmt: skip
    if thing.word in ("submenu", "menu"):
        return None
    return functions().get(name)


def _by_key(thing: Thing) -> str | None:
    """`b;<Alt>o:b;<Primary>b`: the last part is the accelerator, where there is one."""
    if thing.word != "menu entry":
        return None
    key = thing.detail.keys.split(";")[-1]
    match = re.fullmatch(r"((?:<\w+>)+)(\w+)|(F\d+)", key)
    if match is None or "<Alt>" in key:
        return None
    held = [{"Primary": "Ctrl", "Control": "Ctrl"}.get(m, m) for m in re.findall(r"<(\w+)>", match[1] or "")]
    chord = "+".join(
        [*held, (match[2] or match[3]).upper() if len(match[2] or match[3]) == 1 else match[2] or match[3]]
    )
    return f"Choose the menu entry that the keys {chord} stand for"


def _by_kind(thing: Thing, seed: str) -> str | None:
    name, states = thing.name, thing.element.states
    match thing.word:
        case "menu":
            forms = [f"Open the menu with the {name} commands", f'Show what the "{name}" menu offers']
        case "submenu":
            forms = [f'Open the submenu with the choices for "{name}"', f'Show the further choices under "{name}"']
        case "check box" | "switch":
            verb = "Turn off" if "checked" in states else "Turn on"
            forms = [f'{verb} the option "{name}"', f'{verb} "{name}"']
        case "radio button":
            forms = [f'Decide for "{name}"', f'Choose the option "{name}"']
        case "drop-down list" if name != clean(thing.element.name):
            forms = [f'Choose another value for "{name}"', f'See the choices for "{name}"']
        case "text field":
            forms = [f'Enter something for "{name}"', f'Put the cursor where "{name}" is typed']
        case "number field":
            forms = [f'Change the number for "{name}"', f'Set another value for "{name}"']
        case "slider":
            forms = [f'Adjust "{name}"']
        case "tab":
            forms = [f'Show the page "{name}"', f'Switch to "{name}"']
        case "link":
            forms = [f'Follow the link to "{name}"', f'Go to "{name}"']
        case "column header":
            forms = [f"Sort the list by {name}", f'Sort by the column "{name}"']
        case "row" | "list entry" | "table cell":
            forms = [f'Select the entry "{name}"', f'Mark "{name}" in the list']
        case "color":
            forms = [f'Choose the color "{name}"', f'Take "{name}" as the color']
        case "icon" if not thing.context.startswith("dialog "):
            forms = [f'Select the item "{name}"']
        case "menu entry" if thing.element.name.rstrip().endswith(("...", "…")):
            forms = [f'Bring up the dialog for "{name}"', f'Open the "{name}" settings from the menu']
        case "menu entry" | "button" if _is_command(name):
            forms = [f"I want to {_lower(name)}", f"What do I click to {_lower(name)}?"]
        case "menu entry" if "checked" in states and thing.element.role == "check menu item":
            forms = [f'Turn off "{name}" in the menu']
        case "button":
            forms = [f'Use the button for "{name}"'] if thing.element.role in BUTTONS else []
        case _:
            forms = []
    return pick(forms, seed, thing.context, name, "function") if forms else None


def _is_command(name: str) -> bool:
    words = name.split()
    begins = words[0].lower() in verbs() and words[0].lower() != "new"
    return len(words) >= 2 and begins and words[-1].lower() not in ("to", "as", "with", "for", "in", "from", "at", "by")


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]
