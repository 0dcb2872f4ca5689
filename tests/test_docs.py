"""The reference is written from the code; it is stale when the code has moved on."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from verifiers.base import Mutant

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _docs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_the_reference_is_fresh() -> None:
    command = [sys.executable, "-m", "docs.generate", "--check"]
    run = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")


def test_changed_missing_and_left_over_pages_are_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from docs import generate

    monkeypatch.setattr(generate, "FOLDER", tmp_path / "docs")
    folder = tmp_path / "docs/reference"
    folder.mkdir(parents=True)
    for name in ("fresh", "changed", "left"):
        (folder / f"{name}.md").write_text(name)
    found = {folder / "fresh.md": "fresh", folder / "changed.md": "new", folder / "missing.md": "new"}
    assert generate.stale(found) == [f"docs/reference/{name}.md" for name in ("changed", "left", "missing")]


def test_every_plug_in_has_its_section() -> None:
    import preparers  # noqa: F401
    import verifiers  # noqa: F401
    from forge.harness.moves import MOVES
    from preparers.base import PREPARERS
    from skills.nodes import NODE_KINDS
    from verifiers.base import CHECKS

    for page, names in {
        "checks": CHECKS.names(), "preparers": PREPARERS.names(), "moves": MOVES.names(), "workflow": NODE_KINDS.names(),
    }.items():  # fmt: skip
        text = (ROOT / f"docs/reference/{page}.md").read_text()
        ours = [name for name in names if not name.startswith("test.")]  # other tests register some of their own
        assert [name for name in ours if f"## `{name}`" not in text] == []


class Inner(BaseModel):
    """Part of it."""

    at: tuple[float, ...] = Field((), max_length=3)


class Outer(BaseModel):
    """All of it."""

    name: str = Field(pattern="^a|b$", description="what it | is called")
    kind: Literal["x", "y"] = "x"
    inner: list[Inner | str] = []
    mode: int = 0o644
    more: dict[str, int | None] | None = None


def test_a_model_becomes_tables() -> None:
    from forge.records.tables import model_tables

    assert (
        model_tables(Outer)
        == """\
| field | type | default | meaning |
| --- | --- | --- | --- |
| `name` | text | needed | what it \\| is called; matches `^a\\|b$` |
| `kind` | `"x"` or `"y"` | `"x"` |  |
| `inner` | list of (Inner or text) | `[]` |  |
| `mode` | int | `0o644` |  |
| `more` | mapping of text to (int or null) or null | `null` |  |

### Inner

Part of it.

| field | type | default | meaning |
| --- | --- | --- | --- |
| `at` | list of number | `[]` | at most 3 |"""
    )


def spoiled(case: Any, args: Any, rng: random.Random) -> Iterator[Mutant]:
    """One way or another."""
    yield Mutant("plain")
    yield Mutant(name=f"cell-{args}", audit=True)
    yield from _more()


def _more() -> Iterator[Mutant]:
    yield Mutant("deeper", only=False)


def test_the_names_of_mutants_are_read_from_the_code() -> None:
    from docs.mutants import mutant_names

    assert mutant_names(spoiled) == [("cell-…", True), ("deeper", False), ("plain", False)]
