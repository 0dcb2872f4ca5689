"""Rounds in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .runs import Rounds


@pytest.fixture(scope="module")
def rounds() -> Iterator[Rounds]:
    """Starts rounds in child processes; whatever still runs at the end is killed."""
    with Rounds() as started:
        yield started
