"""Canonical JSON: one text for equal content, on every machine and Python; what is no JSON is refused with its place."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import unicodedata
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.records import Grading, canonical_json, digest, sha256_hex

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS.map(lambda t: unicodedata.normalize("NFC", t)), inner, max_size=4)
    ),
    max_leaves=12,
)

FIXED: list[tuple[Any, str, str]] = [
    # value, canonical text, digest; computed once and never to change
    (None, "null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
    (True, "true", "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"),
    (1, "1", "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"),
    (1.0, "1", "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"),
    (-0.0, "0", "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"),
    (0.1, "0.1", "14be4b45f18e0d8c67b4f719b5144eee88497e413709d11d85b096d8e2346310"),
    (1e-7, "1e-07", "e485fac25775a7da830698e7daac582737fc8b43ba4b351467a16cf8ed83122a"),
    (
        1.7976931348623157e308,
        "1.7976931348623157e+308",
        "c2784e1abd6317452708f3fbf9641c16b959561bc621a1d408c23a20aa2cb585",
    ),
    (2**53, "9007199254740992", "c681da39d7273a6a24c15c9cac3a75526ff2ecf8ba4ee60346a0c70c8163bdb2"),
    (float(2**53), "9007199254740992", "c681da39d7273a6a24c15c9cac3a75526ff2ecf8ba4ee60346a0c70c8163bdb2"),
    (float(2**54), "1.8014398509481984e+16", "2c575c10c53475f13e3507136a13d1b783ea6f0b637601ed56e05e5b636644bd"),
    (2**70, "1180591620717411303424", "acd0f1dd559f310ffd1ff6001f395e05cb29cbc008a5b9930d28e6decd29a4bd"),
    ("", '""', "12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126"),
    ("\u00e9", '"\u00e9"', "f2886017e9c7abacf804b54d64787dce2b611c9544ba21f3affdd126a6e50086"),
    ("e\u0301", '"\u00e9"', "f2886017e9c7abacf804b54d64787dce2b611c9544ba21f3affdd126a6e50086"),
    (
        '\u2028\x00"\\/\U0001f600',
        '"\u2028\\u0000\\"\\\\/\U0001f600"',
        "5e63816265dc2f048d6dc00b442052facc3f3b13aa01d68024767fce1e1df397",
    ),
    ([], "[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
    ((1, [2.50]), "[1,[2.5]]", "b15595386cf594a7614fb646a145484156b6ad28cd5648923e4c940559763532"),
    ({}, "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (
        {"b": 1, "a": {"\u00df": None, "Z": [True, "x"]}},
        '{"a":{"Z":[true,"x"],"\u00df":null},"b":1}',
        "512eda92ccb904da5646e9bce0c49b9d676d6821f3a939f856f9eef3da8e1289",
    ),
]


@pytest.mark.parametrize(("value", "text", "hexadecimal"), FIXED)
def test_fixed_texts_and_digests(value: Any, text: str, hexadecimal: str) -> None:
    assert canonical_json(value) == text
    assert digest(value) == hexadecimal
    assert digest(value) == sha256_hex(text.encode())


@given(JSON)
def test_the_text_is_json_with_the_same_content(value: Any) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@given(JSON, st.randoms(use_true_random=False))
def test_order_and_spelling_do_not_count(value: Any, rng: Any) -> None:
    def respelt(item: Any) -> Any:
        if isinstance(item, dict):
            pairs = list(item.items())
            rng.shuffle(pairs)
            return MappingProxyType(OrderedDict((unicodedata.normalize("NFD", k), respelt(v)) for k, v in pairs))
        if isinstance(item, list):
            return tuple(respelt(one) for one in item)
        if isinstance(item, str):
            return unicodedata.normalize("NFD", item)
        if isinstance(item, int) and not isinstance(item, bool) and abs(item) <= 2**53:
            return float(item)
        return item

    assert digest(respelt(value)) == digest(value)


@given(JSON, JSON)
def test_other_content_has_another_text(one: Any, two: Any) -> None:
    def typed(item: Any) -> Any:
        """Python says that True is 1; JSON does not."""
        if isinstance(item, dict):
            return {unicodedata.normalize("NFC", k): typed(v) for k, v in item.items()}
        if isinstance(item, list):
            return [typed(x) for x in item]
        return (
            ("truth", item)
            if isinstance(item, bool)
            else unicodedata.normalize("NFC", item)
            if isinstance(item, str)
            else item
        )

    assert (canonical_json(one) == canonical_json(two)) == (typed(one) == typed(two))


def test_an_enum_is_its_value() -> None:
    assert canonical_json({"grading": Grading.GRADED}) == '{"grading":"graded"}'


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        ({"a": [1, {"b": math.nan}]}, ValueError, r"\$\.a\[1\]\.b: nan has no canonical form"),
        ([math.inf], ValueError, r"\$\[0\]: inf"),
        ({1: 2}, TypeError, r"\$: key 1 is int; JSON keys are strings"),
        ({"a": {None: 2}}, TypeError, r"\$\.a: key None"),
        ({"a": {1, 2}}, TypeError, r"\$\.a: set is no JSON value"),
        ({"a": b"x"}, TypeError, r"\$\.a: bytes is no JSON value"),
        ({"\u00e9": 1, "e\u0301": 2}, ValueError, r"\$: two keys are 'é' after"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        canonical_json(value)


def test_half_a_surrogate_pair_has_no_digest() -> None:
    with pytest.raises(ValueError, match=r"half a surrogate pair: .*broken \\+ud800"):
        digest({"a": "broken \ud800"})


def test_another_process_with_another_hash_seed_agrees() -> None:
    value = {f"key {i}": [i / 7, {"ä": "x" * i}] for i in range(50)}
    code = "import json, sys; from forge.records import digest; print(digest(json.load(sys.stdin)))"
    for salt in ("0", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(value),
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": salt, "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            cwd=Path(__file__).parents[3],
        )
        assert done.stdout.strip() == digest(value), done.stderr
