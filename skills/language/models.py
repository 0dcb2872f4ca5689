"""Checking YAML against a pydantic model before anything is rendered: unknown and missing keys, and literal values.

What holds an expression is judged when its value is there; everything else is judged now, with its line.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from skills.language.located import Located, Place, nearest
from skills.language.problems import Problems


def check_fields(
    model: type[BaseModel],
    fields: Mapping[str, Located],
    place: Place,
    what: str,
    problems: Problems,
    keys: Mapping[str, Place] | None = None,
) -> None:
    """Check a mapping's values against the fields of a model.

    Args:
        model: the preparer's parameters, the check's arguments, ...
        fields: key to value, as written.
        place: where the whole stands.
        what: for messages: "preparer calc.workbook".
        problems: where complaints go.
        keys: where the keys stand; None: where their values stand.
    """
    places = {key: value.place for key, value in fields.items()} if keys is None else dict(keys)
    whole = Located(dict(fields), place, places)
    try:
        model.model_validate(whole.plain())
    except ValidationError as error:
        for fault in error.errors():
            _note(model, whole, fault, what, problems)


def fields_of(model: type[BaseModel]) -> dict[str, Any]:
    """A model's fields by the names that are written: the alias where there is one."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def holds_expression(value: Located) -> bool:
    """Whether `${...}` or a block stands anywhere in the value."""
    if isinstance(value.value, str):
        return "${" in value.value
    if isinstance(value.value, dict):
        return is_block(value) or any(holds_expression(item) for item in value.value.values())
    return isinstance(value.value, list) and any(holds_expression(item) for item in value.value)


def is_block(value: Located) -> bool:
    """Whether the value is an `each` or `when` block."""
    return isinstance(value.value, dict) and "do" in value.value and bool({"each", "when"} & set(value.value))


def describe(error: ValidationError, what: str, names: Iterable[str]) -> tuple[str, str]:
    """A message and a mend for the first fault that pydantic found in rendered values."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    shown = repr(first.get("input"))
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return f"{what}: {where + ': ' if where else ''}{first['msg']} (got {shown})", f"it takes {', '.join(names)}"


def _note(model: type[BaseModel], whole: Located, fault: Any, what: str, problems: Problems) -> None:
    path, kind = list(fault["loc"]), fault["type"]
    found, model_there = whole, model
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        if last and kind == "missing":
            where = "" if found is whole else f"{_dotted(path[:-1])}: "
            fields = ", ".join(name for name, field in fields_of(model_there).items() if field.is_required())
            problems.add(found.place, f"{what}: {where}{step!r} is missing", f"it needs {fields}")
            return
        inner = _step(found, step)
        if inner is None:  # a branch of a union, or something behind an expression: judged when the value is there
            return
        if last and kind == "extra_forbidden":
            mend = nearest(str(step), fields_of(model_there))
            problems.add(found.key_place(str(step)), f"{what}: there is no {_dotted(path)!r}", mend)
            return
        found, model_there = inner, _model_of(model_there, step) or model_there
    if not holds_expression(found):
        got = repr(found.plain())
        got = got if len(got) <= 60 else got[:57] + "..."
        where = f"{_dotted(path)}: " if path else ""
        problems.add(found.place, f"{what}: {where}{fault['msg']} (got {got})")


def _step(found: Located, step: Any) -> Located | None:
    if isinstance(found.value, dict):
        return found.value.get(step)
    if isinstance(found.value, list) and isinstance(step, int) and not any(is_block(i) for i in found.value):
        return found.value[step] if step < len(found.value) else None
    return None


def _model_of(model: type[BaseModel], step: Any) -> type[BaseModel] | None:
    """The model behind a field, through lists, options and annotations."""
    if not isinstance(step, str):
        return model
    field = fields_of(model).get(step)
    pending = [] if field is None else [field.annotation]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        if typing.get_origin(annotation) is not None or isinstance(annotation, types.UnionType):
            pending.extend(typing.get_args(annotation))
    return None


def _dotted(path: list[Any]) -> str:
    return ".".join(str(part) for part in path)
