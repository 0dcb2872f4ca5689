"""Kinds of folder trees as people edit them: `kinds/*.yaml`, read and checked with file and line in every error."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from forge.records import InputError

KINDS = Path(__file__).parent / "kinds"

CONTENTS = ("text", "log", "csv", "json", "ini", "image", "docx", "pptx", "archive", "folder")
"""What an item can be; each goes with a path."""

KEYS = {"each", "items", "chance", "path", "modified", "mode", *CONTENTS}


class _Loader(yaml.SafeLoader):
    """Remembers the line of every mapping under `__line__`."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    return {**loader.construct_mapping(node, deep=True), "__line__": node.start_mark.line + 1}


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
# Dates stay texts: templates fill them, and JSON has none.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@cache
def load_kind(kind: str) -> dict[str, Any]:
    """The kind's `about`, `words` and `layouts`. Raises InputError for an unknown kind or a fault in its file."""
    path = KINDS / f"{kind}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in KINDS.glob("*.yaml")))
        raise InputError(f"unknown kind of tree {kind!r}", mend=f"known are {known}")
    return parse_kind(path.read_text("utf-8"), path)


def parse_kind(text: str, path: Path) -> dict[str, Any]:
    """Read and check a kind of tree. Raises InputError with file and line."""

    def fault(message: str, line: int | None) -> InputError:
        return InputError(message, file=path.name, line=line)

    try:
        data = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        raise fault(f"no YAML: {error.problem}", error.problem_mark.line + 1 if error.problem_mark else None) from None
    if not isinstance(data, dict) or not isinstance(data.get("layouts"), dict):
        raise fault("a kind of tree is a mapping with about, words and layouts", 1)
    words = {name: items for name, items in (data.get("words") or {}).items() if name != "__line__"}
    layouts = {name: plan for name, plan in data["layouts"].items() if name != "__line__"}
    for name, plan in layouts.items():
        line = plan.get("__line__") if isinstance(plan, dict) else data["layouts"]["__line__"]
        if (
            not isinstance(plan, dict)
            or not isinstance(plan.get("root"), list)
            or not isinstance(plan.get("items"), list)
        ):
            raise fault(f"the layout {name!r} needs a list of roots and a list of items", line)
        if isinstance(plan.get("let"), dict):
            plan["let"].pop("__line__", None)
        _check_items(plan["items"], fault)
    return {"about": data.get("about", ""), "words": words, "layouts": layouts}


def _check_items(items: list[Any], fault: Callable[[str, int | None], InputError]) -> None:
    for item in items:
        if not isinstance(item, dict):
            raise fault(f"{item!r} is no item", None)
        line = item.get("__line__")
        unknown = sorted(set(item) - KEYS - {"__line__"})
        if unknown:
            raise fault(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(KEYS))}", line)
        contents = [key for key in CONTENTS if key in item]
        if "items" in item:
            _check_items(item["items"], fault)
        elif len(contents) != 1 or "path" not in item:
            raise fault(f"an item has a path and one of {', '.join(CONTENTS)}, or a list of items", line)
        elif contents == ["archive"]:
            _check_items(item["archive"], fault)
