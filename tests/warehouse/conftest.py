"""A warehouse on each engine: SQLite in a file, and a private PostgreSQL that is started when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warehouse import Warehouse
from warehouse.private_postgres import PrivatePostgres

from .samples import register


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    with PrivatePostgres() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_template(postgres: PrivatePostgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database that new ones are copied from, which is faster than migrating each."""
    url = postgres.new_database()
    Warehouse.open(url, str(tmp_path_factory.mktemp("blobs"))).close()
    return url.rsplit("/", 1)[1].split("?")[0]


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
    """Makes URLs of new warehouses, each by a name."""
    if engine_name == "sqlite":
        return lambda name: f"sqlite:///{tmp_path / name}.db"
    server, template = request.getfixturevalue("postgres"), request.getfixturevalue("migrated_template")
    return lambda name: str(server.new_database(template))


@pytest.fixture
def url(new_url: Callable[[str], str]) -> str:
    return new_url("warehouse")


@pytest.fixture
def warehouse(url: str, tmp_path: Path) -> Iterator[Warehouse]:
    """An open warehouse with the samples' round, skill, workflow, fingerprint and harness."""
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened:
        with opened.begin() as session:
            register(opened, session)
        yield opened
