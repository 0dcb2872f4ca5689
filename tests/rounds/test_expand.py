"""An expansion with and without an endpoint: what is registered, proposed, authored, and said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import skills.harvest as harvesting
from forge.llm import Budget
from forge.records import BudgetError, InputError
from rounds.expand import Order, skill_expand
from rounds.workshop import Workshop
from skills.expand import Proposals
from skills.harvest.candidate import Candidate, merged
from tests.skills.authoring.conftest import SKILL, Scripted, calls

GIVE_UP = calls(("give_up", {"outcome": "needs_check", "reason": "there is no such check"}))
PROPOSED = {
    "id": SKILL.id, "apps": ["files"], "title": "Note the owner of a folder", "description": "", "affinity": "terminal",
    "difficulty": 1, "parameters": [],
}  # fmt: skip


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    one = Candidate("calc", "format", "", "Bold", "Format > Text > Bold", "calc:.uno:Bold", "document")
    harvesting.write(merged([one]), tmp_path / "home" / "taxonomy" / "harvest.csv")
    with Workshop() as opened:
        yield opened


class Author(Scripted):
    """Answers proposals too."""

    async def typed(self, messages, model, **more):
        if model is Proposals:
            self.questions.append(("Proposals", str(messages)))
            return Proposals.model_validate({"skills": [PROPOSED]})
        return await super().typed(messages, model, **more)


def answer_with(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, model: Scripted) -> None:
    monkeypatch.setattr(workshop.models, "client", lambda role, run="": model)


async def test_without_an_endpoint_it_registers_and_says_what_one_would_add(workshop):
    found = await skill_expand(workshop, Order(round=3, skills=("files.*",), count=4))
    assert (found.round, found.harvested, len(found.registered)) == (3, 1, _of_files())
    assert found.authored == []
    assert found.note.startswith("no endpoint for the role author: with one, up to 4 of ")
    assert [r["number"] for r in workshop.warehouse.rounds()] == [3]


async def test_without_an_endpoint_a_dry_run_says_so_too(workshop):
    found = await skill_expand(workshop, Order(dry_run=True))
    assert found.note.startswith("no endpoint for the role author: with one, any of ")
    assert workshop.warehouse.rounds() == []


async def test_what_was_given_up_in_earlier_rounds_comes_last_in_later_ones(workshop, monkeypatch):
    answer_with(workshop, monkeypatch, Author([GIVE_UP] * 10))
    tried = []
    for number in (1, 2, 3):
        found = await skill_expand(workshop, Order(skills=("files.*",), count=2))
        assert found.round == number
        tried += [row["skill"] for row in found.authored]
        with workshop.warehouse.begin() as session:
            workshop.warehouse.finish_round(session, number)
    assert len(set(tried)) == len(tried) == 6


async def test_what_is_in_work_for_another_round_is_left_to_that(workshop, monkeypatch):
    answer_with(workshop, monkeypatch, Author([GIVE_UP]))
    first, second = [s for s in _open_ids() if " " not in _apps_of(s) and s.startswith("files.")][:2]
    lease = workshop.warehouse.claims.acquire("author", f"7:{first}:workflow", "somebody", 60)
    assert lease is not None
    order = Order(round=2, skills=("files.*",), apps=("files",), count=1, dry_run=True)
    assert (await skill_expand(workshop, order)).note == f"would author {second}"
    lease.release("over")
    assert (await skill_expand(workshop, order)).note == f"would author {first}"


async def test_a_dry_run_changes_nothing(workshop, monkeypatch):
    answer_with(workshop, monkeypatch, Author([]))
    found = await skill_expand(workshop, Order(round=3, apps=("calc",), count=2, dry_run=True))
    wanted = sorted(s for s in _open_ids() if s.startswith("calc.") and " " not in _apps_of(s))[:2]
    assert len(wanted) == 2
    assert found.note == f"would author {', '.join(wanted)}"
    assert len(found.registered) >= 12
    assert workshop.warehouse.rounds() == []


async def test_candidates_are_authored_and_further_skills_proposed(workshop, monkeypatch):
    many = 200
    model = Author([GIVE_UP] * many)
    answer_with(workshop, monkeypatch, model)
    wanted = [s for s in _open_ids() if s.startswith("files.")]
    found = await skill_expand(workshop, Order(round=2, skills=("files.*",), apps=("files",), count=len(wanted) + 1))
    assert found.proposed == [SKILL.id]
    assert sorted(r["skill"] for r in found.authored) == sorted([*wanted, SKILL.id])
    assert {r["outcome"] for r in found.authored} == {"needs_check"}
    assert {s.id: s.origin for s in workshop.warehouse.skills()}[SKILL.id] == "expand"
    again = await skill_expand(workshop, Order(round=2, skills=("files.*",), apps=("files",), count=1))
    assert len(model.turns) == many - len(wanted) - 1  # nothing is authored twice
    assert [r["outcome"] for r in again.authored] == ["needs_check"]


async def test_a_used_up_budget_ends_it_cleanly(workshop, monkeypatch):
    class Poor(Author):
        async def typed(self, messages, model, **more):
            raise BudgetError("the budget of skill-expand is used up")

    model = Poor([GIVE_UP] * 50)
    model.budget = Budget(tokens=10)
    answer_with(workshop, monkeypatch, model)
    found = await skill_expand(workshop, Order(round=2, skills=("files.*",), apps=("files",), count=60))
    assert "used up" in found.note
    assert len(found.registered) == _of_files()


async def test_an_application_without_preparers_is_refused(workshop):
    with pytest.raises(InputError, match="'solitaire' has no preparers"):
        await skill_expand(workshop, Order(apps=("solitaire",), count=1))


def _open_ids() -> list[str]:
    from skills.taxonomy import all_skills

    return [s.id for s in all_skills() if s.state == "candidate"]


def _apps_of(skill: str) -> str:
    from skills.taxonomy import all_skills

    return " ".join(next(s.apps for s in all_skills() if s.id == skill))


def _of_files() -> int:
    import skills

    return sum(path.parent.name.startswith("files.") for path in skills.library())
