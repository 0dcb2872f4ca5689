"""The bench that plays window solutions, on two skills of the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.oracle import Outcome, figures, measure


def test_figures_count_what_was_not_played() -> None:
    outcomes = [
        Outcome("a.b.c", "gui", 4, 20, rewards=[1.0] * 19 + [0.5], seconds=[3.0] * 20),
        Outcome("a.b.d", "gui", 4, 20, rewards=[1.0] * 19, seconds=[3.0] * 19, failures=["x"], faults=3),
    ]
    found = {figure.name: figure for figure in figures(outcomes)}
    assert found["a.b.c (gui), 4 at once: reward 1"].value == pytest.approx(0.95)
    assert found["a.b.d (gui), 4 at once: played"].met is False
    assert found["a.b.d (gui), 4 at once: faults"].value == 3
    assert found["all, 4 at once: reward 1"].value == pytest.approx(38 / 39)


@pytest.mark.desktop
@pytest.mark.xdist_group("oracle")
def test_skills_are_done_in_windows_and_played_once(tmp_path: Path) -> None:
    skills = ["files.text.count-log-entries", "files.folder.gather-by-type"]
    outcomes = measure(tmp_path, skills, draws=1, slots=[2])
    played = {(o.skill, o.channel): (o.rewards, o.faults, o.failures) for o in outcomes}
    assert played == {(skill, "gui"): ([1.0], 0, []) for skill in skills}
    again = measure(tmp_path, skills, draws=1, slots=[2])
    assert [o.seconds for o in again] == [o.seconds for o in outcomes]
    assert not (tmp_path / "failures").exists()
