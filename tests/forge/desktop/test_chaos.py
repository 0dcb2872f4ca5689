"""What is killed in the middle of a real episode is never held against the agent, and nothing of it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.chaos import HOST, VICTIMS, wreak

# it kills whole processes in the midst of their work: minutes, and a machine to itself
pytestmark = [pytest.mark.desktop, pytest.mark.slow, pytest.mark.timeout(1800)]


def test_whatever_is_killed_in_mid_episode_is_a_fault_and_leaves_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    tallies = wreak(root, kills=3 * (len(VICTIMS) + 1), seed=7)
    assert [tally.against for tally in tallies] == [[]] * len(tallies)
    assert [tally.left for tally in tallies] == [[]] * len(tallies)
    assert {tally.what for tally in tallies if tally.kills >= 3} == {*VICTIMS, HOST}
    assert sum(tally.faults for tally in tallies) >= 2 * len(tallies)  # most kills came before the work was done
    assert list((root / "slots").iterdir()) == []
