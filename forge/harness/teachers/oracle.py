"""The oracle: plays a task's own solution through the same tools as a model, on the real desktop.

It is privileged: it knows the answer and looks behind the screen. `bash` and `answer` steps go out as they are; moves are
resolved at play time, from the accessibility tree, to pointer and keyboard actions. Every act is one turn. A step that
fails is told as what it is, and the episode ends with `done failure`.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import ClassVar

from forge.harness.dialects import DIALECTS
from forge.harness.environment import Hint, SlotEnvironment
from forge.harness.moves import MOVES, Act, MoveError
from forge.harness.moves.hands import PATIENCE, Hands
from forge.harness.teachers.base import Cast, Response, View, teacher
from forge.records import Action, ActionRecord, Answer, Bash, Done, ForgeError, HarnessError, Provenance, Solution, Step

Playing = Generator[tuple[str, Act], View, None]
"""Yields what a turn is for and what it does; is sent the view after it."""


class OracleTeacher:
    """Plays one solution once.

    A step that the harness has no tool for fails, and the steps after it are still tried: so a hybrid solution played under
    a harness of one channel shows how far that channel alone would come. Any other failure ends the episode at once.

    Args:
        solution: what to play; its channel may be another than the harness's.
        environment: where; its slot is looked at.
        name: how trajectories call it.
        patience: seconds after which something that should have appeared is taken to be missing.
    """

    provenance: ClassVar[Provenance] = Provenance.ORACLE

    def __init__(
        self, solution: Solution, environment: SlotEnvironment, *, name: str = "oracle", patience: float = PATIENCE
    ):
        self.solution = solution
        self.environment = environment
        self.name = name
        self._hands = Hands(environment.slot, patience)
        self._errors: list[str] = []
        self._playing: Playing | None = None

    async def respond(self, view: View) -> Response:
        return await self.environment.run(self._respond, view)

    def _respond(self, view: View) -> Response:
        if self._playing is None:
            self._playing = self._play()
            text, act = next(self._playing)
        else:
            text, act = self._playing.send(view)
        encode = DIALECTS.get(view.harness.dialect).encode
        turn = len(view.turns)
        calls = tuple(encode(action, f"call_{turn}_{number}") for number, action in enumerate(act.actions))
        last = len(act.actions) - 1
        hints = tuple(
            Hint(element, act.until if number == last else None, number == last)
            for number, element in enumerate(act.elements)
        )
        error = "; ".join(self._errors) if any(isinstance(action, Done) for action in act.actions) else ""
        return Response(text=text, calls=calls, hints=hints, error=error or None)

    def _play(self) -> Playing:
        for number, step in enumerate(self.solution.steps, 1):
            try:
                yield from self._step(step)
            except _NoToolError as error:
                self._errors.append(f"step {number}, {label(step)}: {error.message}")
            except ForgeError as error:
                if not isinstance(error, HarnessError):
                    raise
                self._errors.append(f"step {number}, {label(step)}: {error}")
                break
        if self._errors:
            yield f"I could not finish: {self._errors[-1]}", _single(Done(status="failure"))
        else:
            yield "The task is done.", _single(Done(status="success"))
        raise HarnessError("the oracle has ended and was asked again")

    def _step(self, step: Step) -> Playing:
        text = label(step)
        if step.move == "answer":
            yield from self._carry_out(text, _single(Answer(text=str(step.value))))
        elif step.move == "bash":
            record = (yield from self._carry_out(text, _single(bash(step))))[-1]
            if record.exit_code != 0:
                raise MoveError(f"exit code {record.exit_code}: {record.result[-500:]}")
        else:
            for act in MOVES.get(step.move).play(self._hands, step.value):
                yield from self._carry_out(text, act)

    def _carry_out(self, text: str, act: Act) -> Generator[tuple[str, Act], View, list[ActionRecord]]:
        """One act; its records. Raises MoveError when the desktop or the harness refused it."""
        view = yield text, act
        turn = view.turns[-1]
        for call in turn.tool_calls:
            if "error" in call:
                refused = _NoToolError if call["error"].startswith("there is no tool") else MoveError
                raise refused(call["error"])
        records = [record for record in view.actions if record.turn == turn.index]
        failed = next((record for record in records if record.error), None)
        if failed is not None:
            raise MoveError(failed.result)
        return records


class _NoToolError(MoveError):
    """The harness lacks the tool that a step needs."""


def _single(action: Action) -> Act:
    return Act((action,), (None,))


def bash(step: Step) -> Bash:
    """The action of a `bash` step: its value is the command, or a mapping of `command` and `timeout`."""
    return Bash.model_validate(step.value if isinstance(step.value, dict) else {"command": str(step.value)})


def label(step: Step) -> str:
    """A step in one line: `select: B2`, `bash`."""
    if step.move in ("bash", "answer") or step.value is None:
        return step.move
    value = step.value if isinstance(step.value, str) else json.dumps(step.value, ensure_ascii=False)
    return f"{step.move}: {value if len(value) <= 160 else value[:159] + '…'}"


@teacher("oracle")
def cast_oracle(cast: Cast) -> OracleTeacher:
    """The solution for the harness's channel, or for `options: {channel: ...}`. Raises HarnessError without one."""
    channel = cast.options.get("channel", cast.harness.channel)
    solution = cast.task.solution(channel)
    if solution is None:
        raise HarnessError(f"task {cast.task.id[:12]} declares no {channel} solution")
    if not isinstance(cast.environment, SlotEnvironment):
        raise HarnessError("the oracle looks at a slot; this environment has none")
    return OracleTeacher(solution, cast.environment)
