"""The seam of the preparers: parameters by name, registration, the laws that hold of every preparer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.records import JSON, Guest, InputError, PreparerError, Role
from preparers.base import PREPARERS, Context, Params, Prepared, PreparedFile, Preparer, preparer


class NoteParams(Params):
    path: str
    count: int = 1


class Note(Preparer[NoteParams]):
    name = "test.note"
    params = NoteParams

    def prepare(self, params: NoteParams, context: Context) -> Prepared:
        return Prepared((PreparedFile(params.path, b"n" * params.count),), self.facts(params, context))

    def facts(self, params: NoteParams, context: Context) -> dict[str, JSON]:
        return {"length": params.count}

    def inspect(self, home: Path, params: NoteParams) -> dict[str, JSON]:
        return {"length": len((home / params.path[2:]).read_bytes())}


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PREPARERS, "_items", dict(PREPARERS._items))


def test_a_preparer_registers_one_instance_under_its_name() -> None:
    assert preparer(Note) is Note
    found: Preparer[Any] = PREPARERS.get("test.note")
    assert isinstance(found, Note)
    assert (found.name, found.version) == ("test.note", 1)
    with pytest.raises(ValueError, match=r"preparer 'test\.note' is registered twice"):
        preparer(Note)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, r"path: Field required"),
        ({"path": "~/a", "count": "many"}, r"count: .*integer.* \(got 'many'\)"),
        ({"path": "~/a", "colour": 1}, r"colour: Extra inputs"),
        ({"path": "~/a", "count": 1.5}, r"count: "),
    ],
)
def test_wrong_parameters_are_named_with_those_that_there_are(values: dict[str, Any], said: str) -> None:
    with pytest.raises(PreparerError, match=rf"(?s)preparer test\.note: {said}.*its parameters are path, count"):
        Note().validate(values)


def test_parameters_are_frozen() -> None:
    params = Note().validate({"path": "~/a"})
    with pytest.raises(ValueError, match="frozen"):
        params.count = 2  # type: ignore[misc]


def test_what_is_prepared_has_sensible_defaults() -> None:
    file = PreparedFile("~/a")
    assert (file.data, file.role, file.mode, file.folder, file.mtime) == (b"", Role.VISIBLE, 0o644, False, None)
    assert Context().guest == Guest()
    assert Context().office is None
    assert Prepared(()).facts == {}


def test_an_unknown_preparer_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown preparer 'files\.tre'\n.*did you mean files\.tree"):
        PREPARERS.get("files.tre")


def test_importing_the_room_registers_every_preparer_of_ours() -> None:
    assert {"files.tree", "files.document", "thunderbird.profile"} <= set(PREPARERS.names())
