"""The catalogue: everything that a workflow may be built of, in the words of the code itself.

One place describes preparers, checks, moves, kinds of draws and nodes, functions, modules of the guest, banks, workflows and
applications; the reference pages and the authoring agent's tools both read it. Values are looked up, examples are evaluated,
so that no description can be stale. Each has at most `LONGEST` characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from forge.records import InputError
from forge.records.tables import first_line, paragraphs
from skills.authoring import guest
from skills.authoring.fields import LEGEND, facts_text, fields_text
from skills.authoring.outline import outline
from skills.language.located import nearest


def listing(kind: str, query: str = "", apps: Collection[str] = ()) -> str:
    """One line for each thing of a kind, `name: summary`.

    Args:
        kind: one of `KINDS`.
        query: only those whose name or summary holds one of these words.
        apps: of moves only those of these applications, and those of any window; all without any.

    Raises:
        InputError: there is no such kind.
    """
    known, others = entries(kind), 0
    if kind == "moves" and apps:
        near = {name: s for name, s in known.items() if not (of := guest.house_of(name)) or set(of) & set(apps)}
        known, others = near, len(known) - len(near)
    words = query.lower().split()
    found = [(n, s) for n, s in known.items() if not words or any(w in f"{n} {s}".lower() for w in words)]
    lines = [f"{name}: {summary}" for name, summary in found]
    if not found:
        lines = [f"none of the {len(known)} {kind} has any of these words; ask without a query for all of them"]
    if others:
        lines.append(f"[{others} moves of other applications than {', '.join(apps)} are left out]")
    return "\n".join(lines)


def entries(kind: str) -> dict[str, str]:
    """Name to summary of all things of a kind."""
    return _kind(kind).entries()


def describe(kind: str, name: str) -> str:
    """All that is known of one thing, as Markdown. Raises InputError for an unknown kind or name."""
    found = _kind(kind)
    known = found.entries()
    name = name.partition("(")[0]  # `below(reference)` is below
    if (name.partition("/")[0] if kind == "workflows" else name) not in known:
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
    """A preparer: what it makes, an example, its parameters, and the facts that workflows refer to."""
    preparer = _preparers().get(name)
    parts = [
        f"{paragraphs(type(preparer).__doc__)} (version {preparer.version})",
        preparer_example(name),
        *(f"### Parameters ({LEGEND})", fields_text(preparer.params), preparer.values()),
        f"### Facts\n\n{preparer_facts(name)}",
    ]
    return "\n\n".join(part for part in parts if part)


def preparer_example(name: str) -> str:
    """A node that uses a preparer, and some of its facts."""
    preparer = _preparers().get(name)
    node = "\n".join(["made:", f"  prepare: {name}", *(f"  {line}" for line in preparer.example.splitlines())])
    facts = [f"`${{made.{at}}}` is `{_json(value)}`" for at, value in preparer.example_facts.items()]
    return f"Example, a node:\n\n```yaml\n{node}\n```\n\n{'; '.join(facts)}".rstrip()


def preparer_facts(name: str) -> str:
    """The names below a preparer's facts, a line a record."""
    from skills.language.shapes import shape
    from skills.nodes.facts import PARTS, facts_of

    lines = [facts_text(facts_of(_preparers().get(name)))]
    return "\n".join([*lines, *(f"{at}: {facts_text(shape(part))}" for at, part in PARTS.get(name, {}).items())])


def check_text(name: str) -> str:
    """A check: what it grades, and its arguments."""
    check = _checks().get(name)
    return "\n\n".join([paragraphs(check.run.__doc__), f"Version {check.version}. ({LEGEND})", fields_text(check.args)])


def move_text(name: str) -> str:
    """A move: what it does, where, and its arguments."""
    return f"{move_words(name)} ({LEGEND})\n\n{fields_text(_moves().get(name).args)}"


def move_words(name: str) -> str:
    """What a move does, in which application, and how it is written in short."""
    move = _moves().get(name)
    houses = guest.house_of(name)
    where = f"In {', '.join(houses)}." if houses else "In any window."
    bare = f" A bare value is its `{move.args.main}`: `{{{name}: ...}}`." if move.args.main else ""
    return f"{paragraphs(move.run.__doc__)}\n\n{where}{bare}"


def draw_text(name: str) -> str:
    """A kind of draw: what it gives, with examples, its options, and the values that they can have."""
    kind = _draws().get(name)
    options = fields_text(kind.args, leave=("guest",)).replace("of: ", f"{name}: ", 1)
    parts = [
        f"{paragraphs(type(kind).__doc__)} (version {kind.version})",
        draw_examples(kind),
        f"### Domain and options ({LEGEND})\n\n{options}",
        kind.values(),
    ]
    return "\n\n".join(part for part in parts if part)


def draw_examples(kind: Any) -> str:
    """The examples of a kind of draw, with what they give."""
    return "\n".join(f"- `{text}` gives for instance `{outline(_drawn(text), 400)}`" for text in kind.examples)


def node_text(name: str) -> str:
    """A kind of node: its keys, an example, and the value of that."""
    kind = _nodes().get(name)
    parts = [
        paragraphs(type(kind).__doc__),
        "\n".join(f"- `{key}`: {meaning}" for key, meaning in kind.keys.items()),
        f"Example, below `nodes`:\n\n```yaml\n{kind.example.rstrip()}\n```",
        *(f"With {file}:\n\n```python\n{text.rstrip()}\n```" for file, text in kind.files.items()),
        f"The last one's value: `{kind.gives}`",
    ]
    return "\n\n".join(part for part in parts if part)


def function_line(name: str) -> str:
    """A function of expressions: how it is called, what it gives, and an example with its result."""
    from skills.language.expression import CONSTANTS  # noqa: F401 - registers the functions
    from skills.language.functions import FUNCTIONS

    function = FUNCTIONS.get(name)
    example = f" `{function.example}` is `{_json(evaluated(function.example))}`." if function.example else ""
    return f"`{function.usage}` {function.summary}{example}"


def evaluated(expression: str) -> Any:
    """The value of an expression that names nothing."""
    from skills.language.located import Place
    from skills.language.template import compile_text

    return compile_text(f"${{{expression}}}", Place("example", 1)).render({})


def _drawn(text: str) -> Any:
    """What a draw, as it stands in a workflow, gives in one case."""
    from forge.records import Guest
    from skills.kitchen import Kitchen
    from skills.language.located import parse_located
    from skills.language.problems import Problems
    from skills.nodes.base import Station
    from skills.nodes.sample import read_sample

    spec = parse_located(f"made: {text}", "example").mapping("an example")["made"]
    sample = read_sample("made", spec, Problems())
    return sample.run(sample.render({"guest": Guest().to_json()}), Station(Kitchen(), Guest(), ("example",))).value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
    return {name: function_line(name) for name in import_module("skills.language.functions").FUNCTIONS.names()}


def _move_lines() -> dict[str, str]:
    found = {}
    for name, summary in _summaries(_moves(), lambda m: m.run.__doc__).items():
        houses = guest.house_of(name)
        found[name] = f"[{'/'.join(houses)}] {summary}" if houses else summary
    return found


def _banks() -> dict[str, str]:
    return {name: f"{bank.about} Fields: {', '.join(bank.fields)}." for name, bank in _bank_files().items()}


def _bank_text(name: str) -> str:
    bank = _bank_files()[name]
    groups = sorted({group for column in [bank.values, *bank.fields.values()] for group in column} - {"*"})
    fields = [
        f"- `{field}`, e.g. {'; '.join(str(value) for value in bank.column(field, next(iter(column)))[:4])}"
        for field, column in bank.fields.items()
    ]
    head = f"{bank.about}\n\nFields:\n" + "\n".join(fields)
    return f"{head}\n\nGroups for `about`: {', '.join(groups)}; any other text takes the values for all."


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


def workflow_outline(name: str) -> str:
    """A workflow of the library in at most about `LONGEST` characters: its YAML, and the beginnings of its other files.

    `NAME/FILE` is one file, whole.
    """
    from skills.loading import load

    called, _, wanted = name.partition("/")
    source = load(called).source
    if wanted:
        if wanted not in source:
            raise InputError(f"{called} has no file {wanted!r}", mend=nearest(wanted, source))
        return f"```\n{source[wanted].rstrip()}\n```"
    parts, left = [], LONGEST
    for number, (file, text) in enumerate(source.items()):
        others = len(source) - number - 1
        room = left - 400 * others if file == "workflow.yaml" else left // (others + 1)
        shown, title = text.rstrip(), file
        if len(shown) > room - 200:
            shown = f"{shown[: max(0, room - 200)].rpartition(chr(10))[0]}\n[...]"
            title = f"{file} (its beginning; describe `{called}/{file}` for all of it)"
        parts.append(f"### {title}\n\n```\n{shown}\n```")
        left -= len(parts[-1]) + 2
    return "\n\n".join(parts)


LONGEST = 6000
"""Characters that a description has at most, so that some of them fit into one answer."""

KINDS: dict[str, Kind] = {
    "preparers": Kind(lambda: _summaries(_preparers(), lambda p: type(p).__doc__), preparer_text),
    "checks": Kind(lambda: _summaries(_checks(), lambda c: c.run.__doc__), check_text),
    "moves": Kind(_move_lines, move_text),
    "draws": Kind(lambda: _summaries(_draws(), lambda d: type(d).__doc__), draw_text),
    "nodes": Kind(lambda: _summaries(_nodes(), lambda n: type(n).__doc__), node_text),
    "functions": Kind(_functions, function_line),
    "modules": Kind(guest.modules, guest.module_text),
    "banks": Kind(_banks, _bank_text),
    "workflows": Kind(_workflows, workflow_outline),
    "apps": Kind(guest.apps, guest.app_text),
}
"""Every kind of thing in the catalogue."""
