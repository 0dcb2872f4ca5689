"""Whose fault a broken slot is, by what its supervisor tells."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from forge.desktop import blame
from forge.desktop.blame import Blame, blaming
from forge.desktop.display import CutOffError
from forge.records import DesktopError, ExhaustedError

WELL = {"code": None, "stopped": False, "answers": True}
DISPLAY = SimpleNamespace(gave_up=False, alive=lambda: None)


def ended(code: int | None) -> dict[str, Any]:
    return {"code": code, "program": "/usr/bin/some", "said": ""}


@pytest.mark.parametrize("foreign", [False, True], ids=["alone", "command"])
@pytest.mark.parametrize(
    ("bus", "app", "error", "terminal", "agents"),
    [
        (WELL, None, DesktopError, False, False),
        (WELL, None, CutOffError, False, True),
        (WELL, 1, DesktopError, False, True),
        (WELL, 0, DesktopError, True, False),
        (WELL, -signal.SIGTERM, DesktopError, False, False),
        (WELL, -signal.SIGTERM, DesktopError, True, True),
        (WELL, -signal.SIGABRT, DesktopError, True, False),
        (WELL | {"stopped": True, "answers": False}, None, DesktopError, False, False),
        (WELL | {"stopped": True, "answers": False}, None, DesktopError, True, True),
        (WELL | {"answers": False}, None, DesktopError, False, True),  # kept busy, as nothing else does
        (WELL | {"code": -signal.SIGKILL}, 255, DesktopError, False, False),  # applications follow their bus
        (WELL | {"code": -signal.SIGKILL}, 255, DesktopError, True, True),
        (WELL | {"code": -signal.SIGSEGV}, 255, DesktopError, True, False),
    ],
)
def test_whose_fault_it_is(
    bus: dict[str, Any],
    app: int | None,
    error: type[DesktopError],
    terminal: bool,
    agents: bool,
    foreign: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blame, "ENDING", 0.02)
    answers = {"foreign": {"shell": False, "terminal": terminal}, "apps": [ended(app)], "buses": [WELL, bus]}
    judge = Blame(lambda what, **_: answers[what], lambda: DISPLAY)  # type: ignore[arg-type, return-value]
    with judge.command() if foreign else nullcontext():
        assert judge.is_agents(error("it broke")) is (agents and (foreign or terminal))


def test_a_bus_that_answers_again_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blame, "ENDING", 0.02)
    looks = iter([False, True])

    def ask(what: str, **_: Any) -> Any:
        found = {"foreign": {"shell": True, "terminal": False}, "apps": []}
        return found[what] if what in found else [WELL | {"answers": next(looks, True)}]

    assert not Blame(ask, lambda: DISPLAY).is_agents(DesktopError("it broke"))  # type: ignore[arg-type, return-value]


def test_an_error_is_raised_as_what_the_slot_says_it_is() -> None:
    error, blamed = DesktopError("it broke"), ExhaustedError("by the agent")

    def fail() -> None:
        raise error

    with pytest.raises(ExhaustedError) as caught:
        blaming(SimpleNamespace(blame=lambda _: blamed), fail)
    assert (caught.value, caught.value.__cause__) == (blamed, error)
    with pytest.raises(DesktopError) as caught:
        blaming(SimpleNamespace(blame=lambda each: each), fail)
    assert (caught.value, caught.value.__cause__) == (error, None)
    assert blaming(SimpleNamespace(), lambda: 5) == 5  # type: ignore[arg-type]
