"""Shared by all tests: a skipped test is a failure where CI is set, and no test touches a person's own FORGE_* settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if os.environ.get("CI") and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped; on CI everything runs: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own FORGE_HOME, except for the cache of templates, which is shared because it is expensive."""
    for name in list(os.environ):
        if name.startswith("FORGE_") and name not in ("FORGE_CACHE",):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FORGE_HOME", str(tmp_path_factory.mktemp("forge-home")))
    monkeypatch.setenv("FORGE_CACHE", str(Path(".forge/cache").resolve()))
