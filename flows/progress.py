"""Progress in a flow run: bars on a terminal, lines in the run's log otherwise."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from prefect.logging import get_run_logger


class LogLines:
    """Says how far a stage is at every tenth of it, in the flow run's log."""

    def __init__(self) -> None:
        self._logger = get_run_logger()
        self._stages: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> LogLines:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def start(self, stage: str, total: int) -> None:
        """A stage begins, or grows."""
        done, before = self._stages.get(stage, (0, 0))
        self._stages[stage] = (done, before + total)
        self._logger.info("%s: %d items", stage, total)

    def advance(self, stage: str, note: str = "") -> None:
        """One more item is through."""
        done, total = self._stages[stage]
        self._stages[stage] = (done + 1, total)
        if (done + 1) * 10 // max(total, 1) > done * 10 // max(total, 1):
            self._logger.info("%s: %d of %d", stage, done + 1, total)


def progress() -> AbstractContextManager[Any]:
    """Bars where a person looks on, log lines elsewhere."""
    if sys.stderr.isatty():
        from rounds.terminal import Bars

        return Bars()
    return LogLines()
