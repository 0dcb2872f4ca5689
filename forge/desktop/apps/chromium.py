"""Chromium, for pages in the home and on the guest's loopback.

The program is started without Debian's wrapper, which would read the host's settings, and without a sandbox of its own:
that needs namespaces, and whoever may write the home can have GTK load a library into it, which could make them then.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from forge.desktop.apps.app import App

PROGRAM = "/usr/lib/chromium/chromium"
PROFILE = ".config/chromium"
"""Where its profile is, relative to the home."""

_FLAGS = (
    "--force-renderer-accessibility",
    "--no-sandbox",
    "--test-type",  # no bar that warns of flags
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-pings",
    "--disable-search-engine-choice-screen",
    "--disable-smooth-scrolling",
    "--animation-duration-scale=0",
    "--force-prefers-reduced-motion",
    "--hide-crash-restore-bubble",
    "--media-router=0",
)


def _command(path: str | None) -> list[str]:
    return [PROGRAM, *_FLAGS, *([f"file://{quote(path)}"] if path else [])]


CHROMIUM = App(
    "chromium",
    "chromium",
    PROGRAM,
    "chromium",
    _command,
    lambda path: " - Chromium",
    ("document web",),
    farewell=True,  # bookmarks and settings go to the disk after 2.5 to 10 seconds
)

_PREFERENCES = {
    "alternate_error_pages": {"enabled": False},
    "autofill": {"profile_enabled": False, "credit_card_enabled": False},
    "bookmark_bar": {"show_on_all_tabs": True},
    "browser": {
        "check_default_browser": False,
        "custom_chrome_frame": False,
        "enable_spellchecking": False,
        "has_seen_welcome_page": True,
        "show_home_button": True,
    },
    "credentials_enable_service": False,
    "download": {"prompt_for_download": False, "default_directory": "/home/alex/Downloads"},
    "homepage": "about:blank",
    "homepage_is_newtabpage": False,
    "net": {"network_prediction_options": 2},
    "payments": {"can_make_payment_enabled": False},
    "profile": {"exit_type": "Normal", "exited_cleanly": True, "password_manager_enabled": False},
    "safebrowsing": {"enabled": False},
    "savefile": {"default_directory": "/home/alex/Downloads"},
    "search": {"suggest_enabled": False},
    "signin": {"allowed": False, "allowed_on_next_startup": False},
    "translate": {"enabled": False},
}

_LOCAL_STATE = {"browser": {"hovercard": {"memory_usage_enabled": False}}}

SETTINGS = {
    f"{PROFILE}/Default/Preferences": json.dumps(_PREFERENCES),
    f"{PROFILE}/Local State": json.dumps(_LOCAL_STATE),
    f"{PROFILE}/First Run": "",
}
"""Files below the home: nothing is asked at the start, offered on the way, or looked up in the network."""
