"""Realistic folder trees, drawn: `draw_tree("photos", "medium", rng)` gives the parameters of a `files.tree`.

What kinds of trees there are, how each is laid out and what is in its files stands in `kinds/*.yaml`; the notation is
described in docs/files.md. All chance comes from `rng.random()`, which is the same on every machine and Python.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from forge.records import JSON, InputError
from preparers.files.params import suffix_of
from preparers.files.recipes import CONTENTS, KINDS, load_kind

Size = Literal["small", "medium", "large"]
SCALE = {"small": 1, "medium": 2, "large": 4}

_HOLE = re.compile(r"\{([^{}\n]+)\}")


def tree_kinds() -> dict[str, list[str]]:
    """Kind of tree to the names of its layouts."""
    return {path.stem: sorted(load_kind(path.stem)["layouts"]) for path in sorted(KINDS.glob("*.yaml"))}


def kind_words() -> dict[str, str]:
    """Kind of tree to what it is, its layouts, and the suffixes of the files that each can have."""
    found = {}
    for kind in tree_kinds():
        data = load_kind(kind)
        layouts = [
            f"`{name}` ({' '.join(sorted(set(_suffixes(plan['items']))))})"
            for name, plan in sorted(data["layouts"].items())
        ]
        found[kind] = f"{data['about'].rstrip('.')}; {', '.join(layouts)}"
    return found


def draw_tree(
    kind: str, size: Size, rng: random.Random, *, layout: str | None = None, root: str | None = None
) -> dict[str, JSON]:
    """A folder with everything in it, complete parameters for `files.tree`.

    Args:
        kind: photos, project, household, website, course, datadrop, club ... (`tree_kinds`).
        size: small is about 10 files, medium twice, large four times as many.
        rng: only its `random()` is used.
        layout: one of the kind's layouts; by default one is drawn.
        root: the folder; by default one of the layout's.

    Returns:
        {"root": "~/...", "items": [...]}.

    Raises:
        InputError: an unknown kind, size or layout; a fault in the kind's file, with its line.
    """
    if size not in SCALE:
        raise InputError(f"unknown size of tree {size!r}", mend=f"known are {', '.join(SCALE)}")
    data = load_kind(kind)
    name = layout if layout is not None else _pick(rng, sorted(data["layouts"]))
    if name not in data["layouts"]:
        raise InputError(f"unknown layout {name!r} of {kind}", mend=f"known are {', '.join(sorted(data['layouts']))}")
    plan = data["layouts"][name]
    drawing = _Drawing(rng, data["words"], SCALE[size], KINDS / f"{kind}.yaml")
    scope: dict[str, Any] = {}
    for variable, source in plan.get("let", {}).items():
        scope[variable] = drawing.one(source, scope, plan)
    template = _pick(rng, [root] if root is not None else plan["root"])
    made = root if root is not None else drawing.text(template, scope, plan)
    drawing.fill(plan["items"], scope)
    return {"root": made, "items": drawing.items}


def _suffixes(plans: list[dict[str, Any]]) -> Iterator[str]:
    for plan in plans:
        if "items" in plan:
            yield from _suffixes(plan["items"])
        elif "folder" not in plan:
            yield suffix_of(_HOLE.sub("x", _HOLE.sub("x", plan["path"]))) or "no suffix"


@dataclass
class _Drawing:
    """One draw: the generator, the kind's lists of words, how much of everything, and what was made so far."""

    rng: random.Random
    words: dict[str, list[Any]]
    scale: int
    file: Path
    items: list[dict[str, JSON]] = field(default_factory=list)

    def fill(self, plans: list[dict[str, Any]], scope: dict[str, Any]) -> None:
        """Make the items of a list of plans, in order."""
        for plan in plans:
            if self.rng.random() >= float(plan.get("chance", 1)):
                continue
            for inner in self._rounds(plan, scope):
                if "items" in plan:
                    self.fill(plan["items"], inner)
                else:
                    self._add(plan, inner)

    def one(self, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> Any:
        """A value for a `let`: one of a list, a whole number, a date, a text with holes."""
        if isinstance(source, str) and source in self.words:
            return _pick(self.rng, self.words[source])
        if isinstance(source, list):
            return _pick(self.rng, source)
        if isinstance(source, dict) and "int" in source:
            return _whole(self.rng, *source["int"])
        if isinstance(source, dict) and "date" in source:
            return _day(self.rng, *source["date"])
        if isinstance(source, str):
            return self.value(source, scope, plan)
        raise self._fault(
            plan, f"{source!r} is no source of a value; write a list, its name, {{int: [1, 9]}} or a text"
        )

    def value(self, template: Any, scope: dict[str, Any], plan: dict[str, Any]) -> Any:
        """A template filled; one that is a single hole keeps the type of what fills it, lists and mappings go through."""
        if isinstance(template, dict):
            pairs = ((k, v) for k, v in template.items() if k != "__line__")
            return {self.text(k, scope, plan): self.value(v, scope, plan) for k, v in pairs}
        if isinstance(template, list):
            return [self.value(item, scope, plan) for item in template]
        if not isinstance(template, str):
            return template
        text = template.replace("{{", "\1").replace("}}", "\2")
        while match := _HOLE.search(text):  # the innermost first: {date:{year}-01-01:{year}-12-31}
            found = self._hole(match[1], scope, plan)
            if match[0] == text:
                return found.isoformat() if isinstance(found, date) else found
            text = text[: match.start()] + str(found).replace("{", "\1").replace("}", "\2") + text[match.end() :]
        return text.replace("\1", "{").replace("\2", "}")

    def text(self, template: str, scope: dict[str, Any], plan: dict[str, Any]) -> str:
        """A template filled, as a text."""
        return str(self.value(str(template), scope, plan))

    def _hole(self, hole: str, scope: dict[str, Any], plan: dict[str, Any]) -> Any:
        name, _, rest = hole.partition(":")
        if name in _MAKERS:
            try:
                return _MAKERS[name](self, rest, scope)
            except (KeyError, ValueError, TypeError) as error:
                raise self._fault(plan, f"{{{hole}}} cannot be filled: {error}") from None
        variable, _, part = name.partition(".")
        if variable not in scope:
            known = ", ".join(sorted({*scope, *_MAKERS}))
            raise self._fault(plan, f"nothing is called {variable!r} in {{{hole}}}; known are {known}")
        value = scope[variable]
        if part:
            value = value[part]
        return format(value, rest) if rest else value

    def _rounds(self, plan: dict[str, Any], scope: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The scopes in which a plan is carried out: one, or one for each value of its `each`."""
        each = plan.get("each")
        if each is None:
            yield scope
            return
        ((variable, source),) = ((k, v) for k, v in each.items() if k != "__line__")
        for number, value in enumerate(self._several(source, scope, plan), 1):
            yield {**scope, variable: value, "n": number}

    def _several(self, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> list[Any]:
        if not isinstance(source, dict) or not ({"of", "count", "dates", "ints"} & source.keys()):
            raise self._fault(
                plan, "`each` names a variable with {of: list, take: [2, 4]}, {count: [2, 4]}, dates or ints"
            )
        low, high = _span(source.get("take", source.get("count", (10**6, 10**6))))
        wanted = _whole(self.rng, low, high) * (1 if source.get("fixed") else self.scale)
        if "count" in source:
            return list(range(1, wanted + 1))
        if "dates" in source:
            first, last = (date.fromisoformat(self.text(str(end), scope, plan)) for end in source["dates"])
            days = [first + timedelta(days=i) for i in range((last - first).days + 1)]
            return sorted(_some(self.rng, days, wanted))
        if "ints" in source:
            return sorted(_some(self.rng, list(range(source["ints"][0], source["ints"][1] + 1)), wanted))
        pool = self.words.get(source["of"]) if isinstance(source["of"], str) else source["of"]
        if pool is None:
            raise self._fault(plan, f"there is no list called {source['of']!r}")
        return _some(self.rng, pool, wanted)

    def _add(self, plan: dict[str, Any], scope: dict[str, Any]) -> None:
        kind = next(key for key in CONTENTS if key in plan)
        item: dict[str, JSON] = {"path": self._free(self.text(plan["path"], scope, plan))}
        item.update(_CONTENT_MAKERS[kind](self, plan[kind], scope, plan))
        if "modified" in plan:
            moment = self.text(plan["modified"], scope, plan)
            item["modified"] = moment if "T" in moment else f"{moment}T{self._clock()}"
        if "mode" in plan:
            item["mode"] = int(str(plan["mode"]), 8)
        self.items.append(item)

    def _free(self, path: str) -> str:
        """The path, with a number before its suffix where it is taken."""
        taken = {item["path"] for item in self.items}
        stem, dot, suffix = path.partition(".") if not path.rpartition("/")[2].startswith(".") else (path, "", "")
        number = 1
        while path in taken:
            number += 1
            path = f"{stem}-{number}{dot}{suffix}"
        return path

    def _clock(self) -> str:
        minutes = _whole(self.rng, 7 * 60, 21 * 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{_whole(self.rng, 0, 59):02}"

    def _fault(self, plan: dict[str, Any], message: str) -> InputError:
        return InputError(message, file=self.file.name, line=plan.get("__line__"))


# what fills a hole


def _picked(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> Any:
    return drawing.value(_pick(drawing.rng, drawing.words[rest]), scope, {})


def _int(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> int:
    low, high = rest.split(":")
    return _whole(drawing.rng, int(low), int(high))


def _money(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> float:
    low, high = rest.split(":")
    return _whole(drawing.rng, int(low) * 100, int(high) * 100) / 100


def _date(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> date:
    first, last = rest.split(":")
    return _day(drawing.rng, first, last)


def _slug(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> str:
    value: Any = scope
    for part in rest.split("."):
        value = value[part]
    return re.sub(r"[^a-z0-9]+", "-", str(value).lower()).strip("-")


def _hex(drawing: _Drawing, rest: str, scope: dict[str, Any]) -> str:
    return "".join("0123456789abcdef"[_whole(drawing.rng, 0, 15)] for _ in range(int(rest)))


_MAKERS: dict[str, Callable[[_Drawing, str, dict[str, Any]], Any]] = {
    "pick": _picked, "int": _int, "money": _money, "date": _date, "slug": _slug, "hex": _hex,
}  # fmt: skip


# what is in a file


def _lines(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for entry in source if isinstance(source, list) else [source]:
        if isinstance(entry, dict):
            low, high = _span(entry["repeat"])
            for number in range(1, _whole(drawing.rng, low, high) + 1):
                lines.append(drawing.text(entry["line"], {**scope, "n": number}, plan))
        else:
            lines += drawing.text(entry, scope, plan).rstrip("\n").split("\n")
    return lines


def _text(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    return {"kind": "text", "text": "\n".join(_lines(drawing, source, scope, plan)) + "\n"}


def _log(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    """Lines that begin with a running time: `start` is a day, `gap` the longest pause in seconds."""
    moment = datetime.fromisoformat(drawing.text(source["start"], scope, plan)) + timedelta(hours=6)
    lines = []
    for _ in range(_whole(drawing.rng, *_span(source["lines"]))):
        moment += timedelta(seconds=_whole(drawing.rng, 1, int(source.get("gap", 600))))
        lines.append(drawing.text(source["line"], {**scope, "time": moment}, plan))
    return {"kind": "text", "text": "\n".join(lines) + "\n"}


def _csv(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    count = _whole(drawing.rng, *_span(source["rows"]))
    rows = [drawing.value(source["row"], {**scope, "n": number}, plan) for number in range(1, count + 1)]
    header = drawing.value(source["header"], scope, plan)
    return {"kind": "csv", "header": header, "rows": rows, "delimiter": source.get("delimiter", ",")}


def _json(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    return {"kind": "json", "value": drawing.value(source, scope, plan)}


def _ini(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    made = drawing.value(source, scope, plan)
    return {"kind": "ini", "sections": {name: {k: str(v) for k, v in pairs.items()} for name, pairs in made.items()}}


def _image(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    width, height = _pick(drawing.rng, source["sizes"])
    variant = _whole(drawing.rng, 0, 999_999)
    return {"kind": "image", "width": width, "height": height, "scene": source["scene"], "variant": variant}


def _docx(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    """Lines as paragraphs: `# ` is the title, `## ` and `### ` are headings, `- ` is a point."""
    styles = {"# ": "title", "## ": "heading1", "### ": "heading2", "- ": "bullet"}
    paragraphs: list[JSON] = []
    for line in _lines(drawing, source["text"], scope, plan):
        mark = next((mark for mark in styles if line.startswith(mark)), "")
        paragraphs.append({"text": line[len(mark) :], "style": styles.get(mark, "normal")})
    table = [[str(cell) for cell in row] for row in drawing.value(source.get("table", []), scope, plan)]
    return {"kind": "docx", "paragraphs": paragraphs, "table": table}


def _pptx(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    slides = [
        {"title": drawing.text(s["title"], scope, plan), "bullets": _lines(drawing, s["bullets"], scope, plan)}
        for s in source
    ]
    return {"kind": "pptx", "slides": slides}


def _archive(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    inside = _Drawing(drawing.rng, drawing.words, drawing.scale, drawing.file)
    inside.fill(source, scope)
    return {"kind": "archive", "members": inside.items}


def _folder(drawing: _Drawing, source: Any, scope: dict[str, Any], plan: dict[str, Any]) -> dict[str, JSON]:
    return {"kind": "folder"}


_CONTENT_MAKERS = {
    "text": _text, "log": _log, "csv": _csv, "json": _json, "ini": _ini, "image": _image, "docx": _docx, "pptx": _pptx,
    "archive": _archive, "folder": _folder,
}  # fmt: skip


# chance, from random() alone


def _pick(rng: random.Random, pool: Any) -> Any:
    return pool[int(rng.random() * len(pool))]


def _whole(rng: random.Random, low: int, high: int) -> int:
    return low + int(rng.random() * (high - low + 1))


def _some(rng: random.Random, pool: list[Any], count: int) -> list[Any]:
    """So many different ones in the order of the pool; all, where there are fewer."""
    left = list(range(len(pool)))
    while len(left) > count:
        left.pop(int(rng.random() * len(left)))
    return [pool[index] for index in left]


def _day(rng: random.Random, first: Any, last: Any) -> date:
    start, end = date.fromisoformat(str(first)), date.fromisoformat(str(last))
    return start + timedelta(days=_whole(rng, 0, (end - start).days))


def _span(value: Any) -> tuple[int, int]:
    return (int(value), int(value)) if isinstance(value, int) else (int(value[0]), int(value[1]))
