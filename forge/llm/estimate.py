"""How many tokens a request may have, before a server counts them: for budgets, which reserve before they spend."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

PER_IMAGE = 1_500
"""Tokens of a picture; servers differ from 85 to some 3,000 for a screenshot."""


class Estimator:
    """Estimates a request's tokens, and learns from what the server counted: an estimate errs to the high side.

    Text counts a token for three characters, one for each character beyond ASCII, which is above what tokenizers need.
    """

    def __init__(self) -> None:
        self._factor = 1.0
        self._lock = threading.Lock()

    def tokens(self, body: Mapping[str, Any]) -> int:
        """Prompt tokens of a request's body."""
        return int(self._raw(body) * self._factor) + 1

    def learn(self, body: Mapping[str, Any], counted: int) -> None:
        """Take note of what a server counted."""
        with self._lock:
            self._factor = max(self._factor, counted / max(1, self._raw(body)))

    def _raw(self, body: Mapping[str, Any]) -> int:
        images = 0

        def without_images(value: Any) -> Any:
            nonlocal images
            if isinstance(value, str) and value.startswith("data:image/"):
                images += 1
                return ""
            if isinstance(value, Mapping):
                return {key: without_images(item) for key, item in value.items()}
            return [without_images(item) for item in value] if isinstance(value, list | tuple) else value

        text = json.dumps(without_images(dict(body)), ensure_ascii=False)
        ascii_characters = len(text.encode("ascii", "ignore"))
        return ascii_characters // 3 + (len(text) - ascii_characters) + PER_IMAGE * images
