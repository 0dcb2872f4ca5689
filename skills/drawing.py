"""Drawing tasks: (workflow, seed) -> resolved object -> everything else.

Every node has its own generator, seeded by workflow version, seed and its name, so that adding a node moves no other
node's draws. The resolved object (parameters, node values, guest, wording) is all that instruction, start, solutions and
rubric are rendered from. Results of nodes that run code, write files or ask a model are kept under the hash of all that
they depend on; a failure is never kept. Within one draw nodes run one after another; `draw_many` draws side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from forge.records import JSON, Artifact, Guest, InputError, Start, Task, sha256_hex
from preparers.base import PreparedFile
from skills.banks.pins import KEY, Pins
from skills.kitchen import Kitchen
from skills.language.located import nearest
from skills.language.rubric import render_rubric
from skills.nodes.base import Node, Outcome, Station
from skills.nodes.prepare import Prepare
from skills.parcel import pack, unpack
from skills.workflow import Requirement, Workflow

ATTEMPTS = 60
"""How often a draw is made anew when it does not meet the workflow's conditions."""


@dataclass(frozen=True)
class Draw:
    """One draw: the task, and the files that its artifacts name by content. `attempt` counts rejected draws before it."""

    task: Task
    files: tuple[PreparedFile, ...]
    attempt: int = 0


@dataclass
class Resolution:
    """Values of all names, the files that were made on the way, and how much of the banks was seen."""

    scope: dict[str, JSON]
    outcomes: dict[str, Outcome]
    guest: Guest
    pins: Pins


class Rejected(Exception):
    """A draw does not meet a condition, or would need other files than the ones it is held to."""

    def __init__(self, requirement: Requirement | None = None):
        super().__init__(requirement.text if requirement else "other files")
        self.requirement = requirement


def draw(
    workflow: Workflow,
    seed: int,
    kitchen: Kitchen,
    *,
    change: Mapping[str, JSON] | None = None,
    files: bool = True,
    again: Task | None = None,
) -> Draw:
    """Draw one task.

    Args:
        workflow: from `skills.load`.
        seed: any whole number from 0; the same seed always draws the same task, bit for bit.
        kitchen: office, cache, box.
        change: parameter name to the value that it has instead of a drawn one.
        files: make the files; without them the task has no artifacts, but is the same otherwise.
        again: the task that this seed gave before; banks that have grown since are seen as they were.

    Raises:
        InputError: the workflow asks for what cannot be (file and line).
        DesktopError: the box or LibreOffice failed; nothing was kept, try again.
    """
    for name in change or {}:
        if name not in workflow.params:
            raise InputError(f"{workflow.skill.id} has no parameter {name!r}", mend=nearest(name, workflow.params))
    failed: Requirement | None = None
    pins = Pins() if again is None else Pins.of(again.resolved)
    for attempt in range(ATTEMPTS):
        parts = (workflow.version, seed, attempt)
        try:
            found = resolve(workflow, parts, kitchen, change=change, files=files, pins=pins)
        except Rejected as rejected:
            failed = rejected.requirement
            continue
        return Draw(_task(workflow, seed, found, parts), _files(found), attempt)
    assert failed is not None
    raise failed.place.error(
        f"{ATTEMPTS} draws in a row did not meet the condition {failed.text}", "widen the parameters or drop it"
    )


def resolve(
    workflow: Workflow,
    parts: tuple[JSON, ...],
    kitchen: Kitchen,
    *,
    change: Mapping[str, JSON] | None = None,
    held: Mapping[str, tuple[JSON, JSON]] | None = None,
    files: bool = True,
    pins: Pins | None = None,
) -> Resolution:
    """Find the values of all names.

    Args:
        workflow: the workflow.
        parts: what the chance depends on: workflow version, seed, attempt.
        kitchen: office, cache, box.
        change: values of parameters instead of drawn ones.
        held: `prepare` node to its inputs and facts; it must come out with these inputs, and is not made again.
        files: make the files.
        pins: how many written values of each bank may be seen; None: all that there are.

    Raises:
        Rejected: a condition is not met, or a held node has other inputs.
        InputError: see `draw`.
    """
    pins = pins or Pins()
    found = Resolution({}, {}, kitchen.guest, pins)
    waiting = list(workflow.requires)
    for name in workflow.order:
        if name == "guest":
            found.guest = _guest(workflow, found.scope, kitchen.guest)
            found.scope[name] = found.guest.to_json()
        elif change is not None and name in change:
            found.scope[name] = change[name]
        else:
            _make(workflow.steps[name], found, Station(kitchen, found.guest, parts, files, pins), held)
        for requirement in [r for r in waiting if r.condition.names <= found.scope.keys()]:
            waiting.remove(requirement)
            if not requirement.condition.render(found.scope):
                raise Rejected(requirement)
    return found


def held_by(workflow: Workflow, resolved: Mapping[str, JSON]) -> dict[str, tuple[JSON, JSON]]:
    """The inputs and facts of every `prepare` node of a task, for `resolve(held=...)`."""
    scope = dict(resolved)
    return {
        name: (node.render(scope), scope[name]) for name, node in workflow.nodes.items() if isinstance(node, Prepare)
    }


def _make(node: Node, found: Resolution, station: Station, held: Mapping[str, tuple[JSON, JSON]] | None) -> None:
    inputs = node.render(found.scope)
    if held is not None and node.name in held:
        if inputs != held[node.name][0]:
            raise Rejected
        found.scope[node.name] = held[node.name][1]
        return
    outcome = _kept(node, inputs, station) if node.keeps(station) else node.run(inputs, station)
    try:  # from here on a value is JSON and nothing else: no tuples, no NaN, no objects
        value = json.loads(json.dumps(outcome.value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise node.error(f"its value is no JSON: {error}") from None
    found.scope[node.name] = value
    found.outcomes[node.name] = outcome


def _kept(node: Node, inputs: JSON, station: Station) -> Outcome:
    cache = station.kitchen.cache
    assert cache is not None
    key = node.key(inputs, station)
    data = cache.get(key)
    if data is not None:
        return unpack(data)
    outcome = node.run(inputs, station)
    cache.put(key, pack(outcome))
    return outcome


def _guest(workflow: Workflow, scope: Mapping[str, JSON], default: Guest) -> Guest:
    try:
        return Guest.model_validate({**default.to_json(), **workflow.guest.render(scope)})
    except ValidationError as error:
        fault = error.errors()[0]
        raise workflow.guest.place.error(f"guest: {fault['loc'][0]}: {fault['msg']} (got {fault['input']!r})") from None


def _files(found: Resolution) -> tuple[PreparedFile, ...]:
    return tuple(file for outcome in found.outcomes.values() for file in outcome.files)


def _task(workflow: Workflow, seed: int, found: Resolution, parts: tuple[JSON, ...]) -> Task:
    scope = found.scope
    wording = workflow.wording.draw(scope, *parts)
    said = workflow.wording.say(wording, scope)
    artifacts = _artifacts(workflow, found)
    rubric = render_rubric(workflow.rubric, scope, said.spans)
    resolved = {**{name: scope[name] for name in workflow.steps}, "guest": scope["guest"], "wording": wording}
    if found.pins.sizes:
        resolved[KEY] = found.pins.sizes
    try:
        return Task(
            skill=workflow.skill.id,
            workflow=workflow.version,
            seed=seed,
            apps=workflow.skill.apps,
            guest=found.guest,
            resolved=resolved,
            instruction=said.text,
            artifacts=artifacts,
            start=tuple(_starts(workflow, scope, artifacts)),
            rubric=rubric,
            solutions=tuple(solution.render(scope) for solution in workflow.solutions.values()),
        )
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise workflow.place.error(f"the draw of seed {seed} makes no task: {where}: {fault['msg']}") from None


def _artifacts(workflow: Workflow, found: Resolution) -> tuple[Artifact, ...]:
    artifacts: dict[str, Artifact] = {}
    for name, outcome in found.outcomes.items():
        for file in outcome.files:
            if file.path in artifacts:
                raise workflow.steps[name].error(
                    f"{file.path} is written by another node too", "give the files different paths"
                )
            try:
                shared = {key: getattr(file, key) for key in Artifact.model_fields if hasattr(file, key)}
                artifacts[file.path] = Artifact(
                    **shared, sha256=sha256_hex(file.data), size=len(file.data), preparer=outcome.preparer
                )
            except ValidationError as error:
                raise workflow.steps[name].error(str(error.errors()[0]["msg"])) from None
    return tuple(artifacts.values())


def _starts(workflow: Workflow, scope: Mapping[str, Any], artifacts: tuple[Artifact, ...]) -> list[Start]:
    starts = []
    for number, entry in enumerate(workflow.start.render(scope)):
        place = workflow.start.items[min(number, len(workflow.start.items) - 1)].place
        path = entry.get("path")
        if path is not None:
            known = [a.path for a in artifacts]
            if artifacts and not any(each == path or each.startswith(f"{path}/") for each in known):
                raise place.error(f"start opens {path!r}, which no node prepares", nearest(str(path), known))
        try:
            starts.append(Start.model_validate(entry))
        except ValidationError as error:
            raise place.error(f"start: {error.errors()[0]['msg']}") from None
    return starts
