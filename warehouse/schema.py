"""The tables. A record is kept whole in the JSON column `record`; the columns beside it are what SQL asks for.

Columns repeat a record's fields and never replace them, so a text that an engine cannot hold (PostgreSQL refuses NUL)
is mended in the column and kept as it is in the record. JSON is stored as text on both engines, not as JSONB: JSONB
reorders keys and refuses `\\u0000`, and what a model was sent or a terminal printed has to come out as it went in. Cast
it (`record::jsonb`) to ask about it.

Times are seconds since the epoch, UTC. The columns listed in `VOLATILE` differ between two runs that did the same work;
`warehouse.dump` leaves them out.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Double, ForeignKey, Index, Integer, MetaData, Text, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

SCHEMA = "0007"
"""The schema version that this code writes: the newest migration's revision."""

KNOWN_SCHEMAS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
"""Every revision, oldest first. A database with another one was written by a newer Forge."""

Key = Integer().with_variant(BigInteger(), "postgresql")


class Line(TypeDecorator[str]):
    """Text that both engines can hold: NUL becomes its picture (U+2400), a lone surrogate a question mark."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return None if value is None else value.replace("\0", "\u2400").encode("utf-8", "replace").decode()


class Base(DeclarativeBase):
    """The declarative base; constraints have predictable names, so that migrations can drop them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Line(), float: Double(), dict[str, Any]: JSON(none_as_null=True)}  # noqa: RUF012


class RoundRow(Base):
    """A generation round and what it planned to make."""

    __tablename__ = "rounds"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    plan: Mapped[dict[str, Any]]
    plan_digest: Mapped[str] = mapped_column(index=True)
    state: Mapped[str] = mapped_column(comment="open or done")
    created_at: Mapped[float]
    finished_at: Mapped[float | None]


class SkillRow(Base):
    """One skill, as last registered; `round` is the first that had it."""

    __tablename__ = "skills"

    id: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    apps: Mapped[str] = mapped_column(comment="sorted, joined by +")
    affinity: Mapped[str]
    origin: Mapped[str]
    state: Mapped[str]
    round: Mapped[int]
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class WorkflowRow(Base):
    """One version of a workflow: its source files by name."""

    __tablename__ = "workflows"

    version: Mapped[str] = mapped_column(primary_key=True)
    skill: Mapped[str] = mapped_column(ForeignKey("skills.id"), index=True)
    round: Mapped[int]
    source: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class TaskRow(Base):
    """One task; the record without its artifacts, which have rows of their own."""

    __tablename__ = "tasks"
    # All that the predicate and the figures ask of a task, so that they never read the records that lie between.
    __table_args__ = (Index("ix_tasks_figures", "id", "workflow", "skill", "n_apps", "has_must_not"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    skill: Mapped[str] = mapped_column(ForeignKey("skills.id"), index=True)
    workflow: Mapped[str] = mapped_column(ForeignKey("workflows.version"), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    apps: Mapped[str] = mapped_column(comment="sorted, joined by +")
    n_apps: Mapped[int]
    instruction: Mapped[str]
    n_artifacts: Mapped[int]
    has_must_not: Mapped[bool]
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class TaskAppRow(Base):
    """The applications of a task, one row each."""

    __tablename__ = "task_apps"

    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    app: Mapped[str] = mapped_column(primary_key=True, index=True)


class RoundTaskRow(Base):
    """Which task a round's draw gave: the `ordinal`-th draw of that workflow."""

    __tablename__ = "round_tasks"

    round: Mapped[int] = mapped_column(ForeignKey("rounds.number"), primary_key=True, autoincrement=False)
    workflow: Mapped[str] = mapped_column(ForeignKey("workflows.version"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)


class ArtifactRow(Base):
    """One file of a task's initial state."""

    __tablename__ = "artifacts"

    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    path: Mapped[str]
    suffix: Mapped[str]
    role: Mapped[str]
    sha256: Mapped[str] = mapped_column(index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    folder: Mapped[bool]
    preparer: Mapped[str]
    record: Mapped[dict[str, Any]]


class CriterionRow(Base):
    """One criterion of a task's rubric."""

    __tablename__ = "criteria"
    __table_args__ = (Index("ix_criteria_must", "task", "kind", "criterion"),)

    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    criterion: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    check_name: Mapped[str] = mapped_column(index=True)
    weight: Mapped[float]
    says: Mapped[str]


class SolutionRow(Base):
    """One declared solution of a task."""

    __tablename__ = "solutions"

    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    channel: Mapped[str] = mapped_column(primary_key=True)
    n_steps: Mapped[int]


class FingerprintRow(Base):
    """What results depend on outside the task."""

    __tablename__ = "fingerprints"

    digest: Mapped[str] = mapped_column(primary_key=True)
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class ProbeRow(Base):
    """One piece of evidence about one task under one fingerprint; gates are probes too.

    `stage` says what it needs to be gathered: nothing but the task (gate), files in a box (file), a desktop (desktop).
    Only `current` rows count for acceptance: those of the fingerprint written last (see `warehouse.probes`).
    """

    __tablename__ = "probes"
    __table_args__ = (
        Index(None, "workflow", "kind", "channel"),
        # Holds all that the predicate asks for, so that it never reads the records that lie between.
        Index(
            "ix_probes_predicate",
            *("task", "kind", "current", "stage", "passed", "dropped", "score", "grading"),
            *("channel", "criterion", "only_breaks", "name"),
        ),
    )

    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    workflow: Mapped[str]
    stage: Mapped[str]
    current: Mapped[bool]
    channel: Mapped[str | None] = mapped_column(comment="of a solution")
    passed: Mapped[bool]
    dropped: Mapped[bool]
    score: Mapped[float | None]
    grading: Mapped[str | None]
    criterion: Mapped[str | None] = mapped_column(comment="the one that a near-miss breaks, where it is exactly one")
    only_breaks: Mapped[bool] = mapped_column(comment="it breaks that criterion and must keep every other")
    n_breaks: Mapped[int]
    check_name: Mapped[str | None] = mapped_column(comment="the check of that criterion")
    mutant: Mapped[str | None] = mapped_column(comment="how it was spoiled, without the criterion's name")
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class HarnessRow(Base):
    """One harness, named by its digest."""

    __tablename__ = "harnesses"

    digest: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(index=True)
    channel: Mapped[str]
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class TrajectoryRow(Base):
    """One episode with its counters; the record without turns and actions, which have rows of their own.

    `key` is its public name. `grading` and `reward` are those of the current verdict (see `verdicts`).
    """

    __tablename__ = "trajectories"
    __table_args__ = (
        UniqueConstraint("task", "harness", "teacher", "attempt"),
        Index(
            "ix_trajectories_figures",
            *("provenance", "ended_by", "grading", "reward", "task", "n_gui", "n_terminal"),
        ),
        {"sqlite_autoincrement": False},
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    task: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    harness: Mapped[str] = mapped_column(ForeignKey("harnesses.digest"), index=True)
    teacher: Mapped[str]
    attempt: Mapped[int]
    channel: Mapped[str]
    provenance: Mapped[str]
    ended_by: Mapped[str]
    done_status: Mapped[str | None]
    grading: Mapped[str]
    reward: Mapped[float | None]
    error: Mapped[str | None]
    fingerprint: Mapped[str]
    final_state: Mapped[str | None]
    n_turns: Mapped[int]
    n_actions: Mapped[int]
    n_gui: Mapped[int]
    n_terminal: Mapped[int]
    n_errors: Mapped[int]
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    cost_usd: Mapped[float]
    seconds: Mapped[float]
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class TurnRow(Base):
    """One model response."""

    __tablename__ = "turns"

    trajectory: Mapped[int] = mapped_column(Key, ForeignKey("trajectories.id"), primary_key=True)
    idx: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    model: Mapped[str]
    call_id: Mapped[str | None]
    prompt_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    record: Mapped[dict[str, Any]]


class ActionRow(Base):
    """One action with what was seen around it."""

    __tablename__ = "actions"

    trajectory: Mapped[int] = mapped_column(Key, ForeignKey("trajectories.id"), primary_key=True)
    idx: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    turn: Mapped[int]
    kind: Mapped[str]
    channel: Mapped[str] = mapped_column(comment="gui, terminal or control")
    error: Mapped[bool]
    exit_code: Mapped[int | None]
    latency_ms: Mapped[float]
    settle_ms: Mapped[float]
    record: Mapped[dict[str, Any]]


class VerdictRow(Base):
    """Every verdict a trajectory ever got, the first when it was played, others by regrading. One is current."""

    __tablename__ = "verdicts"

    trajectory: Mapped[int] = mapped_column(Key, ForeignKey("trajectories.id"), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True, comment="of grading, reward and scores")
    ordinal: Mapped[int] = mapped_column(comment="0 is the verdict it was stored with")
    current: Mapped[bool]
    grading: Mapped[str]
    score: Mapped[float | None]
    reward: Mapped[float | None]
    record: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[float]


class ModelCallRow(Base):
    """One call of a language model: the ledger."""

    __tablename__ = "model_calls"

    id: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    recurring: Mapped[bool]
    endpoint: Mapped[str]
    model: Mapped[str]
    request: Mapped[str]
    status: Mapped[str]
    attempt: Mapped[int]
    prompt_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    cached_tokens: Mapped[int]
    cost_usd: Mapped[float]
    seconds: Mapped[float]
    error: Mapped[str | None]
    subject: Mapped[str] = mapped_column(index=True)
    started_at: Mapped[str]
    run: Mapped[str] = mapped_column(index=True, server_default=text("''"))
    stage: Mapped[str] = mapped_column(server_default=text("''"))
    workflow: Mapped[str] = mapped_column(server_default=text("''"))
    prompt: Mapped[str] = mapped_column(server_default=text("''"))
    reserved_tokens: Mapped[int] = mapped_column(server_default="0")
    reserved_usd: Mapped[float] = mapped_column(server_default="0")


class ModelAnswerRow(Base):
    """A good answer by the hash of its request, stored together with the row of the call that paid for it."""

    __tablename__ = "model_answers"

    request: Mapped[str] = mapped_column(primary_key=True)
    call: Mapped[str] = mapped_column(ForeignKey("model_calls.id"))
    answer: Mapped[dict[str, Any]]


class BankValueRow(Base):
    """A value that a model wrote for a bank, checked when it was stored. A bank only grows: no row changes or goes."""

    __tablename__ = "bank_values"
    __table_args__ = (UniqueConstraint("bank", "about", "digest"),)

    bank: Mapped[str] = mapped_column(primary_key=True)
    about: Mapped[str] = mapped_column(primary_key=True, comment="the group that it was written for")
    ordinal: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    digest: Mapped[str]
    value: Mapped[Any] = mapped_column(JSON)
    created_at: Mapped[float]


class ForecastRow(Base):
    """What a round was expected to take before it began, and what it had taken when it was last looked at."""

    __tablename__ = "forecasts"

    round: Mapped[int] = mapped_column(ForeignKey("rounds.number"), primary_key=True, autoincrement=False)
    forecast: Mapped[dict[str, Any]]
    took: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[float]


class AuthoringRow(Base):
    """How one authoring run ended: a skill, in a round, as a reusable workflow or as the baseline's single task.

    The ledger's rows of the run have its `subject`; tokens and cost here are their sums.
    """

    __tablename__ = "authorings"

    round: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    skill: Mapped[str] = mapped_column(primary_key=True)
    mode: Mapped[str] = mapped_column(primary_key=True, comment="workflow or task")
    subject: Mapped[str] = mapped_column(index=True)
    apps: Mapped[str] = mapped_column(comment="sorted, joined by +")
    outcome: Mapped[str] = mapped_column(index=True)
    reason: Mapped[str]
    version: Mapped[str | None] = mapped_column(comment="of the promoted workflow")
    steps: Mapped[int]
    calls: Mapped[int]
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    cost_usd: Mapped[float]
    seconds: Mapped[float]
    acceptance: Mapped[float | None] = mapped_column(comment="share of the last smoke batch")
    readers_agreed: Mapped[bool | None] = mapped_column(comment="of the last reading")
    conversation: Mapped[str | None] = mapped_column(comment="blob: messages and draft")
    record: Mapped[dict[str, Any]]
    created_at: Mapped[float]


class GroundingScreenRow(Base):
    """One screen of a grounding harvest."""

    __tablename__ = "grounding_screens"

    key: Mapped[str] = mapped_column(primary_key=True)
    part: Mapped[str]
    app: Mapped[str] = mapped_column(index=True)
    window: Mapped[str]
    width: Mapped[int]
    height: Mapped[int]
    screenshot: Mapped[str] = mapped_column(comment="PNG blob")
    sight: Mapped[str] = mapped_column(comment="blob: elements, surfaces, details")
    created_at: Mapped[float]


class GroundingTargetRow(Base):
    """A thing that instructions point at, or (role none) one that is asked for where it is not."""

    __tablename__ = "grounding_targets"

    id: Mapped[str] = mapped_column(primary_key=True)
    app: Mapped[str] = mapped_column(index=True)
    context: Mapped[str] = mapped_column(comment="window, menu, dialog or page")
    role: Mapped[str]
    name: Mapped[str]


class GroundingPairRow(Base):
    """An instruction for a target on a screen, with the target's box in pixels; no box: it is to be refused."""

    __tablename__ = "grounding_pairs"

    target: Mapped[str] = mapped_column(ForeignKey("grounding_targets.id"), primary_key=True)
    style: Mapped[str] = mapped_column(primary_key=True, comment="name, function, position or refusal")
    screen: Mapped[str] = mapped_column(ForeignKey("grounding_screens.key"), primary_key=True, index=True)
    instruction: Mapped[str]
    x: Mapped[int | None]
    y: Mapped[int | None]
    width: Mapped[int | None]
    height: Mapped[int | None]


class SkillShareRow(Base):
    """What a student came to in a skill when a round was planned, and the skill's share of that round: its plan."""

    __tablename__ = "skill_shares"

    round: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    skill: Mapped[str] = mapped_column(primary_key=True)
    trials: Mapped[int]
    passes: Mapped[int]
    low: Mapped[float] = mapped_column(comment="lower bound of the pass rate, 95 %")
    high: Mapped[float]
    state: Mapped[str] = mapped_column(comment="active, mastered or hopeless")
    share: Mapped[float] = mapped_column(comment="of the round's tasks")
    tasks: Mapped[int] = mapped_column(server_default="0", comment="accepted tasks that the round is to make")
    plan: Mapped[str] = mapped_column(server_default=text("''"), comment="digest of the plan that this is of")


class ClaimRow(Base):
    """One piece of work that exactly one owner does: free, held, done or failed."""

    __tablename__ = "claims"

    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(comment="free, held, done or failed")
    owner: Mapped[str]
    expires_at: Mapped[float]
    attempt: Mapped[int] = mapped_column(comment="how often it was acquired")
    token: Mapped[int] = mapped_column(comment="fencing token: grows with every change of hands")
    reason: Mapped[str] = mapped_column(comment="why it was released or failed, last")
    updated_at: Mapped[float]


VOLATILE: dict[str, frozenset[str]] = {
    "rounds": frozenset({"created_at", "finished_at"}),
    "skills": frozenset({"created_at"}),
    "workflows": frozenset({"created_at"}),
    "tasks": frozenset({"created_at"}),
    "fingerprints": frozenset({"created_at"}),
    "probes": frozenset({"created_at"}),
    "harnesses": frozenset({"created_at"}),
    "trajectories": frozenset({"id", "created_at", "seconds", "final_state"}),
    "turns": frozenset({"call_id"}),
    "actions": frozenset({"latency_ms", "settle_ms"}),
    "verdicts": frozenset({"created_at"}),
    "model_calls": frozenset({"id", "seconds", "started_at", "attempt", "reserved_tokens", "reserved_usd"}),
    "model_answers": frozenset({"call"}),
    "bank_values": frozenset({"created_at"}),
    "forecasts": frozenset({"forecast", "took", "created_at"}),
    "authorings": frozenset({"seconds", "conversation", "created_at"}),
    "grounding_screens": frozenset({"screenshot", "sight", "created_at"}),
    "grounding_targets": frozenset(),
    "grounding_pairs": frozenset(),
    "claims": frozenset({"owner", "expires_at", "attempt", "token", "reason", "updated_at"}),
}
"""Columns that two runs of the same work may differ in: times, latencies, surrogate keys, who did it and how often; and
the final state's hash, since applications write the time into what they save. What it is worth is in the verdict."""
