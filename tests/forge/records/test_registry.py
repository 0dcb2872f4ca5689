"""Registries: names to plug-ins, near names in errors, entry points of other distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from forge.records import InputError, Registry, registry


def filled(*names: str) -> Registry[str]:
    made: Registry[str] = Registry("check")
    for name in names:
        made.add(name, name.upper())
    return made


def test_things_are_found_by_name() -> None:
    made = filled("calc.formula", "calc.cell_value")
    assert made.get("calc.formula") == "CALC.FORMULA"
    assert made.names() == ["calc.cell_value", "calc.formula"]
    assert list(made) == [("calc.cell_value", "CALC.CELL_VALUE"), ("calc.formula", "CALC.FORMULA")]
    assert "calc.formula" in made
    assert "calc.other" not in made


@pytest.mark.parametrize(
    ("names", "wanted", "said"),
    [
        (
            ["calc.formula", "calc.cell_value", "mail.flags"],
            "calc.formla",
            "unknown check 'calc.formla'\n  mend: did you mean calc.formula",
        ),
        (["calc.formula", "mail.flags"], "zzz", "unknown check 'zzz'\n  mend: known are calc.formula, mail.flags"),
        ([], "x", "unknown check 'x'\n  mend: known are none"),
    ],
)
def test_an_unknown_name_lists_the_nearest(names: list[str], wanted: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        filled(*names).get(wanted)
    assert str(caught.value).startswith(said)


def test_a_name_is_given_once() -> None:
    made: Registry[list[int]] = Registry("move")
    thing = [1]
    assert made.add("select", thing) is thing
    made.add("select", thing)
    with pytest.raises(ValueError, match="move 'select' is registered twice"):
        made.add("select", [1])


@dataclass
class Point:
    name: str
    thing: Any
    loads: int = 0

    def load(self) -> Any:
        self.loads += 1
        return self.thing


def test_other_distributions_add_theirs_when_they_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point("theirs", "T"), Point("ours", "never")]
    asked: list[str] = []

    def entry_points(group: str) -> list[Point]:
        asked.append(group)
        return points

    monkeypatch.setattr(registry, "entry_points", entry_points)
    made: Registry[str] = Registry("check", "forge.checks")
    made.add("ours", "O")
    assert made.get("ours") == "O"
    assert asked == [], "nothing is loaded for a name that is there"
    assert made.get("theirs") == "T"
    assert made.get("ours") == "O", "ours is not replaced"
    with pytest.raises(InputError):
        made.get("nobodys")
    assert made.names() == ["ours", "theirs"]
    assert asked == ["forge.checks"]
    assert (points[0].loads, points[1].loads) == (1, 0)


def test_without_a_group_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: pytest.fail("looked for plug-ins"))
    assert "x" not in filled("y")
