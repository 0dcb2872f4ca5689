"""The harness: what stands between a teacher and a desktop. See docs/harness.md.

The public face is loaded when first used, so that importing this package costs nothing:

- `load_harness`, `layers_for`: harnesses from YAML, and the layers they put into the box.
- `play`: the turn loop; `Environment`, `SlotEnvironment`: where it acts.
- `Teacher`, `TEACHERS`, `Cast`: who acts; `OracleTeacher`, `LlmTeacher`.
- `build_messages`: the prompt, for serving and training; `render`: film strips; `MOVES`: what the oracle can do in windows.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge.harness.environment import ActionResult, Environment, Hint, SlotEnvironment
    from forge.harness.filmstrip import render
    from forge.harness.load import layers_for, load_harness, preset_names
    from forge.harness.loop import play
    from forge.harness.moves import MOVES
    from forge.harness.prompt import build_messages
    from forge.harness.teachers import TEACHERS, Cast, Response, Teacher, View
    from forge.harness.teachers.llm import LlmTeacher
    from forge.harness.teachers.oracle import OracleTeacher

_FACE = {
    "ActionResult": "environment",
    "Cast": "teachers",
    "Environment": "environment",
    "Hint": "environment",
    "LlmTeacher": "teachers.llm",
    "MOVES": "moves",
    "OracleTeacher": "teachers.oracle",
    "Response": "teachers",
    "SlotEnvironment": "environment",
    "TEACHERS": "teachers",
    "Teacher": "teachers",
    "View": "teachers",
    "build_messages": "prompt",
    "layers_for": "load",
    "load_harness": "load",
    "play": "loop",
    "preset_names": "load",
    "render": "filmstrip",
}

__all__ = [
    "MOVES",
    "TEACHERS",
    "ActionResult",
    "Cast",
    "Environment",
    "Hint",
    "LlmTeacher",
    "OracleTeacher",
    "Response",
    "SlotEnvironment",
    "Teacher",
    "View",
    "build_messages",
    "layers_for",
    "load_harness",
    "play",
    "preset_names",
    "render",
]


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_FACE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
