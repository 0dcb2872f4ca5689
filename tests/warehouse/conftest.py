"""A warehouse on each engine: SQLite in a file, and a private PostgreSQL that is started when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warehouse import Warehouse
from warehouse.engine import begin, open_engine
from warehouse.private_postgres import PrivatePostgres
from warehouse.schema import Base

from .samples import register


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    with PrivatePostgres() as server:
        yield server


@pytest.fixture(scope="session")
def shared_url(postgres: PrivatePostgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated database that tests empty and use again: making one takes longer than most tests."""
    url = postgres.new_database()
    Warehouse.open(url, str(tmp_path_factory.mktemp("blobs"))).close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without any table."""
    if engine_name == "sqlite":
        return f"sqlite:///{tmp_path / 'warehouse.db'}"
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
def new_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """Makes URLs of empty databases, each by a name."""
    if engine_name == "sqlite":
        return lambda name: f"sqlite:///{tmp_path / name}.db"
    server = request.getfixturevalue("postgres")
    return lambda name: str(server.new_database())


@pytest.fixture
def url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a warehouse without rows."""
    if engine_name == "sqlite":
        return f"sqlite:///{tmp_path / 'warehouse.db'}"
    url = str(request.getfixturevalue("shared_url"))
    engine = open_engine(url)
    with begin(engine) as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()
    return url


@pytest.fixture
def warehouse(url: str, tmp_path: Path) -> Iterator[Warehouse]:
    """An open warehouse with the samples' round, skill, workflow, fingerprint and harness."""
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened:
        with opened.begin() as session:
            register(opened, session)
        yield opened
