"""`python -m bench.escape`: what it answers before it tries anything."""

from __future__ import annotations

import sys

import pytest

from bench import escape
from tests.forge.desktop.escape.table import ATTACKS


def test_a_name_that_no_attack_has_is_refused_with_the_areas(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.escape", "--only", "nosuchthing"])
    with pytest.raises(SystemExit) as ended:
        escape.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "'nosuchthing'" in said
    assert [area for area in {attack.area for attack in ATTACKS} if area not in said] == []
