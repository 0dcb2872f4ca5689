"""`forge cost`, `forge plan` and `forge llm`, as a person meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.records import ModelCall, Usage
from warehouse import Warehouse

from ..endpoint import serve
from ..warehouse.samples import good_evidence, make_task, register


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose warehouse has two accepted tasks and three calls."""
    with Warehouse.open(f"sqlite:///{tmp_path / 'warehouse.db'}", str(tmp_path / "blobs")) as warehouse:
        with warehouse.begin() as session:
            register(warehouse, session)
            for number in range(2):
                warehouse.add_task(session, make_task(number), 1, number)
                warehouse.add_probes(session, good_evidence(make_task(number)))
        for name, more in {
            "author": {"purpose": "author", "recurring": False, "subject": "author/1:x:workflow"},
            "topup": {"purpose": "writer", "recurring": True, "subject": "bank/names/stock", "stage": "topup"},
            "judge": {"purpose": "judge", "recurring": True, "subject": make_task(0).id},
        }.items():
            usage = Usage(prompt_tokens=900, completion_tokens=100)
            warehouse.ledger.record(
                ModelCall.model_validate(
                    {"id": name, "endpoint": "e", "model": "m", "request": name, "status": "ok", "usage": usage, **more}
                )
            )
    return tmp_path


def forge(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "forge"), *arguments]
    environment = {**os.environ, "FORGE_HOME": str(home), **more}
    return subprocess.run(
        command, cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_cost_for_scripts_and_for_people(home):
    shown = forge(home, "cost", "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["recurring_tokens_per_accepted_task"] == {"20": 550.0, "100": 510.0, "500": 502.0}
    assert found["parts"]["unfinished"]["tokens"] == 1000  # no row says how that authoring ended
    assert found["tokens_per_accepted_task"]["20"] == 550 + 1000 / 20
    assert found["break_even"] == {"baseline": None, "paper_per_task_agents": 1}
    tables = forge(home, "cost").stdout
    cells = {line.split("│")[1].strip(): line.split("│")[2:-1] for line in tables.splitlines() if "│" in line}
    assert cells["paper: one by one"][-2].strip() == "1"
    assert cells["unfinished"][:2] == ["     1 ", "   1000 "]


def test_a_plan_is_told_before_and_checked_after(home):
    shown = forge(home, "plan", "--tasks", "400", "--skill", "calc.formula.total-*", "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["tasks"] == 400
    assert found["hours"] == pytest.approx(sum(found["hours_by_stage"].values()))
    assert "probe_seconds" in found["assumed"]
    assert [row["tasks"] for row in found["skills"]] == [400]
    assert forge(home, "plan", "--check", "--json").stdout.strip() == "[]"
    unknown = forge(home, "plan", "--round", "3")
    assert (unknown.returncode, "round 3 has no forecast" in unknown.stderr) == (2, True)


def test_a_round_is_previewed_with_its_tasks_by_skill(home):
    chosen = ("--skill", "files.archive.*", "--skill", "calc.formula.total-below-column")
    shown = forge(home, "round", *chosen, "--tasks", "3", "--dry-run", "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert {row["tasks"] for row in found["skills"]} == {3}
    assert found["forecast"]["tasks"] == 3 * len(found["skills"])
    table = forge(home, "round", *chosen, "--dry-run").stdout
    assert "files.archive.pack-by-type" in table
    assert "A round of" in table
    with Warehouse.open(f"sqlite:///{home / 'warehouse.db'}", str(home / "blobs")) as warehouse:
        assert [row["number"] for row in warehouse.rounds()] == [1]  # the samples' own


def test_skills_are_listed_with_their_shares(home):
    rows = json.loads(forge(home, "skills", "list", "--json").stdout)
    assert {(row["share"], row["trials"], row["standing"]) for row in rows} == {(1 / len(rows), 0, "active")}
    assert f"{100 / len(rows):.1f} %" in forge(home, "skills", "list").stdout


def test_endpoints_are_listed_with_roles_and_without_keys(home):
    (home / "endpoints.yaml").write_text(
        "endpoints:\n  big: {like: openai, model: gpt-5}\n  own: {like: vllm, model: q, api_key: sesame}\n"
        "roles: {author: big, writer: own}\n"
    )
    shown = forge(home, "llm", "list", "--json", FORGE_LLM_ROLES="judge=own")
    rows = {row["name"]: row for row in json.loads(shown.stdout)}
    assert rows["big"]["roles"] == ["author", "teacher"]
    assert rows["own"]["roles"] == ["judge", "writer"]
    assert rows["big"]["prices"]["completion"] == 10
    assert "sesame" not in shown.stdout
    broken = forge(home, "llm", "list", FORGE_LLM_ROLES="judge=nobody")
    assert broken.returncode == 2
    assert "no endpoint 'nobody'" in broken.stderr


def test_check_asks_an_endpoint_and_says_what_fails(home):
    def answer(body: dict[str, Any]) -> str:
        if "response_format" in body:
            return '{"name": "red", "warm": true}'
        return "It is ready, and red."

    with serve(answer) as server:
        shown = forge(home, "llm", "check", "--json", FORGE_LLM_BASE_URL=server.url, FORGE_LLM_MODEL="m")
    assert shown.returncode == 1, shown.stderr
    found = {row["question"]: row for row in json.loads(shown.stdout)}
    assert {question: row["ok"] for question, row in found.items()} == {
        "words": True, "a picture": True, "a tool call": False, "a typed answer": True,
    }  # fmt: skip
    assert found["a typed answer"]["found"] == "red, by json_schema"
    assert len(json.loads(forge(home, "cost", "--json").stdout)["by_stage"]) == 3


@pytest.mark.parametrize(
    "command", [["skills", "author", "calc.formula.running-total"], ["skills", "expand", "--count", "1"], ["rollout"]]
)
def test_an_endpoint_is_chosen_by_name(home, command):
    (home / "endpoints.yaml").write_text("endpoints: {own: {like: vllm, model: q}}\n")
    shown = forge(home, *command, "--endpoint", "nobody", *(["--teacher", "llm"] if command == ["rollout"] else []))
    assert shown.returncode == 2
    assert "there is no endpoint 'nobody'" in shown.stderr
    assert "known are own" in shown.stderr
