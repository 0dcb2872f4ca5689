"""The library's workflows on real preparers: every draw passes the gates, comes out the same again, and there are enough."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import skills
from forge.desktop import Office, OfficeClient
from skills import Kitchen, starter
from verifiers import gates

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("skills-office")]

LIBRARY = skills.library()
IDS = [path.parent.name for path in LIBRARY]


@pytest.fixture(scope="module")
def office() -> Iterator[OfficeClient]:
    with Office() as running:
        yield OfficeClient(running.address)


def _passes_the_gates(workflow, kitchen, seeds) -> None:
    for seed in seeds:
        draw = skills.draw(workflow, seed, kitchen)
        again = skills.draw(workflow, seed, kitchen.without_cache())
        assert again.task == draw.task
        assert gates.determinism(draw.files, again.files).passed
        for name, gate in gates.GATES.items():
            result = gate(draw.task)
            assert result.passed, f"seed {seed}: {name}: {result.evidence}"


@pytest.mark.parametrize("path", LIBRARY, ids=IDS)
def test_draws_pass_the_gates(path, office):
    _passes_the_gates(skills.load(path), Kitchen(office=office), range(3))


def test_the_starting_point_for_calc_draws_and_passes_the_gates(office, tmp_path):
    workflow = skills.load(starter.new("calc.table.count-rows", tmp_path))
    kitchen = Kitchen(office=office)
    _passes_the_gates(workflow, kitchen, range(4))
    assert skills.neighbours(workflow, skills.draw(workflow, 1, kitchen), kitchen)


@pytest.mark.slow
@pytest.mark.parametrize("path", LIBRARY, ids=IDS)
def test_five_hundred_tasks_stay_distinct(path, office):
    workflow = skills.load(path)
    batch = skills.draw_many(workflow, range(560), Kitchen(office=office), limit=500, files=False)
    assert len(batch.draws) == 500
    assert len({draw.task.resolved["wording"]["skeleton"] for draw in batch.draws}) >= 20
