"""How jobs and their results look on a terminal: JSON for scripts, tables for people, progress bars for the jobs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from forge.records.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_JSON_UNSAFE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON leaves as it is, and a terminal obeys."""

Table = tuple[str, list[str], list[tuple[Any, ...]]]
"""Title, columns and rows, as `print_table` takes them."""

LOG_WIDTH = 150
"""Characters of a table's line where no terminal says how wide it is."""


def print_json(value: Any) -> None:
    """Print JSON for a script: stable key order, readable indentation."""
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    print(_JSON_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table for a person; numbers are aligned right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    table = Table(title=Text(printable(title)), title_justify="left", header_style="bold")
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], int | float) or row[index] is None for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", no_wrap=index == 0)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))  # never read as markup: others wrote it
    # a pipe or a log has no width of its own: do not fold a table into eighty columns there
    Console(width=None if sys.stdout.isatty() else LOG_WIDTH).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:g}" if value.is_integer() else f"{value:.3g}"
    return printable(str(value))


class Bars:
    """The jobs' progress as bars on standard error, one a stage; use as a context manager."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._bars: dict[str, TaskID] = {}

    def __enter__(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description:>17}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"), console=Console(stderr=True),
        )  # fmt: skip
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def start(self, stage: str, total: int) -> None:
        """Begin a stage, or lengthen it when it comes again."""
        assert self._progress is not None
        if stage in self._bars:
            bar = self._bars[stage]
            done = self._progress.tasks[bar].completed
            self._progress.update(bar, total=int(done) + total)
        else:
            self._bars[stage] = self._progress.add_task(stage, total=total, note="")

    def advance(self, stage: str, note: str = "") -> None:
        """One more item of the stage is through."""
        from rich.markup import escape

        assert self._progress is not None
        self._progress.update(self._bars[stage], advance=1, note=escape(printable(note)))

    def say(self, line: str) -> None:
        """A line of its own, above the bars; a plain one where there is no terminal."""
        from rich.text import Text

        assert self._progress is not None
        self._progress.console.print(Text(printable(line)), soft_wrap=True)
