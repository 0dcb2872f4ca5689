"""`forge doctor`: what is optional is told and is no failure; settings are shown, secrets are not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import forge.desktop
from cli.doctor import extras, without_password
from cli.main import app
from forge.desktop import Requirement
from forge.desktop.apps import APPS
from forge.records import Settings

NAMES = ["LibreOffice Writer", "LibreOffice Impress", "Chromium", "GIMP", "VLC", "x11vnc", "noVNC", "ffmpeg"]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with all that a round needs, and nothing more."""
    monkeypatch.setattr(forge.desktop, "doctor", lambda: [Requirement("program Xvfb", True, "/usr/bin/Xvfb", "")])
    monkeypatch.setattr("forge.desktop.view.NOVNC", tmp_path / "novnc")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("writer", "impress", "chromium", "gimp", "vlc"):
        monkeypatch.setitem(APPS, name, dataclasses.replace(APPS[name], program=str(tmp_path / name)))


@pytest.mark.usefixtures("bare")
def test_what_only_other_commands_need_is_told_with_its_mend_and_is_no_failure() -> None:
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == 0
    found = {each["name"]: each for each in json.loads(done.stdout)["optional"]}
    assert list(found) == NAMES
    assert not any(each["ok"] for each in found.values())
    assert found["GIMP"]["mend"] == (
        "needed for its tasks and `forge grounding harvest --app gimp`: install gimp, or run setup/install.sh apps"
    )
    assert found["ffmpeg"]["needed_for"] == "`forge desktop record` and `forge show --mp4`"
    shown = CliRunner().invoke(app, ["doctor"])
    assert (shown.exit_code, shown.stdout.count("optional")) == (0, len(NAMES))
    assert "MISSING" not in shown.stdout


def test_a_missing_requirement_of_a_round_is_a_failure(bare: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forge.desktop, "doctor", lambda: [Requirement("program Xvfb", False, "not found", "get it")])
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 1
    assert "MISSING" in shown.stdout


def test_what_is_there_is_found_where_slots_look_for_it() -> None:
    assert {each.name: each.found for each in extras() if not each.ok} == {}
    assert extras()[0].found == APPS["writer"].program


@pytest.mark.usefixtures("bare")
def test_all_settings_are_shown_and_secrets_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_BLOBS", "s3://key:s3kr3t@bucket/blobs")
    monkeypatch.setenv("FORGE_DESKTOP_TOKEN", "s3kr3t")
    monkeypatch.setenv("FORGE_LLM_BASE_URL", "http://me:s3kr3t@127.0.0.1:1/v1")
    monkeypatch.setenv("FORGE_LLM_MODEL", "qwen")
    monkeypatch.setenv("FORGE_LLM_API_KEY", "s3kr3t")
    monkeypatch.setenv("FORGE_SLOTS", "3")
    shown, told = (CliRunner().invoke(app, ["doctor", *more]).stdout for more in ([], ["--json"]))
    assert "s3kr3t" not in shown + told
    settings = json.loads(told)["settings"]
    assert set(settings) == {*Settings.model_fields, "endpoint"}
    assert (settings["slots"], settings["blobs"]) == (3, "s3://key:***@bucket/blobs")
    assert settings["endpoint"].startswith("http://me:***@127.0.0.1:1/v1 (")
    assert [name for name in Settings.model_fields if f" FORGE_{name.upper()} " not in shown] == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", ["FORGE_LLM_TOKENS", "FORGE_LLM_USD"])
def test_a_budget_of_nothing_is_not_shown_as_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def shown() -> str:
        lines = CliRunner().invoke(app, ["doctor"]).stdout.splitlines()
        return next(words[3] for line in lines if (words := line.split())[1:2] == [name])

    assert shown() == "-"
    monkeypatch.setenv(name, "0")
    assert shown() == "0"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("password", ["s3/kr3t", "5/s3kr3t", "s3?kr3t", "s3#kr3t", "s3@kr3t", "s3:kr3t"])
def test_a_password_of_the_warehouse_is_hidden_whatever_signs_it_has(
    monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("FORGE_WAREHOUSE", f"postgresql://forge:{password}@host/db")
    settings = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)["settings"]
    assert settings["warehouse"] == "postgresql://forge:***@host/db"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sqlite:////home/a:b@c/warehouse.db", "sqlite:////home/a:b@c/warehouse.db"),
        ("postgresql://forge:p@ss@host:5432/db", "postgresql://forge:***@host:5432/db"),
        ("postgresql://host/db?user=a&password=b&x=1", "postgresql://host/db?user=a&password=***&x=1"),
        ("http://a:1 http://u:p@b:2", "http://a:1 http://u:***@b:2"),
        ("http://a:1,http://u:p@b:2", "http://a:1,http://u:***@b:2"),
        ("http://a,http://u:p@b:2", "http://a,http://u:***@b:2"),
        ("s3://key:a/b@bucket/blobs", "s3://key:***@bucket/blobs"),
        ("http://u:p@ss@b:2/v1", "http://u:***@b:2/v1"),
        ("http://u:a/b@host/x?mail=a@b", "http://u:***@host/x?mail=a@b"),
        ("http://u:p@host/x?mail=a@b", "http://u:***@host/x?mail=a@b"),
        ("http://host:80/a@b", "http://host:80/a@b"),
    ],
)
def test_passwords_in_addresses_become_stars(text: str, shown: str) -> None:
    assert without_password(text) == shown
