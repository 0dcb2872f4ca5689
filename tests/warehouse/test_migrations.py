"""Migrations: the newest one gives what the code expects, on both engines, once, and undisturbed by others."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from forge.records import WarehouseError
from warehouse import Warehouse, migrations
from warehouse.engine import begin, open_engine, read
from warehouse.migrations import migrate
from warehouse.schema import KNOWN_SCHEMAS, SCHEMA, VOLATILE, Base
from warehouse.views import ORDERS, VIEWS

SCRIPTS = Path(migrations.__file__).parent


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


def test_the_newest_migration_is_the_metadata(empty_url):
    engine = open_engine(empty_url)
    migrate(engine)
    with read(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_every_view_can_be_read_under_both_names_and_nothing_else_is_there(empty_url):
    engine = open_engine(empty_url)
    migrate(engine)
    plain = {name.rsplit("_v", 1)[0] for name in VIEWS}
    with read(engine) as connection:
        assert set(sa.inspect(connection).get_view_names()) == set(VIEWS) | plain
        for name in [*VIEWS, *plain]:
            order = ORDERS[name.removesuffix("_v1")]
            assert connection.execute(sa.text(f"SELECT * FROM {name} ORDER BY {order}")).all() == []
    engine.dispose()


def test_the_code_knows_every_revision_in_order():
    revisions = [script.revision for script in reversed(list(scripts().walk_revisions()))]
    assert tuple(revisions) == KNOWN_SCHEMAS
    assert revisions[-1] == SCHEMA


def test_volatile_columns_exist():
    for table, columns in VOLATILE.items():
        assert columns <= set(Base.metadata.tables[table].columns.keys())


def test_going_down_leaves_nothing(empty_url):
    from alembic import command

    engine = open_engine(empty_url)
    migrate(engine)
    with begin(engine) as connection:
        config = Config()
        config.set_main_option("script_location", str(SCRIPTS))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    with read(engine) as connection:
        found = sa.inspect(connection)
        assert (set(found.get_table_names()), found.get_view_names()) == ({"alembic_version"}, [])
    engine.dispose()


def test_opening_again_changes_nothing(empty_url, tmp_path):
    Warehouse.open(empty_url, str(tmp_path / "blobs")).close()
    with Warehouse.open(empty_url, str(tmp_path / "blobs")) as again:
        assert again.dump() == []


def test_many_may_create_a_warehouse_at_once(empty_url, tmp_path):
    barrier = threading.Barrier(5)

    def create(_: int) -> None:
        barrier.wait()
        Warehouse.open(empty_url, str(tmp_path / "blobs")).close()

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(create, range(5)))
    with Warehouse.open(empty_url, str(tmp_path / "blobs")) as opened:
        assert opened.stats()["tasks"]["accepted"] == 0


def test_a_newer_schema_is_refused(empty_url, tmp_path):
    engine = open_engine(empty_url)
    migrate(engine)
    with begin(engine) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(WarehouseError, match="schema 9999, newer than the") as caught:
        Warehouse.open(empty_url, str(tmp_path / "blobs"))
    assert caught.value.mend == "update Forge"


def test_a_database_of_others_is_refused_and_left_alone(empty_url, tmp_path):
    engine = open_engine(empty_url)
    with begin(engine) as connection:
        connection.execute(sa.text("CREATE TABLE customers (id INTEGER)"))
    with pytest.raises(WarehouseError, match="not Forge's \\(customers") as caught:
        Warehouse.open(empty_url, str(tmp_path / "blobs"))
    assert "of its own" in str(caught.value.mend)
    with read(engine) as connection:
        assert sa.inspect(connection).get_table_names() == ["customers"]
    engine.dispose()


def test_a_migration_killed_in_the_middle_leaves_an_empty_database(empty_url, tmp_path):
    code = (
        "import os, sys, warehouse.views as v\n"
        "import importlib.util\n"
        "v.create_views = lambda *a: os.kill(os.getpid(), 9)\n"
        "from warehouse import Warehouse\n"
        "Warehouse.open(sys.argv[1], sys.argv[2])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, empty_url, str(tmp_path / "blobs")], check=False)
    assert done.returncode == -9
    with Warehouse.open(empty_url, str(tmp_path / "blobs")) as opened:
        assert opened.dump() == []


RELEASED = {
    "acceptance_findings_v1": "745b87bf40328af1",
    "task_states_v1": "cb618dfaa493a46e",
    "accepted_v1": "290d6e5fec63586d",
}


@pytest.mark.parametrize("name", RELEASED)
def test_the_text_of_a_released_predicate_does_not_change(name):
    """If this fails: give the changed view the next version and write a migration that creates it."""
    assert hashlib.sha256(VIEWS[name].encode()).hexdigest()[:16] == RELEASED[name]
