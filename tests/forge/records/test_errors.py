"""The error tree: whose fault it is by class, the thing and the mend in the message, file and line for bad input."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from forge.records import errors
from forge.records.errors import ForgeError, InputError, ModelError


def test_there_is_one_tree() -> None:
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(found) >= 9
    assert all(issubclass(kind, ForgeError) for kind in found)
    assert issubclass(errors.BudgetError, ModelError)


def test_a_message_says_what_and_how_to_mend_it() -> None:
    assert str(ForgeError("the socket is gone")) == "the socket is gone"
    error = errors.DesktopError("Xvfb is missing", mend="apt-get install xvfb")
    assert (error.message, error.mend) == ("Xvfb is missing", "apt-get install xvfb")
    assert str(error) == "Xvfb is missing\n  mend: apt-get install xvfb"


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        (None, None, "no such key"),
        ("a.yaml", None, "a.yaml: no such key"),
        (Path("lib/a.yaml"), 12, "lib/a.yaml:12: no such key"),
        (None, 3, "no such key"),
    ],
)
def test_bad_input_has_its_place(file: str | Path | None, line: int | None, text: str) -> None:
    error = InputError("no such key", file=file, line=line)
    assert str(error) == text
    assert (error.file, error.line) == (None if file is None else str(file), line)
    assert str(InputError("x", file="f", line=1, mend="y")) == "f:1: x\n  mend: y"


@pytest.mark.parametrize(
    "error", [ForgeError("a", mend="b"), InputError("a", file="f", line=2, mend="b"), ModelError("a")]
)
def test_an_error_can_cross_a_process(error: ForgeError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.mend) == (str(error), error.mend)
