"""`sample`: a seeded draw. Parameters are samples too; what stands in `nodes` is drawn alike but never varied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationError

import skills.draws  # noqa: F401 - registers the kinds of draws
from forge.records import JSON, PreparerError
from skills.draws.base import DRAWS, DrawKind
from skills.language.located import Located, Place, nearest
from skills.language.models import check_fields, describe, holds_expression
from skills.language.problems import Problems
from skills.language.shapes import Shape
from skills.language.template import Record, compile_template, compile_text
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind


class Sample(Node):
    """A draw of one kind with its arguments."""

    def __init__(self, name: str, place: Place, kind: DrawKind[Any], args: Record):
        super().__init__(name, place, args.names)
        self.kind = kind
        self.args = args

    @property
    def identity(self) -> JSON:
        return [self.kind.name, self.kind.version]

    @property
    def type(self) -> str:
        return self.kind.name

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        shapes = {key: field.infer(scope) for key, field in self.args.fields.items()}
        try:
            return self.kind.shape(shapes)
        except ValueError as error:
            raise self.error(f"{self.kind.name}: {error}") from None

    def render(self, scope: Mapping[str, Any]) -> JSON:
        return self.args.render(scope)

    def run(self, inputs: JSON, station: Station) -> Outcome:
        args = self._validated(inputs)
        try:
            return Outcome(self.kind.draw(args, station.dice(self.name)))
        except (ValueError, PreparerError) as error:
            raise self.error(f"{self.kind.name}: {_words(error)}") from None

    def others(self, inputs: JSON, value: JSON) -> list[JSON]:
        """Other values that the draw could have given, nearest first."""
        return self.kind.others(self._validated(inputs), value)

    def _validated(self, inputs: JSON) -> Any:
        try:
            return self.kind.args.model_validate(inputs)
        except ValidationError as error:
            if any(e["type"] == "too_short" and e["loc"] == ("of",) for e in error.errors()):
                raise self.error(f"{self.kind.name}: there is nothing to draw from; the domain is empty") from None
            names = [f for f in self.kind.args.model_fields if f != "of"]
            raise self.error(*describe(error, self.kind.name, [self.kind.name, *names])) from None


def read_sample(name: str, spec: Located, problems: Problems) -> Sample:
    """A sample from its mapping, `{int: [8, 60]}`. Raises InputError; notes what is wrong with its arguments."""
    fields = spec.mapping(f"{name}: what a parameter is drawn from")
    kinds = [key for key in fields if key in DRAWS]
    # `{tree: photos, layout: trip}`: what is an option of another kind that is named here is that option
    kinds = [key for key in kinds if not any(_has_option(other, key) for other in kinds if other != key)] or kinds
    if not kinds:
        known = DRAWS.names()
        if not fields:
            raise spec.error(f"{name}: no kind of draw is named", f"known are {', '.join(known)}")
        first = next(iter(fields))
        raise spec.key_place(first).error(f"{name}: unknown kind of draw {first!r}", nearest(first, known))
    if len(kinds) > 1:
        raise spec.error(f"{name}: names two kinds of draws, {' and '.join(kinds)}", "keep one of them")
    kind = DRAWS.get(kinds[0])
    renamed = {"of" if key == kind.name else key: value for key, value in fields.items()}
    if "of" in fields:
        raise spec.key_place("of").error(f"{name}: unknown key 'of'", f"write {kind.name}: ...")
    own = Problems()
    check_fields(kind.args, renamed, spec.place, f"{name}: {kind.name}", own)
    if not own.found and not any(holds_expression(value) for value in fields.values()):
        try:
            kind.check(kind.args.model_validate({key: value.plain() for key, value in renamed.items()}))
        except (ValueError, PreparerError) as error:
            own.add(spec.place, f"{name}: {kind.name}: {_words(error)}")
    for problem in own.found:
        problems.found.append(_reworded(problem, f"{name}: {kind.name}"))
    fields_of_it = {key: compile_template(value) for key, value in renamed.items()}
    if "guest" in kind.args.model_fields:  # dates that suit the task's clock
        fields_of_it.setdefault("guest", compile_text("${guest}", spec.place))
    template = Record(fields_of_it, spec.place)
    return Sample(name, spec.place, kind, template)


def _has_option(kind: str, option: str) -> bool:
    return option in DRAWS.get(kind).args.model_fields and kind not in DRAWS.get(option).args.model_fields


@node_kind
class SampleKind(NodeKind):
    """A seeded draw that is no parameter: `{sample: {choice: [a, b]}}`.

    Its value is what the draw gives (`draws` in the catalogue). It is drawn as a parameter is, but near-misses never vary it:
    for what only dresses a task, and for draws that need a node's value (a `layout` of a table that a script made).
    """

    name = "sample"
    keys: ClassVar[dict[str, str]] = {"sample": "one draw, `{KIND: DOMAIN, OPTION: ...}`; all its options stand inside"}
    example = """\
size: {compute: 3}
rows: {sample: {int: ["${size}", 3]}}
"""
    gives = "3"

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        for key in spec:
            if key != self.name:
                raise spec[key].error(f"{name}: sample has no {key!r}", f"write {{sample: {{..., {key}: ...}}}}")
        return read_sample(name, spec[self.name], reading.problems)


def _words(error: Exception) -> str:
    return getattr(error, "message", None) or str(error)


def _reworded(problem: Any, what: str) -> Any:
    """The domain is called by its kind; nobody wrote `of`."""
    for old, new in ((f"{what}: of: ", f"{what}: "), (f"{what}: of.", f"{what}: item ")):
        problem.message = problem.message.replace(old, new)
    if "at least 1 item" in problem.message:
        problem.message = problem.message[: problem.message.index(what)] + f"{what}: the domain is empty"
        problem.mend = "list at least one value"
    return problem
