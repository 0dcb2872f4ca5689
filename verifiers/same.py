"""Whether two final states are the same, decided by a canonical form of what they hold and never by a grader.

This tells a near-miss that is by chance a right state (another way to the same end) from one that a rubric must notice.
Workbooks are compared by meaning with recalculated values, mail profiles by what they hold, archives by their members,
JSON, CSV and pictures by value, everything else by bytes; applications' own files are left out.

What it is not: a judge of equivalence. `=SUM(A1:A3)` and `=A1+A2+A3` are two states here.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forge.desktop.office import OfficeClient
from forge.records import JSON, PreparerError, sha256_hex
from preparers.files.params import kind_of, suffix_of
from preparers.files.reading import read_csv, read_json, read_members
from verifiers.base import Tree
from verifiers.entries import (
    STANDARD_FOLDERS,
    Entry,
    content,
    holds_bookkeeping,
    is_own,
    laid_among_settings,
    walk,
)
from verifiers.notation import dates_in, normal_text, numbers_in

WORKBOOKS = (".xlsx", ".ods")

LISTED = 10
"""Differences that are named; the rest are not looked for."""


def same_state(one: Tree, two: Tree, office: OfficeClient | None = None) -> bool:
    """Whether two homes hold the same.

    Args:
        one: a home.
        two: another.
        office: computes the workbooks' formulas; without it the values that the files remember are compared.

    Raises:
        DesktopError: LibreOffice failed.
    """
    return not differences(one, two, office, limit=1)


def differences(one: Tree, two: Tree, office: OfficeClient | None = None, *, limit: int = LISTED) -> list[str]:
    """Up to `limit` things in which two homes differ, in words; empty when they are the same."""
    found: list[str] = []
    left, right = _kept(one), _kept(two)
    for path in sorted(left.keys() | right.keys()):
        a, b = left.get(path), right.get(path)
        if a is None or b is None:
            found.append(f"{path} is only in the {'second' if a is None else 'first'}")
        elif a.kind != b.kind:
            found.append(f"{path} is a {a.kind} and a {b.kind}")
        elif a.mode & 0o777 != b.mode & 0o777:
            found.append(f"{path} has mode {a.mode & 0o777:03o} and {b.mode & 0o777:03o}")
        elif not path.endswith(".trashinfo") and not _same_content(one, two, a, b, office):
            found.append(f"{path} holds something else")
        if len(found) >= limit:
            return found
    if not _same_mail(one, two):
        found.append("the mail profiles hold something else")
    return found


def same_answer(one: str | None, two: str | None) -> bool:
    """Whether two answers are the same text, number (with its unit, rounded alike) or date."""
    one, two = (one or "").strip(), (two or "").strip()
    if normal_text(one) == normal_text(two):
        return True
    if not one or not two:
        return False
    dates = dates_in(one), dates_in(two)
    if dates[0] or dates[1]:
        return len(set(dates[0])) == 1 and set(dates[0]) == set(dates[1])
    numbers = numbers_in(one), numbers_in(two)
    return len(numbers[0]) == 1 and numbers[0] == numbers[1] and not _words(one) and not _words(two)


def canonical(name: str, data: bytes, office: OfficeClient | None = None) -> JSON:
    """The one form of what a file holds, by its suffix; the hash of its bytes where it cannot be read as that."""
    suffix = suffix_of(name)
    form: Callable[[str, bytes, OfficeClient | None], JSON] | None = None
    if suffix in WORKBOOKS:
        form = _workbook
    elif suffix in (".docx", ".pptx", ".odt", ".odp"):
        form = _container
    else:
        form = _FORMS.get(kind_of(name))
    if form is not None:
        try:
            return {"suffix": suffix, "value": form(name, data, office)}
        except PreparerError:
            # Unreadable is a state, too; two files broken in the same way are the same.
            pass
    return {"bytes": sha256_hex(data)}


def _same_content(one: Tree, two: Tree, a: Entry, b: Entry, office: OfficeClient | None) -> bool:
    if a.kind != "file" or content(one, a) == content(two, b):
        return a.kind != "link" or a.target == b.target
    try:
        left, right = one.read(a.path), two.read(b.path)
    except PreparerError:
        return False
    if left is None or right is None:
        return False
    return bool(canonical(a.path, left, office) == canonical(b.path, right, office))


def _kept(tree: Tree) -> dict[str, Entry]:
    """What counts: no applications' own files, no folder that is empty and standard or only theirs, no mail profile."""
    laid = laid_among_settings(tree)
    entries = {path: entry for path, entry in walk(tree).items() if not is_own(path, laid)}
    parents = {path.rpartition("/")[0] for path in entries}
    hulls = {path for path in entries if path in STANDARD_FOLDERS or holds_bookkeeping(path)}
    return {path: entry for path, entry in entries.items() if path in parents or path not in hulls}


def _same_mail(one: Tree, two: Tree) -> bool:
    left, right = one.root / ".thunderbird", two.root / ".thunderbird"
    if not left.exists() and not right.exists():
        return True
    return bool(_mail(one.root) == _mail(two.root))


def _mail(home: Path) -> JSON:
    """The canonical profile; where it cannot be read, what made it unreadable."""
    from preparers.thunderbird.layout import PROFILE
    from verifiers.mail.state import canonical_profile

    root = home / PROFILE[2:]
    if not root.is_dir():
        return None
    try:
        return canonical_profile(root)
    except PreparerError as error:
        return {"unreadable": error.message}


def _workbook(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    from preparers.calc.book import read_book

    suffix = suffix_of(name)
    book = read_book(data, suffix, name)
    values = {} if office is None else office.values(data, suffix)
    plain = _plain(book)
    plain.pop("producer")
    for sheet, seen in zip(plain["sheets"], book.sheets, strict=True):
        # Heights follow from what is in the rows, by whoever saved last.
        sheet.pop("heights")
        computed = values.get(seen.name)
        sheet["cells"] = {
            _address(*place): {
                **_plain(cell),
                "value": _rounded(cell.value if computed is None else computed.get(_address(*place))),
            }
            for place, cell in seen.cells.items()
            if not cell.empty or _styled(cell)
        }
    return plain


def _styled(cell: Any) -> bool:
    return bool(dataclasses.replace(cell.style) != type(cell.style)())


def _plain(value: Any) -> Any:
    """Dataclasses, sets and tuples as JSON, in a fixed order."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _rounded(value)


def _rounded(value: Any) -> Any:
    """Numbers to 12 significant digits: what sums lose in another order is no difference."""
    if isinstance(value, float) and not isinstance(value, bool):
        return float(f"{value:.12g}")
    return value


def _address(row: int, column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def _container(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    """An office document by its parts; who saved it and when (docProps, meta.xml) does not count."""
    members = read_members(name, data, ".zip")
    return {
        path: sha256_hex(part)
        for path, (kind, part, _) in sorted(members.items())
        if kind == "file" and not path.startswith("docProps/") and path != "meta.xml"
    }


def _archive(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    members = read_members(name, data)
    return {
        path: [kind, canonical(path, part, office)]
        for path, (kind, part, _) in sorted(members.items())
        if kind != "folder"
    }


def _json(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    return _typed(read_json(name, data))


def _typed(value: Any) -> JSON:
    """True is not 1, though Python says so."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return {"truth": value} if isinstance(value, bool) else value


def _csv(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    rows, delimiter = read_csv(name, data)
    return [delimiter, [row for row in rows if row]]


def _picture(name: str, data: bytes, office: OfficeClient | None) -> JSON:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            return [picture.format, *picture.size, sha256_hex(picture.convert("RGBA").tobytes())]
    except Exception as error:  # Pillow raises whatever its decoders do
        raise PreparerError(f"{name} cannot be opened as a picture: {error}") from None


_FORMS: dict[str, Callable[[str, bytes, OfficeClient | None], JSON]] = {
    "archive": _archive, "json": _json, "csv": _csv, "image": _picture,
}  # fmt: skip


def _words(text: str) -> bool:
    """Whether an answer has words besides a number and its unit: then it is compared as a text."""
    return len([word for word in text.split() if word.isalpha()]) > 1
