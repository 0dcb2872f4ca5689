"""Progress in a flow run: bars on a terminal, lines in the run's log or on standard error otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from prefect.logging import get_run_logger


class Lines:
    """Says how far a stage is at every tenth of it, line by line.

    Args:
        say: takes one line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._stages: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def start(self, stage: str, total: int) -> None:
        """A stage begins, or grows."""
        done, before = self._stages.get(stage, (0, 0))
        self._stages[stage] = (done, before + total)
        self._say(f"{stage}: {total} items")

    def advance(self, stage: str, note: str = "") -> None:
        """One more item is through."""
        done, total = self._stages[stage]
        self._stages[stage] = (done + 1, total)
        if (done + 1) * 10 // max(total, 1) > done * 10 // max(total, 1):
            self._say(f"{stage}: {done + 1} of {total}")


def progress() -> AbstractContextManager[Any]:
    """Bars where a person looks on; else lines: in the run's log under a real server, on standard error without one."""
    if sys.stderr.isatty():
        from rounds.terminal import Bars

        return Bars()
    if "PREFECT_API_URL" in os.environ:
        return Lines(get_run_logger().info)
    return Lines(lambda line: print(line, file=sys.stderr, flush=True))
