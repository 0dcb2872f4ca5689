"""The prompts of authoring: Jinja templates in files, strict about undefined names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).parent


def render(name: str, **values: Any) -> str:
    """The template `NAME.jinja` with these values. Raises jinja2.UndefinedError for a name that is not given."""
    return _environment().get_template(f"{name}.jinja").render(**values)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=False,
    )  # fmt: skip
