"""Functions on texts."""

from __future__ import annotations

import json as json_module
import re
import shlex
from typing import Any

from skills.language.functions import MAX_TEXT, function, plain_text
from skills.language.shapes import BOOL, NUMBER, TEXT, list_of

_TEXTS = list_of(TEXT)
_GROUP = "Texts"


@function(_GROUP, TEXT, example="upper('Ab')")
def upper(text: str) -> str:
    """In capital letters."""
    return text.upper()


@function(_GROUP, TEXT, example="lower('Ab')")
def lower(text: str) -> str:
    """In small letters."""
    return text.lower()


@function(_GROUP, TEXT, example="title('petty cash')")
def title(text: str) -> str:
    """The First Letter Of Each Word in capitals."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


@function(_GROUP, TEXT, example="capital('petty cash')")
def capital(text: str) -> str:
    """The first letter in capitals, the rest as it is."""
    return text[:1].upper() + text[1:]


@function(_GROUP, TEXT, example="strip(' a ')")
def strip(text: str) -> str:
    """Without white space at both ends."""
    return text.strip()


@function(_GROUP, TEXT, example="replace('a-b', '-', ' ')")
def replace(text: str, old: str, new: str) -> str:
    """Every `old` replaced by `new`."""
    if not old:
        raise ValueError("`old` is empty")
    if len(text) + text.count(old) * len(new) > MAX_TEXT:
        raise ValueError(f"the result would be longer than {MAX_TEXT} characters")
    return text.replace(old, new)


@function(_GROUP, _TEXTS, example="split('a,b', ',')")
def split(text: str, at: str = " ") -> list[Any]:
    """The parts between the separators."""
    return text.split(at)


@function(_GROUP, TEXT, example="join(['a', 'b'], '; ')")
def join(items: list[Any], between: str = ", ") -> str:
    """The items as one text with `between` between them."""
    texts = [plain_text(item) for item in items]
    if sum(map(len, texts)) + len(between) * len(texts) > MAX_TEXT:
        raise ValueError(f"the result would be longer than {MAX_TEXT} characters")
    return between.join(texts)


@function(_GROUP, TEXT, example="listing(['a', 'b', 'c'])")
def listing(items: list[Any], last: str = "and") -> str:
    """As a person lists things: `a, b and c`."""
    texts = [plain_text(item) for item in items]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"


@function(_GROUP, TEXT, example="slug('Petty Cash 2026')")
def slug(text: str) -> str:
    """For a file name: small letters, digits and single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@function(_GROUP, TEXT, example="plural(3, 'row')")
def plural(count: float, one: str, many: str = "") -> str:
    """`1 row`, `3 rows`: the count with the right word; `many` is `one` with an s unless given."""
    return f"{plain_text(count)} {one if count == 1 else many or one + 's'}"


@function(_GROUP, TEXT, example="repeat('-', 3)")
def repeat(text: str, times: int) -> str:
    """The text, that many times."""
    if times < 0 or times * len(text) > MAX_TEXT:
        raise ValueError(f"`times` must be at least 0 and the result at most {MAX_TEXT} characters")
    return text * times


@function(_GROUP, BOOL, example="startswith('Re: tea', 'Re: ')")
def startswith(text: str, start: str) -> bool:
    """Whether the text begins so."""
    return text.startswith(start)


@function(_GROUP, BOOL, example="endswith('a.csv', '.csv')")
def endswith(text: str, end: str) -> bool:
    """Whether the text ends so."""
    return text.endswith(end)


@function(_GROUP, TEXT, name="text", example="text(3.0)")
def to_text(value: Any) -> str:
    """A number or text as text, written as it would stand in a sentence."""
    return plain_text(value)


@function(_GROUP, TEXT, example="json({'b': 1, 'a': 'x'})")
def json(value: Any) -> str:
    """The value as JSON, keys sorted, on one line."""
    return json_module.dumps(value, ensure_ascii=False, sort_keys=True)


@function(_GROUP, TEXT, example="quote('~/My files/a b.txt')")
def quote(text: str) -> str:
    """Quoted for a shell. A leading `~/` stays outside the quotes, so that the shell expands it."""
    if text.startswith("~/"):
        return "~/" + (shlex.quote(text[2:]) if text[2:] else "")
    return shlex.quote(text)


@function(_GROUP, NUMBER, example="words('as you like it')")
def words(text: str) -> int:
    """How many words the text has (runs of characters between white space)."""
    return len(text.split())
