"""What is said in the code about how a check's solved states are spoiled, without running anything."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any


def mutant_names(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """(name, is an audit mutant) of the mutants that a function, or what it calls in its own module, makes.

    A name that is put together at run time is shown with an ellipsis where its parts go.
    """
    module = sys.modules[function.__module__]
    waiting, seen = [function], set()
    found: dict[str, bool] = {}
    while waiting:
        current = waiting.pop(0)
        seen.add(current)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(current)))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "Mutant" and (name := _name(node)):
                audit = any(word.arg == "audit" and _is_true(word.value) for word in node.keywords)
                found.setdefault(name, audit)
            called = vars(module).get(node.func.id)
            if inspect.isfunction(called) and called.__module__ == function.__module__ and called not in seen:
                waiting.append(called)
    return sorted(found.items())


def _name(call: ast.Call) -> str | None:
    values = call.args[:1] or [word.value for word in call.keywords if word.arg == "name"]
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
        if isinstance(value, ast.JoinedStr):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in value.values)
    return None


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
