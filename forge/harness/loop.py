"""The turn loop: a teacher acts on an environment under a harness, and a trajectory comes out. Grading is not done here.

An episode ends by `done`, by its budget of turns, by time, by a loop, by a model that fails, by a fault of the
infrastructure, or by an interruption. In every case all that happened is in the trajectory, and the reward stays None.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from forge.harness.describe import summarize
from forge.harness.dialects import DIALECTS, CallError
from forge.harness.environment import ActionResult, Environment, Hint
from forge.harness.teachers.base import Response, Teacher, View
from forge.llm.errors import EndpointDownError
from forge.records import (
    JSON,
    Action,
    ActionRecord,
    Answer,
    BudgetError,
    DesktopError,
    Done,
    EndedBy,
    ExhaustedError,
    Harness,
    HarnessError,
    ModelError,
    Observation,
    Task,
    Trajectory,
    Turn,
)

LOOP_AFTER = 5
"""So many repetitions of the same one to three actions on the same screens, with the same results, are a loop."""
GRACE = 10.0
"""Seconds that an action under way may still take when the episode is interrupted."""


async def play(
    task: Task,
    harness: Harness,
    teacher: Teacher,
    environment: Environment,
    put_blob: Callable[[bytes], str] | None = None,
    *,
    attempt: int = 0,
    fingerprint: str = "",
    loop_after: int = LOOP_AFTER,
    on_turn: Callable[[Turn], None] | None = None,
) -> Trajectory:
    """Play one episode.

    A cancellation does not propagate: it ends the episode with `ended_by` interrupted, so that the caller can store what
    there is; a caller that must stop raises CancelledError itself afterwards.

    Args:
        task: only its id and its instruction are used.
        harness: what the teacher may call, and how much of it.
        teacher: made for this episode.
        environment: a desktop in the task's initial state.
        put_blob: stores token data of a response; needed only for teachers that give some.
        attempt: which of the repeated plays this is.
        fingerprint: digest of what the result depends on outside the task.
        loop_after: see `LOOP_AFTER`.
        on_turn: called after each turn, for progress bars.
    """
    episode = _Episode(task, harness, teacher, environment, put_blob, loop_after, on_turn)
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        await episode.run()
    except ExhaustedError as error:
        episode.end(EndedBy.EXHAUSTED, str(error))
    except DesktopError as error:
        episode.end(EndedBy.FAULT, str(error))
    except (BudgetError, EndpointDownError):
        raise  # nothing of the episode: it is played when there is money, or somebody there, again
    except ModelError as error:
        episode.end(EndedBy.MODEL_ERROR, str(error))
    except asyncio.CancelledError:
        episode.end(EndedBy.INTERRUPTED, "the episode was cancelled")
        current = asyncio.current_task()
        if current is not None:
            current.uncancel()  # the request is answered by the trajectory
    seconds = time.perf_counter() - episode.started
    assert episode.ended_by is not None
    return Trajectory(
        task=task.id,
        harness=harness.digest(),
        channel=harness.channel,
        teacher=teacher.name,
        provenance=teacher.provenance,
        attempt=attempt,
        turns=tuple(episode.turns),
        actions=tuple(episode.actions),
        ended_by=episode.ended_by,
        error=episode.error,
        answer=episode.answer,
        done_status=episode.done_status,
        fingerprint=fingerprint,
        started_at=started_at,
        seconds=round(seconds, 4),
        timings={name: round(value, 4) for name, value in episode.timings.items()},
    )


@dataclass
class _Episode:
    task: Task
    harness: Harness
    teacher: Teacher
    environment: Environment
    put_blob: Callable[[bytes], str] | None
    loop_after: int
    on_turn: Callable[[Turn], None] | None
    turns: list[Turn] = field(default_factory=list)
    actions: list[ActionRecord] = field(default_factory=list)
    ended_by: EndedBy | None = None
    error: str | None = None
    answer: str | None = None
    done_status: str | None = None
    started: float = field(default_factory=time.perf_counter)
    timings: dict[str, float] = field(default_factory=lambda: {"observe": 0.0, "act": 0.0, "settle": 0.0, "model": 0.0})
    history: list[tuple[str, ...]] = field(default_factory=list)

    def end(self, by: EndedBy, error: str | None = None) -> None:
        self.ended_by, self.error = by, error

    @property
    def seconds_left(self) -> float:
        return self.harness.max_seconds - (time.perf_counter() - self.started)

    async def run(self) -> None:
        began = time.perf_counter()
        observation = await self.environment.observe()
        self.timings["observe"] += time.perf_counter() - began
        while self.ended_by is None:
            if len(self.turns) >= self.harness.max_turns:
                self.end(EndedBy.BUDGET, f"{self.harness.max_turns} turns are used up")
                break
            response = await self._respond(observation)
            if response is None:
                self.end(EndedBy.TIMEOUT, f"{self.harness.max_seconds:g} s are over")
                break
            observation = await self._turn(response, observation)
        if self.ended_by in (EndedBy.DONE, EndedBy.BUDGET, EndedBy.TIMEOUT, EndedBy.LOOP):
            await self.environment.alive()  # on a broken desktop nobody could have succeeded

    async def _respond(self, observation: Observation) -> Response | None:
        view = View(
            self.harness, self.task.id, self.task.instruction, tuple(self.turns), tuple(self.actions), observation
        )
        if self.seconds_left <= 0:
            return None
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self.seconds_left):
                return await self.teacher.respond(view)
        except TimeoutError:
            return None
        finally:
            self.timings["model"] += time.perf_counter() - began

    async def _turn(self, response: Response, observation: Observation) -> Observation:
        index = len(self.turns)
        first = len(self.actions)
        errors: list[str | None] = []
        try:
            for position, call in enumerate(response.calls):
                errors.append(self._reason_to_skip(position, errors, first))
                if errors[-1] is not None:
                    continue
                try:
                    action = DIALECTS.get(self.harness.dialect).decode(call, self.harness)
                except CallError as error:
                    errors[-1] = error.message
                    self._remember(call.name, call.arguments, observation.screenshot or "")
                    continue
                observation = await self._act(index, action, response.hint(position), observation)
            if not response.calls:
                self._remember("no call", response.text, observation.screenshot or "")
        finally:
            self._close_turn(index, response, errors, first)
        return observation

    def _reason_to_skip(self, position: int, errors: list[str | None], first: int) -> str | None:
        """Why the call at `position` is not carried out, or None."""
        if self.ended_by is not None:
            return "not carried out: the episode had ended"
        if position >= self.harness.actions_per_turn:
            return f"not carried out: a turn has at most {self.harness.actions_per_turn} calls"
        if any(error is not None for error in errors) or any(record.error for record in self.actions[first:]):
            return "not carried out: an earlier call of this turn failed"
        if self.seconds_left <= 0:
            return "not carried out: the time is over"
        return None

    async def _act(self, turn: int, action: Action, hint: Hint, before: Observation) -> Observation:
        if isinstance(action, Answer | Done):
            result = ActionResult(before)
            if isinstance(action, Answer):
                self.answer = action.text
            else:
                self.done_status = action.status
                self.end(EndedBy.DONE)
            self._record(turn, action, before, result)
            return before
        acting = asyncio.ensure_future(self.environment.act(action, hint, self.seconds_left))
        try:
            result = await asyncio.shield(acting)
        except asyncio.CancelledError:
            await asyncio.wait({acting}, timeout=GRACE)
            if acting.done() and not acting.cancelled() and acting.exception() is None:
                self._record(turn, action, before, acting.result())
            else:
                acting.cancel()
                self._record(turn, action, before, ActionResult(before, "interrupted", error=True))
            raise
        except DesktopError as error:
            self._record(turn, action, before, ActionResult(before, str(error), error=True))
            raise
        self._record(turn, action, before, result)
        self._remember(
            action.canonical(), result.output, before.screenshot or "", result.after.screenshot or "", str(result.error)
        )
        return result.after

    def _record(self, turn: int, action: Action, before: Observation, result: ActionResult) -> None:
        self.timings["act"] += result.latency_ms / 1000
        self.timings["settle"] += result.settle_ms / 1000
        self.actions.append(
            ActionRecord(
                turn=turn,
                index=len(self.actions),
                action=action,
                before=before,
                after=result.after,
                result=result.output,
                exit_code=result.exit_code,
                error=result.error,
                latency_ms=round(result.latency_ms, 2),
                settle_ms=round(result.settle_ms, 2),
                element=result.element,
            )
        )

    def _close_turn(self, index: int, response: Response, errors: list[str | None], first: int) -> None:
        """Write the turn down, also when something interrupted it: calls that were not reached say so."""
        calls: list[JSON] = []
        for position, call in enumerate(response.calls):
            error = errors[position] if position < len(errors) else "not carried out: the episode was interrupted"
            calls.append(call.to_json() | ({"error": error} if error else {}))
        rejected = sum(1 for error in errors if error and not error.startswith("not carried out"))
        turn = Turn(
            index=index,
            text=response.text,
            thought=response.thought,
            summary=summarize(self.actions[first:], rejected),
            tool_calls=tuple(calls),
            usage=response.usage,
            model=response.model,
            call_id=response.call_id,
            tokens=self._tokens(response),
        )
        self.turns.append(turn)
        if response.error and self.ended_by is EndedBy.DONE:
            self.error = response.error
        if self.on_turn is not None:
            self.on_turn(turn)

    def _tokens(self, response: Response) -> str | None:
        if response.tokens is None:
            return None
        if self.put_blob is None:
            raise HarnessError("the teacher gives token data, but play() has no put_blob to store it")
        return self.put_blob(response.tokens)

    def _remember(self, *what: str) -> None:
        """Note what was done where, and end the episode when it goes round in circles."""
        self.history.append(what)
        for period in (1, 2, 3):
            latest = self.history[-period * self.loop_after :]
            if len(latest) == period * self.loop_after and latest == latest[:period] * self.loop_after:
                if self.ended_by is None:
                    self.end(EndedBy.LOOP, f"the same {period} action(s) {self.loop_after} times without any effect")
                return
