"""Engines and transactions: SQLite by default, PostgreSQL by URL, one error for everything that can go wrong.

SQLite runs in WAL mode, so that readers never wait; every writing transaction begins with BEGIN IMMEDIATE, so that
writers queue for the lock (`busy_timeout`) instead of failing at their first write. Several processes and threads may
write. What this does not cover: SQLite on a network file system, where its locks do not hold; use PostgreSQL there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from forge.records import WarehouseError

BUSY_SECONDS = 60.0
"""How long a writer waits for SQLite's lock before it gives up."""

_dumps = partial(json.dumps, separators=(",", ":"), allow_nan=False)


def open_engine(url: str) -> Engine:
    """Make an engine for `url`; nothing is created but the folder of a SQLite file.

    Args:
        url: `sqlite:////absolute/path.db`, `sqlite:///relative.db` or `postgresql://user:password@host/database`.

    Raises:
        WarehouseError: the URL is none, names an engine we do not speak, or its folder cannot be made.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == "postgresql":
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            json_serializer=_dumps,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10},
        )
    _make_folder(Path(str(parsed.database)), url)
    engine = sa.create_engine(parsed, json_serializer=_dumps, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    with translated(engine):
        _use_wal(engine)
    return engine


@contextmanager
def begin(engine: Engine) -> Iterator[Connection]:
    """A writing transaction: committed at the end of the block, rolled back when it raises.

    Raises:
        WarehouseError: for every error of the database, naming the warehouse and a mend.
    """
    with translated(engine), engine.connect() as connection:
        connection = connection.execution_options(forge_write=True)
        with connection.begin():
            yield connection


@contextmanager
def read(engine: Engine, *, snapshot: bool = False) -> Iterator[Connection]:
    """A reading transaction. With `snapshot` all its queries see one state (SQLite's always do)."""
    with translated(engine), engine.connect() as connection:
        if snapshot and engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def insert_new(connection: Connection, table: type, rows: list[dict[str, Any]]) -> None:
    """Insert rows; those whose natural key is there already are left as they are."""
    if rows:
        connection.execute(insert_into(connection, table).on_conflict_do_nothing(), rows)


def insert_into(connection: Connection, table: type) -> Any:
    """The engine's own INSERT, which knows ON CONFLICT, on the table of a row class."""
    if connection.dialect.name == "postgresql":
        return postgresql_insert(table.__table__)  # type: ignore[attr-defined]
    return sqlite_insert(table.__table__)  # type: ignore[attr-defined]


def upsert(connection: Connection, table: type, row: dict[str, Any], keep: set[str]) -> None:
    """Insert a row, or replace the one with its primary key, but for the columns in `keep`."""
    target = table.__table__  # type: ignore[attr-defined]
    statement = insert_into(connection, table).values(row)
    keys = [c.name for c in target.primary_key]
    changed = {name: statement.excluded[name] for name in row if name not in keep and name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def now(connection: Connection) -> float:
    """Seconds since the epoch by the clock that all owners share: the database server's, or this host's for SQLite."""
    if connection.dialect.name == "postgresql":
        return float(connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())::float8")) or 0.0)
    return time.time()


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """Turn every database error inside the block into a WarehouseError that names the warehouse and a mend."""
    try:
        yield
    except (SQLAlchemyError, _driver(engine).Error) as error:
        raise warehouse_error(error, engine.url) from error


def warehouse_error(error: Exception, url: URL) -> WarehouseError:
    """What a database error means for a person."""
    cause = str(error.orig if isinstance(error, DBAPIError) and error.orig is not None else error).strip()
    place = url.render_as_string(hide_password=True)
    mend = next((mend for sign, mend in _MENDS if sign in cause.lower()), None)
    return WarehouseError(f"warehouse {place}: {cause}", mend=mend)


_MENDS = (
    ("database is locked", "another process holds the write lock; let it finish, or end it"),
    ("disk is full", "free some disk space and run again; what was committed is safe"),
    ("no space left", "free some disk space and run again; what was committed is safe"),
    ("disk i/o error", "check the disk and its free space and run again; what was committed is safe"),
    ("readonly", "make the file and its folder writable for this user"),
    ("read-only", "make the file and its folder writable for this user, or connect to a server that takes writes"),
    ("unable to open database file", "make the folder writable for this user, or set FORGE_WAREHOUSE to another place"),
    ("file is not a database", "restore it from a backup, or move the file away to begin a new warehouse"),
    ("malformed", "restore it from a backup, or save what can be read with `sqlite3 FILE .recover`"),
    ("foreign key", "register what it refers to first: skill, workflow, task or harness"),
    ("does not exist", "create the database with `createdb`, or correct FORGE_WAREHOUSE"),
    ("password authentication failed", "correct the user and password in FORGE_WAREHOUSE"),
    ("connection", "is the server running, and FORGE_WAREHOUSE right?"),
    ("deadlock", "run again; unfinished work is taken up where it stopped"),
)


def _parse(url: str) -> URL:
    mend = "write sqlite:////absolute/path.db or postgresql://user:password@host/database"
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError, ImportError) as error:
        if url.startswith(("postgresql://", "postgres://")):
            return make_url(url.replace("postgres://", "postgresql://", 1)).set(drivername="postgresql+psycopg")
        raise WarehouseError(f"{url!r} is no URL of a warehouse: {error}", mend=mend) from None
    if backend not in ("sqlite", "postgresql"):
        raise WarehouseError(f"{backend} is no engine of the warehouse; it speaks SQLite and PostgreSQL", mend=mend)
    if backend == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise WarehouseError("a warehouse in memory would be lost and cannot be shared", mend=mend)
    return parsed


def _make_folder(path: Path, url: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarehouseError(
            f"warehouse {url}: cannot make its folder: {error}",
            mend="set FORGE_HOME or FORGE_WAREHOUSE to another place",
        ) from None


def _set_up_sqlite(dbapi_connection: Any, _: Any) -> None:
    dbapi_connection.isolation_level = None  # transactions begin where we say so, see _begin_sqlite
    cursor = dbapi_connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get("forge_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _use_wal(engine: Engine) -> None:
    """Switch the file to WAL, which it then stays in.

    The switch needs the file alone and does not wait for it (SQLite calls no busy handler there), so two processes that
    open a new warehouse at once have to try again.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        raw = engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except _driver(engine).OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        finally:
            raw.close()


def _driver(engine: Engine) -> Any:
    """The DBAPI module below the engine; what it raises while connecting comes unwrapped."""
    return engine.dialect.dbapi
