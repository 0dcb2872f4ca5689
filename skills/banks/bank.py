"""Banks of values: what an `llm` node draws from where no model is at hand.

A bank is a YAML file with `about`, `prompt` (what to ask a model for) and either `values` (a list of texts or records,
each drawn as a whole) or `fields` (each field has its own list, and they are drawn independently). In place of a list
may stand a mapping from a group to its list; the node's `about` picks the group, and the group `*` is for all others.
`rules` say what a model's value of a field has to be: `{max: 25, pattern: "[A-Z].*", words: "what the model is told"}`.
Growing a bank never changes a task that exists: tasks keep the values that they drew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from forge.records import JSON
from skills.dice import pick, pick_many
from skills.language.located import Located, Place, load_located, nearest
from skills.language.problems import Problems
from skills.language.shapes import Shape, join, shape_of

FOLDER = Path(__file__).parent
"""Where the committed banks lie."""

Groups = dict[str, list[JSON]]


@dataclass(frozen=True)
class Rule:
    """What a model's text for a field has to be, besides a single line that is neither path nor template.

    Args:
        max: characters at most.
        pattern: a regular expression that the whole text matches.
        words: the same for the model.
    """

    max: int = 120
    pattern: str = ""
    words: str = "a short text"

    def problem(self, value: JSON) -> str | None:
        """What is wrong with a value, or None."""
        if not isinstance(value, str):
            return None
        if not value or value != value.strip():
            return "empty, or with blanks around it"
        if len(value) > self.max:
            return f"longer than {self.max} characters"
        if not value.isprintable():
            return "more than one line, or characters that cannot be printed"
        if self.pattern:
            return None if re.fullmatch(self.pattern, value) else f"not of the form {self.pattern}"
        return "it holds a slash or a brace" if re.search(r"[/\\{}$]", value) else None


@dataclass(frozen=True)
class Bank:
    """One bank, read and checked. `fields` is empty when the bank has whole `values`.

    `pool` names its written values; a bank that lies beside a workflow has a pool of its own.
    """

    name: str
    about: str
    prompt: str
    values: Groups
    fields: dict[str, Groups]
    rules: dict[str, Rule] = field(default_factory=dict)
    pool: str = ""
    all_fields: dict[str, Groups] = field(default_factory=dict, repr=False)

    @property
    def whole(self) -> Bank:
        """The bank with all its fields, where it was cut down by `only`."""
        return replace(self, fields=self.all_fields, all_fields={}) if self.all_fields else self

    @property
    def topics(self) -> list[str]:
        """The groups that any field has."""
        return sorted({group for groups in self.fields.values() for group in groups})

    @property
    def kinds(self) -> dict[str, str]:
        """Field to `text` or `number`."""
        return {name: _shape(groups).kind for name, groups in self.fields.items()}

    def rule(self, name: str) -> Rule:
        """What a model's value of a field has to be."""
        return self.rules.get(name, Rule())

    def problem(self, value: dict[str, JSON]) -> str | None:
        """What is wrong with a written record, or None."""
        for name in self.fields:
            if problem := self.rule(name).problem(value[name]):
                return f"{name}: {problem}"
        return None

    def column(self, name: str, about: str) -> list[JSON]:
        """The values of a field that are drawn about something; none where it has no such group."""
        groups = self.fields[name]
        return groups.get(about, groups.get("*", []))

    def grown(self, about: str, written: list[JSON]) -> Bank:
        """The bank with written records added to what is drawn about something."""
        if not written:
            return self
        return replace(self, fields={
            name: {**groups, about: [*self.column(name, about), *(record[name] for record in written)]}
            for name, groups in self.fields.items()
        })  # fmt: skip

    @property
    def shape(self) -> Shape:
        """The shape of one drawn value."""
        if self.fields:
            return Shape("record", fields={key: _shape(groups) for key, groups in self.fields.items()})
        return _shape(self.values)

    def only(self, fields: list[str]) -> Bank:
        """The bank with these of its fields. Raises ValueError for one that it lacks."""
        for name in fields:
            if name not in self.fields:
                raise ValueError(f"the bank {self.name} has no field {name!r}; {nearest(name, self.fields)}")
        chosen = {name: self.fields[name] for name in fields}
        return replace(self, fields=chosen, all_fields=self.all_fields or self.fields)

    def check(self, about: str) -> None:
        """Raises ValueError when there is nothing about that."""
        for groups in [self.values] if self.values else self.fields.values():
            self._group(groups, about)

    def draw(self, about: str, count: int | None, *parts: Any) -> JSON:
        """One value, or a list of `count` different ones.

        Args:
            about: picks the group, where there are groups.
            count: how many; None: one, not in a list.
            parts: what the chance depends on.

        Raises:
            ValueError: nothing is about that, or there are too few values.
        """
        if not self.fields:
            pool = self._group(self.values, about)
            return pick(pool, *parts) if count is None else pick_many(pool, count, *parts)
        if count is None:
            return {key: pick(self._group(groups, about), *parts, key) for key, groups in self.fields.items()}
        columns = {key: pick_many(self._group(g, about), count, *parts, key) for key, g in self.fields.items()}
        return [{key: columns[key][place] for key in columns} for place in range(count)]

    def _group(self, groups: Groups, about: str) -> list[JSON]:
        found = groups.get(about, groups.get("*"))
        if found is None:
            raise ValueError(f"the bank {self.name} has nothing about {about!r}; {nearest(about, groups)}")
        return found


def find_bank(name: str, place: Place, folder: Path) -> Bank:
    """The bank of that name, from `folder`/banks or from the committed ones.

    Raises:
        InputError: there is none (at `place`), or its file is broken (at its own line).
    """
    for home in (folder / "banks", FOLDER):
        path = home / f"{name}.yaml"
        if path.is_file():
            return _load(path, path.stat().st_mtime_ns)
    known = {p.stem for home in (folder / "banks", FOLDER) for p in home.glob("*.yaml")} - {"phrases"}
    raise place.error(f"there is no bank {name!r}", nearest(name, known))


@lru_cache(maxsize=256)
def _load(path: Path, _changed: int) -> Bank:
    root = load_located(path)
    fields = root.mapping("a bank")
    problems = Problems()
    for key in fields:
        if key not in ("about", "prompt", "values", "fields", "rules"):
            problems.add(
                root.key_place(key), f"a bank has no {key!r}", "it has about, prompt, rules, and values or fields"
            )
    if ("values" in fields) == ("fields" in fields):
        problems.add(root.place, "a bank has either `values` or `fields`")
    problems.raise_any()
    texts = {key: fields[key].text(key) if key in fields else "" for key in ("about", "prompt")}
    with problems.noting():
        values = _groups(fields["values"], "values") if "values" in fields else {}
        columns: Mapping[str, Located] = fields["fields"].mapping("fields") if "fields" in fields else {}
        groups = {name: _groups(column, name) for name, column in columns.items()}
        rules = _rules(fields["rules"], groups, problems) if "rules" in fields else {}
        pool = path.stem if path.parent == FOLDER else f"{path.parent.parent.name}:{path.stem}"
        bank = Bank(path.stem, texts["about"], texts["prompt"], values, groups, rules, pool)
    problems.raise_any()
    return bank


def _rules(value: Located, fields: Mapping[str, Groups], problems: Problems) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for name, spec in value.mapping("rules").items():
        if name not in fields:
            problems.add(value.key_place(name), f"rules: there is no field {name!r}", nearest(name, fields))
            continue
        keys = spec.mapping(f"rules: {name}")
        for key in keys:
            if key not in ("max", "pattern", "words"):
                problems.add(spec.key_place(key), f"a rule has no {key!r}", "it has max, pattern and words")
                return found
        plain = {key: item.plain() for key, item in keys.items()}
        try:
            rule = found[name] = Rule(**plain)
            re.compile(rule.pattern)
        except re.error as error:
            problems.add(keys["pattern"].place, f"rules: {name}: the pattern is no regular expression: {error}")
            continue
        for group, items in fields[name].items():
            for item in items:
                if problem := rule.problem(item):
                    problems.add(spec.place, f"rules: {name}: {item!r} of {group} breaks its own rule: {problem}")
    return found


def _groups(value: Located, what: str) -> Groups:
    groups = value.value if isinstance(value.value, dict) else {"*": value}
    found: Groups = {}
    for name, items in groups.items():
        plain = [item.plain() for item in items.list(f"{what}: {name}" if name != "*" else what)]
        if not plain:
            raise items.error(f"{what} is empty", "list at least one value")
        for item in items.value:
            if item.value is None or isinstance(item.value, bool | list):
                raise item.error(f"{what}: a value is a text, a number or a record, not {item.kind}")
        found[name] = plain
    if not found:
        raise value.error(f"{what} is empty", "list at least one value")
    return found


def _shape(groups: Groups) -> Shape:
    return join(shape_of(item) for items in groups.values() for item in items)
