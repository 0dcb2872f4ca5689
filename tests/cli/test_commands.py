"""The `forge` command as a person meets it: whole processes, exit codes, JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def forge(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "forge"), *arguments]
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_help_lists_every_command() -> None:
    shown = forge("--help")
    assert shown.returncode == 0
    for command in (
        "doctor",
        "round",
        "skills",
        "tasks",
        "rollout",
        "regrade",
        "stats",
        "cost",
        "plan",
        "llm",
        "show",
        "export",
        "train",
        "grounding",
    ):
        assert f" {command} " in shown.stdout


@pytest.mark.parametrize(
    "command",
    [
        "doctor",
        "round",
        "skills list",
        "skills new",
        "tasks show",
        "tasks open",
        "rollout",
        "regrade",
        "stats",
        "cost",
        "plan",
        "llm check",
        "show",
        "export",
        "grounding harvest",
        "grounding score",
    ],
)
def test_every_command_explains_itself(command: str) -> None:
    shown = forge(*command.split(), "--help")
    assert shown.returncode == 0
    assert "Usage: forge" in shown.stdout


@pytest.mark.parametrize("module", ["cli", "cli.main"])
def test_the_command_runs_as_a_module(module: str) -> None:
    shown = subprocess.run([sys.executable, "-m", module, "tasks", "show", "0123"], capture_output=True, text=True)
    assert (shown.returncode, shown.stdout) == (3, "")
    assert "forge: there is no task 0123" in shown.stderr


@pytest.mark.parametrize(
    "command",
    [
        "export {file} --what tasks",
        "export {file}/below --what tasks",
        "skills new calc.format.mark-stuff --folder {file}",
        "grounding export {file}/below --form osworld-g",
    ],
)
def test_where_nothing_can_be_written_is_told_without_a_traceback(command: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    shown = forge(*command.format(file=file).split(), cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stderr.startswith(f"forge: {file}")
    assert "mend: name a place that can be read and written" in shown.stderr
    assert file.read_text() == ""


def test_training_without_torch_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')")
    command = [sys.executable, "-m", "cli", "train", "shards"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    assert shown.returncode == 3
    assert shown.stderr == "forge: torch is not installed\n  mend: run `setup/install.sh test`\n"


def test_what_only_osworld_knows_is_refused_without_it() -> None:
    shown = forge("desktop", "serve", "--screen", "1920x1080")
    assert shown.returncode == 2
    assert "--screen is for --osworld only" in shown.stderr


def test_a_full_disk_is_told_without_a_traceback() -> None:
    command = [str(Path(sys.executable).parent / "forge"), "stats", "--json"]
    with open("/dev/full", "wb", buffering=0) as full:
        shown = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert shown.returncode == 3
    assert shown.stderr == ("forge: [Errno 28] No space left on device\n  mend: free some space, or write elsewhere\n")


def test_no_help_loses_its_brackets_to_markup() -> None:
    from rich.text import Text
    from typer.main import get_command

    from cli.main import app

    def helps(command: Any) -> Iterator[str]:
        yield command.help or ""
        yield from (option.help or "" for option in command.params)
        for below in getattr(command, "commands", {}).values():
            yield from helps(below)

    found = list(helps(get_command(app)))
    assert sum(bool(text) for text in found) > 100
    assert [text for text in found if Text.from_markup(text).plain != text.replace("\\[", "[")] == []
    shown = " ".join(forge("grounding", "score", "--help").stdout.replace("│", " ").split())
    assert (
        "[x, y] or [x, y, width, height] in pixels; [-1, -1] is a refusal; null is no answer, wrong everywhere."
        in shown
    )


def test_the_score_of_a_group_that_no_row_has_is_bad_input(tmp_path: Path) -> None:
    rows, predictions = tmp_path / "rows.json", tmp_path / "predictions.json"
    rows.write_text('[{"bbox": [0, 0, 9, 9], "data_type": "icon"}]')
    predictions.write_text("[[5, 5]]")
    score = ("grounding", "score", str(rows), str(predictions))
    found = json.loads(forge(*score, "--json").stdout)  # rows of another's benchmark have no style
    assert (found["rows"], found["right"], found["groups"]) == (1, 1, {})
    shown = forge(*score, "--group", "zzz")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "no row has the group 'zzz'" in shown.stderr
    assert "groups are data_type" in shown.stderr


def test_files_that_cannot_be_read_or_written_are_bad_input(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text('[{"bbox": [0, 0, 9, 9]}, 3]')
    shown = forge("grounding", "score", str(rows), str(rows))
    assert (shown.returncode, shown.stderr.partition("\n")[0]) == (2, f"forge: {rows}: row 2 is no object")
    rows.write_text('[{"bbox": [0, 0, 9, 9]}]')
    shown = forge("grounding", "score", str(rows), str(rows))
    assert shown.returncode == 2
    assert shown.stderr.startswith(f"forge: {rows}: row 1 is no prediction: ")
    assert forge("grounding", "score", str(rows), str(tmp_path)).returncode == 2
    picture = tmp_path / "absent/s.png"
    shown = forge("grounding", "sheet", str(picture))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"forge: {picture} cannot be written: No such file or directory\n  mend: ")
    assert list(Path(os.environ["FORGE_HOME"]).iterdir()) == [], "the warehouse was read for a picture that cannot be"


def test_the_library_as_json_names_twelve_skills_in_three_applications() -> None:
    rows = json.loads(forge("skills", "list", "--json").stdout)
    apps = [app for row in rows for app in row["apps"]]
    assert len(rows) >= 12
    assert apps.count("calc") >= 6
    assert apps.count("thunderbird") >= 4
    assert apps.count("files") >= 3
    assert sum(len(row["apps"]) > 1 for row in rows) >= 1


def test_an_unknown_skill_is_bad_input_and_names_the_nearest() -> None:
    shown = forge("skills", "validate", "calc.formula.total-below-colum")
    assert shown.returncode == 2
    assert "calc.formula.total-below-column" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_fault_in_a_workflow_is_told_with_file_and_line(tmp_path: Path) -> None:
    assert forge("skills", "new", "files.folder.tidy-desk", "--folder", str(tmp_path)).returncode == 0
    (file,) = tmp_path.rglob("workflow.yaml")
    lines = file.read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "must:" in line)
    file.write_text("\n".join(lines).replace("files.content", "files.contend") + "\n")
    shown = forge("skills", "validate", str(file))
    assert shown.returncode == 2
    assert f"workflow.yaml:{number}: unknown check 'files.contend'" in shown.stderr


def test_a_starting_point_validates(tmp_path: Path) -> None:
    made = forge("skills", "new", "calc.format.mark-negative-numbers", "--folder", str(tmp_path))
    assert made.returncode == 0
    (file,) = tmp_path.rglob("workflow.yaml")
    assert forge("skills", "validate", str(file)).returncode == 0


def test_validation_says_what_it_did_and_takes_every_skill_of_a_folder(tmp_path: Path) -> None:
    for skill in ("files.text.copy-note", "terminal.text.copy-note"):
        assert forge("skills", "new", skill, "--folder", str(tmp_path)).returncode == 0
    shown = forge("skills", "validate", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    first, second, said = shown.stdout.splitlines()
    assert (first.split()[0], second.split()[0]) == ("files.text.copy-note", "terminal.text.copy-note")
    assert said.startswith("checked: ")
    assert "nothing was drawn" in said
    assert "solutions are played in a round" in said


def test_a_folder_without_a_skill_is_bad_input(tmp_path: Path) -> None:
    shown = forge("skills", "validate", str(tmp_path))
    assert shown.returncode == 2
    assert "workflow.yaml" in shown.stderr


@pytest.mark.desktop
def test_validation_with_draws_says_that_solutions_were_not_played(tmp_path: Path) -> None:
    made = forge("skills", "new", "files.text.copy-note", "--folder", str(tmp_path))
    assert made.returncode == 0
    shown = forge("skills", "validate", str(tmp_path), "--draws", "2")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "2 draws, gates passed; solutions are played in a round"


def test_statistics_of_an_empty_warehouse_are_there_and_empty() -> None:
    figures = json.loads(forge("stats", "--json").stdout)
    assert figures["tasks"]["accepted"] == 0
    assert figures["tasks"]["by_app"] == {}
    assert figures["probes"]["noop_false_positives"] == 0
    assert figures["probes"]["near_miss_kill_rate"] is None
    assert figures["tokens"]["per_accepted_task"] is None


def test_a_task_that_is_not_there_is_an_error_without_a_traceback() -> None:
    shown = forge("tasks", "show", "0123456789")
    assert shown.returncode in (2, 3)
    assert "0123456789" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_show_without_a_trajectory_lists_them() -> None:
    assert json.loads(forge("show", "--json").stdout) == []
    shown = forge("show")
    assert shown.returncode == 0
    assert "0 trajectories" in shown.stdout


def test_a_model_teacher_without_an_endpoint_says_what_to_set() -> None:
    shown = forge("rollout", "--teacher", "nobody", "--limit", "1", "--json")
    assert shown.returncode == 0  # nothing is accepted yet, so there is nothing to play
    assert json.loads(shown.stdout)["done"] == 0


@pytest.mark.parametrize("command", ["stats", "round", "round --dry-run", "desktop serve"])
def test_limits_of_slots_that_cannot_be_are_told_before_anything_begins(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_SLOT_LIMITS", "memory_mb=lots")
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    shown = forge(*command.split())
    assert shown.returncode == 2
    assert "FORGE_SLOT_LIMITS = 'memory_mb=lots': 'lots' is no limit for memory_mb" in shown.stderr
    assert "write memory_mb=3000,home_mb=500,cpus=1.5" in shown.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_round_of_a_skill_that_is_not_there_is_refused_before_anything_begins(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    shown = forge("round", "--skill", "files.text.count-log-entry", *more)
    assert shown.returncode == 2
    assert shown.stdout == ""
    (message, mend) = shown.stderr.splitlines()
    assert message == "forge: no skill matches 'files.text.count-log-entry'"
    assert "did you mean files.text.count-log-entries" in mend
    assert f"belongs into {tmp_path / 'home' / 'library'}" in mend
    assert "calc.formula.total-below-column" not in mend
    assert not (tmp_path / "home").exists()


def test_a_skill_of_ones_own_is_drawn_from_the_library_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    made = forge("skills", "new", "files.folder.tidy-desk", "--folder", str(tmp_path / "library"))
    assert made.returncode == 0
    shown = forge("round", "--skill", "files.folder.tidy-desk", "--dry-run", "--json")
    assert shown.returncode == 0, shown.stderr
    assert [row["skill"] for row in json.loads(shown.stdout)["skills"]] == ["files.folder.tidy-desk"]
