"""Settings, read from `FORGE_*` environment variables and an optional `forge.toml` in the working directory."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource


class Settings(BaseSettings):
    """Where things live and how much may run at once. Environment variables win over `forge.toml`, that over defaults."""

    model_config = SettingsConfigDict(env_prefix="FORGE_", toml_file="forge.toml", frozen=True, extra="forbid")

    home: Path = Field(Path(".forge"), description="folder for the embedded warehouse, blobs, caches and running slots")
    warehouse: str = Field("", description="SQLAlchemy URL of the warehouse; empty: SQLite at HOME/warehouse.db")
    blobs: str = Field("", description="fsspec URL of the blob store; empty: HOME/blobs")
    slots: int = Field(2, ge=1, le=256, description="desktop slots that may be open at once on this machine")
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
