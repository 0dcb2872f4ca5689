"""Reads a workflow file and checks all of it before anything runs; every fault has its file and line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import preparers  # noqa: F401 - registers the preparers
import skills.nodes  # noqa: F401 - registers the kinds of nodes
import verifiers  # noqa: F401 - registers the checks
from forge.desktop.apps import APPS
from forge.harness.moves import MOVES
from forge.records import Guest, InputError, Skill, digest, sha256_hex
from skills.language.graph import CycleError, in_order
from skills.language.located import Located, load_located, nearest
from skills.language.problems import Problems
from skills.language.rubric import read_rubric
from skills.language.shapes import ANY, Shape, shape_of
from skills.language.solution import parse_script, read_solutions
from skills.language.template import Fixed, Record, Sequence, compile_list, compile_template
from skills.language.wording import Line, Wording, read_wording
from skills.nodes.base import NODE_KINDS, Node, Reading, Source
from skills.nodes.prepare import Prepare
from skills.nodes.sample import Sample, read_sample
from skills.workflow import LANGUAGE, Requirement, Workflow

KEYS = {
    "skill": "the skill's id, app.area.verb-object",
    "title": "a few words for listings",
    "description": "what the ability is, in a sentence or two",
    "apps": "the applications that it needs",
    "affinity": "gui, terminal or either: how it is naturally done (default: either)",
    "guest": "clock, timezone, locale, width, height of the desktop (default: the house's)",
    "params": "what the skill varies: name to a kind of draw",
    "nodes": "what is made from the parameters: name to a node",
    "require": "conditions that a draw must meet",
    "start": "what is open when the agent begins",
    "instruction": "how the request is worded and what it must say",
    "solution": "steps a channel",
    "rubric": "what is graded",
}
"""The keys of a workflow, with what they hold."""

OPTIONAL = {"description", "affinity", "guest", "params", "nodes", "require", "start"}
_RESERVED = {"guest", "wording", "facts", "loop", "true", "false", "null", "item"}


def read_workflow(path: Path) -> Workflow:
    """Read a workflow.

    Args:
        path: the YAML file. Scripts, the wording and own banks lie beside it.

    Raises:
        WorkflowError: everything that is wrong with it.
    """
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: Path):
        self.path = path
        self.problems = Problems()
        self.source = Source(path.parent)
        self.root = load_located(path)
        self.fields: dict[str, Located] = {}

    def read(self) -> Workflow:
        self._keys()
        self.problems.raise_any()
        skill = self._skill()
        params = self._params()
        nodes = self._nodes(params)
        guest = self._guest()
        steps: dict[str, Node] = {**params, **nodes}
        order = self._order(steps, guest)
        scope = self._shapes(steps, guest, order)
        requires = self._requires(scope)
        start = self._start(scope)
        wording = self._wording(scope)
        affinity = str(self.fields["affinity"].value) if "affinity" in self.fields else "either"
        solutions = read_solutions(self.fields["solution"], affinity, dict(MOVES), self._script, self.problems)
        rubric = read_rubric(self.fields["rubric"], set(self._says()), self.problems)
        for template in [*(s.steps for s in solutions.values()), rubric]:
            self._infer(template, scope)
        self.problems.raise_any()
        assert skill is not None
        assert wording is not None
        used = {"guest"}.union(wording.names, start.names, rubric.names, *(s.names for s in solutions.values()))
        used = used.union(*(step.names for step in steps.values()), *(r.condition.names for r in requires))
        unread = tuple(n for n, s in steps.items() if n not in used and not isinstance(s, Prepare))
        return Workflow(
            skill=skill.model_copy(update={"parameters": {name: p.type for name, p in params.items()}}),
            version=self._version(steps), path=self.path, source=self._texts(), guest=guest, params=params, nodes=nodes,
            order=tuple(order), requires=tuple(requires), start=start, wording=wording, solutions=solutions,
            rubric=rubric, remarks=(*wording.remarks(), *(f"nothing reads {n!r}" for n in unread)), unread=unread,
        )  # fmt: skip

    def _keys(self) -> None:
        with self.problems.noting():
            self.fields = self.root.mapping("a workflow")
            for key in self.fields:
                if key not in KEYS:
                    self.problems.add(self.root.key_place(key), f"a workflow has no {key!r}", nearest(key, KEYS))
            for key, meaning in KEYS.items():
                if key not in self.fields and key not in OPTIONAL:
                    self.problems.add(self.root.place, f"`{key}` is missing", f"it holds {meaning}")

    def _skill(self) -> Skill | None:
        found: dict[str, Any] = {}
        for key in ("skill", "title", "description", "affinity"):
            if key in self.fields:
                with self.problems.noting():
                    found["id" if key == "skill" else key] = self.fields[key].text(f"`{key}`").strip()
        with self.problems.noting():
            found["apps"] = [app.text("an app") for app in self.fields["apps"].list("`apps`")]
            for app in self.fields["apps"].value:
                if app.value not in APPS:
                    self.problems.add(app.place, f"there is no app {app.value!r}", nearest(str(app.value), APPS))
        if not {"id", "title", "apps"} <= set(found):
            return None
        try:
            return Skill.model_validate(found)
        except ValidationError as error:
            for fault in error.errors():
                key = {"id": "skill"}.get(str(fault["loc"][0]), str(fault["loc"][0]))
                hint = "an id reads app.area.verb-object, e.g. calc.formula.total-below-column"
                message = "is no skill id" if key == "skill" else fault["msg"]
                self.problems.add(
                    self.fields[key].place, f"{key}: {fault['input']!r}: {message}", hint if key == "skill" else None
                )
            return None

    def _params(self) -> dict[str, Sample]:
        found: dict[str, Sample] = {}
        for name, spec in self._named("params").items():
            with self.problems.noting():
                found[name] = read_sample(name, spec, self.problems)
        return found

    def _nodes(self, params: Mapping[str, Sample]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        reading = Reading(self.source, self.problems)
        for name, spec in self._named("nodes").items():
            with self.problems.noting():
                place = self.fields["nodes"].key_place(name)
                if name in (self.fields["params"].value if "params" in self.fields else ()):
                    raise place.error(f"{name!r} is a parameter already", "choose another name")
                fields = spec.mapping(f"the node {name!r}")
                kinds = [key for key in fields if key in NODE_KINDS]
                if len(kinds) != 1:
                    known = NODE_KINDS.names()
                    first = next(iter(fields), "")
                    message = (
                        f"names two kinds of nodes, {' and '.join(kinds)}"
                        if kinds
                        else f"unknown kind of node {first!r}"
                    )
                    raise (fields[first] if first else spec).error(f"{name}: {message}", nearest(first, known))
                found[name] = NODE_KINDS.get(kinds[0]).read(name, fields, place, reading)
        return found

    def _named(self, key: str) -> dict[str, Located]:
        """The entries of `params` or `nodes` whose names are usable."""
        if key not in self.fields:
            return {}
        found: dict[str, Located] = {}
        with self.problems.noting():
            found = dict(self.fields[key].mapping(f"`{key}`"))
        for name in list(found):
            place = self.fields[key].key_place(name)
            if not name.isidentifier() or name.startswith("_"):
                self.problems.add(place, f"{name!r} is no name", "use letters, digits and underscores")
                del found[name]
            elif name in _RESERVED:
                self.problems.add(place, f"the name {name!r} is taken by the language", "choose another name")
                del found[name]
        return found

    def _guest(self) -> Record:
        if "guest" not in self.fields:
            return Record({}, self.root.place)
        with self.problems.noting():
            fields = self.fields["guest"].mapping("`guest`")
            for key, value in fields.items():
                if key not in Guest.model_fields:
                    self.problems.add(value.place, f"the guest has no {key!r}", nearest(key, Guest.model_fields))
            guest = Record({key: compile_template(value) for key, value in fields.items()}, self.fields["guest"].place)
            if all(isinstance(field, Fixed) for field in guest.fields.values()):
                try:
                    Guest.model_validate(guest.render({}))
                except ValidationError as error:
                    fault = error.errors()[0]
                    place = fields.get(str(fault["loc"][0]), self.fields["guest"])
                    raise place.error(f"guest: {fault['loc'][0]}: {fault['msg']}") from None
            return guest
        return Record({}, self.root.place)

    def _order(self, steps: Mapping[str, Node], guest: Record) -> list[str]:
        reads = {"guest": guest.names, **{name: step.names for name, step in steps.items()}}
        try:
            return in_order(reads)
        except CycleError as error:
            first = next(name for name in error.circle if name != "guest")
            circle = " -> ".join(error.circle)
            raise self._with(steps[first].error(f"it needs itself: {circle}", "break the circle")) from None

    def _with(self, error: InputError) -> InputError:
        """The error together with all that was noted before."""
        self.problems.found.append(error)
        try:
            self.problems.raise_any()
        except InputError as whole:
            return whole
        return error

    def _shapes(self, steps: Mapping[str, Node], guest: Record, order: list[str]) -> dict[str, Shape]:
        scope: dict[str, Shape] = {}
        declared = [*self._declared("params"), *self._declared("nodes")]
        for name in order:
            if name == "guest":
                self._infer(guest, scope)
                scope[name] = shape_of(Guest().to_json())
                continue
            with self.problems.noting():
                # A name whose definition is broken is known all the same: its own fault is noted already.
                known = {**{each: ANY for each in declared if each not in steps}, **scope}
                scope[name] = steps[name].infer(known)
            scope.setdefault(name, ANY)
        return {**dict.fromkeys(declared, ANY), **scope}

    def _declared(self, key: str) -> list[str]:
        value = self.fields[key].value if key in self.fields else {}
        return list(value) if isinstance(value, dict) else []

    def _requires(self, scope: Mapping[str, Shape]) -> list[Requirement]:
        found = []
        with self.problems.noting():
            for value in self.fields["require"].list("`require`") if "require" in self.fields else ():
                condition = compile_template(value)
                self._infer(condition, scope)
                if not condition.names:
                    self.problems.add(value.place, "a condition is written ${...} and reads something")
                found.append(Requirement(condition, str(value.value), value.place))
        return found

    def _start(self, scope: Mapping[str, Shape]) -> Sequence:
        if "start" not in self.fields:
            return Sequence((), self.root.place)

        def item(value: Located) -> Record:
            fields = value.mapping("an entry of `start`")
            for key in fields:
                if key not in ("app", "open"):
                    raise value.key_place(key).error(
                        f"an entry of `start` has no {key!r}", "write {app: calc, open: PATH}"
                    )
            if "app" not in fields:
                raise value.error("an entry of `start` names its app", "write {app: calc, open: PATH}")
            app = fields["app"]
            if app.value not in APPS:
                raise app.error(f"there is no app {app.value!r}", nearest(str(app.value), APPS))
            opened = {"path": compile_template(fields["open"])} if "open" in fields else {}
            return Record({"app": Fixed(app.value, app.place), **opened}, value.place)

        with self.problems.noting():
            start = compile_list(self.fields["start"], item)
            self._infer(start, scope)
            return start
        return Sequence((), self.root.place)

    def _says(self) -> dict[str, Located]:
        value = self.fields["instruction"].value
        says = value.get("says") if isinstance(value, dict) else None
        return says.value if says is not None and isinstance(says.value, dict) else {}

    def _wording(self, scope: Mapping[str, Shape]) -> Wording | None:
        before = len(self.problems.found)
        with self.problems.noting():
            where = self.fields["instruction"]
            fields = where.mapping("`instruction`")
            for key in fields:
                if key not in ("wording", "says", "voice"):
                    raise where.key_place(key).error(f"`instruction` has no {key!r}", "it has wording, says and voice")
            for key in ("wording", "says"):
                if key not in fields:
                    raise where.error(f"`instruction` lacks {key!r}", "write wording: wording.yaml, says: {span: text}")
            spans: dict[str, list[Line]] = {}
            for name, value in fields["says"].mapping("says").items():
                with self.problems.noting():
                    spans[name] = _span(name, value, fields["says"])
            if not spans and len(self.problems.found) == before:
                raise fields["says"].error("`says` is empty", "name at least one thing that must be said")
            file = fields["wording"].text("wording")
            self.source.read(file, fields["wording"].place, "the wording")
            voice = compile_template(fields["voice"]) if "voice" in fields else None
            wording = read_wording(self.path.parent / file, spans, voice, where.place)
            if voice is not None:
                self._infer(voice, scope)
            wording.check(scope, self.problems)
            return wording
        return None

    def _script(self, where: Located) -> str:
        name = where.text("python")
        data = self.source.read(name, where.place, "the script")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise where.error(f"the script {name!r} is no UTF-8 text") from None
        parse_script(text, str(self.path.parent / name))
        return text

    def _infer(self, template: Any, scope: Mapping[str, Shape]) -> None:
        if isinstance(template, Sequence):  # each item by itself, so that all their faults are noted
            for item in template.items:
                with self.problems.noting():
                    item.infer(scope)
        else:
            with self.problems.noting():
                template.infer(scope)

    def _version(self, steps: Mapping[str, Node]) -> str:
        told = {key: value.plain() for key, value in self.fields.items() if key not in ("title", "description")}
        content = {
            "language": LANGUAGE,
            "workflow": told,
            "nodes": {name: step.identity for name, step in steps.items()},
            "files": {
                name: sha256_hex(data) for name, data in self.source.used.items() if name != self._wording_file()
            },
        }
        return digest(content)

    def _wording_file(self) -> str:
        return str(self.fields["instruction"].value["wording"].value)

    def _texts(self) -> dict[str, str]:
        texts = {name: data.decode(errors="replace") for name, data in sorted(self.source.used.items())}
        return {self.path.name: self.path.read_text("utf-8-sig"), **texts}


def _span(name: str, value: Located, says: Located) -> list[Line]:
    if not name.isidentifier() or not name.islower():
        raise says.key_place(name).error(f"{name!r} is no name of a span", "use small letters, digits and underscores")
    variants = value.value if isinstance(value.value, list) else [value]
    if not variants:
        raise value.error(f"the span {name!r} has no words", "write at least one text")
    lines = []
    for variant in variants:
        text = variant.text(f"the span {name!r}")
        compile_template(variant)
        lines.append(Line(text, "*", variant.place))
    return lines
