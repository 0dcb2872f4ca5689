"""No attack succeeds, and each would without its protection."""

from __future__ import annotations

import pytest

from tests.forge.desktop.escape.attack import Attack, attempt
from tests.forge.desktop.escape.table import ATTACKS

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("escape")]


def test_names_are_unique() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize(
    "attack",
    [pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.slow else []) for each in ATTACKS],
)
def test_an_attack_is_held_and_bites_without_its_protection(attack: Attack) -> None:
    assert not attempt(attack, weak=False), f"it succeeded against: {attack.protection}"
    assert attempt(attack, weak=True), f"it does not even succeed without: {attack.protection}"
