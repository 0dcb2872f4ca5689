"""Written values of banks: what a model wrote and a check let through. Rows are added at the end and never change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import func, select
from sqlalchemy.engine import Connection, Engine

from forge.records import JSON, digest
from warehouse.engine import insert_new, read
from warehouse.schema import BankValueRow


class Banks:
    """Reads and adds written values; fills the port `skills.kitchen.Pool`."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._read = lru_cache(maxsize=256)(self._read_values)

    def size(self, bank: str, about: str) -> int:
        """How many values a bank has about something."""
        with read(self._engine) as connection:
            return _size(connection, bank, about)

    def values(self, bank: str, about: str, size: int) -> list[JSON]:
        """The first `size` of them, in the order they were written."""
        found = self._read(bank, about, size)
        if len(found) < size:  # do not remember what may grow
            self._read.cache_clear()
        return list(found)

    def add(self, session: Connection, bank: str, about: str, values: Sequence[JSON]) -> int:
        """Add values; those that are there already are left out. Returns how many are new.

        One owner adds to a bank at a time: a claim sees to that.
        """
        size = _size(session, bank, about)
        query = select(BankValueRow.digest).where(BankValueRow.bank == bank, BankValueRow.about == about)
        known = set(session.scalars(query))
        rows: list[dict[str, JSON]] = []
        for value in values:
            key = digest(value)
            if key not in known:
                known.add(key)
                row = {"bank": bank, "about": about, "ordinal": size + len(rows), "digest": key, "value": value}
                rows.append({**row, "created_at": time.time()})
        insert_new(session, BankValueRow, rows)
        return len(rows)

    def _read_values(self, bank: str, about: str, size: int) -> tuple[JSON, ...]:
        query = (
            select(BankValueRow.value)
            .where(BankValueRow.bank == bank, BankValueRow.about == about, BankValueRow.ordinal < size)
            .order_by(BankValueRow.ordinal)
        )
        with read(self._engine) as connection:
            return tuple(connection.scalars(query))


def _size(connection: Connection, bank: str, about: str) -> int:
    query = select(func.count()).where(BankValueRow.bank == bank, BankValueRow.about == about)
    return int(connection.scalar(query) or 0)
