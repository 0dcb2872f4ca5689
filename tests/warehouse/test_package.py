"""The package itself: cheap to import, and the private server leaves nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

import warehouse
from warehouse.private_postgres import PrivatePostgres, find_binaries

REPOSITORY = Path(__file__).parents[2]


def test_importing_loads_no_database_and_no_object_store():
    code = "import sys, warehouse; print({m.split('.')[0] for m in sys.modules} & {'sqlalchemy', 'alembic', 'fsspec', 'pandas'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout.strip() == "set()"


def test_every_name_of_the_face_is_there():
    assert all(getattr(warehouse, name).__name__ == name for name in warehouse.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = warehouse.nonsense


def test_a_private_server_is_reached_by_socket_only_and_is_gone_afterwards():
    with PrivatePostgres() as server:
        root = server._root
        with psycopg.connect(server.new_database().replace("+psycopg", "")) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        process = int((root / "data" / "postmaster.pid").read_text().splitlines()[0])
        assert Path(f"/proc/{process}").exists()
    assert not root.exists()
    assert not Path(f"/proc/{process}").exists()


def test_a_private_server_dies_with_its_process():
    code = (
        "from warehouse.private_postgres import PrivatePostgres; import sys\n"
        "with PrivatePostgres() as s: print(s._root, flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    root = Path(owner.stdout.readline().strip())
    lock = root / "data" / "postmaster.pid"
    assert lock.exists()
    owner.kill()
    owner.communicate()
    deadline = time.monotonic() + 20
    while lock.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not lock.exists()
    shutil.rmtree(root)


def test_the_server_programs_are_found():
    assert {"initdb", "pg_ctl", "postgres"} <= {p.name for p in find_binaries().iterdir()}
