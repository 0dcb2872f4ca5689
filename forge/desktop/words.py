"""Where an element without a name is, in words: `beside "Height"`, `in "Formula Tool Bar"`.

The words are taken from what shows around it: a label to its left or above it, what stands in it, or the nearest named
thing that it lies in. They serve summaries and instructions, not look-ups.
"""

from __future__ import annotations

from collections.abc import Iterable

from forge.records.trajectory import Element

LABEL_ROLES = ("label", "static", "text", "paragraph", "heading", "caption")
_BESIDE, _BELOW = 240, 48  # pixels to a label on the left, and to one above
_SAID = 40  # characters


def whereabouts(element: Element, around: Iterable[Element]) -> str:
    """The words for `element`, empty when nothing around it has any.

    Args:
        element: an element, usually without a name.
        around: what shows, in any order; other windows and applications are left out.
    """
    same = [e for e in around if e.app == element.app and e.path[:1] == element.path[:1] and e.path != element.path]
    labels = [e for e in same if e.role in LABEL_ROLES and "editable" not in e.states and _says(e)]
    labels = [e for e in labels if not _holds(e, element)]
    beside = [(gap, e) for e in labels if 0 <= (gap := element.box[0] - e.box[0] - e.box[2] + 8) <= _BESIDE]
    beside = [(gap, e) for gap, e in beside if _overlap(e.box[1], e.box[3], element.box[1], element.box[3])]
    if beside:
        return f'beside "{_says(min(beside, key=lambda pair: pair[0])[1])}"'
    above = [(gap, e) for e in labels if 0 <= (gap := element.box[1] - e.box[1] - e.box[3] + 4) <= _BELOW]
    above = [(gap, e) for gap, e in above if _overlap(e.box[0], e.box[2], element.box[0], element.box[2])]
    if above:
        return f'below "{_says(min(above, key=lambda pair: pair[0])[1])}"'
    within = [e for e in same if e.path == element.path[: len(e.path)] and e.path and e.name]
    if within:
        return f'in "{_short(max(within, key=lambda e: len(e.path)).name)}"'
    return ""


def _says(element: Element) -> str:
    return _short(element.name or element.text or "")


def _short(text: str) -> str:
    line = " ".join(text.split()).removesuffix(":")
    return line if len(line) <= _SAID else line[: _SAID - 1] + "…"


def _holds(outer: Element, inner: Element) -> bool:
    return inner.path[: len(outer.path)] == outer.path


def _overlap(start: int, length: int, other: int, size: int) -> bool:
    return min(start + length, other + size) - max(start, other) > 0
