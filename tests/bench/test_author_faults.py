"""Authoring and top-up through every fault and through kills come to the end of an undisturbed run; see `bench.author_faults`."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

from bench.author_faults import MIXED, Author, End, Outcome, through_faults, through_kills, undisturbed, within_budget
from tests.endpoint import serve
from tests.recorded import SKILL, Recording

# real `forge` processes with boxes and desktops: minutes
pytestmark = [pytest.mark.slow, pytest.mark.desktop, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> End:
    found = undisturbed(tmp_path_factory.mktemp("calm"))
    assert {name.partition("/")[0] for name in found.files} == {SKILL}
    tables = {line.split(" ")[0] for line in found.dump}
    assert {"authorings", "claims", "model_answers", "model_calls", "skills", "workflows"} <= tables
    return found


def test_all_faults_at_once(tmp_path: Path, calm: End) -> None:
    found = through_faults(tmp_path, "all", MIXED, calm)
    assert all(found.faults[kind] > 0 for kind, _ in MIXED), found.faults
    assert found.good, found


def test_faults_that_give_no_answer_leave_the_very_same_rows(tmp_path: Path, calm: End) -> None:
    found = through_faults(tmp_path, "silent", [("429", 3), ("500", 4), ("cut", 5), ("empty", 7)], calm)
    assert found.good, found
    with sqlite3.connect(tmp_path / "silent" / "warehouse.db") as db:
        ((calls,),) = db.execute("SELECT calls FROM authorings")
        ((answered,),) = db.execute("SELECT count(*) FROM model_calls WHERE status = 'ok'")
        ((failed,),) = db.execute("SELECT count(*) FROM model_calls WHERE status IN ('error', 'rate_limited')")
    assert calls == answered == sum(line.startswith("model_calls ") for line in calm.dump)
    assert failed == sum(found.faults.values())


def test_a_budget_holds_through_faults_and_promotes_nothing(tmp_path: Path) -> None:
    found = within_budget(tmp_path, 30_000)
    assert found.good, found


def test_killed_ten_times_at_random(tmp_path: Path, calm: End) -> None:
    began = time.monotonic()
    assert undisturbed(tmp_path / "again").dump == calm.dump
    found = through_kills(tmp_path, 10, 7, calm, time.monotonic() - began)
    assert found.faults == {"kills": 10}
    assert found.good, found


def test_states_that_must_not_be_are_seen(tmp_path: Path, calm: End) -> None:
    with serve(Recording()) as server:
        author = Author(tmp_path / "home", server)
        assert author.oddities(calm.files) == []
        assert author.start().wait() == 0
        assert author.oddities(calm.files) == []
        folder = author.home / "library" / SKILL
        (folder / "wording.yaml").rename(author.home / "wording.yaml")
        assert author.oddities(calm.files) == ["the folder holds unpack.py, workflow.yaml"]
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        assert author.oddities(calm.files) == ["a row without its folder"]
        with sqlite3.connect(author.home / "warehouse.db") as db:
            db.execute("DELETE FROM authorings")
        assert author.oddities(calm.files) == ["a row without its folder", "rows in part: [1, 0]"]
    assert not Outcome("x", equal=True, odd=["y"]).good


def test_begun_afresh_it_is_authored_again_with_a_conversation_of_its_own(tmp_path: Path, calm: End) -> None:
    with serve(Recording()) as server:
        author = Author(tmp_path / "home", server)
        assert author.start().wait() == 0
        asked = len(server.requests)
        assert author.start().wait() == 0
        assert len(server.requests) == asked  # it was done
        assert author.start("--afresh", "--quiet").wait() == 0
        assert len(server.requests) > asked
    assert author.end().files == calm.files
    kept = sorted(path.name.count(".1.") for path in (author.home / "authoring").glob("*.json"))
    assert kept == [0, 1]
    (state,) = (json.loads(p.read_text()) for p in (author.home / "authoring").glob("*.json") if ".1." not in p.name)
    assert (state["begun"], state["outcome"]) == (1, "authored")
    said = author.log.read_text()
    assert said.count(f"{SKILL}: turn 1 of 40") == 1
    assert "submit: Promoted." in said
