"""Solutions of a draw's neighbours: the same files, one parameter changed, and so another thing done to them."""

from __future__ import annotations

from collections.abc import Iterator

from forge.records import JSON, InputError, Solution, canonical_json
from skills.banks.pins import Pins
from skills.drawing import Draw, Rejected, held_by, resolve
from skills.kitchen import Kitchen
from skills.workflow import Workflow


def neighbours(workflow: Workflow, draw: Draw, kitchen: Kitchen, limit: int = 4) -> list[tuple[str, Solution]]:
    """What somebody would do who got one parameter wrong.

    Each parameter in turn takes another value of its domain; all others are drawn as they were. Those are left out
    whose files would differ, that meet no condition, or whose solution is the task's own.

    Args:
        workflow: the draw's workflow.
        draw: the draw.
        kitchen: as for drawing; preparers are not run again.
        limit: at most so many.

    Returns:
        Pairs of a name (`column=Amount`) and the solution, of the channel that runs without a window; none when the
        workflow has no such solution.
    """
    template = workflow.solutions.get("terminal")
    if template is None:
        return []
    resolved = dict(draw.task.resolved)
    held = held_by(workflow, resolved)
    parts = (workflow.version, draw.task.seed, draw.attempt)
    found: dict[str, Solution] = {}
    known = {canonical_json(template.render(resolved).to_json())}
    for name, value in _changes(workflow, resolved):
        try:
            scope = resolve(
                workflow, parts, kitchen, change={name: value}, held=held, files=False, pins=Pins.of(resolved)
            ).scope
            solution = template.render(scope)
        except (Rejected, InputError):  # that value does not go with the others
            continue
        text = canonical_json(solution.to_json())
        if text in known:
            continue
        known.add(text)
        label, number = f"{name}={_short(value)}", 1
        while label in found:
            number += 1
            label = f"{name}={_short(value)}#{number}"
        found[label] = solution
        if len(found) >= limit:
            break
    return list(found.items())


def _changes(workflow: Workflow, resolved: dict[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """(parameter, other value), one of every parameter first, then the second ones."""
    others: dict[str, list[JSON]] = {}
    for name, param in workflow.params.items():
        others[name] = param.others(param.render(resolved), resolved[name])
    for place in range(max(map(len, others.values()), default=0)):
        for name, values in others.items():
            if place < len(values):
                yield name, values[place]


def _short(value: JSON) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "title", "label", "subject", "path") if key in value), value)
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= 40 else text[:37] + "..."
