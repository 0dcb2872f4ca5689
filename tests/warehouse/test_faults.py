"""Whatever is wrong with the database or the disk is one clear error that says what to do, and nothing is half-written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from forge.records import WarehouseError
from warehouse import Warehouse, engine

from .samples import make_task, register

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "no URL of a warehouse"),
        ("warehouse.db", "no URL of a warehouse"),
        ("nonsense://host/db", "no URL of a warehouse"),
        ("mysql://host/db", "speaks SQLite and PostgreSQL|no URL of a warehouse"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
    ],
)
def test_a_wrong_url(url, message, tmp_path):
    with pytest.raises(WarehouseError, match=message) as caught:
        Warehouse.open(url, str(tmp_path / "blobs"))
    assert "sqlite:////absolute/path.db" in str(caught.value.mend)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "w.db").write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(WarehouseError, match="file is not a database") as caught:
        Warehouse.open(f"sqlite:///{tmp_path}/w.db", str(tmp_path / "blobs"))
    assert "backup" in str(caught.value.mend)


def test_a_damaged_database(tmp_path):
    url = f"sqlite:///{tmp_path}/w.db"
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened, opened.begin() as session:
        register(opened, session)
        for number in range(60):
            opened.add_task(session, make_task(number), 1, number)
    pages = bytearray((tmp_path / "w.db").read_bytes())
    for start in range(8192, len(pages), 4096):  # every page but the first two
        pages[start : start + 200] = b"\xff" * 200
    (tmp_path / "w.db").write_bytes(pages)
    for leftover in ("w.db-wal", "w.db-shm"):
        (tmp_path / leftover).unlink(missing_ok=True)
    with (
        pytest.raises(WarehouseError, match="malformed") as caught,
        Warehouse.open(url, str(tmp_path / "blobs")) as opened,
    ):
        opened.dump()
    assert "recover" in str(caught.value.mend)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WarehouseError, match="cannot make its folder") as caught:
        Warehouse.open(f"sqlite:///{tmp_path}/file/w.db", str(tmp_path / "blobs"))
    assert "FORGE_WAREHOUSE" in str(caught.value.mend)


def as_an_ordinary_user(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run Python as somebody whom the file modes bind."""
    command = [sys.executable, "-c", code, *args]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)


OPEN_AND_WRITE = """
import sys
from forge.records import WarehouseError
from warehouse import Warehouse
try:
    with Warehouse.open(sys.argv[1], sys.argv[2]) as w, w.begin() as session:
        w.register_round(session, {})
except WarehouseError as error:
    print(error)
"""


@pytest.fixture
def readable_folder() -> Path:
    """A folder of ours that others may read but not write, outside pytest's private ones."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="forge-readable-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written(readable_folder):
    readable_folder.chmod(0o555)
    done = as_an_ordinary_user(OPEN_AND_WRITE, f"sqlite:///{readable_folder}/w.db", str(readable_folder / "blobs"))
    assert "unable to open database file" in done.stdout, done
    assert "mend: make the folder writable" in done.stdout


def test_a_database_that_cannot_be_written(readable_folder):
    url = f"sqlite:///{readable_folder}/w.db"
    Warehouse.open(url, str(readable_folder / "blobs")).close()
    done = as_an_ordinary_user(OPEN_AND_WRITE, url, str(readable_folder / "blobs"))
    assert "readonly database" in done.stdout, done
    assert "mend: make the file and its folder writable" in done.stdout


def test_a_writer_that_holds_the_lock_for_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.2)
    url = f"sqlite:///{tmp_path}/w.db"
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened:
        other = sqlite3.connect(tmp_path / "w.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WarehouseError, match="database is locked") as caught, opened.begin() as session:
            opened.register_round(session, {})
        other.execute("ROLLBACK")
        other.close()
        assert "another process holds the write lock" in str(caught.value.mend)
        assert opened.rounds() == []


def test_readers_do_not_wait_for_a_writer(tmp_path):
    url = f"sqlite:///{tmp_path}/w.db"
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened, opened.begin() as session:
        opened.register_round(session, {})
        assert opened.rounds() == []
        assert opened.stats()["tasks"]["candidates"] == 0


def test_a_full_disk_stops_writing_and_keeps_what_was_committed(tmp_path):
    url = f"sqlite:///{tmp_path}/w.db"
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened:
        with opened.begin() as session:
            register(opened, session)
            opened.add_task(session, make_task(0), 1, 0)
        before = opened.dump()
        with opened.read() as connection:
            pages = connection.scalar(sa.text("PRAGMA page_count"))

        def fill() -> None:
            with opened.begin() as session:
                session.exec_driver_sql(f"PRAGMA max_page_count = {pages + 3}")
                for number in range(1, 200):
                    opened.add_task(session, make_task(number), 1, number)

        with pytest.raises(WarehouseError, match="full") as caught:
            fill()
        assert "free some disk space" in str(caught.value.mend)
        assert opened.dump() == before


FILL = """
import sys
from forge.records import WarehouseError
from warehouse import BlobStore, Warehouse
store = BlobStore("/tiny/blobs")
kept = store.put(b"kept")
try:
    store.put(bytes(3_000_000))
except WarehouseError as error:
    print("BLOB", error)
assert store.get(kept) == b"kept"
assert store.put(b"small") and not list(store._root.joinpath("tmp").iterdir())
try:
    Warehouse.open("sqlite:////tiny/w.db", "/tiny/blobs")
    store.put(b"x" * 200_000), store.put(b"y" * 600_000)
    Warehouse.open("sqlite:////tiny/other.db", "/tiny/blobs")
except WarehouseError as error:
    print("FULL", error)
"""


def test_a_disk_that_is_really_full(tmp_path):
    """On a file system of one megabyte, inside a box."""
    box = ["bwrap", "--dev-bind", "/", "/", "--size", str(2**20), "--tmpfs", "/tiny", "--chdir", str(REPOSITORY)]
    script = tmp_path / "fill.py"
    script.write_text(FILL)
    (tmp_path / "tiny").mkdir()
    command = [*box, sys.executable, str(script)]
    command[command.index("/tiny")] = str(tmp_path / "tiny")
    script.write_text(FILL.replace("/tiny", str(tmp_path / "tiny")))
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
    )
    assert "BLOB" in done.stdout, done
    assert "No space left on device" in done.stdout
    assert "mend: free some disk space" in done.stdout
    assert "FULL" in done.stdout, done


@pytest.mark.parametrize(
    ("change", "message", "mend"),
    [
        (lambda url: url.replace("?host=", "?host=%2Fnowhere"), "connection", "is the server running"),
        (lambda url: url.replace("/warehouse_", "/absent_"), "does not exist", "createdb"),
        (lambda url: url.replace("forge@", "stranger@"), "does not exist", "createdb"),
    ],
)
def test_a_postgresql_that_cannot_be_reached(postgres, tmp_path, change, message, mend):
    with pytest.raises(WarehouseError, match=message) as caught:
        Warehouse.open(change(postgres.new_database()), str(tmp_path / "blobs"))
    assert mend in str(caught.value.mend)


def test_a_password_is_never_shown(tmp_path):
    with pytest.raises(WarehouseError) as caught:
        Warehouse.open("postgresql://forge:sesame@127.0.0.1:9/w", str(tmp_path / "blobs"))
    assert "sesame" not in str(caught.value)


def test_a_server_that_went_away_is_an_error_and_it_works_again_when_it_is_back(postgres, tmp_path):
    url = postgres.new_database()
    with Warehouse.open(url, str(tmp_path / "blobs")) as opened:

        def kick_out(session) -> None:
            session.execute(sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))

        with pytest.raises(WarehouseError) as caught, opened.begin() as session:
            kick_out(session)
        assert caught.value.mend
        with opened.begin() as session:
            opened.register_round(session, {})
        assert len(opened.rounds()) == 1
