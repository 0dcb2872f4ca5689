"""Bad parameters and damaged files: the error names the thing and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.records import PreparerError
from preparers.base import Context
from preparers.thunderbird.profile import ThunderbirdProfile

from .profiles import OWNER, lay, mail

PREPARER = ThunderbirdProfile()
PROFILE = ".thunderbird/alex.default"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"accounts": []}, "accounts"),
        ({"folders": [{"path": "a/../b"}]}, "may not be empty, start with a dot"),
        ({"folders": [{"path": "Inbox.msf"}]}, "Thunderbird's own files"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, date="2026-03-01T10:00:00+01:00")]}]}, "without offset"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, **{"from": "nobody"})]}]}, "neither `Name <address>`"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, subject="two\nlines")]}]}, "one line"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, tags=["urgent"])]}]}, "unknown tags"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, attachments=[{"name": "a"}])]}]}, "text or base64"),
        ({"folders": [{"path": "Inbox", "messages": [mail(1, colour="red")]}]}, "colour"),
        ({"contacts": [{"name": "A", "email": "a@b"}]}, "no mail address"),
        ({"lists": [{"name": "Team", "members": ["x@y.example"]}]}, "is no contact"),
        (
            {
                "filters": [
                    {"name": "f", "conditions": [{"field": "subject", "value": "x"}], "actions": [{"kind": "move"}]}
                ]
            },
            "needs a value",
        ),
    ],
)
def test_bad_parameters_are_named(values: dict[str, Any], says: str) -> None:
    with pytest.raises(PreparerError) as caught:
        PREPARER.validate({"accounts": [OWNER], **values})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"folders": [{"path": "Notes"}, {"path": "notes"}]}, "but for upper and lower case"),
        (
            {"folders": [{"path": "Inbox", "messages": [mail(1, id="a@b.example"), mail(2, id="a@b.example")]}]},
            "two messages have the id",
        ),
        (
            {
                "filters": [
                    {
                        "name": "f",
                        "conditions": [{"field": "subject", "value": "x"}],
                        "actions": [{"kind": "move", "value": "Nowhere"}],
                    }
                ]
            },
            "there is no folder 'Nowhere'",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(values: dict[str, Any], says: str) -> None:
    params = PREPARER.validate({"accounts": [OWNER], **values})
    with pytest.raises(PreparerError, match=says):
        PREPARER.prepare(params, Context())


DAMAGES = [
    ("Mail/pop.example.com/Inbox", lambda d: d[: len(d) // 2].rstrip(b"\n") + b"x", "Inbox is cut off"),
    ("Mail/pop.example.com/Inbox", lambda d: d[: d.rindex(b"------------")], "Inbox"),
    ("Mail/pop.example.com/Inbox", lambda d: d[5:], "Inbox is no mbox"),
    ("Mail/pop.example.com/Inbox", lambda d: d[: d.index(b"Message-ID")] + b"\n", "has neither sender nor date"),
    ("Mail/pop.example.com/Inbox", lambda d: d.replace(b"Status: 0001", b"Status: 00?1"), "X-Mozilla-Status is '00?1'"),
    ("Mail/pop.example.com/msgFilterRules.dat", lambda d: d[: d.index(b"condition")], "filter 'f' is cut off"),
    ("Mail/pop.example.com/msgFilterRules.dat", lambda d: b"\0" + d, "holds no filters"),
    ("prefs.js", lambda d: b"", "prefs.js names no mail account"),
    ("prefs.js", None, "prefs.js is missing"),
    ("abook.sqlite", lambda d: b"SQLite" + d[6:200], "abook.sqlite is no address book"),
    ("abook.sqlite", lambda d: d[:100] + b"\xff" * 3000 + d[3100:], "abook.sqlite is no address book"),
    ("abook.sqlite", None, "abook.sqlite is missing"),
]


@pytest.mark.parametrize(("name", "damage", "says"), DAMAGES)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, name: str, damage: Any, says: str) -> None:
    params = PREPARER.validate(
        {
            "accounts": [OWNER],
            "folders": [
                {"path": "Inbox", "messages": [mail(1), mail(2, attachments=[{"name": "a.csv", "text": "1,2\n" * 99}])]}
            ],
            "contacts": [{"name": "Grace", "email": "grace@navy.example"}],
            "filters": [
                {"name": "f", "conditions": [{"field": "subject", "value": "x"}], "actions": [{"kind": "star"}]}
            ],
        }
    )
    home = lay(PREPARER.prepare(params, Context()), tmp_path)
    path = home / PROFILE / name
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(PreparerError) as caught:
        PREPARER.inspect(home, params)
    assert says in str(caught.value)
    assert name.rpartition("/")[2] in str(caught.value)


def test_links_are_not_followed(tmp_path: Path) -> None:
    params = PREPARER.validate({"accounts": [OWNER]})
    home = lay(PREPARER.prepare(params, Context()), tmp_path / "home")
    outside = tmp_path / "outside"
    outside.write_bytes((home / PROFILE / "prefs.js").read_bytes())
    (home / PROFILE / "prefs.js").unlink()
    (home / PROFILE / "prefs.js").symlink_to(outside)
    with pytest.raises(PreparerError, match="symbolic link"):
        PREPARER.inspect(home, params)
