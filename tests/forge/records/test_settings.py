"""Settings: environment over forge.toml over defaults; what is unknown or impossible is refused; keys stay secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from forge.records import InputError, Settings


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORGE_HOME", raising=False)


def test_defaults() -> None:
    settings = Settings()
    assert (settings.home, settings.slots, settings.screen_size) == (Path(".forge"), 2, (1280, 800))
    assert settings.warehouse_url == f"sqlite:///{Path('.forge').resolve()}/warehouse.db"
    assert settings.blob_url == f"file://{Path('.forge').resolve()}/blobs"


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("forge.toml").write_text('slots = 5\nscreen = "1920x1080"\nhome = "/srv/forge"\n')
    monkeypatch.setenv("FORGE_SLOTS", "7")
    monkeypatch.setenv("FORGE_WAREHOUSE", "postgresql://db/forge")
    settings = Settings()
    assert (settings.slots, settings.screen_size, settings.home) == (7, (1920, 1080), Path("/srv/forge"))
    assert settings.warehouse_url == "postgresql://db/forge"
    assert settings.blob_url == "file:///srv/forge/blobs"
    assert Settings(slots=9).slots == 9, "what is said in code wins over all"


@pytest.mark.parametrize(
    ("name", "value"), [("SLOTS", "0"), ("SLOTS", "many"), ("SLOTS", "257"), ("SCREEN", "big"), ("SCREEN", "10x10")]
)
def test_what_cannot_be_is_refused_by_the_variable_the_value_and_a_mend(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"FORGE_{name}", value)
    with pytest.raises(InputError, match=f"^FORGE_{name} = '{value}': ") as caught:
        Settings()
    assert str(caught.value.mend).startswith({"SLOTS": "slots: desktop slots", "SCREEN": "screen: screen size"}[name])


def test_what_is_wrong_in_the_file_or_in_code_is_told_so() -> None:
    with pytest.raises(InputError, match=r"^setting slots = 0: "):
        Settings(slots=0)
    Path("forge.toml").write_text('slots = "few"\n')
    with pytest.raises(InputError, match=r"^forge\.toml: slots = 'few': "):
        Settings()
    Path("forge.toml").write_text("slots 3\n")
    with pytest.raises(InputError, match=r"^forge\.toml: no TOML: .*line 1"):
        Settings()


def test_an_unknown_key_in_the_file_is_refused_with_the_nearest() -> None:
    Path("forge.toml").write_text("slot = 3\n")
    with pytest.raises(InputError, match=r"^forge\.toml: there is no setting 'slot'") as caught:
        Settings()
    assert caught.value.mend == "do you mean slots?"


def test_a_secret_that_cannot_be_is_not_shown() -> None:
    Path("forge.toml").write_text("llm_api_key = 12345\n")
    with pytest.raises(InputError, match="llm_api_key: ") as caught:
        Settings()
    assert "12345" not in str(caught.value)


def test_other_variables_of_forge_do_not_disturb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_CACHE", "/somewhere")
    assert Settings().slots == 2


def test_a_key_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_LLM_API_KEY", "very-secret")
    settings = Settings()
    assert settings.llm_api_key.get_secret_value() == "very-secret"
    assert "very-secret" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().slots = 3  # type: ignore[misc]
