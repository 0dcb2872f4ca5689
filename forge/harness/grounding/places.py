"""Instructions that say where a thing is: next to another one, or in a corner.

Each is checked on the screen: nothing else lies between, and no other thing fits the same words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from forge.harness.grounding.phrases import pick
from forge.harness.grounding.sight import Sight
from forge.harness.grounding.visible import FIELDS, Thing

NEAR = 40
"""Pixels between two things that still count as next to each other."""
CORNER = 70
"""Pixels from a corner within which a thing lies in it."""

_WAYS = ("right", "left", "below", "above")


def by_place(sight: Sight, thing: Thing, all_things: Sequence[Thing], unique: set[str], seed: str = "") -> str | None:
    """An instruction by position; None where no simple one is surely right.

    Args:
        sight: the screen.
        thing: what is meant.
        all_things: everything that can be pointed at there, named or not.
        unique: names that exactly one thing on the screen has.
        seed: chooses among several.
    """
    if thing.word == "cell" and thing.element.name:
        return pick(["Click cell {r}", "Select the cell {r}", "Go to cell {r} of the sheet"], seed, thing.name).format(
            r=thing.element.name
        )
    same = [other for other in all_things if other.surface == thing.surface]
    found = [text for way in _WAYS if (text := _beside(thing, same, unique, way))]
    corner = _corner(sight, thing, same)
    if corner:
        found.append(corner)
    return pick(found, seed, thing.context, thing.name, "position") if found else None


def _beside(thing: Thing, same: Sequence[Thing], unique: set[str], way: str) -> str | None:
    """The thing as the nearest one in a direction from a named one."""
    anchors = [
        other
        for other in same
        if other is not thing
        and other.name in unique
        and other.name != thing.name
        and _gap(other, thing, way) is not None
    ]
    for anchor in sorted(anchors, key=lambda other: _gap(other, thing, way) or 0):
        gap = _gap(anchor, thing, way)
        if gap is None or gap > NEAR:
            return None
        rivals = [other for other in same if other is not thing and other is not anchor]
        distances = [d for other in rivals if (d := _gap(anchor, other, way)) is not None]
        if distances and min(distances) < gap + 12:
            continue
        where = {
            "right": "directly to the right of", "left": "directly to the left of", "below": "directly below",
            "above": "directly above",
        }[way]  # fmt: skip
        # a field's name stands beside it, so the field itself must be meant
        kind = f"the {anchor.word} " if anchor.element.role in (*FIELDS, "slider") else ""
        return f'Click the {thing.word} {where} {kind}"{anchor.name}"'
    return None


def _gap(anchor: Thing, other: Thing, way: str) -> int | None:
    """Pixels from the anchor to another thing in a direction; None when it does not lie there, on the same line."""
    ax, ay, aw, ah = anchor.box
    x, y, w, h = other.box
    if way in ("right", "left"):
        if min(ay + ah, y + h) - max(ay, y) < 0.5 * min(ah, h):
            return None
        gap = x - (ax + aw) if way == "right" else ax - (x + w)
    else:
        if min(ax + aw, x + w) - max(ax, x) < 0.5 * min(aw, w):
            return None
        gap = y - (ay + ah) if way == "below" else ay - (y + h)
    return gap if gap >= -3 else None


def _corner(sight: Sight, thing: Thing, same: Sequence[Thing]) -> str | None:
    """The thing as the one in a corner of its window, where no other comes near it."""
    surface = sight.surfaces[thing.surface]
    if surface.title is None:
        return None
    x, y, w, h = thing.box
    middle = (x + w / 2, y + h / 2)
    for down in (0, 1):
        for right in (0, 1):
            corner = (surface.x + right * surface.width, surface.y + down * surface.height)
            mine = _distance(middle, corner)
            others = [
                _distance((o.box[0] + o.box[2] / 2, o.box[1] + o.box[3] / 2), corner) for o in same if o is not thing
            ]
            if mine <= CORNER + (w + h) / 4 and all(other > mine + 60 for other in others):
                home = thing.home if thing.home.endswith("dialog") else "the window"
                side = f"{'lower' if down else 'upper'} {'right' if right else 'left'}"
                return f"Click the {thing.word} in the {side} corner of {home}"
    return None


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])
