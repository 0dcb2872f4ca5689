"""Migrations: bring a database to the schema that this code writes.

Each revision in `versions/` is one step, for both engines. To change the schema: change `warehouse.schema`, write the
next revision, raise `SCHEMA` and `KNOWN_SCHEMAS`; a test compares the result with the metadata on both engines. The text
of a released view never changes: a new version of it gets a new name and a new revision (see `warehouse.views`).
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from forge.records import WarehouseError
from warehouse.engine import begin, read
from warehouse.schema import KNOWN_SCHEMAS, SCHEMA

_LOCK = 7_236_019
"""PostgreSQL's advisory lock that one migrating process holds; SQLite has its write lock."""


def migrate(engine: Engine) -> None:
    """Create the schema in an empty database, or upgrade an older one; costs one query when it is up to date.

    One transaction: a process killed in the middle leaves the database as it was.

    Raises:
        WarehouseError: the database is not ours, or was written by a newer Forge.
    """
    with read(engine) as connection:
        found = _revision(connection)
    if found == SCHEMA:
        return
    with begin(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        _check(connection, _revision(connection))
        _upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


def _check(connection: Connection, found: str | None) -> None:
    place = connection.engine.url.render_as_string(hide_password=True)
    if found is None:
        tables = sa.inspect(connection).get_table_names()
        if set(tables) - {"alembic_version"}:
            raise WarehouseError(
                f"{place} holds tables that are not Forge's ({', '.join(sorted(tables)[:3])}, ...)",
                mend="give the warehouse a database of its own",
            )
    elif found not in KNOWN_SCHEMAS:
        raise WarehouseError(
            f"{place} has schema {found}, newer than the {SCHEMA} that this Forge knows", mend="update Forge"
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
