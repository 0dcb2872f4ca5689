"""Located YAML: every value knows its file and line, so that every complaint can name them.

A strict subset of YAML 1.2: block and flow mappings, lists and scalars. `yes`, `no`, `on`, `off`, `10:30` and
`2026-03-01` are texts (YAML 1.1 would make them booleans, sexagesimal numbers and dates). Refused, with the line: tabs as
indentation, duplicate keys, keys that are no text, tags, anchors and aliases (so no alias bomb can be written), several
documents in a file, and files that are too large or too deep.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from forge.records import InputError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_BYTES = 2 * 2**20
_MAX_NODES = 100_000
_MAX_DEPTH = 64

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)$")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$")
_CONSTANTS = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True)
class Place:
    """Where something stands: a file, and a line counted from 1."""

    file: str
    line: int

    def error(self, message: str, mend: str | None = None) -> InputError:
        """An InputError at this place."""
        return InputError(message, file=self.file, line=self.line, mend=mend)


@dataclass(frozen=True, eq=False)
class Located:
    """A YAML value with its place.

    `value` is None, bool, int, float or str for a scalar, a list of Located, or a dict from key to Located; `keys` holds
    the places of a mapping's keys.
    """

    value: Any
    place: Place
    keys: dict[str, Place]

    @property
    def kind(self) -> str:
        """What a person would call this value: mapping, list, text, number, true/false or nothing."""
        value = self.value
        if isinstance(value, dict):
            return "mapping"
        if isinstance(value, list):
            return "list"
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "true/false"
        return "text" if isinstance(value, str) else "number"

    def error(self, message: str, mend: str | None = None) -> InputError:
        """An InputError at this value's place."""
        return self.place.error(message, mend)

    def plain(self) -> Any:
        """The value as plain JSON data, without places."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value

    def mapping(self, what: str) -> dict[str, Located]:
        """The value as a mapping. Raises InputError, naming `what`, when it is something else."""
        if not isinstance(self.value, dict):
            raise self.error(f"{what} must be a mapping, not {_article(self.kind)}", "write `key: value` lines")
        return self.value

    def list(self, what: str) -> list[Located]:
        """The value as a list. Raises InputError, naming `what`, when it is something else."""
        if not isinstance(self.value, list):
            raise self.error(f"{what} must be a list, not {_article(self.kind)}", "write `- item` lines or [a, b]")
        return self.value

    def text(self, what: str) -> str:
        """The value as a text that is not empty. Raises InputError, naming `what`, when it is something else."""
        if not isinstance(self.value, str):
            raise self.error(f"{what} must be a text, not {_article(self.kind)}", "put it in quotes if it is meant so")
        if not self.value.strip():
            raise self.error(f"{what} is empty")
        return self.value

    def key_place(self, key: str) -> Place:
        """Where the mapping's key stands."""
        return self.keys.get(key, self.place)


def load_located(path: Path) -> Located:
    """Read a YAML file.

    Raises:
        InputError: it cannot be read, is no YAML of the subset above, or holds nothing.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if len(data) > _MAX_BYTES:
        raise InputError(f"has {len(data)} bytes; at most {_MAX_BYTES} are read", file=path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is no UTF-8 text", file=path, line=line, mend="save it as UTF-8") from None
    return parse_located(text, str(path))


def parse_located(text: str, file: str) -> Located:
    """Parse YAML text; `file` is the name used in messages. Raises as `load_located`."""
    try:
        return _Composer(text, file).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else min(mark.line + 1, max(1, text.count("\n") + (not text.endswith("\n"))))
        raise _syntax_error(error, text, file, line) from None
    except yaml.YAMLError as error:  # a character that YAML forbids; the reader knows an index, no line
        position = getattr(error, "position", 0) or 0
        raise InputError(
            f"no YAML: {str(error).splitlines()[0]}", file=file, line=text.count("\n", 0, position) + 1
        ) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """A mend: the nearest known names, or all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known are {', '.join(known)}" if known else "none is known here"


class _Composer:
    """Builds Located values straight from YAML events; never recurses through an alias, for there are none."""

    def __init__(self, text: str, file: str):
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self._file = file
        self._nodes = 0

    def document(self) -> Located:
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            raise InputError("is empty", file=self._file, line=1)
        root = self._node(next(self._events), 0)
        next(self._events)  # the document's end
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._at(event).error("a second document begins here", "keep one document a file; remove the `---`")
        return root

    def _at(self, event: Any) -> Place:
        return Place(self._file, event.start_mark.line + 1)

    def _node(self, event: Any, depth: int) -> Located:
        place = self._at(event)
        self._nodes += 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise place.error("anchors and aliases (&name, *name) are not part of the language", "write the value out")
        if event.tag is not None and event.tag != "!":
            raise place.error(f"the tag {event.tag} is not part of the language", "remove it")
        if depth > _MAX_DEPTH:
            raise place.error(f"values are nested more than {_MAX_DEPTH} deep")
        if self._nodes > _MAX_NODES:
            raise place.error(f"the file has more than {_MAX_NODES} values")
        if isinstance(event, yaml.ScalarEvent):
            return Located(_scalar(event), place, {})
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(inner := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(inner, depth + 1))
            return Located(items, place, {})
        return self._mapping(place, depth)

    def _mapping(self, place: Place, depth: int) -> Located:
        values: dict[str, Located] = {}
        keys: dict[str, Place] = {}
        while not isinstance(inner := next(self._events), yaml.MappingEndEvent):
            key = self._node(inner, depth + 1)
            if not isinstance(key.value, str):
                raise key.error(f"a key must be a text, not {_article(key.kind)}", "put the key in quotes")
            if key.value in values:
                first = keys[key.value].line
                raise key.error(f"the key {key.value!r} stands twice (first in line {first})", "remove one of them")
            keys[key.value] = key.place
            values[key.value] = self._node(next(self._events), depth + 1)
        return Located(values, place, keys)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:  # quoted or block: always a text
        return text
    if text.lower() in _CONSTANTS and text in (text.lower(), text.title(), text.upper()):
        return _CONSTANTS[text.lower()]
    if (
        _INT.match(text) and len(text.lstrip("+-")) < 19
    ):  # 007 and longer rows of digits are numbers of things, so texts
        return int(text)
    if _FLOAT.match(text):
        number = float(text)
        return number if abs(number) < float("inf") else text
    return text


def _syntax_error(error: yaml.MarkedYAMLError, text: str, file: str, line: int) -> InputError:
    lines = text.splitlines()
    around = lines[line - 1] if 0 < line <= len(lines) else ""
    if "\t" in around[: len(around) - len(around.lstrip())] or "'\\t'" in str(error.problem):
        return InputError("a tab stands in the indentation", file=file, line=line, mend="indent with spaces")
    mend = None
    if "mapping values are not allowed" in str(error.problem):
        mend = "a text that contains `: ` needs quotes"
    elif "'}'" in str(error) or "flow" in str(error):
        mend = "close every bracket; inside [..] and {..} a text with , { } [ ] or : needs quotes"
    return InputError(f"no YAML: {error.problem or error.context}", file=file, line=line, mend=mend)


def _article(kind: str) -> str:
    return kind if kind in ("nothing", "true/false") else f"a {kind}"
