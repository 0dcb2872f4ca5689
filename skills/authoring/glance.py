"""A short look at what a task's agent finds: folders, the first rows of tables, the first lines of texts, mails by folder.

Made from the artifacts themselves by the same readers that show the preparers' facts to be true. It is for those who judge
an instruction without seeing the desktop: enough to tell what is plain there from what is ambiguous, never a whole file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path, PurePosixPath

from forge.desktop import lay
from forge.records import Artifact, PreparerError, Role, Task
from preparers.base import PreparedFile
from preparers.calc.book import Sheet, read_book
from preparers.calc.formats import classify
from preparers.files.params import kind_of
from preparers.files.reading import image_size, read_members, read_text
from preparers.thunderbird.layout import PROFILE
from preparers.thunderbird.reading import ReadProfile
from skills.authoring.room import fitting
from skills.drawing import Draw

LIMIT = 2500
"""Characters of a look."""

ROWS, SHEETS, COLUMNS = 4, 3, 10
LINES, WIDTH = 4, 90
MAILS, FOLDERS, CARDS, NAMES = 3, 10, 6, 12

_WORKBOOKS = (".xlsx", ".ods")
_PLUMBING = "thunderbird.profile"


def visible_files(task: Task) -> list[str]:
    """The paths that an agent could be asked about: no gold, and a mail profile as one thing instead of its own files."""
    seen = [a for a in task.artifacts if a.role == Role.VISIBLE]
    files = sorted(a.path for a in seen if not a.folder and not _is_plumbing(a))
    return [*files, "the mailbox of Thunderbird"] if any(map(_is_plumbing, seen)) else files


def glance(draw: Draw, limit: int = LIMIT) -> str:
    """The look at a draw's visible artifacts.

    Args:
        draw: a draw with its files.
        limit: characters, about; what is open at the start and what the instruction names comes first.
    """
    seen = [a for a in draw.task.artifacts if a.role == Role.VISIBLE]
    data = {file.path: file for file in draw.files}
    parts = [_folders([a for a in seen if not _is_plumbing(a)])]
    if any(map(_is_plumbing, seen)):
        parts.append(_mailbox(draw))
    files = [a for a in seen if not a.folder and not _is_plumbing(a) and a.path in data]
    for artifact in sorted(files, key=lambda a: (not _is_open(draw.task, a), not _is_named(draw.task, a), a.path)):
        looked = _file(artifact.path, data[artifact.path])
        if looked:
            parts.append(f"{artifact.path}:\n{looked}")
    return fitting([part for part in parts if part], limit) or "nothing"


def _is_plumbing(artifact: Artifact) -> bool:
    return artifact.preparer == _PLUMBING or artifact.path.startswith(f"{PROFILE}/")


def _is_open(task: Task, artifact: Artifact) -> bool:
    return any(start.path == artifact.path for start in task.start)


def _is_named(task: Task, artifact: Artifact) -> bool:
    return PurePosixPath(artifact.path).name in task.instruction


def _folders(artifacts: list[Artifact]) -> str:
    """Each folder with what lies in it."""
    found: dict[str, list[str]] = {}
    for artifact in sorted(artifacts, key=lambda a: a.path):
        folder, _, name = artifact.path.rpartition("/")
        found.setdefault(folder, []).append(f"{name}/" if artifact.folder else name)
    return "\n".join(f"{folder}: {_some(names, NAMES)}" for folder, names in sorted(found.items()))


def _mailbox(draw: Draw) -> str:
    """The mail folders with the latest subjects and senders, and who is in the address book."""
    with tempfile.TemporaryDirectory(prefix="glance-") as folder:
        below = [f for f in draw.files if f.path.startswith(f"{PROFILE}/") and f.role == Role.VISIBLE]
        lay(Path(folder), [(f.path, f.data, f.mode, f.folder) for f in below])
        profile = ReadProfile(Path(folder, PROFILE[2:]), PROFILE)
        try:
            folders, cards = profile.folders, profile.contacts
        except PreparerError as error:
            return f"Mailbox: {error.message}"
    lines = ["Mailbox of Thunderbird:"]
    full = [(name, mails) for name, mails in folders.items() if mails]
    for name, mails in full[:FOLDERS]:
        latest = sorted(mails, key=lambda mail: mail.date, reverse=True)[:MAILS]
        told = "; ".join(
            f"{m.subject!r} from {m.sender.partition(' <')[0]} ({m.date[:10]}{'' if m.read else ', unread'})"
            for m in latest
        )
        count = "1 mail" if len(mails) == 1 else f"{len(mails)} mails"
        lines.append(f"  {name}, {count}{', the latest' if len(mails) > MAILS else ''}: {told}")
    bare = [name for name, mails in folders.items() if not mails] + [name for name, _ in full[FOLDERS:]]
    if bare:
        lines.append(f"  other folders: {_some(bare, NAMES)}")
    if cards:
        lines.append(f"  address book: {_some([f'{card.name} <{card.email}>' for card in cards], CARDS)}")
    return "\n".join(lines)


def _file(path: str, file: PreparedFile) -> str:
    """What a file says, in a few lines; empty for what has nothing to show."""
    suffix = PurePosixPath(path).suffix.lower()
    kind = "workbook" if suffix in _WORKBOOKS else kind_of(path)
    if kind not in _LOOKS:
        return ""
    try:
        return _LOOKS[kind](path, file.data)
    except PreparerError as error:
        return f"  {error.message}"


def _workbook(path: str, data: bytes) -> str:
    book = read_book(data, PurePosixPath(path).suffix.lower(), path)
    shown = [sheet for sheet in book.sheets if sheet.state == "visible"]
    lines = [line for sheet in shown[:SHEETS] for line in _sheet(sheet)]
    more = [sheet.name for sheet in shown[SHEETS:]]
    return "\n".join([*lines, *([f"  more sheets: {_some(more, NAMES)}"] if more else [])])


def _sheet(sheet: Sheet) -> list[str]:
    used = sheet.used()
    if used is None:
        return [f"  sheet {sheet.name!r}: empty"]
    top, left, bottom, right = used
    lines = [f"  sheet {sheet.name!r}, rows {top} to {bottom}:"]
    rows = list(dict.fromkeys(row for row, _ in sheet.filled()))
    for row in rows[: ROWS + 1]:
        cells = [_cell(sheet, row, column) for column in range(left, min(right, left + COLUMNS - 1) + 1)]
        lines.append(f"    {row}: " + " | ".join(cells)[: 2 * WIDTH])
    return lines


def _cell(sheet: Sheet, row: int, column: int) -> str:
    value, formula = sheet.value(row, column), sheet.formula(row, column)
    if value is None:
        return formula or ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if classify(sheet.style(row, column).number_format).kind == "date" and 0 < value < 2_958_466:
            return (date(1899, 12, 30) + timedelta(days=int(value))).isoformat()
        return f"{value:.10g}"
    return str(value)


def _text(path: str, data: bytes) -> str:
    lines = read_text(path, data).splitlines()
    shown = [f"  {line[:WIDTH]}{'...' if len(line) > WIDTH else ''}" for line in lines[:LINES]]
    return "\n".join([*shown, *([f"  ({len(lines)} lines)"] if len(lines) > LINES else [])])


def _picture(path: str, data: bytes) -> str:
    width, height, form = image_size(path, data)
    return f"  {form}, {width} x {height}"


def _archive(path: str, data: bytes) -> str:
    return f"  holds {_some(sorted(read_members(path, data)), NAMES)}"


_LOOKS: dict[str, Callable[[str, bytes], str]] = {
    "workbook": _workbook, "text": _text, "csv": _text, "json": _text, "ini": _text, "archive": _archive,
    "image": _picture,
}  # fmt: skip
"""How each kind of file is looked at; of others their name says enough."""


def _some(names: list[str], count: int) -> str:
    return ", ".join(names[:count]) + (f" and {len(names) - count} more" if len(names) > count else "")
