"""Harnesses from YAML: the presets `gui`, `terminal` and `hybrid`, or a file of a person's own.

A harness file holds the fields of `forge.records.Harness`. `system_prompt` is the Jinja template itself or
`{file: NAME}`, a file beside it. Everything is checked on load, and every error names the file and the line.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from forge.desktop.box import Layers
from forge.harness.dialects import COMPUTER_ACTIONS, DIALECTS
from forge.harness.prompt import system_prompt
from forge.records import ForgeError, Harness, HarnessError, InputError

PRESETS = Path(__file__).parent / "presets"
LAYERS = Path(__file__).parent / "layers"

CHANNEL_TOOLS = {"gui": {"computer"}, "terminal": {"bash"}, "hybrid": {"computer", "bash"}}
"""Which of the acting tools a harness of a channel has: these and no other."""


def load_harness(name_or_path: str | Path) -> Harness:
    """A preset by name, or a harness file by path.

    Raises:
        InputError: no such preset or file, bad YAML, an unknown field, dialect, action or layer, a prompt that does not
            render, tools that do not fit the channel; with file and line.
    """
    path = Path(name_or_path)
    if not path.suffix:
        path = PRESETS / f"{name_or_path}.yaml"
        if not path.is_file():
            raise InputError(
                f"unknown harness {str(name_or_path)!r}",
                mend=f"presets are {', '.join(preset_names())}; or give a file",
            )
    if not path.is_file():
        raise InputError(f"no harness file {path}", mend=f"presets are {', '.join(preset_names())}")
    stamp = path.stat().st_mtime_ns
    return _load(path.resolve(), stamp)


def preset_names() -> list[str]:
    """The names of the shipped presets, sorted."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def layers_for(harness: Harness) -> Layers:
    """The read-only folders that the harness's terminal environment puts into the box.

    Raises:
        HarnessError: a layer has no such part.
    """
    return Layers(
        commands=tuple(_layer(name, "bin") for name in harness.terminal.commands),
        python=tuple(_layer(name, "python") for name in harness.terminal.python),
    )


def _layer(name: str, part: str) -> Path:
    folder = LAYERS / name / part
    if not folder.is_dir():
        known = sorted(path.parent.name for path in LAYERS.glob(f"*/{part}"))
        raise HarnessError(f"no layer {name!r} with a {part}/ folder", mend=f"known are {', '.join(known) or 'none'}")
    return folder


@lru_cache(maxsize=64)
def _load(path: Path, stamp: int) -> Harness:
    text = path.read_text()
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise InputError(f"bad YAML: {reason}", file=path, line=None if mark is None else mark.line + 1) from None
    if not isinstance(values, dict):
        raise InputError("a harness is a mapping of its fields", file=path, line=1)

    def fail(message: str, *place: str | int, mend: str | None = None) -> InputError:
        return InputError(message, file=path, line=_line(root, place), mend=mend)

    prompt = values.get("system_prompt")
    if isinstance(prompt, dict):
        beside = path.parent / str(prompt.get("file", ""))
        if set(prompt) != {"file"} or not beside.is_file():
            raise fail("system_prompt: write the template, or {file: NAME} for a file beside this one", "system_prompt")
        values = {**values, "system_prompt": beside.read_text()}
    try:
        harness = Harness.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise fail(f"{where}: {first['msg']}", *first["loc"], mend=_mend(first["type"])) from None
    wanted = CHANNEL_TOOLS[harness.channel]
    if {tool for tool in harness.tools if tool in ("computer", "bash")} != wanted:
        raise fail(f"tools: a {harness.channel} harness has {' and '.join(sorted(wanted))} to act with", "tools")
    if "done" not in harness.tools:
        raise fail("tools: without `done` no episode could end by itself", "tools")
    for kind in harness.actions:
        if kind not in COMPUTER_ACTIONS:
            raise fail(f"actions: no action {kind!r}", "actions", mend=f"known are {', '.join(COMPUTER_ACTIONS)}")
    try:
        DIALECTS.get(harness.dialect)
        layers_for(harness)
        system_prompt(harness)
    except ForgeError as error:
        field = "terminal" if "layer" in error.message else "dialect" if type(error) is InputError else "system_prompt"
        raise fail(error.message, field, mend=error.mend) from None
    return harness


def _mend(kind: str) -> str | None:
    return f"fields are {', '.join(Harness.model_fields)}" if kind == "extra_forbidden" else None


def _line(root: Any, place: tuple[str | int, ...]) -> int:
    """The line, from 1, of the deepest part of `place` that stands in the file."""
    node = root
    line: int = node.start_mark.line + 1
    for part in place:
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == part), None)
            line = next((key.start_mark.line + 1 for key, _ in node.value if key.value == part), line)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
