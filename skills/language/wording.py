"""Instructions: banks of skeletons in several voices, with slots for what must be said.

A wording file has `skeletons`, a mapping from a voice to its list of texts, and optional `pieces`, small parts such as
openers and reasons: a list, or a mapping from a voice to its list (`*` for all others). In a text

- `{name}` is a slot: a span that the workflow's `says` declares, or a piece;
- `{Name}` is the same slot with its first letter in capitals, where that letter is a word's; a value stays as it is;
- `${...}` is an expression, as everywhere; `{{` and `}}` are literal braces.

Every skeleton says every span, directly or through a piece that always does. Pieces may hold slots themselves and may be
empty; the space after an empty piece goes too. What was drawn, texts and all, is part of the resolved object, so that a
growing bank never changes a task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from forge.records import JSON
from skills.dice import pick
from skills.language.expression import Expression
from skills.language.functions import plain_text
from skills.language.located import Located, Place, load_located, nearest
from skills.language.problems import Problems
from skills.language.shapes import Shape
from skills.language.template import Template, compile_text, split_text
from verifiers.prose import slips

PHRASES = Path(__file__).parents[1] / "banks" / "phrases.yaml"
"""Pieces that every workflow may use."""

WANTED_SKELETONS, WANTED_VOICES = 20, 3

_SLOT = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_-]*)\}|[{}]")
_DEPTH = 5


@dataclass(frozen=True)
class Line:
    """One text of a wording with its place; `voice` is `*` for all."""

    text: str
    voice: str
    place: Place


@dataclass(frozen=True)
class Said:
    """A rendered instruction, and the literal words that say each span."""

    text: str
    spans: dict[str, str]


@dataclass
class Wording:
    """Skeletons, pieces and the spans that must be said.

    Attributes:
        spans: name to its variants, as `says` lists them.
        voice: the template that chooses the voice, or None to draw it.
    """

    place: Place
    skeletons: list[Line]
    pieces: dict[str, list[Line]]
    spans: dict[str, list[Line]]
    voice: Template | None = None
    names: frozenset[str] = field(default_factory=frozenset)

    @property
    def voices(self) -> list[str]:
        """The voices that have skeletons, sorted."""
        return sorted({line.voice for line in self.skeletons})

    def draw(self, scope: Mapping[str, Any], *parts: JSON) -> dict[str, JSON]:
        """Choose a skeleton and a text for each slot in it; plain data for the resolved object.

        Raises:
            InputError: the chosen voice has no skeletons.
        """
        pool = self.skeletons
        if self.voice is not None:
            voice = self.voice.render(scope)
            pool = [line for line in pool if line.voice == voice]
            if not pool:
                raise self.voice.place.error(
                    f"there are no skeletons for the voice {voice!r}", nearest(str(voice), self.voices)
                )
        chosen = next(line for line in pool if line.text == pick([each.text for each in pool], *parts, "skeleton"))
        texts: dict[str, JSON] = {}
        pending = list(slots(chosen.text, chosen.place))
        while pending:
            slot = pending.pop().lower()
            if slot not in texts:
                lines = self.spans.get(slot) or self._lines(slot, chosen.voice)
                texts[slot] = pick([line.text for line in lines], *parts, slot)
                pending.extend(slots(str(texts[slot]), self.place))
        return {"voice": chosen.voice, "skeleton": chosen.text, "slots": dict(sorted(texts.items()))}

    def say(self, drawn: Mapping[str, Any], scope: Mapping[str, Any]) -> Said:
        """Render what `draw` chose. Raises InputError for an expression that fails or a span that comes out empty."""
        spans: dict[str, str] = {}
        text = self._fill(drawn["skeleton"], drawn["slots"], lambda code: self._spell(code, scope), spans, 0)
        text = re.sub(r"[ \t]+\n", "\n", text).strip()
        for name in self.spans:
            if not spans.get(name, "").strip() or spans[name] not in text:
                raise self.place.error(f"the instruction does not say {name!r}: {text[:200]!r}")
        return Said(text, spans)

    def check(self, scope: Mapping[str, Shape], problems: Problems) -> None:
        """Note unknown slots, missing spans, braces left open and expressions that can never work."""
        for name, lines in {**self.pieces, **self.spans}.items():
            for line in lines:
                self._check_line(line, scope, problems, is_span=name in self.spans)
        for line in self.skeletons:
            before = len(problems.found)
            self._check_line(line, scope, problems, is_span=False)
            if len(problems.found) > before:
                continue
            with problems.noting():
                missing = set(self.spans) - self._sure(line.text, line.voice, line.place, 0)
                for name in sorted(missing):
                    raise line.place.error(f"this skeleton does not say {name!r}", f"put {{{name}}} into it")
                self._check_prose(line)

    def remarks(self) -> Iterator[str]:
        """What is allowed but below the library's standard."""
        if len(self.skeletons) < WANTED_SKELETONS:
            yield f"{len(self.skeletons)} skeletons; the library wants at least {WANTED_SKELETONS}"
        if len(self.voices) < WANTED_VOICES:
            yield f"{len(self.voices)} voices; the library wants at least {WANTED_VOICES}"
        words = [(line, set(re.findall(r"[a-z']+|\{\w+\}", line.text.lower()))) for line in self.skeletons]
        for place, (one, left) in enumerate(words):
            for other, right in words[place + 1 :]:
                if len(left & right) > 0.8 * len(left | right):
                    yield f"the skeletons of lines {one.place.line} and {other.place.line} are nearly the same"

    def _lines(self, slot: str, voice: str) -> list[Line]:
        lines = self.pieces.get(slot, [])
        return [line for line in lines if line.voice == voice] or [line for line in lines if line.voice == "*"]

    def _sure(self, text: str, voice: str, place: Place, depth: int) -> set[str]:
        """The spans that a text surely says, whatever is drawn for its pieces. Raises InputError for a piece in itself."""
        if depth > _DEPTH:
            raise place.error(f"pieces are nested more than {_DEPTH} deep", "does a piece contain itself?")
        said: set[str] = set()
        for slot in slots(text, place):
            name = slot.lower()
            if name in self.spans:
                said.add(name)
                continue
            inner = [self._sure(line.text, voice, line.place, depth + 1) for line in self._lines(name, voice)]
            said |= set.intersection(*inner) if inner else set()
        return said

    def _check_line(self, line: Line, scope: Mapping[str, Shape], problems: Problems, is_span: bool) -> None:
        with problems.noting():
            for part, is_code in split_text(line.text, line.place):
                if is_code:
                    compile_text("${" + part + "}", line.place).infer(scope)
            for slot in slots(line.text, line.place):
                self._check_slot(slot, line, is_span)

    def _check_prose(self, line: Line) -> None:
        """Refuse a skeleton that reads badly with one of its pieces, whatever the values are (`x` stands for them)."""
        first: dict[str, Line] = {}
        others: list[tuple[str, Line]] = []
        pending = list(slots(line.text, line.place))
        while pending:
            name = pending.pop().lower()
            if name in first:
                continue
            lines = self.spans.get(name) or self._lines(name, line.voice)
            first[name] = lines[0]
            others += [(name, other) for other in lines[1:]]
            pending += [slot for each in lines for slot in slots(each.text, each.place)]
        for name, other in [("", line), *others]:
            texts = {slot: each.text for slot, each in {**first, name: other}.items()}
            for slip in slips(self._fill(line.text, texts, lambda code: "x", {}, 0)):
                drawn = f" with {{{name}}} of line {other.place.line}" if name else ""
                raise line.place.error(
                    f"this skeleton has{drawn} {slip}", "an instruction must read as a person writes"
                )

    def _check_slot(self, slot: str, line: Line, is_span: bool) -> None:
        name = slot.lower()
        if is_span:
            raise line.place.error(f"a span holds no slots, but this one has {{{slot}}}", "use ${...} for values")
        if name not in self.spans and name not in self.pieces:
            known = [*self.spans, *self.pieces]
            raise line.place.error(f"{{{slot}}} is neither a span of `says` nor a piece", nearest(name, known))
        voices = [line.voice] if line.voice != "*" else self.voices
        for voice in voices:
            if name not in self.spans and not self._lines(name, voice):
                raise line.place.error(
                    f"the piece {name!r} has nothing for the voice {voice!r}", "add it, or a `*` list"
                )

    def _fill(
        self, text: str, texts: Mapping[str, Any], spell: Callable[[str], str], spans: dict[str, str], depth: int
    ) -> str:
        if depth > _DEPTH:
            raise self.place.error("pieces are nested too deep")
        made, after_nothing = "", False
        for kind, part in tokens(text, self.place):
            if kind == "code":
                made += spell(part)
            elif kind == "text":
                made = _after_nothing(made, part) if after_nothing else made + part
            else:
                slot = part.lower()
                filled = self._fill(str(texts[slot]), texts, spell, spans, depth + 1)
                if part[0].isupper() and not self._begins_with_value(str(texts[slot]), texts):
                    filled = filled[:1].upper() + filled[1:]
                if slot in self.spans:
                    spans.setdefault(slot, filled)
                made += filled
                after_nothing = not filled
                continue
            after_nothing = False
        return made

    def _begins_with_value(self, text: str, texts: Mapping[str, Any]) -> bool:
        kind, part = next(iter(tokens(text, self.place)), ("text", ""))
        if kind == "slot":
            return self._begins_with_value(str(texts[part.lower()]), texts)
        return kind == "code"

    def _spell(self, part: str, scope: Mapping[str, Any]) -> str:
        try:
            return plain_text(Expression(part, self.place).evaluate(scope))
        except ValueError as error:
            raise self.place.error(f"${{{part}}}: {error}") from None


@lru_cache(maxsize=20_000)
def tokens(text: str, place: Place) -> tuple[tuple[str, str], ...]:
    """The parts of a wording's text: `text` as it is, `code` of an expression, `slot` by its name as written.

    Raises:
        InputError: a brace is left open or stands for nothing.
    """
    found: list[tuple[str, str]] = []
    for part, is_code in split_text(text, place):
        if is_code:
            found.append(("code", part))
            continue
        rest = 0
        for match in _SLOT.finditer(part):
            if match.start() > rest:
                found.append(("text", part[rest : match.start()]))
            rest = match.end()
            if match[1] is not None:
                found.append(("slot", match[1]))
            elif len(match[0]) == 2:
                found.append(("text", match[0][0]))
            else:
                raise place.error(f"a single {match[0]!r} stands for nothing", "write {{ and }} for literal braces")
        if rest < len(part):
            found.append(("text", part[rest:]))
    return tuple(found)


def slots(text: str, place: Place) -> list[str]:
    """The slots of a text, as written. Raises InputError as `tokens`."""
    return [part for kind, part in tokens(text, place) if kind == "slot"]


def read_wording(path: Path, says: dict[str, list[Line]], voice: Template | None, place: Place) -> Wording:
    """Read a wording file.

    Args:
        path: the file.
        says: the spans that the workflow declares, with their variants.
        voice: the template that chooses the voice.
        place: where the workflow names the file.

    Raises:
        WorkflowError: it cannot be read or is no wording.
    """
    root = load_located(path)
    fields = root.mapping("a wording")
    problems = Problems()
    for key in fields:
        if key not in ("skeletons", "pieces"):
            problems.add(root.key_place(key), f"a wording has no {key!r}", "it has skeletons and pieces")
    if "skeletons" not in fields:
        raise root.error("`skeletons` is missing", "write skeletons: {terse: [...], polite: [...]}")
    skeletons: list[Line] = []
    for name, texts in fields["skeletons"].mapping("skeletons").items():
        with problems.noting():
            skeletons += _lines_of(texts, name, f"skeletons: {name}")
    if not skeletons and not problems.found:
        problems.add(fields["skeletons"].place, "there is no skeleton", "write at least one")
    seen: dict[str, Line] = {}
    for line in skeletons:
        if (first := seen.setdefault(line.text, line)) is not line:
            problems.add(line.place, f"this skeleton stands in line {first.place.line} already")
    pieces = dict(_phrases())
    for name, value in fields["pieces"].mapping("pieces").items() if "pieces" in fields else ():
        with problems.noting():
            if name in says:
                raise value.error(f"{name!r} is a span of `says` already", "choose another name")
            pieces[name] = _piece(name, value)
    problems.raise_any()
    names = frozenset[str]()
    for line in [*skeletons, *(each for lines in says.values() for each in lines)]:
        with problems.noting():
            names |= compile_names(line)
    problems.raise_any()
    return Wording(place, skeletons, pieces, says, voice, names | (voice.names if voice else frozenset()))


def compile_names(line: Line) -> frozenset[str]:
    """The names that a text's expressions read. Raises InputError for one that is no expression."""
    found = [Expression(part, line.place).names for kind, part in tokens(line.text, line.place) if kind == "code"]
    return frozenset[str]().union(*found)


def _lines_of(value: Located, voice: str, what: str) -> list[Line]:
    lines = []
    for item in value.list(what):
        if not isinstance(item.value, str):
            raise item.error(f"{what}: a text is wanted, not {item.kind}", "put it in quotes")
        lines.append(Line(item.value.strip("\n"), voice, item.place))
    if not lines:
        raise value.error(f"{what} is empty", "write at least one text")
    return lines


def _piece(name: str, value: Located) -> list[Line]:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise value.error(f"a piece's name has small letters, digits, - and _; not {name!r}")
    if isinstance(value.value, dict):
        return [line for voice, texts in value.value.items() for line in _lines_of(texts, voice, f"{name}: {voice}")]
    return _lines_of(value, "*", name)


@lru_cache(maxsize=1)
def _phrases() -> dict[str, list[Line]]:
    root = load_located(PHRASES)
    return {name: _piece(name, value) for name, value in root.mapping("phrases").items()}


def _after_nothing(made: str, more: str) -> str:
    """Go on after an empty piece: one of the two spaces around it goes, or the one before a closing mark."""
    if more[:1] in tuple(".,;:!?"):
        return made.removesuffix(" ") + more
    return made + (more.removeprefix(" ") if not made or made[-1] in " \n" else more)
