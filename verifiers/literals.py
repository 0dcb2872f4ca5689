"""The literals of a task, and whether each comes from its resolved object.

A literal is a piece of text that names something in particular: a quoted text, a path, a file name, an address, a cell or
range, a date, a time of day, a number. Instruction, start, solutions and rubric agree when all their literals come from
the one resolved object. Words without such a mark are not looked at; `says` spans and near-misses guard those. The number in
the name of an encoding (UTF-8) or a standard (ISO 8601) is none; one in any other name (INV-204) is.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from encodings import normalize_encoding
from encodings.aliases import aliases
from functools import cached_property
from typing import Literal

from forge.records import JSON, Task
from verifiers.notation import date_spans, dates_in, numbers_in

Kind = Literal["quoted text", "path", "file name", "address", "cell", "date", "time", "number"]

SUFFIXES = (
    "bmp", "cfg", "conf", "css", "csv", "dat", "doc", "docx", "eml", "gif", "gz", "html", "ics", "ini", "jpeg", "jpg",
    "json", "log", "md", "mbox", "ods", "odt", "odp", "pdf", "png", "ppt", "pptx", "py", "rtf", "sh", "sql", "svg", "tar",
    "tgz", "tsv", "txt", "vcf", "xls", "xlsm", "xlsx", "xml", "yaml", "yml", "zip",
)  # fmt: skip
"""What ends a file name in running text. Other words with a point in them (node.js, e.g.) are none."""

SMALL = 2
"""Whole numbers up to this one are prose ("the first 2 rows"), no literals."""

SMALL_ARGUMENT = 12
"""The same among a check's arguments, where small numbers are options (decimals, a column's place)."""

OPTIONS = ("tolerance", "limit", "mode")
"""Arguments that say how a check compares, not what."""

_QUOTED = re.compile("“([^”\n]+)”|\"([^\"\n]+)\"|‘([^’\n]+)’|`([^`\n]+)`|(?<!\\w)'([^'\n]+)'(?!\\w)|«([^»\n]+)»")
_PATH = re.compile(r"~/[^\s\"'`“”‘’«»,;:!?()<>|*]*[^\s\"'`“”‘’«»,;:!?()<>|*.]")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s\"'<>]+[^\s\"'<>.,;:!?)]")
_FILE = re.compile(rf"[^\s\"'`“”‘’«»,;:!?()<>|*/=\[\]]+\.(?:{'|'.join(SUFFIXES)})(?![\w])", re.IGNORECASE)
_CELL = re.compile(r"(?<![\w$.#-])\$?([A-Z]{1,3})\$?([1-9]\d{0,6})(?::\$?([A-Z]{1,3})\$?([1-9]\d{0,6}))?(?![\w(]|\.\w)")
_HASH = re.compile(r"[0-9a-f]{32,}")
_STANDARD = re.compile(r"(?<![\w.-])(?:ANSI|DIN|IEC|IEEE|ISO|RFC)[ -]\d{3,5}(?:-\d{1,2})?(?::\d{4})?(?![\w-])")
_DASHED = re.compile(r"(?<![\w.-])[A-Za-z]{2,}-\w+(?:-\d+)?(?![\w-])")
_ENCODINGS = frozenset({*aliases, *aliases.values()})
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:])")


@dataclass(frozen=True)
class Found:
    """A literal, what sort it is, and where in the task it stands."""

    text: str
    kind: Kind
    place: str


def literals_in(text: str, place: str, kinds: Iterable[Kind] | None = None, locale: str = "C") -> list[Found]:
    """The literals of a text. Each part of it is counted once: a number in a file name is no number of its own.

    Args:
        text: an instruction, an argument, a command.
        place: where it stands, for messages.
        kinds: which sorts to return; default: all.
        locale: the guest's, for dates in numbers.
    """
    text = unicodedata.normalize("NFKC", text)
    found: list[Found] = []

    def take(pattern: re.Pattern[str], kind: Kind) -> None:
        nonlocal text
        for match in list(pattern.finditer(text)):
            said = next((group for group in match.groups() if group), match[0]) if kind == "quoted text" else match[0]
            found.append(Found(said.strip(), kind, place))
        text = pattern.sub(lambda match: " " * len(match[0]), text)

    wanted = set(kinds) if kinds is not None else None
    for pattern, kind in _ORDER:
        if kind == "quoted text" and wanted is not None and kind not in wanted:
            continue
        take(pattern, kind)
    for start, end, _ in date_spans(text, locale):
        found.append(Found(text[start:end], "date", place))
        text = text[:start] + " " * (end - start) + text[end:]
    take(_TIME, "time")
    take(_CELL, "cell")
    text = _DASHED.sub(lambda match: " " * len(match[0]) if _is_encoding(match[0]) else match[0], text)
    text = _STANDARD.sub(lambda match: " " * len(match[0]), text)
    for number in numbers_in(text):
        if not (number.value.is_integer() and abs(number.value) <= SMALL):
            found.append(Found(f"{number.value:.15g}", "number", place))
    return [one for one in found if one.text and (wanted is None or one.kind in wanted)]


_ORDER: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (_QUOTED, "quoted text"), (_ADDRESS, "address"), (_PATH, "path"), (_FILE, "file name"),
)  # fmt: skip


class Facts:
    """What a resolved object says, asked for by literal.

    Args:
        resolved: the object. Its guest and the skeleton of its `wording` are left out: what stands there is no fact.
        locale: the guest's, for dates in numbers.
        more: further texts that hold, such as the guest's clock; the numbers in them are none of the task's.
    """

    def __init__(self, resolved: dict[str, JSON], locale: str = "C", more: Iterable[str] = ()):
        self._locale = locale
        self._leaves = list(_leaves(_own(resolved)))
        self._own_texts = [leaf for leaf in self._leaves if isinstance(leaf, str)]
        self._texts = [*self._own_texts, *more]

    def holds(self, found: Found) -> bool:
        """Whether a literal comes from the resolved object."""
        if found.kind == "number":
            return self._number(float(found.text))
        if found.kind == "date":
            return all(day in self._dates for day in dates_in(found.text, self._locale))
        if found.kind == "time":
            hours, minutes = found.text.split(":")[:2]
            return f"{int(hours):02}:{minutes}" in self._times
        if found.kind == "cell":
            return self._cell(found.text)
        if self._occurs(found.text):
            return True
        # A quoted text may be put together: "Total of 2025" from a word of the workflow and a fact is not one fact.
        inner = literals_in(found.text, found.place, locale=self._locale) if found.kind == "quoted text" else []
        return bool(inner) and inner[0].text == found.text and self.holds(inner[0])

    def nearest(self, found: Found) -> str:
        """The fact that is most like a literal, or empty."""
        whole = [text for text in self._texts if len(text) <= 120]
        texts = list(dict.fromkeys([*whole, *(text.rpartition("/")[2] for text in whole)]))[:2000]
        near = difflib.get_close_matches(found.text, texts, n=1, cutoff=0.5)
        return near[0] if near else ""

    @cached_property
    def _joined(self) -> str:
        return "\0" + "\0".join(_plain(text) for text in self._texts) + "\0"

    @cached_property
    def _dates(self) -> set[date]:
        return {day for text in self._texts for day in dates_in(text, self._locale)}

    @cached_property
    def _times(self) -> set[str]:
        moments = re.findall(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?!\d)", self._joined)
        return {f"{int(hours):02}:{minutes}" for hours, minutes in moments}

    @cached_property
    def _numbers(self) -> set[float]:
        found = {float(leaf) for leaf in self._leaves if isinstance(leaf, int | float) and not isinstance(leaf, bool)}
        for text in self._own_texts:
            if _HASH.fullmatch(text):
                continue
            found |= {number.value for number in numbers_in(text)}
            found |= {float(digits) for digits in re.findall(r"\d{1,15}", text)}
            for day in dates_in(text, self._locale):
                found |= {float(day.year), float(day.month), float(day.day)}
        return {round(number, 9) for number in found}

    @cached_property
    def _cells(self) -> list[tuple[int, int, int, int]]:
        return [area for text in self._texts for match in _CELL.finditer(text) if (area := _area(match))]

    def _number(self, value: float) -> bool:
        """A number itself, without its sign, as a share or as per cent, or as a factor of increase (1.19 for 0.19)."""
        options = [value, value / 100, value * 100]
        if 0 < abs(value - 1) < 1:
            options.append(value - 1)
        return any(round(option, 9) in self._numbers or round(-option, 9) in self._numbers for option in options)

    def _cell(self, text: str) -> bool:
        """A cell or range that some fact names, or that lies within a range that some fact names."""
        match = _CELL.fullmatch(text)
        area = match and _area(match)
        if not area:
            return self._occurs(text)
        left, top, right, bottom = area
        return any(a <= left and b <= top and right <= c and bottom <= d for a, b, c, d in self._cells)

    def _occurs(self, text: str) -> bool:
        """A text that some fact is or holds, not cut within a word."""
        spelt = re.escape(_plain(text).rstrip("/"))
        return re.search(rf"(?<!\w){spelt}(?!\w)", self._joined) is not None


def task_literals(task: Task) -> list[Found]:
    """All literals of a task: of instruction, start, solutions and rubric.

    Keys that are pressed are left out (F2 is no cell), and the code of commands but for paths, addresses and file names.
    """
    locale = task.guest.locale
    found = literals_in(task.instruction, "instruction", locale=locale)
    for start in task.start:
        found += literals_in(start.path or "", "start", ("path",))
    for solution in task.solutions:
        for number, step in enumerate(solution.steps, 1):
            place = f"{solution.channel} solution, step {number} ({step.move})"
            if step.move in ("key", "hold_key", "hold"):
                continue
            kinds: tuple[Kind, ...] = ("path", "address", "file name")
            if step.move == "answer":
                kinds = (*kinds, "date", "time", "number")
            elif step.move != "bash":
                kinds = (*kinds, "cell")
            for leaf in _leaves(step.value):
                if isinstance(leaf, str):
                    found += literals_in(leaf, place, kinds, locale)
    for criterion in task.rubric.criteria:
        place = f"criterion {criterion.id}"
        for name, value in criterion.args.items():
            for leaf in _leaves(value, sizes=False) if name not in OPTIONS else ():
                if isinstance(leaf, str):
                    found += literals_in(leaf, place, ("path", "address", "file name", "cell", "date"), locale)
                elif not (float(leaf).is_integer() and abs(leaf) <= SMALL_ARGUMENT):
                    found.append(Found(f"{leaf:.15g}", "number", place))
    return list(dict.fromkeys(found))


def _leaves(value: JSON, sizes: bool = True) -> Iterator[str | int | float]:
    """Keys and scalars and, with `sizes`, how long each list is."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _leaves(item, sizes)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, sizes)
        if sizes:
            yield len(value)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _own(resolved: dict[str, JSON]) -> dict[str, JSON]:
    """The object without what is no fact of the task: the guest, and the skeleton of its wording."""
    own = {key: value for key, value in resolved.items() if key not in ("guest", "@banks")}
    wording = own.get("wording")
    if isinstance(wording, dict):
        own["wording"] = {key: value for key, value in wording.items() if key != "skeleton"}
    return own


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_encoding(name: str) -> bool:
    """Whether Python knows an encoding of that name: UTF-8, ISO-8859-1, Windows-1252."""
    return normalize_encoding(name).lower() in _ENCODINGS


def _area(match: re.Match[str]) -> tuple[int, int, int, int]:
    columns = [_column(match[1]), _column(match[3] or match[1])]
    rows = [int(match[2]), int(match[4] or match[2])]
    return min(columns), min(rows), max(columns), max(rows)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
