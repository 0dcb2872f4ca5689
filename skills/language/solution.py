"""Solutions: a list of one-key steps a channel. `bash`, `python` and `answer` are the language's, all others are moves.

`{python: f.py, with: {...}}` becomes one `bash` step that feeds the script to python3, with a line `facts = {...}` (the
rendered `with`) in front. A `gui` solution has moves, a `terminal` one has `bash` and `python`, a `hybrid` one has both.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

from forge.harness.moves import Move
from forge.records import JSON, Channel, InputError, Solution, Step
from skills.language.functions import plain_text
from skills.language.located import Located, Place, nearest
from skills.language.models import check_fields, holds_expression
from skills.language.problems import Problems
from skills.language.shapes import ANY, Shape
from skills.language.template import Record, Sequence, Template, compile_list, compile_template

CHANNELS: tuple[Channel, ...] = get_args(Channel)

ReadScript = Callable[[Located], str]
"""Gives the text of a script that a step names."""


class StepTemplate:
    """One step; renders to a `Step`."""

    def __init__(
        self, move: str, value: Template, place: Place, *, script: str | None = None, known: Move | None = None
    ):
        self.move = move
        self.value = value
        self.place = place
        self.script = script
        self.known = known
        self.names = value.names

    @property
    def channel(self) -> str:
        """`terminal`, `gui`, or nothing for an answer."""
        return {"bash": "terminal", "python": "terminal", "answer": ""}.get(self.move, "gui")

    def render(self, scope: Mapping[str, Any]) -> Step:
        """The step, with `python` turned into `bash`."""
        value = self.value.render(scope)
        if self.script is not None:
            return Step(move="bash", value=heredoc(self.script, value))
        if self.move in ("bash", "answer") and (isinstance(value, bool) or not isinstance(value, str | int | float)):
            raise self.place.error(f"{self.move} takes a text, not {value!r}")
        if self.known is not None:
            self.check(value)
        return Step(move=self.move, value=plain_text(value) if self.move in ("bash", "answer") else value)

    def check(self, value: JSON) -> None:
        """Let the move judge its argument. Raises InputError at the step's place."""
        try:
            if self.known is not None:
                self.known.validate(value)
        except InputError as error:
            raise self.place.error(error.message, error.mend) from None

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        found = self.value.infer(scope)
        if self.move in ("bash", "answer") and found.kind in ("list", "record", "bool"):
            raise self.place.error(f"{self.move} takes a text, not a {found}")
        return ANY


class SolutionTemplate:
    """The steps of one channel."""

    def __init__(self, channel: Channel, steps: Sequence):
        self.channel = channel
        self.steps = steps
        self.names = steps.names
        self.place = steps.place

    def render(self, scope: Mapping[str, Any]) -> Solution:
        """The solution. Raises InputError when no step is left."""
        steps = self.steps.render(scope)
        if not steps:
            raise self.place.error(f"the {self.channel} solution has no steps for this draw")
        return Solution(channel=self.channel, steps=tuple(steps))


def read_solutions(
    value: Located, affinity: str, moves: Mapping[str, Move], script: ReadScript, problems: Problems
) -> dict[Channel, SolutionTemplate]:
    """Read `solution`; notes every fault.

    Args:
        value: the mapping from channel to steps.
        affinity: the skill's; says which channels must be there.
        moves: the known moves by name.
        script: reads a script beside the workflow.
        problems: where complaints go.
    """
    found: dict[Channel, SolutionTemplate] = {}
    fields: dict[str, Located] = {}
    with problems.noting():
        fields = value.mapping("solution")
    for name, steps in fields.items():
        with problems.noting():
            if name not in CHANNELS:
                raise value.key_place(name).error(
                    f"there is no channel {name!r}", f"channels are {', '.join(CHANNELS)}"
                )
            found[name] = _read(name, steps, moves, script)
    if len(found) == len(fields):
        _check_channels(set(found), affinity, value.place, problems)
    return found


def heredoc(script: str, facts: Mapping[str, JSON]) -> str:
    """The shell command that runs a Python script with `facts` in front of it."""
    lines = [f"    {json.dumps(key, ensure_ascii=False)}: {_literal(item)}," for key, item in facts.items()]
    body = [line for line in script.strip("\n").split("\n") if not line.startswith("# ruff:")]
    mark = "EOF"
    while mark in body:
        mark += "_"
    head = ["facts = {", *lines, "}"] if lines else ["facts = {}"]
    return "\n".join([f"python3 - <<'{mark}'", *head, *body, mark])


def _read(channel: Channel, value: Located, moves: Mapping[str, Move], script: ReadScript) -> SolutionTemplate:
    own = Problems()

    def item(step: Located) -> StepTemplate:
        template = StepTemplate("answer", compile_template(Located("", step.place, {})), step.place)
        with own.noting():
            template = _step(step, moves, script)
        return template

    steps = compile_list(_listed(value, channel), item)
    own.raise_any()
    leaves = [leaf for leaf in steps.leaves() if isinstance(leaf, StepTemplate)]
    for leaf in leaves:
        if leaf.channel and channel != "hybrid" and leaf.channel != channel:
            hint = (
                "moves are for gui and hybrid"
                if channel == "terminal"
                else "bash and python are for terminal and hybrid"
            )
            own.add(leaf.place, f"{leaf.move!r} is no step of a {channel} solution", hint)
    missing = {"gui", "terminal"} - {leaf.channel for leaf in leaves}
    if channel == "hybrid" and missing:
        own.add(
            value.place, f"the hybrid solution has no {' and no '.join(sorted(missing))} step", "use both, or drop it"
        )
    own.raise_any()
    return SolutionTemplate(channel, steps)


def _step(step: Located, moves: Mapping[str, Move], script: ReadScript) -> StepTemplate:
    fields = step.mapping("a step")
    if "python" in fields:
        for key in fields:
            if key not in ("python", "with"):
                raise fields[key].error(f"a python step has no {key!r}", "write {python: file.py, with: {...}}")
        given = fields["with"].mapping("with") if "with" in fields else {}
        args = Record({key: compile_template(value) for key, value in given.items()}, step.place)
        text = script(fields["python"])
        _check_facts(text, set(given), fields["python"])
        return StepTemplate("python", args, step.place, script=text)
    if len(fields) != 1:
        shown = ", ".join(fields) or "nothing"
        raise step.error(
            f"a step has one key, the move's name; this one has {shown}", "begin each step with its own `- `"
        )
    [(name, value)] = fields.items()
    if name not in ("bash", "answer") and name not in moves:
        raise step.key_place(name).error(
            f"there is no move {name!r}", nearest(name, [*moves, "bash", "python", "answer"])
        )
    known, own = moves.get(name), Problems()
    template = StepTemplate(name, compile_template(value), step.place, known=known)
    if known is not None and isinstance(value.value, dict):
        check_fields(known.args, value.value, value.place, f"move {name}", own, value.keys)
    own.raise_any()
    if not holds_expression(value):
        template.check(value.plain())  # what is no mapping, and the branches of a union
    return template


def _check_facts(text: str, given: set[str], where: Located) -> None:
    """A fact that the script reads as `facts["x"]` must be given."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Subscript(value=ast.Name(id="facts"), slice=ast.Constant(value=str(key))) if key not in given:
                raise where.error(
                    f"{where.value} reads facts[{key!r}] in line {node.lineno}, which `with` does not give",
                    nearest(key, given) if given else f"write with: {{{key}: ...}}",
                )


def _check_channels(found: set[Channel], affinity: str, place: Place, problems: Problems) -> None:
    windows = bool(found & {"gui", "hybrid"})
    if affinity in ("gui", "either") and not windows:
        problems.add(place, f"the affinity is {affinity}, but there is neither a gui nor a hybrid solution", "add one")
    if affinity in ("terminal", "either") and "terminal" not in found:
        problems.add(place, f"the affinity is {affinity}, but there is no terminal solution", "add one")


def _listed(value: Located, channel: str) -> Located:
    if not value.list(f"the {channel} solution"):
        raise value.error(f"the {channel} solution has no steps")
    return value


def _literal(value: JSON) -> str:
    """A JSON value as a Python literal on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def parse_script(text: str, path: str) -> None:
    """Check that a solution's script is Python. Raises InputError at the script's own line."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise InputError(f"no Python: {error.msg}", file=path, line=error.lineno) from None
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            raise InputError(
                "a solution's script cannot import from __future__: facts are written before it",
                file=path,
                line=node.lineno,
            )
