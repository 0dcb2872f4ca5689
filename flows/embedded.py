"""Prefect on a laptop: the embedded server, its folder, and its time-outs."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
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


def start_embedded_server() -> None:
    """Start Prefect's embedded server out of reach of a terminal's Ctrl-C, which goes to all processes there: the flow has
    still to tell it how it ended. Does nothing where PREFECT_API_URL names a real one.
    """
    from prefect.server.api.server import SubprocessASGIServer
    from prefect.settings import get_current_settings

    if get_current_settings().api.url is not None:
        return

    def start() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread, and of what it starts
        with suppress(Exception):  # the flow tries again and tells
            SubprocessASGIServer().start()

    thread = threading.Thread(target=start, name="embedded-server", daemon=True)
    thread.start()
    thread.join()  # unlike the start itself it can be interrupted
