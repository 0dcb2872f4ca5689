"""Expressions: what they give, and that nothing but JSON can be reached and nothing runs away."""

from __future__ import annotations

import time

import pytest

from forge.records import InputError
from skills.language.expression import Expression
from skills.language.functions import FUNCTIONS
from skills.language.located import Place
from skills.language.shapes import shape_of

PLACE = Place("w.yaml", 7)
SCOPE = {
    "table": {"name": "stock", "rows": [{"item": "pens", "price": 2.5}, {"item": "ink", "price": 10}], "the key": 1},
    "n": 3,
    "path": "~/My Files/a b.tar.xlsx",
    "day": "2026-03-01",
}

VALUES = [
    ("n + 1", 4),
    ("7 // 2 * 2 ** 3 % 5", 4),
    ("table.rows[0].price", 2.5),
    ("table['the key']", 1),
    ("table.rows[-1].item", "ink"),
    ("[r.item for r in table.rows if r.price > 3]", ["ink"]),
    ("[a + b for a in ['x', 'y'] for b in ['1', '2']]", ["x1", "x2", "y1", "y2"]),
    ("[k for k, v in zip(['a', 'b'], [1, 2]) if v == 2]", ["b"]),
    ("sum([r.price for r in table.rows])", 12.5),
    ("sum([0.1, 0.2, 0.3])", 0.6),
    ("round(2.675, 2)", 2.68),
    ("round(-2.5)", -3),
    ("'big' if n > 2 else 'small'", "big"),
    ("n in [1, 2, 3] and not n == 4", True),
    ("1 < n <= 3", True),
    ("null or false or 'x'", "x"),
    ("{'a': n, 'b': [true]}", {"a": 3, "b": [True]}),
    ("sorted(table.rows, by='price', reverse=true)[0].item", "ink"),
    ("unique([3, 1, 3])", [3, 1]),
    ("find(table.rows, 'item', 'ink').price", 10),
    ("listing(['a', 'b', 'c'])", "a, b and c"),
    ("below('C2:C26')", "C27"),
    ("right_of('B2:E2')", "F2"),
    ("cell('AA', 3)", "AA3"),
    ("cell(28, 3)", "AB3"),
    ("column_number('XFD')", 16384),
    ("cells_of('A1:B2')", ["A1", "B1", "A2", "B2"]),
    ("fixed('C2:C9')", "$C$2:$C$9"),
    ("in_sheet('May 2026', 'A1')", "'May 2026'!A1"),
    ("in_sheet('Costs', 'A1', '.')", "Costs.A1"),
    ("shift('B2:C3', columns=1, rows=2)", "C4:D5"),
    ("date_format(day, '%A, %o of %B %Y')", "Sunday, 1st of March 2026"),
    ("add_days(day, -1)", "2026-02-28"),
    ("add_days('2026-03-01T09:30:00', 1)", "2026-03-02T09:30:00"),
    ("month_end('2028-02-03')", "2028-02-29"),
    ("days_between('2026-02-27', day)", 2),
    ("money(-1234.5, '€')", "-€1,234.50"),
    ("money(3, 'EUR')", "EUR 3.00"),
    ("number(1234567.005, 2)", "1,234,567.01"),
    ("plural(1, 'row') + ', ' + plural(2, 'entry', 'entries')", "1 row, 2 entries"),
    ("slug('Travel costs, 2026!')", "travel-costs-2026"),
    ("stem(path) + suffix(path)", "a b.tar.xlsx"),
    ("quote(path)", "~/'My Files/a b.tar.xlsx'"),
    ("json({'b': 1, 'a': 'ü'})", '{"a": "ü", "b": 1}'),
    ("title('the old list')", "The Old List"),
    ("range(2, 5)", [2, 3, 4, 5]),
    ("min(table.rows[0].price, 1)", 1),
    ("max(['b', 'a'])", "b"),
    ("'${' + '}'", "${}"),
]


@pytest.mark.parametrize(("source", "value"), VALUES, ids=[v[0] for v in VALUES])
def test_value_and_shape(source, value):
    expression = Expression(source, PLACE)
    found = expression.evaluate(SCOPE)
    assert found == value
    assert type(found) is type(value)
    shape = expression.infer({name: shape_of(item) for name, item in SCOPE.items()})
    assert shape.kind in ("any", shape_of(value).kind)


REFUSED = [
    "().__class__", "table.__class__.__mro__", "__import__('os')", "open('/etc/passwd')", "eval('1')", "table.rows.append(1)",
    "(lambda: 1)()", "f'{n}'", "[x for x in ().__class__.__bases__]", "table['__class__']", "getattr(table, 'rows')",
    "{1, 2}", "{k: 1 for k in []}", "(x for x in [])", "(n := 2)", "b'x'", "1j", "...", "print('x')", "n if n", "import os",
    "n; n", "n is 3", "[*table.rows]", "len(*table.rows)", "{**table}", "''.join([])", "'%s' % n", "n & 1", "n @ n", "~n",
    "await n", "yield", "upper.__call__('x')", "sum.__globals__", "table.rows[0:1:0]", "n[0]", "-'a'", "not_there",
    "table.rows[5]", "table.rows['a']", "table.rows.item", "1 / 0", "upper(3)", "find(table.rows, 'item', 'x')", "cell('A', 0)",
    "[1] < ['a']", "1 < 'a'", "date_format('yesterday')", "below('Total')", "'\\d'", "", "'a' + 1", "column_letter(0)",
]  # fmt: skip


@pytest.mark.parametrize("source", REFUSED)
def test_is_refused_with_its_place(source):
    with pytest.raises(InputError, match=r"^w\.yaml:7: "):
        Expression(source, PLACE).evaluate(SCOPE)


RUNAWAY = [
    "2**10**9", "2**2**2**2**2**2", "9**9**9", "10**19", "1e999", "1e308 * 10", "'a' * 10**9", "[0] * 10**9",
    "repeat('a', 10**9)", "repeat('a', 100000) + repeat('a', 1000000)", "range(1, 10**9)", "9" * 1999, "9" * 5000,
    "[i for i in range(1, 100000) for j in range(1, 100000)]", "[[[[0 for a in range(1,90)] for b in range(1,90)] for c in "
    "range(1,90)] for d in range(1,90)]", "(" * 500 + "1" + ")" * 500, "-" * 1900 + "1", "[" * 100 + "]" * 100,
    "+".join(["n"] * 900), "replace(repeat('a', 100000), 'a', repeat('b', 100000))", "cells_of('A1:XFD1048576')",
    "join([repeat('a', 900000) for i in range(1, 90)])", "n" * 3000, "n.a" * 1 + ".a" * 900, "0xFFFFFFFFFFFFFFFFFFFF",
]  # fmt: skip


@pytest.mark.parametrize("source", RUNAWAY, ids=[s[:30] for s in RUNAWAY])
def test_nothing_runs_away(source):
    began = time.monotonic()
    with pytest.raises(InputError, match=r"^w\.yaml:7: "):
        Expression(source, PLACE).evaluate(SCOPE)
    assert time.monotonic() - began < 60  # it would take for ever; a busy machine is given its time


def test_nodes_cannot_double_without_end():
    """Forty nodes that each hold the one before twice would be a terabyte when written out."""
    double, value = Expression("[x, x]", PLACE), []
    for _ in range(15):
        value = double.evaluate({"x": value})
    with pytest.raises(InputError, match="parts"):  # noqa: PT012
        for _ in range(25):
            value = double.evaluate({"x": value})


def test_an_error_names_the_nearest():
    with pytest.raises(InputError) as caught:
        Expression("table.rosw", PLACE).evaluate(SCOPE)
    assert str(caught.value) == "w.yaml:7: ${table.rosw}: there is no field 'rosw'\n  mend: did you mean rows?"


def test_names_are_those_that_are_read():
    assert Expression("[x + n for x in table.rows if y]", PLACE).names == {"table", "n", "y"}
    assert Expression("true and upper('a')", PLACE).names == set()


def test_every_function_is_documented():
    for name, function in FUNCTIONS:
        assert function.summary, name
        assert function.usage.startswith(f"{name}(")
