"""Drawn tables and layouts: plausible, typed, the same for a seed everywhere, different for different seeds."""

from __future__ import annotations

import random
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

import pytest

from forge.records import InputError, PreparerError, digest
from preparers.calc.layouts import draw_layout, layouts
from preparers.calc.params import Table, WorkbookParams
from preparers.calc.tables import draw_table, pick, topics

TOPICS = topics()


class OnlyRandom:
    """A generator with nothing but `random()`: whatever else Python's own offers may change between versions."""

    def __init__(self, seed: int):
        self._rng = random.Random(seed)

    def random(self) -> float:
        return self._rng.random()


def test_there_are_enough_topics_and_layouts() -> None:
    assert len(TOPICS) >= 8
    assert len(layouts()) >= 5


@pytest.mark.parametrize("topic", TOPICS)
def test_tables_are_typed_and_have_what_their_lists_name(topic: str) -> None:
    for seed in range(25):
        table = draw_table(topic, 3 + seed * 2, OnlyRandom(seed))  # type: ignore[arg-type]
        Table.model_validate(table)
        names = [column["name"] for column in table["columns"]]
        assert len(table["rows"]) == 3 + seed * 2
        assert table["numeric_columns"]
        assert table["category_columns"]
        for key in ("numeric_columns", "category_columns", "text_columns", "date_columns"):
            assert set(table[key]) <= set(names)
        kinds = {column["name"]: column["type"] for column in table["columns"]}
        assert all(kinds[name] in ("integer", "number", "currency", "percent") for name in table["numeric_columns"])
        assert all(kinds[name] == "date" for name in table["date_columns"])


@pytest.mark.parametrize("topic", TOPICS)
def test_columns_that_follow_from_others_do(topic: str) -> None:
    for seed in range(8):
        table = draw_table(topic, 20, random.Random(seed))
        names = [column["name"] for column in table["columns"]]
        for column in table["columns"]:
            if not column["formula"]:
                continue
            for row in table["rows"]:
                cells = dict(zip(names, row, strict=True))
                text = column["formula"].removeprefix("=")
                for name in names:
                    text = text.replace("{" + name + "}", repr(cells[name]))
                value = eval(text, {"ROUND": half_up})
                assert cells[column["name"]] == pytest.approx(value, abs=0.0051), (column["name"], row)


def half_up(value: float, decimals: int) -> float:
    quantum = Decimal(1).scaleb(-decimals)
    return float(Decimal(repr(round(value, 9))).quantize(quantum, ROUND_HALF_UP))


def test_a_seed_gives_one_table_and_other_seeds_others() -> None:
    one = draw_table("orders", 12, random.Random(5))
    assert draw_table("orders", 12, random.Random(5)) == one
    assert len({digest(draw_table("orders", 12, random.Random(seed))) for seed in range(200)}) == 200


def test_the_draws_of_a_seed_are_fixed_for_ever() -> None:
    table = draw_table("stock", 2, random.Random(1))
    assert table["rows"][0][:4] == ["A-1563", "Hammer 300 g", "Tools", 201]


def test_dates_rise_people_are_people_and_measures_differ() -> None:
    table = draw_table("donations", 60, random.Random(3))
    names = [column["name"] for column in table["columns"]]
    days = [date.fromisoformat(row[names.index("Received")]) for row in table["rows"]]
    assert days == sorted(days)
    assert len({row[names.index("Donor")] for row in table["rows"]}) == 60
    assert len({row[names.index("Amount")] for row in table["rows"]}) == 60


def test_unknown_topics_and_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="no table topic 'cats'") as error:
        draw_table("cats", 5, random.Random(0))
    assert "expenses" in str(error.value)
    with pytest.raises(PreparerError, match="0 rows"):
        draw_table("stock", 0, random.Random(0))


def test_weighted_choices_follow_their_weights() -> None:
    rng = random.Random(1)
    drawn = [pick(rng, {"often": 9, "seldom": 1}) for _ in range(1000)]
    assert 850 < drawn.count("often") < 950


@pytest.mark.parametrize("layout", layouts())
def test_layouts_are_parameters_and_leave_room_for_the_task(layout: str) -> None:
    from preparers.calc.facts import planned
    from preparers.calc.plan import plan

    seen = set()
    for seed in range(30):
        rng = OnlyRandom(seed)
        table = draw_table(TOPICS[seed % len(TOPICS)], 6, rng)  # type: ignore[arg-type]
        drawn = draw_layout(table, rng, only=[layout], suffixes=[".xlsx", ".ods"])  # type: ignore[arg-type]
        assert (drawn["layout"], drawn["suffix"] in (".xlsx", ".ods")) == (layout, True)
        fields = {key: drawn[key] for key in ("sheets", "charts", "names", "main")}
        params = WorkbookParams.model_validate({"path": f"~/a{drawn['suffix']}", **fields})
        seen.add(digest(fields))
        sheet = planned(plan(params), {}, ".xlsx")[params.main]
        assert sheet.header is not None
        right, bottom = sheet.header.right, sheet.last
        assert all((row, right + 1) not in sheet.cells for row in range(1, bottom + 3))
        assert all((bottom + 1, column) not in sheet.cells for column in range(1, right + 2))
        assert not {s.name for s in params.sheets} & {"Summary", "Total", "Report"}
    assert len(seen) == 30


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(InputError, match="no workbook layout 'round'"):
        draw_layout(draw_table("stock", 3, random.Random(0)), random.Random(0), only=["round"])
