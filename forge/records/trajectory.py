"""Trajectories: what an agent saw, said and did, and how it ended."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from forge.records.action import Action
from forge.records.base import JSON, Record
from forge.records.model_call import Usage
from forge.records.verdict import Grading, Verdict


class EndedBy(StrEnum):
    """Why an episode stopped; apart from grading and reward."""

    DONE = "done"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    LOOP = "loop"
    EXHAUSTED = "exhausted"  # the agent used up what it may use of the host: its desktop ended, and is graded
    MODEL_ERROR = "model_error"
    FAULT = "fault"
    INTERRUPTED = "interrupted"


class Provenance(StrEnum):
    """Who acted."""

    MODEL = "model"
    ORACLE = "oracle"
    HUMAN = "human"
    REPLAY = "replay"


class Element(Record):
    """A thing on the screen as the accessibility tree knows it; box in pixels of the screen (x, y, width, height)."""

    role: str
    name: str
    box: tuple[int, int, int, int]
    app: str = ""
    states: tuple[str, ...] = ()
    text: str | None = None
    path: tuple[int, ...] = Field((), description="child indices from the application's root")
    near: str = Field("", description='of an element without a name, where it is in words: beside "Height"')


class Observation(Record):
    """What could be seen at one moment. The screenshot is a PNG blob named by its SHA-256."""

    screenshot: str | None = None
    width: int = Field(0, description="screen width in pixels")
    height: int = Field(0, description="screen height in pixels")
    window: str = Field("", description="title of the active window")
    elements: str | None = Field(
        None, description="blob with the outline of the accessibility tree, for a harness that shows it"
    )


class ActionRecord(Record):
    """One action with what was seen before and after it."""

    turn: int = Field(ge=0)
    index: int = Field(ge=0, description="position in the trajectory, counted from 0")
    action: Action
    before: Observation
    after: Observation
    result: str = Field("", description="a command's output, or an error the model was shown")
    exit_code: int | None = None
    error: bool = False
    latency_ms: float = 0.0
    settle_ms: float = 0.0
    element: Element | None = Field(None, description="what was under the pointer, where known")


class Turn(Record):
    """One model response. For an oracle the text is the step it played."""

    index: int = Field(ge=0)
    text: str = Field("", description="the raw response")
    thought: str = ""
    summary: str = Field("", description="what the turn did, one imperative line; used when it is folded")
    tool_calls: tuple[JSON, ...] = Field((), description="calls as they were on the wire: {id, name, arguments}")
    usage: Usage = Usage()
    model: str = ""
    call_id: str | None = Field(None, description="the ledger row that paid for it")
    tokens: str | None = Field(
        None, description="blob with token ids and log-probabilities, where the server gave them"
    )


class Trajectory(Record):
    """One episode, complete. `reward` is None unless it can be trusted."""

    task: str
    harness: str = Field(description="the harness's digest")
    channel: str
    teacher: str
    provenance: Provenance
    attempt: int = Field(0, ge=0, description="which of the repeated plays of this task, harness and teacher")
    turns: tuple[Turn, ...] = ()
    actions: tuple[ActionRecord, ...] = ()
    ended_by: EndedBy
    error: str | None = None
    answer: str | None = None
    done_status: str | None = None
    verdict: Verdict | None = None
    grading: Grading = Grading.NOT_GRADABLE
    reward: float | None = Field(None, ge=0, le=1)
    final_state: str | None = Field(
        None, description="blob with the snapshot of the guest's home after the agent stopped"
    )
    fingerprint: str = ""
    started_at: str = Field("", description="UTC, ISO 8601")
    seconds: float = 0.0
    timings: dict[str, float] = Field(
        default_factory=dict, description="seconds by phase: start, act, settle, model, grade"
    )
