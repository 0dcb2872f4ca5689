"""The catalogue: everything that a workflow may be built of, in the words of the code itself.

One place describes preparers, checks, moves, kinds of draws and nodes, functions and banks; the reference pages and the
authoring agent's tools both read it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from forge.records import InputError
from forge.records.tables import first_line, model_tables, paragraphs, table
from skills.language.located import nearest
from skills.language.shapes import Shape


def listing(kind: str, query: str = "") -> str:
    """One line for each thing of a kind, `name: summary`.

    Args:
        kind: one of `KINDS`.
        query: only those whose name or summary holds one of these words.

    Raises:
        InputError: there is no such kind.
    """
    known = entries(kind)
    words = query.lower().split()
    found = [(n, s) for n, s in known.items() if not words or any(w in f"{n} {s}".lower() for w in words)]
    if not found:
        return f"none of the {len(known)} {kind} has any of these words; ask without a query for all of them"
    return "\n".join(f"{name}: {summary}" for name, summary in found)


def entries(kind: str) -> dict[str, str]:
    """Name to summary of all things of a kind."""
    return _kind(kind).entries()


def describe(kind: str, name: str) -> str:
    """All that is known of one thing, as Markdown. Raises InputError for an unknown kind or name."""
    found = _kind(kind)
    known = found.entries()
    if name not in known:
        raise InputError(f"there is no {name!r} among the {kind}", mend=nearest(name, known))
    return found.describe(name)


class Kind:
    """One kind of thing: how it is listed, and how one of it is described."""

    def __init__(self, entries: Callable[[], dict[str, str]], describe: Callable[[str], str]):
        self.entries = entries
        self.describe = describe


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise InputError(f"the catalogue has no {name!r}", mend=f"it has {', '.join(KINDS)}")
    return KINDS[name]


def preparer_text(name: str) -> str:
    """A preparer: its parameters, and the facts that workflows refer to."""
    from skills.nodes.facts import facts_of

    preparer = _preparers().get(name)
    parts = [
        f"{paragraphs(type(preparer).__doc__)} (version {preparer.version})",
        *("### Parameters", model_tables(preparer.params, 4), "### Facts", facts_text(facts_of(preparer))),
    ]
    return "\n\n".join(parts)


def check_text(name: str) -> str:
    """A check: what it grades, and its arguments."""
    check = _checks().get(name)
    return "\n\n".join([paragraphs(check.run.__doc__), f"Version {check.version}.", model_tables(check.args, 3)])


def move_text(name: str) -> str:
    """A move: what it does, and its arguments."""
    move = _moves().get(name)
    bare = f" A bare value is its `{move.args.main}`." if move.args.main else ""
    return "\n\n".join([f"{paragraphs(move.run.__doc__)}{bare}", model_tables(move.args, 3)])


def draw_text(name: str) -> str:
    """A kind of draw, with its options."""
    kind = _draws().get(name)
    return "\n\n".join([f"{paragraphs(type(kind).__doc__)} (version {kind.version})", model_tables(kind.args, 4)])


def node_text(name: str) -> str:
    """A kind of node."""
    return paragraphs(type(_nodes().get(name)).__doc__)


def facts_text(shape: Shape) -> str:
    """The names below a record's shape, one row each."""
    rows: list[tuple[str, str]] = []

    def walk(inner: Shape, at: str) -> None:
        for name, field in inner.fields.items():
            rows.append((f"`{at}{name}`", str(field) if field.kind != "record" else "record"))
            element = field.item if field.kind == "list" else field
            if element is not None and element.kind == "record":
                walk(element, f"{at}{name}{'[]' if field.kind == 'list' else ''}.")
        if inner.open:
            rows.append((f"`{at}…`", "more, by the parameters"))

    walk(shape, "")
    return table(("fact", "shape"), rows) if rows else "Any; see the preparer's words above."


def _summaries(registry: Any, words: Callable[[Any], str | None]) -> dict[str, str]:
    return {name: first_line(words(item)) for name, item in registry}


def _preparers() -> Any:
    import_module("preparers")
    return import_module("preparers.base").PREPARERS


def _checks() -> Any:
    import_module("verifiers")
    return import_module("verifiers.base").CHECKS


def _moves() -> Any:
    return import_module("forge.harness.moves").MOVES


def _draws() -> Any:
    import_module("skills.nodes")
    return import_module("skills.draws.base").DRAWS


def _nodes() -> Any:
    import_module("skills.nodes")
    return import_module("skills.nodes.base").NODE_KINDS


def _functions() -> dict[str, str]:
    import_module("skills.language.pure")
    found = import_module("skills.language.functions").FUNCTIONS
    return {function.usage: function.summary for _, function in found}


def _banks() -> dict[str, str]:
    return {name: f"{bank.about} Fields: {', '.join(bank.fields)}." for name, bank in _bank_files().items()}


def _bank_text(name: str) -> str:
    bank = _bank_files()[name]
    groups = sorted({group for column in [bank.values, *bank.fields.values()] for group in column} - {"*"})
    return f"{bank.about}\n\nFields: {', '.join(bank.fields)}. Groups for `about`: {', '.join(groups)}."


def _bank_files() -> dict[str, Any]:
    from skills.banks.bank import FOLDER, find_bank
    from skills.language.located import Place

    names = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "phrases")
    return {name: find_bank(name, Place(f"{name}.yaml", 1), FOLDER) for name in names}


def _workflows() -> dict[str, str]:
    from skills.loading import library, load

    found = {path.parent.name: load(path) for path in library()}
    return {name: f"{w.skill.title} ({', '.join(w.channels)})" for name, w in found.items()}


def workflow_text(name: str) -> str:
    """A workflow of the library: all its files."""
    from skills.loading import load

    source = load(name).source
    return "\n\n".join(f"### {file}\n\n```\n{text.rstrip()}\n```" for file, text in source.items())


def _apps() -> dict[str, str]:
    from forge.desktop.apps import APPS

    return {name: f"from the package {app.package}" for name, app in APPS.items()}


KINDS: dict[str, Kind] = {
    "preparers": Kind(lambda: _summaries(_preparers(), lambda p: type(p).__doc__), preparer_text),
    "checks": Kind(lambda: _summaries(_checks(), lambda c: c.run.__doc__), check_text),
    "moves": Kind(lambda: _summaries(_moves(), lambda m: m.run.__doc__), move_text),
    "draws": Kind(lambda: _summaries(_draws(), lambda d: type(d).__doc__), draw_text),
    "nodes": Kind(lambda: _summaries(_nodes(), lambda n: type(n).__doc__), node_text),
    "functions": Kind(_functions, lambda name: f"{name}: {_functions()[name]}"),
    "banks": Kind(_banks, _bank_text),
    "workflows": Kind(_workflows, workflow_text),
    "apps": Kind(_apps, lambda name: f"{name}: {_apps()[name]}"),
}
"""Every kind of thing in the catalogue."""
