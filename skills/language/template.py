"""Templates: YAML values with `${...}` inside.

A text that is exactly one `${...}` keeps the type of its value; in any other text the values are spelled out. `$${` is a
literal `${`. In every list an item `{each: LIST, as: NAME, do: [...]}` or `{when: CONDITION, do: [...], else: [...]}`
stands for the items that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from skills.language.expression import Expression
from skills.language.functions import plain_text
from skills.language.located import Located, Place, nearest
from skills.language.shapes import ANY, TEXT, Shape, join, list_of, shape_of


class Template(Protocol):
    """A value to be rendered."""

    @property
    def place(self) -> Place:
        """Where it stands."""

    @property
    def names(self) -> frozenset[str]:
        """The parameters and nodes that it reads."""

    def render(self, scope: Mapping[str, Any]) -> Any:
        """The value, for these values of the names. Raises InputError at the place of the culprit."""

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        """The shape of the value, for these shapes of the names. Raises InputError for what can never work."""


Compiler = Callable[[Located], Template]
"""Makes a template of a located value; `compile_template` is the ordinary one."""


def compile_template(value: Located) -> Template:
    """The template of any YAML value. Raises InputError for an expression that is none."""
    if isinstance(value.value, str):
        return compile_text(value.value, value.place)
    if isinstance(value.value, dict):
        return Record({key: compile_template(item) for key, item in value.value.items()}, value.place)
    if isinstance(value.value, list):
        return compile_list(value, compile_template)
    return Fixed(value.value, value.place)


def compile_text(text: str, place: Place) -> Template:
    """The template of one text."""
    parts = [Expression(part, place) if is_code else part for part, is_code in split_text(text, place)]
    if len(parts) == 1 and isinstance(parts[0], Expression):
        return Single(parts[0])
    if all(isinstance(part, str) for part in parts):
        return Fixed("".join(str(part) for part in parts), place)
    return Mixed(tuple(parts), place)


def compile_list(value: Located, item: Compiler) -> Sequence:
    """The template of a list, `each` and `when` blocks included; `item` makes the templates of its items."""
    return Sequence(tuple(_compile_item(part, item) for part in value.list("this")), value.place)


def split_text(text: str, place: Place) -> Iterator[tuple[str, bool]]:
    """The parts of a text, each with whether it is the inside of `${...}`. Raises InputError for braces left open."""
    rest = 0
    while (start := text.find("${", rest)) >= 0:
        if text[start - 1 : start] == "$" and start > rest:
            yield text[rest : start - 1] + "${", False
            rest = start + 2
            continue
        if start > rest:
            yield text[rest:start], False
        end = _closing(text, start + 2)
        if end < 0:
            raise place.error(f"{text[start : start + 30]!r}: the brace is never closed", "write $${ for a literal ${")
        yield text[start + 2 : end], True
        rest = end + 1
    if rest < len(text) or not text:
        yield text[rest:], False


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes an expression, past nested braces and quoted texts; -1 when there is none."""
    depth, quote, place = 0, "", start
    while place < len(text):
        letter = text[place]
        if quote:
            if letter == "\\":
                place += 1
            elif letter == quote:
                quote = ""
        elif letter in "'\"":
            quote = letter
        elif letter == "{":
            depth += 1
        elif letter == "}":
            if depth == 0:
                return place
            depth -= 1
        place += 1
    return -1


@dataclass(frozen=True)
class Fixed:
    """A value without expressions."""

    value: Any
    place: Place
    names: frozenset[str] = frozenset()

    def render(self, scope: Mapping[str, Any]) -> Any:
        return self.value

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        return shape_of(self.value)


class Single:
    """A text that is one expression: its value keeps its type."""

    def __init__(self, expression: Expression):
        self.expression = expression
        self.place = expression.place
        self.names = expression.names

    def render(self, scope: Mapping[str, Any]) -> Any:
        return self.expression.evaluate(scope)

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        return self.expression.infer(scope)


class Mixed:
    """A text with values spelled out in it."""

    def __init__(self, parts: tuple[str | Expression, ...], place: Place):
        self.parts = parts
        self.place = place
        self.names = _union(part for part in parts if isinstance(part, Expression))

    def render(self, scope: Mapping[str, Any]) -> str:
        return "".join(part if isinstance(part, str) else self._spell(part, scope) for part in self.parts)

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        for part in self.parts:
            if isinstance(part, Expression):
                found = part.infer(scope)
                if found.kind in ("list", "record", "bool"):
                    raise self.place.error(
                        f"${{{part.source}}} is a {found}, which has no obvious spelling in a text",
                        "pick a field, or use join(), listing() or json()",
                    )
        return TEXT

    def _spell(self, part: Expression, scope: Mapping[str, Any]) -> str:
        try:
            return plain_text(part.evaluate(scope))
        except ValueError as error:
            message, _, mend = str(error).partition("; ")
            raise self.place.error(f"${{{part.source}}}: {message}", mend) from None


class Record:
    """A mapping of templates."""

    def __init__(self, fields: dict[str, Template], place: Place):
        self.fields = fields
        self.place = place
        self.names = _union(fields.values())

    def render(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        return {key: field.render(scope) for key, field in self.fields.items()}

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        return Shape("record", fields={key: field.infer(scope) for key, field in self.fields.items()})


class Sequence:
    """A list of templates and blocks."""

    def __init__(self, items: tuple[Template | Each | When, ...], place: Place):
        self.items = items
        self.place = place
        self.names = _union(items)

    def render(self, scope: Mapping[str, Any]) -> list[Any]:
        return [value for item in self.items for value in _expand(item, scope)]

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        shapes = [item.infer(scope) for item in self.items]
        blocks = (Each, When)
        return list_of(
            join(s if not isinstance(i, blocks) else s.item or ANY for i, s in zip(self.items, shapes, strict=True))
        )

    def leaves(self) -> Iterator[Template]:
        """All items, those inside blocks too."""
        for item in self.items:
            if isinstance(item, Each):
                yield from item.do.leaves()
            elif isinstance(item, When):
                yield from item.do.leaves()
                yield from item.otherwise.leaves() if item.otherwise else ()
            else:
                yield item


class Each:
    """A block that makes its items once for every item of a list."""

    def __init__(self, each: Template, name: str, do: Sequence, place: Place):
        self.each, self.name, self.do, self.place = each, name, do, place
        self.names = each.names | (do.names - {name, "loop"})

    def expand(self, scope: Mapping[str, Any]) -> Iterator[Any]:
        """The items, in order."""
        source = self.each.render(scope)
        if not isinstance(source, list):
            raise self.place.error("`each` needs a list", "write ${...} of a list, or the list itself")
        for number, value in enumerate(source, 1):
            yield from self.do.render({**scope, self.name: value, "loop": number})

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        source = self.each.infer(scope)
        if source.kind not in ("list", "any"):
            raise self.place.error(f"`each` needs a list, not a {source}")
        if self.name in scope:
            raise self.place.error(f"`as: {self.name}` hides a parameter or node of that name", "choose another name")
        return self.do.infer({**scope, self.name: source.item or ANY, "loop": shape_of(1)})


class When:
    """A block that makes its items if a condition holds, and the `else` items otherwise."""

    def __init__(self, when: Template, do: Sequence, otherwise: Sequence | None, place: Place):
        self.when, self.do, self.otherwise, self.place = when, do, otherwise, place
        self.names = when.names | do.names | (otherwise.names if otherwise else frozenset())

    def expand(self, scope: Mapping[str, Any]) -> Iterator[Any]:
        """The items, in order."""
        if self.when.render(scope):
            yield from self.do.render(scope)
        elif self.otherwise:
            yield from self.otherwise.render(scope)

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        self.when.infer(scope)
        branches = [self.do.infer(scope), *([self.otherwise.infer(scope)] if self.otherwise else [])]
        return join(branches)


def _compile_item(value: Located, item: Compiler) -> Template | Each | When:
    fields = value.value if isinstance(value.value, dict) else {}
    if "do" not in fields or not ({"each", "when"} & set(fields)):
        return item(value)
    kind = "each" if "each" in fields else "when"
    known = {"each": ("each", "as", "do"), "when": ("when", "do", "else")}[kind]
    for key in fields:
        if key not in known:
            raise value.key_place(key).error(f"a block with `{kind}` has no {key!r}", nearest(key, known))
    do = compile_list(_list(fields["do"], "do"), item)
    if kind == "when":
        otherwise = compile_list(_list(fields["else"], "else"), item) if "else" in fields else None
        return When(compile_template(fields["when"]), do, otherwise, value.place)
    name = fields["as"].text("`as`") if "as" in fields else "item"
    if not name.isidentifier() or name.startswith("_"):
        raise fields["as"].error(f"{name!r} is no name", "use letters, digits and underscores")
    return Each(compile_template(fields["each"]), name, do, value.place)


def _list(value: Located, what: str) -> Located:
    value.list(f"`{what}`")
    return value


def _expand(item: Template | Each | When, scope: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(item, Each | When):
        yield from item.expand(scope)
    else:
        yield item.render(scope)


def _union(parts: Any) -> frozenset[str]:
    return frozenset[str]().union(*(part.names for part in parts))
