"""Prefect on a laptop: the embedded server, its folder, and its time-outs."""

from __future__ import annotations

import os
from pathlib import Path

START_SECONDS = "180"
"""The first start migrates a database; Prefect's default time-out is too short for two busy cores."""


def use_embedded_server(home: Path) -> None:
    """Set the environment for Prefect's embedded server, unless PREFECT_API_URL names a real one.

    Must be called before prefect is imported. Nothing is sent anywhere: analytics and telemetry are off.

    Args:
        home: Prefect keeps its database and results in `home/prefect`.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # uncompiled, Prefect starts several times slower
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", START_SECONDS)
    if "PREFECT_API_URL" not in os.environ:
        folder = Path(os.environ.setdefault("PREFECT_HOME", str((home / "prefect").resolve())))
        folder.mkdir(parents=True, exist_ok=True)  # Prefect makes the last folder only
        os.environ.setdefault("PREFECT_LOGGING_LEVEL", "WARNING")
