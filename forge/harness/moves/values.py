"""Moves for fields with numbers: spin buttons and sliders, by their name or the label beside them."""

from __future__ import annotations

import re
from functools import partial

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import by_label
from forge.harness.moves.hands import Hands
from forge.records import Element

SPIN_ROLES = ("spin button",)
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,]*")
_MILLIMETRES = {
    "mm": 1.0, "cm": 10.0, "in": 25.4, '"': 25.4, "\u2033": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6, "pi": 25.4 / 6,
}  # fmt: skip


class SpinArgs(MoveArgs):
    value: str = Field(min_length=1, description="as a person would type it: 12, 2.5 cm, 50 %")
    field: str | None = Field(None, description="the field's name, or the label beside or above it")
    nth: int = Field(0, ge=0, description="which of the fields that fit, in reading order")
    within: str | None = Field(None, description="name of anything around it")


@move("spin", SpinArgs)
def spin(hands: Hands, args: SpinArgs) -> Acts:
    """Set a field with a number and arrows: type the number, else count with the arrow keys."""

    def field() -> Element | None:
        scene = hands.scene()
        roles = SPIN_ROLES if scene.select(None, SPIN_ROLES, args.within) else (*SPIN_ROLES, "text", "entry")
        return by_label(scene, args.field, roles, args.within, args.nth)

    what = f"number field {args.field or args.nth!r}"
    element = hands.wait(field, f"no {what} in {args.within!r}")
    is_set = partial(_holds, hands, element, args.value)
    if is_set():
        return
    # left of the arrows; Tab takes the number over, as leaving the field does
    yield hands.click(element, "triple_click", fx=0.25) + hands.key("ctrl+a") + hands.type(args.value)
    yield hands.key("Tab", until=is_set)
    if hands.becomes(is_set, 0.5):
        return
    yield hands.click(hands.again(element) or element, fx=0.25)
    gap = _gap(hands, element, args.value)
    while gap:
        yield hands.key("Up" if gap > 0 else "Down")
        left = _gap(hands, element, args.value)
        if left is None or abs(left) >= abs(gap):
            break
        gap = left
    if not hands.becomes(is_set, 0.5):
        shown = (hands.again(element) or element).text
        raise MoveError(f"the {what} shows {shown!r} instead of {args.value!r}")


def same_amount(shown: str, wanted: str) -> bool:
    """Whether a field shows an amount, as nearly as it can: lengths in any unit, other numbers as they are."""
    here, there = _amount(shown), _amount(wanted)
    if here is None or there is None:
        return False
    value, unit, digits = here
    factor = _MILLIMETRES.get(unit)
    other, other_unit, _ = there
    if other_unit in _MILLIMETRES and factor is not None:
        other *= _MILLIMETRES[other_unit] / factor
    return abs(value - other) <= 0.5001 * 10**-digits if digits or factor is not None else value == other


def _amount(text: str) -> tuple[float, str, int] | None:
    """(number, unit, decimals shown), None without a number."""
    match = _NUMBER.search(text.replace("\u2212", "-"))
    if match is None:
        return None
    digits = match[0].rstrip(".,")
    if "," in digits and "." in digits:
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    unit = text[match.end() :].strip().lower()
    return float(digits), unit, len(digits.partition(".")[2])


def _holds(hands: Hands, element: Element, wanted: str) -> bool:
    now = hands.again(element)
    return now is not None and same_amount(now.text or "", wanted)


def _gap(hands: Hands, element: Element, wanted: str) -> float | None:
    """How far the field is from what is wanted; None where their units do not tell."""
    here, there = _amount((hands.again(element) or element).text or ""), _amount(wanted)
    if here is None or there is None or here[1] != there[1]:
        return None
    return there[0] - here[0]
