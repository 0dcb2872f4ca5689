"""Numbers, dates and texts as people write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.notation import dates_in, normal_text, numbers_in, unit_name


@pytest.mark.parametrize(
    ("text", "value", "decimals", "unit"),
    [
        ("42", 42, 0, ""),
        ("The total is 1,234.50 €.", 1234.5, 2, "€"),
        ("1.234,50 EUR", 1234.5, 2, "€"),
        ("EUR1,234", 1234, 0, "€"),
        ("$1,234,567", 1234567, 0, "$"),
        ("-$5.25", -5.25, 2, "$"),
        ("$-5.25", -5.25, 2, "$"),
        ("(1,200.00)", -1200, 2, ""),
        ("−3", -3, 0, ""),
        ("1 234 567.8 kg", 1234567.8, 1, "kg"),
        ("1'250 CHF", 1250, 0, "chf"),
        ("1\u00a0250 CHF", 1250, 0, "chf"),
        ("12,5 %", 12.5, 1, "%"),
        ("0,125", 0.125, 3, ""),
        ("0.125", 0.125, 3, ""),
        (".5", 0.5, 1, ""),
        ("1.5e3", 1500, 1, ""),
        ("7 min", 7, 0, "min"),
        ("7 minutes", 7, 0, "min"),
        ("7 m", 7, 0, "m"),
        ("7 mm", 7, 0, "mm"),
        ("about 12 apples", 12, 0, ""),
        ("cell B7 says 3", 3, 0, ""),
        ("12kg", 12, 0, "kg"),
        ("£12", 12, 0, "£"),
        ("pound 12", 12, 0, "£"),
        ("compound 12", 12, 0, ""),
        ("٣", 3, 0, ""),
        ("2e3 EUR", 2000, 0, "€"),
    ],
)
def test_one_number(text: str, value: float, decimals: int, unit: str) -> None:
    (number,) = numbers_in(text)
    assert (number.value, number.decimals, number.unit) == (value, decimals, unit)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("none", []),
        ("12 or 13", [12, 13]),
        ("12 13", [12, 13]),
        ("10-12", [10, 12]),
        ("1, 2 and 3", [1, 2, 3]),
        ("in 2025 it was 7", [2025, 7]),
        ("12 1345", [12, 1345]),
        ("9e999", []),
        ("1e308 or 1e-400", [1e308, 0]),
        ("9" * 400, []),
        ("746e331 and 2", [2]),
    ],
)
def test_several_numbers_stay_apart(text: str, values: list[float]) -> None:
    assert [n.value for n in numbers_in(text)] == values


def test_digits_of_a_unit_are_no_number() -> None:
    assert [n.value for n in numbers_in("54 m2", "m2")] == [54]
    assert [n.value for n in numbers_in("54 m²", "m²")] == [54]


@given(st.integers(-(10**12), 10**12), st.integers(0, 4))
def test_python_formats_are_read_back(whole: int, decimals: int) -> None:
    value = round(whole / 10**decimals, decimals)
    for text in (f"{value:.{decimals}f}", f"{value:,.{decimals}f}", f"It is {value:,.{decimals}f} kg."):
        (number,) = numbers_in(text)
        # A thousands comma and nothing else ("1,234") and three decimals with a point are told apart by the mark.
        assert number.value == pytest.approx(value, rel=1e-12)
        assert number.decimals == decimals


@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text: str) -> None:
    numbers_in(text)
    dates_in(text)
    assert normal_text(normal_text(text)) == normal_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-16", "16 March 2026", "16th of March, 2026", "March 16, 2026", "Mar 16 2026", "16. March 2026",
        "16.03.2026", "16.3.2026", "3/16/2026", "16/3/2026", "on Monday, March 16th, 2026 at noon", "2026/3/16",
        "the deadline is 2026-03-16.",
    ],
)  # fmt: skip
def test_one_date(text: str) -> None:
    assert dates_in(text) == [date(2026, 3, 16)]


@pytest.mark.parametrize(
    ("text", "locale", "dates"),
    [
        ("4/5/2026", "en_US.UTF-8", [date(2026, 4, 5)]),
        ("4/5/2026", "en_GB.UTF-8", [date(2026, 5, 4)]),
        ("4.5.2026", "en_US.UTF-8", [date(2026, 5, 4)]),
        ("31 February 2026", "C", []),
        ("2026-03-16 or 17 March 2026", "C", [date(2026, 3, 16), date(2026, 3, 17)]),
        ("nothing in may", "C", []),
    ],
)
def test_dates_by_locale(text: str, locale: str, dates: list[date]) -> None:
    assert dates_in(text, locale) == dates


@pytest.mark.parametrize(
    "text",
    ["Jordan Miller", " jordan  MILLER. ", '"Jordan Miller"', "The answer is: Jordan Miller", "“Jordan\nMiller”"],
)
def test_texts_are_equal_but_for_what_never_matters(text: str) -> None:
    assert normal_text(text) == "jordan miller"


def test_case_and_content_matter_where_they_should() -> None:
    assert normal_text("Miller", case=True) != normal_text("miller", case=True)
    assert normal_text("Jordan Miller") != normal_text("Jordan Miler")
    assert normal_text("first\u2013second") == "first-second"


def test_units_have_one_name() -> None:
    assert [unit_name(u) for u in ("Euros", " EUR", "kg", "furlong")] == ["€", "€", "kg", "furlong"]
