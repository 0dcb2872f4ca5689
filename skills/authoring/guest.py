"""What there is in the guest, for authors: its applications, and the modules that scripts of solutions import.

What an application is comes from its code (`forge.desktop.apps`, the moves) and from `apps.yaml`; what a module can do is
read from the module itself: signatures, docstrings, and the example of its own docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from forge.desktop.apps import APPS
from forge.desktop.apps.accessories import OPENED_BY
from forge.harness.moves import MOVES
from forge.records.tables import first_line, paragraphs

_FILE = Path(__file__).parent / "apps.yaml"
_LAYERS = "forge.harness.layers"
MODULES = {"sheetpatch": f"{_LAYERS}.office.python.sheetpatch", "mailkit": f"{_LAYERS}.mail.python.mailkit"}
"""Module of the guest to where it lies here."""

_OF_ANY_WINDOW = ("choosers", "general", "lists", "switching", "values", "waiting")
_HOUSES = {"documents": ("calc", "writer", "impress"), "chromium_profile": ("chromium",), "files_items": ("files",)}
_ALSO = {"save": ("calc", "writer", "impress"), "toolbar": ("calc", "writer", "impress")}
_DESKTOP_FILES = {
    "calc": "libreoffice-calc", "writer": "libreoffice-writer", "impress": "libreoffice-impress", "editor": "org.xfce.mousepad",
    "chromium": "chromium", "gimp": "gimp", "thunderbird": "thunderbird",
}  # fmt: skip


def apps() -> dict[str, str]:
    """Application to what it is, in a line."""
    return {name: f"{_told()[name]['about']}; in the guest `{_command(name)}`" for name in APPS}


def app_text(name: str) -> str:
    """An application: windows, files, commands, moves, what is saved where."""
    told, types = _told()[name], [kind for kind, by in OPENED_BY.items() if by == f"{_DESKTOP_FILES.get(name)}.desktop"]
    start = f"{{app: {name}}}" if name in ("thunderbird",) else f'{{app: {name}, open: "~/..."}}'
    lines = [
        f"{told['about']} (Debian package {APPS[name].package}).",
        f"- At the start of a task: `{start}`; it opens {told['opens']}.",
        f"- Window: {told['window']}.",
        f"- In the guest: `{_command(name)}`; {told['commands']}.",
        *([f"- A double click in the file manager opens with it: {', '.join(types)}."] if types else []),
        f"- Saves: {told['saves']}.",
        f"- Moves: {', '.join(_own_moves(name)) or 'none of its own'}; and those of any window: {', '.join(_general())}.",
        *(f"- {hint}" for hint in told.get("hints", ())),
    ]
    return "\n".join(lines)


def house_of(move: str) -> tuple[str, ...]:
    """The applications that a move is for; none for one that works in any window."""
    name = MOVES.get(move).run.__module__.partition("moves.")[2].split(".")[0]
    if name in _OF_ANY_WINDOW:
        return ()
    return _ALSO.get(move) or _HOUSES.get(name, (name,))


def modules() -> dict[str, str]:
    """Module to its first line."""
    return {name: first_line(module(name).__doc__) for name in MODULES}


def module(name: str) -> ModuleType:
    """A module of the guest, as it is imported here."""
    return import_module(MODULES[name])


def module_text(name: str) -> str:
    """A module: its own words with an example, then every public function and class with signatures and docstrings."""
    found = module(name)
    parts = [paragraphs(found.__doc__)]
    constants = []
    for public in found.__all__:
        thing = getattr(found, public)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            constants.append(f"`{public}`: {first_line(thing.__doc__)}")
        elif inspect.isclass(thing):
            about = "" if (thing.__doc__ or "").startswith(f"{public}(") else f" {_flat(thing.__doc__)}"
            parts.append(f"**class {public}**{about}\n" + "\n".join(f"- {line}" for line in _members(thing)))
        elif inspect.isfunction(thing):
            parts.append(f"`{name}.{public}{_signature(thing)}`: {_flat(thing.__doc__)}")
        elif not isinstance(thing, int):
            constants.append(f"`{public}` = `{thing}`")
    return "\n\n".join([*parts, *(["Also: " + "; ".join(constants) + "."] if constants else [])])


def _members(cls: type) -> Iterator[str]:
    """Properties, then methods, in the order of their definition."""
    fields = [name for name in vars(cls).get("__annotations__", {}) if _public(name)]
    plain = [
        f"`{name}`"
        for name, thing in vars(cls).items()
        if _public(name) and isinstance(thing, property) and not thing.__doc__
    ]
    if fields or plain:
        yield f"Fields: {', '.join([*(f'`{name}`' for name in fields), *plain])}."
    for name, thing in vars(cls).items():
        if not _public(name):
            continue
        if isinstance(thing, property) and thing.__doc__:
            yield f"`{name}`: {_flat(thing.__doc__)}"
        elif inspect.isfunction(thing):
            yield f"`{name}{_signature(thing)}`: {_flat(thing.__doc__)}"


def _public(name: str) -> bool:
    return not name.startswith("_")


def _signature(function: Any) -> str:
    """Names; `?` for those that may be left out and then are empty, other defaults as they are."""
    parts, star = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = (
            "*"
            if parameter.kind is parameter.VAR_POSITIONAL
            else "**"
            if parameter.kind is parameter.VAR_KEYWORD
            else ""
        )
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        empty = parameter.default is None or parameter.default in ("", (), False)
        default = "" if parameter.default is parameter.empty else "?" if empty else f"={parameter.default!r}"
        parts.append(f"{mark}{parameter.name}{default}")
    return f"({', '.join(parts)})"


def _flat(docstring: str | None) -> str:
    return " ".join(paragraphs(docstring).split())


def _own_moves(app: str) -> list[str]:
    return [name for name in MOVES.names() if app in house_of(name)]


def _general() -> list[str]:
    return [name for name in MOVES.names() if not house_of(name)]


def _command(app: str) -> str:
    return "soffice" if app in ("calc", "writer", "impress") else APPS[app].program.rpartition("/")[2]


@cache
def _told() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
    return found
