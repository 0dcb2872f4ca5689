"""Settings, read from `FORGE_*` environment variables and an optional `forge.toml` in the working directory."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from forge.records.errors import InputError

FILE = Path("forge.toml")
PREFIX = "FORGE_"


class Settings(BaseSettings):
    """Where things live and how much may run at once. Environment variables win over `forge.toml`, that over defaults.

    Raises:
        InputError: a value cannot be, or the file has a key that is none; it names the variable or the key, the value
            (never that of a secret) and what may stand there.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, toml_file=FILE, frozen=True, extra="forbid")

    def __init__(self, **values: Any):
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _fault(error, values, type(self).model_fields) from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"no TOML: {error}", file=FILE, mend='a line reads KEY = "VALUE"') from None

    home: Path = Field(Path(".forge"), description="folder for the embedded warehouse, blobs, caches and running slots")
    warehouse: str = Field("", description="SQLAlchemy URL of the warehouse; empty: SQLite at HOME/warehouse.db")
    blobs: str = Field("", description="fsspec URL of the blob store; empty: HOME/blobs")
    slots: int = Field(2, ge=1, le=256, description="desktop slots that may be open at once on this machine")
    slot_limits: str = Field(
        "", description="what a slot may use of this machine, over the defaults: memory_mb=3000,home_mb=500,cpus=1.5"
    )
    desktops: str = Field(
        "", description="addresses of slot servers, separated by commas or blanks; empty: slots of this machine"
    )
    desktop_token: SecretStr = Field(SecretStr(""), description="the token that slot servers ask for")
    screen: str = Field(
        "1280x800", pattern=r"^\d{3,5}x\d{3,5}$", description="screen size of a slot, WIDTHxHEIGHT pixels"
    )
    llm_base_url: str = Field(
        "", description="base URL of an OpenAI-compatible endpoint; empty: none, everything still runs"
    )
    llm_model: str = Field("", description="model name sent to the endpoint")
    llm_api_key: SecretStr = Field(SecretStr(""), description="key for the endpoint; many local servers need none")
    llm_endpoints: str = Field(
        "", description="YAML file of endpoints and roles; empty: endpoints.yaml in the working directory, where it is"
    )
    llm_roles: str = Field(
        "", description="who answers for which role, over the file's: author=NAME,judge=NAME; a NAME alone is for all"
    )
    llm_tokens: int | None = Field(None, ge=0, description="budget of a run in tokens; empty: none")
    llm_usd: float | None = Field(None, ge=0, description="budget of a run in US dollars; empty: none")
    llm_stage_tokens: str = Field("", description="budgets of a run's stages in tokens: author=2000000,topup=100000")
    llm_workflow_tokens: int | None = Field(None, ge=0, description="budget of each workflow's authoring in tokens")

    @property
    def warehouse_url(self) -> str:
        """The SQLAlchemy URL, with the default filled in."""
        return self.warehouse or f"sqlite:///{self.home.resolve() / 'warehouse.db'}"

    @property
    def blob_url(self) -> str:
        """The fsspec URL of the blob store, with the default filled in."""
        return self.blobs or f"file://{self.home.resolve() / 'blobs'}"

    @property
    def desktop_urls(self) -> tuple[str, ...]:
        """The slot servers' addresses; empty when slots are of this machine."""
        return tuple(self.desktops.replace(",", " ").split())

    @property
    def screen_size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        width, height = self.screen.split("x")
        return int(width), int(height)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def _fault(error: ValidationError, values: Mapping[str, Any], fields: Mapping[str, Any]) -> InputError:
    """The first thing that is wrong, by the name under which a person wrote it."""
    first = error.errors()[0]
    key = str(first["loc"][0])
    variable = _variable(key)
    field = fields.get(key)
    if field is None:
        near = difflib.get_close_matches(key, fields, 1)
        known = f"do you mean {near[0]}?" if near else f"known are {', '.join(fields)}"
        return InputError(f"there is no setting {key!r}", file=None if key in values else FILE, mend=known)
    shown = ""
    mend: str | None = None
    if field.annotation is not SecretStr:
        shown = f" = {first['input']!r}"
        mend = f"{key}: {field.description}; default {field.get_default()!r}"
    if key in values:
        return InputError(f"setting {key}{shown}: {first['msg']}", mend=mend)
    if variable is not None:
        return InputError(f"{variable}{shown}: {first['msg']}", mend=mend)
    return InputError(f"{key}{shown}: {first['msg']}", file=FILE, mend=mend)


def _variable(key: str) -> str | None:
    """The environment variable that a setting comes from, as it is written there."""
    names: Iterable[str] = os.environ
    return next((name for name in names if name.lower() == f"{PREFIX}{key}".lower()), None)
