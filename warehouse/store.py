"""The warehouse: one object over the database, the blob store, the claims and the ledger.

Records go in through the `register_...` (definitions) and `add_...` (facts) methods inside a transaction, and come out
whole. All of them are idempotent: what is there under its natural key stays as it is, so that a job that was killed can
simply run again.

    with warehouse.begin() as session:
        warehouse.add_task(session, task, round=1, ordinal=0)
        warehouse.add_probes(session, probes)
        lease.complete(session)

Blobs are put before the transaction that refers to them, so that a row never names a blob that is not there. An object
may be used by several threads; every process opens its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import func, select, text, update
from sqlalchemy.engine import Connection, Engine

from forge.records import (
    JSON,
    Fingerprint,
    Grading,
    Harness,
    Probe,
    Skill,
    Task,
    Trajectory,
    Verdict,
    WarehouseError,
    digest,
)
from warehouse import dump, export, probes, stats, tasks, trajectories, verdicts
from warehouse.acceptance import Acceptance, acceptance_of
from warehouse.banks import Banks
from warehouse.blobs import BlobStore
from warehouse.claims import Claims
from warehouse.engine import begin, insert_new, open_engine, read, upsert
from warehouse.ledger import Ledger
from warehouse.migrations import migrate
from warehouse.schema import FingerprintRow, HarnessRow, RoundRow, SkillRow, WorkflowRow
from warehouse.verdicts import RewardChange
from warehouse.views import VIEWS


class Warehouse:
    """An open warehouse. Make one with `Warehouse.open`; close it, or use it as a context manager."""

    def __init__(self, engine: Engine, blobs: BlobStore):
        self.engine = engine
        self.blobs = blobs
        self.claims = Claims(engine)
        self.ledger = Ledger(engine)
        self.banks = Banks(engine)

    @classmethod
    def open(cls, url: str, blob_url: str) -> Warehouse:
        """Open a warehouse; a new one is created, an older one migrated.

        Args:
            url: SQLAlchemy URL: `sqlite:////absolute/warehouse.db` or `postgresql://user@host/database`.
            blob_url: fsspec URL or folder of the blob store.

        Raises:
            WarehouseError: it cannot be opened, is not ours, or is newer than this code; the message says what to do.
        """
        engine = open_engine(url)
        try:
            migrate(engine)
            return cls(engine, BlobStore(blob_url))
        except BaseException:
            engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction: committed at the end of the block, rolled back when it raises."""
        with begin(self.engine) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A reading transaction that sees one state of the database; for SQL of your own."""
        with read(self.engine, snapshot=True) as connection:
            yield connection

    # Definitions

    def register_round(self, session: Connection, plan: Mapping[str, JSON], number: int | None = None) -> int:
        """Begin a round, or take one up again.

        Args:
            session: a writing transaction.
            plan: what it is to make, as JSON.
            number: the round's number; None: the unfinished round with the same plan, else the next number.
        """
        if session.dialect.name == "postgresql":
            session.execute(text("LOCK TABLE rounds IN SHARE ROW EXCLUSIVE MODE"))  # two rounds get two numbers
        number = self.round_number(session, plan, number)
        plan_digest = digest(dict(plan))
        row = {"number": number, "plan": dict(plan), "plan_digest": plan_digest, "state": "open"}
        insert_new(session, RoundRow, [{**row, "created_at": time.time(), "finished_at": None}])
        return number

    def round_number(self, connection: Connection, plan: Mapping[str, JSON], number: int | None = None) -> int:
        """The number that `register_round` would give."""
        if number is not None:
            return number
        same = select(func.min(RoundRow.number)).where(
            RoundRow.plan_digest == digest(dict(plan)), RoundRow.state == "open"
        )
        unfinished = connection.scalar(same)
        return unfinished if unfinished is not None else (connection.scalar(select(func.max(RoundRow.number))) or 0) + 1

    def finish_round(self, session: Connection, number: int) -> None:
        """Mark a round done."""
        statement = update(RoundRow).where(RoundRow.number == number, RoundRow.state != "done")
        session.execute(statement.values(state="done", finished_at=time.time()))

    def register_skill(self, session: Connection, skill: Skill) -> str:
        """Write a skill as it is now; `round` stays the first that had it. Returns its id."""
        known = session.scalar(select(SkillRow.round).where(SkillRow.id == skill.id))
        skill = skill if known is None else skill.model_copy(update={"round": known})
        row = {
            "id": skill.id,
            "title": skill.title,
            "apps": "+".join(sorted(set(skill.apps))),
            "affinity": skill.affinity,
            "origin": skill.origin,
            "state": skill.state.value,
            "round": skill.round,
            "record": skill.to_json(),
            "created_at": time.time(),
        }
        upsert(session, SkillRow, row, keep={"round", "created_at"})
        return skill.id

    def register_workflow(
        self, session: Connection, version: str, skill: str, source: str | Mapping[str, str], round: int = 0
    ) -> str:
        """Write one version of a workflow.

        Args:
            session: a writing transaction.
            version: its content hash.
            skill: id of a registered skill.
            source: its YAML, or all its files by name.
            round: the round that registered it first.
        """
        files = dict(source) if isinstance(source, Mapping) else {"workflow.yaml": str(source)}
        row = {"version": version, "skill": skill, "round": round, "source": files, "created_at": time.time()}
        insert_new(session, WorkflowRow, [row])
        return version

    def register_fingerprint(self, session: Connection, fingerprint: Fingerprint) -> str:
        """Write what results depend on; returns its digest, which probes and trajectories carry."""
        row = {"digest": fingerprint.digest(), "record": fingerprint.to_json(), "created_at": time.time()}
        insert_new(session, FingerprintRow, [row])
        return str(row["digest"])

    def register_harness(self, session: Connection, harness: Harness) -> str:
        """Write a harness; returns its digest, which names it."""
        row = {"digest": harness.digest(), "name": harness.name, "channel": harness.channel}
        insert_new(session, HarnessRow, [{**row, "record": harness.to_json(), "created_at": time.time()}])
        return row["digest"]

    # Facts

    def add_task(self, session: Connection, task: Task, round: int | None = None, ordinal: int = 0) -> str:
        """Write a task, and that it is the `ordinal`-th draw of its workflow in a round. Returns its id."""
        return tasks.add_task(session, task, round, ordinal)

    def add_probes(self, session: Connection, found: Iterable[Probe]) -> None:
        """Write evidence; the fingerprint written last counts (see `warehouse.probes.add_probes`)."""
        probes.add_probes(session, found)

    def add_trajectory(self, session: Connection, trajectory: Trajectory) -> str:
        """Write an episode, whole; returns its id. Its harness and task are registered before."""
        return trajectories.add_trajectory(session, trajectory)

    def add_verdict(
        self,
        session: Connection,
        trajectory: str,
        verdict: Verdict,
        fingerprint: str,
        reward: float | Literal["score"] | None = "score",
    ) -> RewardChange | None:
        """Write the verdict of a regrading beside the older ones and make it the current one.

        Args:
            session: a writing transaction.
            trajectory: its id.
            verdict: the new verdict.
            fingerprint: digest of what it depends on (check versions).
            reward: the new reward; by default the verdict's score where it is graded, else None.

        Returns:
            The change of the reward, or None when it stayed.
        """
        if reward == "score":
            reward = verdict.score if verdict.grading is Grading.GRADED else None
        return verdicts.add_verdict(session, trajectories.full_key(session, trajectory), verdict, fingerprint, reward)

    # Reading

    def rounds(self) -> list[dict[str, Any]]:
        """Rounds as rows of number, plan and state."""
        with read(self.engine) as connection:
            query = select(RoundRow.number, RoundRow.plan, RoundRow.state).order_by(RoundRow.number)
            return [dict(row._mapping) for row in connection.execute(query)]

    def skills(self) -> list[Skill]:
        """All skills, by id."""
        with read(self.engine) as connection:
            return [Skill.model_validate(r) for r in connection.scalars(select(SkillRow.record).order_by(SkillRow.id))]

    def workflow_source(self, version: str) -> dict[str, str]:
        """The files of a workflow's version by name. Raises WarehouseError when it is unknown."""
        return dict(self._record(WorkflowRow.source, WorkflowRow.version == version, f"workflow version {version}"))

    def fingerprint(self, digest: str) -> Fingerprint:
        """What a result depended on. Raises WarehouseError when it is unknown."""
        found = self._record(FingerprintRow.record, FingerprintRow.digest == digest, f"fingerprint {digest}")
        return Fingerprint.model_validate(found)

    def harness(self, digest: str) -> Harness:
        """A harness by its digest. Raises WarehouseError when it is unknown."""
        return Harness.model_validate(self._record(HarnessRow.record, HarnessRow.digest == digest, f"harness {digest}"))

    def task(self, task: str) -> Task:
        """A whole task by its id or its unique beginning."""
        with read(self.engine) as connection:
            return tasks.read_task(connection, task)

    def tasks_of_round(self, round: int, workflow: str) -> list[Task]:
        """The tasks of a workflow version in a round, each once, in the order of drawing."""
        with read(self.engine) as connection:
            return tasks.read_tasks(connection, tasks.of_round(round, workflow))

    def tasks_of_workflow(self, skill: str, before_round: int | None = None) -> list[Task]:
        """The tasks of a skill, under any version of its workflow; with `before_round` those drawn before that round."""
        with read(self.engine) as connection:
            return tasks.read_tasks(connection, tasks.of_skill(skill, before_round))

    def list_tasks(
        self,
        *,
        skill: str | None = None,
        app: str | None = None,
        round: int | None = None,
        accepted: bool | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of id, skill, workflow, apps, seed, instruction, state, accepted, reasons.

        Args:
            skill: only tasks of this skill.
            app: only tasks that use this application.
            round: only tasks drawn in this round.
            accepted: True: only accepted, False: only rejected ones; None: all, pending ones as well.
            limit: at most so many.
        """
        with read(self.engine) as connection:
            return tasks.list_tasks(connection, skill, app, round, accepted, limit)

    def probes(self, task: str, *, current: bool = True) -> list[Probe]:
        """A task's evidence; with `current=False` also what older fingerprints gave."""
        with read(self.engine) as connection:
            return probes.read_probes(connection, tasks.full_id(connection, task), current)

    def acceptance(self, task: str) -> Acceptance:
        """(accepted, reasons): what the predicate says of a task. See `warehouse.views`.

        Raises:
            WarehouseError: there is no such task.
        """
        with read(self.engine) as connection:
            return acceptance_of(connection, tasks.full_id(connection, task))

    def has_window_evidence(self, workflow: str, channel: str, *, besides: str | None = None) -> bool:
        """Whether this workflow version's `gui` or `hybrid` solution worked once on a desktop, on a task but `besides`."""
        with read(self.engine) as connection:
            return probes.has_window_evidence(connection, workflow, channel, besides)

    def stale_tasks(self, fingerprint: str) -> list[str]:
        """Tasks whose evidence was gathered under another fingerprint than this: what to probe again."""
        with read(self.engine) as connection:
            return probes.stale_tasks(connection, fingerprint)

    def trajectory_id(self, trajectory: str) -> str:
        """The whole id of a trajectory from its unique beginning."""
        with read(self.engine) as connection:
            return trajectories.full_key(connection, trajectory)

    def trajectory(self, trajectory: str) -> Trajectory:
        """A whole trajectory by its id or its unique beginning, with the current verdict and reward."""
        with read(self.engine) as connection:
            return trajectories.read_trajectory(connection, trajectory)

    def trajectory_ids(self, *, skill: str | None = None) -> list[str]:
        """The ids of all trajectories, or of those of a skill, in order of task, harness, teacher and attempt."""
        return [row["id"] for row in self.list_trajectories(skill=skill)]

    def list_trajectories(
        self,
        *,
        tasks: Sequence[str] | None = None,
        skill: str | None = None,
        provenance: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of id, task, skill, harness, teacher, attempt, ended_by, grading, reward and the counters."""
        with read(self.engine) as connection:
            return trajectories.list_trajectories(connection, tasks, skill, provenance, limit)

    def has_oracle_success(self, task: str) -> bool:
        """Whether the oracle played this task on a desktop with reward 1."""
        with read(self.engine) as connection:
            return trajectories.has_oracle_success(connection, task)

    def verdicts(self, trajectory: str) -> list[tuple[str, Verdict | None, float | None]]:
        """Every verdict of a trajectory, oldest first: (fingerprint, verdict, reward)."""
        with read(self.engine) as connection:
            return verdicts.read_verdicts(connection, trajectories.full_key(connection, trajectory))

    def changed_rewards(self) -> list[RewardChange]:
        """The trajectories whose reward is not the one they were stored with, by regrading."""
        with read(self.engine) as connection:
            return verdicts.changed_rewards(connection)

    # Figures

    def rows_of(self, view: str) -> list[dict[str, Any]]:
        """The rows of a view as dicts. Raises WarehouseError for a name that is no view."""
        if view not in VIEWS and f"{view}_v1" not in VIEWS:
            known = sorted({name.rsplit("_v", 1)[0] for name in VIEWS})
            raise WarehouseError(f"there is no view {view!r}", mend=f"known are {', '.join(known)}")
        with read(self.engine) as connection:
            return stats.rows_of(connection, view)

    def stats(self) -> dict[str, Any]:
        """The figures of `forge stats --json`; a rate without anything to rate is None."""
        with self.read() as connection:
            return stats.figures(connection)

    def report(self) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
        """The tables of `forge stats`: title to (columns, rows)."""
        with self.read() as connection:
            return stats.report(connection)

    def dump(self) -> list[str]:
        """The canonical dump: equal for two warehouses in which the same work was done (see `warehouse.dump`)."""
        with self.read() as connection:
            return list(dump.lines(connection))

    def export(
        self,
        folder: Path,
        *,
        what: Literal["tasks", "trajectories"],
        format: Literal["jsonl", "parquet"] = "jsonl",
        skill: str | None = None,
        accepted: bool = True,
        files: bool = False,
    ) -> dict[str, Any]:
        """Write tasks or trajectories into an empty folder, with `manifest.json`; returns the manifest.

        Args:
            folder: must be empty or absent.
            what: tasks, or trajectories.
            format: JSON lines, or Parquet.
            skill: only this skill.
            accepted: only accepted tasks, or trajectories of accepted tasks.
            files: copy the blobs that the rows refer to as well, below `blobs/`.
        """
        with self.read() as connection:
            return export.export(connection, self.blobs, Path(folder), what, format, skill, accepted, files)

    def _record(self, column: Any, condition: Any, noun: str) -> Any:
        with read(self.engine) as connection:
            found = connection.scalar(select(column).where(condition))
        if found is None:
            raise WarehouseError(f"the warehouse has no {noun}")
        return found
