"""Blobs: put once, read verified, never half there; on a folder and on another store of fsspec."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.records import WarehouseError, sha256_hex
from warehouse import BlobStore

HELLO = sha256_hex(b"hello")


@pytest.fixture(params=["path", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    urls = {"path": str(tmp_path / "a b"), "file": f"file://{tmp_path}/a%20b", "memory": f"memory://{uuid.uuid4().hex}"}
    return BlobStore(urls[request.param], cache=tmp_path / "cache")


def test_what_is_put_can_be_got(store):
    assert store.put(b"hello") == HELLO
    assert store.put(b"hello") == HELLO
    assert store.get(HELLO) == b"hello"
    assert (store.has(HELLO), store.size(HELLO)) == (True, 5)
    assert store.local_path(HELLO).read_bytes() == b"hello"
    assert store.get(store.put(b"")) == b""


def test_what_is_not_there_is_named(store):
    missing = sha256_hex(b"missing")
    assert (store.has(missing), store.size(missing)) == (False, None)
    for read in (store.get, store.local_path):
        with pytest.raises(WarehouseError, match=missing) as caught:
            read(missing)
        assert "FORGE_BLOBS" in str(caught.value.mend)


@pytest.mark.parametrize("name", ["", "abc", "../../etc/passwd", HELLO.upper(), HELLO + "0"])
def test_a_name_that_is_no_hash_is_refused(store, name):
    for use in (store.get, store.has, store.local_path):
        with pytest.raises(WarehouseError, match="no SHA-256"):
            use(name)


def test_a_file_of_the_host_can_be_put(store, tmp_path):
    (tmp_path / "f").write_bytes(b"hello")
    assert store.put_file(tmp_path / "f") == HELLO


def test_blobs_lie_in_two_levels_and_nothing_is_left_beside_them(tmp_path):
    store = BlobStore(str(tmp_path / "blobs"))
    store.put(b"hello")
    files = [p.relative_to(tmp_path / "blobs").as_posix() for p in (tmp_path / "blobs").rglob("*") if p.is_file()]
    assert files == [f"{HELLO[:2]}/{HELLO[2:4]}/{HELLO}"]
    assert (tmp_path / "blobs" / files[0]).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("damage", [b"hallo", b"hell", b""])
def test_damage_is_found_on_reading_and_a_shorter_one_healed_by_putting_again(tmp_path, damage):
    store = BlobStore(str(tmp_path))
    store.put(b"hello")
    path = store.local_path(HELLO)
    path.write_bytes(damage)
    for read in (store.get, store.local_path):
        with pytest.raises(WarehouseError, match="damaged"):
            read(HELLO)
    if len(damage) < 5:
        store.put(b"hello")
        assert store.get(HELLO) == b"hello"


def test_leftovers_of_killed_writers_are_swept_after_a_day(tmp_path):
    BlobStore(str(tmp_path))
    old, new = tmp_path / "tmp" / "old", tmp_path / "tmp" / "new"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    BlobStore(str(tmp_path))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_store_that_cannot_be_made_or_is_unknown_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WarehouseError, match="cannot be opened") as caught:
        BlobStore(str(tmp_path / "file" / "blobs"))
    assert "FORGE_BLOBS" in str(caught.value.mend)
    with pytest.raises(WarehouseError, match="no URL of a blob store"):
        BlobStore("nonsense://bucket")


def test_many_threads_may_put_the_same(tmp_path):
    store = BlobStore(str(tmp_path))
    data = os.urandom(200_000)
    barrier = threading.Barrier(8)

    def put(_: int) -> str:
        barrier.wait()
        return store.put(data)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(put, range(8))) == {sha256_hex(data)}
    assert store.get(sha256_hex(data)) == data
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.03])
def test_a_killed_writer_leaves_whole_blobs_only(tmp_path, delay):
    code = (
        "import sys, os; from warehouse import BlobStore; s = BlobStore(sys.argv[1]); print('go', flush=True)\n"
        "for n in range(100000): s.put(bytes([n % 256]) * 300_000 + str(n).encode())"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(delay)
    writer.kill()
    writer.wait()
    writer.stdout.close()
    blobs = [p for p in tmp_path.rglob("*") if p.is_file() and p.parent.name != "tmp"]
    assert all(sha256_hex(p.read_bytes()) == p.name for p in blobs)


@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=5000))
def test_any_bytes_round_trip(tmp_path_factory, data):
    store = BlobStore(str(tmp_path_factory.getbasetemp() / "any"))
    assert store.get(store.put(data)) == data


def test_the_total_is_the_bytes_of_all_blobs(tmp_path, monkeypatch):
    store = BlobStore(str(tmp_path / "blobs"))
    for number in range(300):
        store.put(b"%08d" % number)
    assert store.total() == 2400
    monkeypatch.setattr("warehouse.blobs._COUNTED", 100)
    assert 1800 < store.total() < 3000  # reckoned from a third of them


def test_the_total_of_a_remote_store(tmp_path):
    store = BlobStore("memory://total")
    assert store.total() == 0
    store.put(b"12345")
    assert store.total() == 5
