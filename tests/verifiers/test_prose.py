"""Slips of instructions that were put together."""

from __future__ import annotations

import pytest

from verifiers.prose import slips


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Put the total,, please, into C9.", "two marks where one belongs: 'Put the total,, please, into C9.'"),
        ("Take the figures of Eve, eve@x.example,. Thanks.", "two marks"),
        ("Rename it to Final..", "two marks"),
        ("Is it done?. Then save.", "two marks"),
        ("Nothing else:. Thanks.", "two marks"),
        ("As I said., do it.", "two marks"),
        ('The mail "Total", . Then save.', "two marks"),
        ("The sheet , the second one", "a space before a mark: 'The sheet , the second one'"),
        ("Save it .", "a space before a mark"),
        ("Open it  and save.", "two spaces"),
        ('Write "Total into C9.', "a quote that is never closed: 'Write \"Total into C9.'"),
        ("Write {total} into C9.", "a slot that was not filled"),
        ("Write ${total} into C9.", "a slot that was not filled"),
        ("Write it down ( ) and save.", "brackets with nothing"),
    ],
)
def test_a_slip_is_named_with_the_words_around_it(text: str, what: str) -> None:
    found = slips(text)
    assert len(found) == 1
    assert found[0].startswith(what)


@pytest.mark.parametrize(
    "text",
    [
        "Put the total into C9, please. Thanks!",
        "Well... do it. And so on ... you know.",
        "All .jpg files of ../pictures and ~/.config go there.",
        'The subject is "Re: total,, {x}  now.." and the text “a , b”.',
        "Acme Inc., i.e., the firm, e.g., in Paris, etc., pays.",
        "Pourrais-tu modifier le fichier ? Merci ! Des deux côtés ; voilà : fini.",
        "First line\n  - second line\n\nThird",
        "It costs 1,234.50 and 2.5, at 10:30.",
        "(Really?) Yes!",
        "`a  b` stays «as , is».",
        "",
    ],
)
def test_what_people_write_is_no_slip(text: str) -> None:
    assert slips(text) == []
