"""Located YAML: a strict subset, with a line for every value and every fault, whichever loader is installed."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.records import InputError
from skills.language import located
from skills.language.located import parse_located

SCALARS = [
    ("no", "no"), ("Yes", "Yes"), ("on", "on"), ("10:30", "10:30"), ("2026-03-01", "2026-03-01"), ("007", "007"),
    ("0x1F", "0x1F"), ("1_000", "1_000"), ("1.2.3", "1.2.3"), ("=SUM(A1:A2)", "=SUM(A1:A2)"), ("12", 12), ("-3", -3),
    ("+4", 4), ("1.50", 1.5), ("1.5e3", 1500.0), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
    ('"12"', "12"), ("'true'", "true"), ('""', ""), ("~/Documents/a.xlsx", "~/Documents/a.xlsx"), ("${a.b[0]}", "${a.b[0]}"),
    ("12345678901234567890", "12345678901234567890"), (".inf", ".inf"), (".nan", ".nan"), ("tRUE", "tRUE"),
]  # fmt: skip


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request, monkeypatch):
    monkeypatch.setattr(located, "_LOADER", getattr(yaml, request.param))


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_are_what_they_look_like(text, value):
    found = parse_located(f"a: {text}\n", "f.yaml").plain()["a"]
    assert found == value
    assert type(found) is type(value)


FAULTS = [
    ("a: 1\na: 2", 2, "stands twice"),
    ("a:\n\tb: 1", 2, "a tab"),
    ("a:\n  - b\n\t- c", 3, "a tab"),
    ("a: &x 1", 1, "anchors"),
    ("a: 1\nb: *a", 2, "anchors"),
    ("a: !!str 1", 1, "tag"),
    ("a: !custom 1", 1, "tag"),
    ("a: b: c", 1, "no YAML"),
    ("a: [1, 2", 1, "no YAML"),
    ("a: 'x", 1, "no YAML"),
    ("a: @x", 1, "no YAML"),
    ("a:\n  - b\n c: 1", 3, "no YAML"),
    ("? [a]\n: b", 1, "a key must be a text"),
    ("1: 2", 1, "a key must be a text"),
    ("a: 1\n---\nb: 2", 2, "second document"),
    ("", 1, "is empty"),
    ("# nothing\n", 1, "is empty"),
    ("a: \x07", 1, "no YAML"),
    ("- " * 80 + "x", 1, "nested more than"),
    ("[" * 80, 1, "nested more than"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), FAULTS, ids=[repr(f[0])[:20] for f in FAULTS])
@pytest.mark.usefixtures("loader")
def test_faults_have_their_line(text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_located(text, "f.yaml")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"f.yaml:{line}: ")


@pytest.mark.usefixtures("loader")
def test_every_value_and_key_has_its_line():
    root = parse_located("a:\n  - b\n  - c: 1\n    d: |\n      text\ne: {f: [g]}\n", "f.yaml")
    assert root.key_place("a").line == 1
    assert [item.place.line for item in root.value["a"].value] == [2, 3]
    assert root.value["a"].value[1].key_place("d").line == 4
    assert root.value["e"].value["f"].value[0].place.line == 6


def test_too_many_values():
    with pytest.raises(InputError, match="more than 100000 values"):
        parse_located("a: [" + "1," * 100_001 + "]", "f.yaml")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n")
    root = located.load_located(path)
    assert root.plain() == {"a": 1, "b": ["x"]}
    assert root.value["b"].value[0].place.line == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=6), JSON, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_what_pyyaml_writes_is_read_back(data):
    text = yaml.safe_dump(data)
    assert parse_located(text, "f.yaml").plain() == data
