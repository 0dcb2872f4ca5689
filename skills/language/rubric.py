"""Rubrics: criteria that name a check, its arguments, and the span of the instruction that they grade."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from forge.records import Criterion, InputError, Rubric
from skills.language.located import Located, Place, nearest
from skills.language.models import check_fields
from skills.language.problems import Problems
from skills.language.shapes import ANY, Shape
from skills.language.template import Record, Sequence, compile_list, compile_template
from verifiers.base import CHECKS, Check

Kind = Literal["must", "must_not", "judge"]
KINDS: tuple[Kind, ...] = ("must", "must_not", "judge")
_OWN = ("id", "weight", "says", "with")


class CriterionTemplate:
    """One criterion; renders to a `Criterion` whose `says` is still the span's name."""

    def __init__(self, kind: Kind, check: Check, args: Record, place: Place, *, id: str, weight: float, says: str):
        self.kind: Kind = kind
        self.check = check
        self.args = args
        self.place = place
        self.id = id
        self.weight = weight
        self.says = says
        self.names = args.names

    def render(self, scope: Mapping[str, Any]) -> Criterion:
        """The criterion. Raises InputError when the check refuses its arguments."""
        args = self.args.render(scope)
        try:
            self.check.validate(args)
        except InputError as error:
            raise self.place.error(error.message, error.mend) from None
        return Criterion(
            id=self.id, kind=self.kind, check=self.check.name, args=args, weight=self.weight, says=self.says
        )

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        self.args.infer(scope)
        return ANY


def read_rubric(value: Located, spans: set[str], problems: Problems) -> Sequence:
    """Read `rubric`; notes every fault.

    Args:
        value: the list of criteria.
        spans: the names of the spans that the instruction says.
        problems: where complaints go.
    """

    def item(criterion: Located) -> Any:
        with problems.noting():
            return _criterion(criterion, spans, problems)
        return compile_template(Located(None, criterion.place, {}))

    with problems.noting():
        if not value.list("rubric"):
            raise value.error("rubric has no criteria", "write at least one `must`")
        template = compile_list(value, item)
        leaves = list(template.leaves())
        criteria = [leaf for leaf in leaves if isinstance(leaf, CriterionTemplate)]
        if len(criteria) == len(leaves) and not any(c.kind == "must" for c in criteria):
            raise value.error("rubric has no `must`", "without one, every state would score the same")
        return template
    return Sequence((), value.place)


def render_rubric(template: Sequence, scope: Mapping[str, Any], literals: Mapping[str, str]) -> Rubric:
    """The rubric of a draw: ids made unique, spans replaced by the literal words that say them."""
    criteria: list[Criterion] = []
    taken: set[str] = set()
    for criterion in template.render(scope):
        name, number = criterion.id, 1
        while name in taken:
            number += 1
            name = f"{criterion.id}-{number}"
        taken.add(name)
        says = literals[criterion.says] if criterion.says else ""
        criteria.append(criterion.model_copy(update={"id": name, "says": says}))
    if not any(c.kind == "must" for c in criteria):
        raise template.place.error("no `must` is left for this draw", "one must hold whatever is drawn")
    return Rubric(criteria=tuple(criteria))


def _criterion(value: Located, spans: set[str], problems: Problems) -> CriterionTemplate:
    fields = value.mapping("a criterion")
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) != 1:
        raise value.error("a criterion is one of must, must_not, judge", "write {must: NAME_OF_A_CHECK, ...}")
    kind = kinds[0]
    named = fields[kind]
    called = named.text(kind)
    try:
        check = CHECKS.get(called)
    except InputError as error:
        raise named.error(error.message, error.mend) from None
    args = {key: item for key, item in fields.items() if key != kind and key not in _OWN}
    if "with" in fields:
        if args:
            first = next(iter(args))
            raise args[first].error(f"arguments stand either beside `{kind}` or in `with`", f"move {first} into `with`")
        args = fields["with"].mapping("with")
    check_fields(_args_of(check), args, value.place, f"check {called}", problems)
    says = fields["says"].text("says") if "says" in fields else ""
    if says and says not in spans:
        raise fields["says"].error(f"`says` of the instruction has no span {says!r}", nearest(says, spans))
    if kind == "must" and not says:
        raise value.error(
            "a `must` names the span that it grades", f"add says: one of {', '.join(sorted(spans)) or '...'}"
        )
    template = Record({key: compile_template(item) for key, item in args.items()}, value.place)
    name = fields["id"].text("id") if "id" in fields else says or called.rpartition(".")[2]
    name = name if "id" in fields else name.replace(" ", "-").lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise fields.get("id", value).error(f"an id has small letters, digits, - and _; not {name!r}")
    return CriterionTemplate(
        kind, check, template, value.place, id=name, weight=_weight(fields.get("weight")), says=says
    )


def _args_of(check: Check) -> type[BaseModel]:
    return check.args


def _weight(value: Located | None) -> float:
    if value is None:
        return 1.0
    if isinstance(value.value, bool) or not isinstance(value.value, int | float) or not 0 < value.value <= 100:
        raise value.error("weight must be a number above 0 and at most 100")
    return float(value.value)
