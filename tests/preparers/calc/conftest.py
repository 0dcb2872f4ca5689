"""A real LibreOffice for the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.desktop.office import Office, OfficeClient


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfficeClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORGE_HOME", str(tmp_path_factory.mktemp("office")))
        patch.setenv("FORGE_CACHE", str(Path(".forge/cache").resolve()))
        with Office() as running:
            yield running.client()
