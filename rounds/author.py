"""Author workflows: one claim a skill, a conversation that survives a kill, and promotion in one step.

The conversation's state lies in a file below FORGE_HOME/authoring, replaced after every step. A killed run that is
started again on the same machine goes on with it; on another one the skill begins anew. Nothing is registered before
the workflow's folder has been moved into the library whole; the row and the claim's completion are one transaction.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from forge.llm import Client, EndpointDownError
from forge.records import InputError, Skill, SkillState, digest
from rounds.items import Item, Progress, Tally, Writes, run_items
from rounds.smoke import WorkshopBench
from rounds.workshop import Workshop
from skills.authoring.agent import Tell, author
from skills.authoring.brief import Brief, Limits, Mode, Outcome, Report
from skills.authoring.draft import Draft
from warehouse import Warehouse
from warehouse.authorings import add_authoring, lessons_for


@dataclass(frozen=True)
class Commission:
    """One skill to be authored in a round.

    Args:
        skill: what.
        round: the round it belongs to.
        into: the library's folder that the workflow is promoted into.
        mode: a reusable workflow, or the baseline's single task, which is promoted nowhere.
        limits: what the run may use.
        smoke: draws of the smoke batch.
    """

    skill: Skill
    round: int
    into: Path
    mode: Mode = "workflow"
    limits: Limits = field(default_factory=Limits)
    smoke: int = 10

    @property
    def key(self) -> str:
        """The natural key of the work."""
        return f"{self.round}:{self.skill.id}:{self.mode}"

    @property
    def subject(self) -> str:
        """What the ledger's rows of this run are for."""
        return f"author/{self.key}" if self.mode == "workflow" else f"baseline/{self.key}"

    @property
    def item(self) -> Item[Commission]:
        """The commission under its natural key."""
        return Item(self.key, self)


class FileKeeper:
    """Keeps a run's state in a file that is replaced atomically."""

    def __init__(self, path: Path):
        self.path = path

    def load(self) -> dict[str, Any] | None:
        """The state, or None when there is none."""
        for left in self.path.parent.glob(f".{self.path.stem}-*"):  # by a run that was killed while it saved
            left.unlink(missing_ok=True)
        try:
            found: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        return found

    def set_aside(self, number: int) -> Path | None:
        """Rename the state's file, where there is one; its new path."""
        target = self.path.with_suffix(f".{number}.json")
        try:
            os.replace(self.path, target)
        except FileNotFoundError:
            return None
        return target

    def save(self, state: dict[str, Any]) -> None:
        """Replace the state. A full disk leaves the old one (OSError)."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f".{self.path.stem}-", dir=self.path.parent)
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump(state, file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


async def author_all(
    workshop: Workshop,
    commissions: Sequence[Commission],
    model: Client,
    *,
    limit: int = 2,
    progress: Progress | None = None,
    tell: Tell = lambda line: None,
) -> Tally:
    """Author skills, at most `limit` at a time; each by one worker, however many run. `tell` is told what each is at.

    Returns:
        What was done; how each ended is a row of `authorings`. An endpoint that is down is a fault: the claim is given
        back and the next run goes on with the conversation.
    """

    async def work(commission: Commission) -> Writes:
        return await author_one(workshop, commission, model, tell)

    items = [commission.item for commission in commissions]
    return await run_items(workshop.warehouse, "author", items, work, limit=limit, progress=progress)


async def author_one(
    workshop: Workshop, commission: Commission, model: Client, tell: Tell = lambda line: None
) -> Writes:
    """Author one skill and promote what came of it.

    Raises:
        DesktopError: the machine failed; the conversation is kept.
        EndpointDownError: the endpoint gave no answer; the conversation is kept.
    """
    warehouse = workshop.warehouse
    model = workshop.models.serving(model, commission.skill.id)
    with warehouse.read() as connection:
        lessons = lessons_for(connection, commission.skill.apps)
    brief = Brief(commission.skill, commission.mode, lessons, commission.limits, commission.smoke)
    keeper = keeper_of(workshop, commission)
    budget = model.budget.part(
        f"authoring {commission.skill.id}", tokens=commission.limits.tokens,
        source=partial(_spent, warehouse, commission, (keeper.load() or {}).get("before", [0, 0.0])),
    )  # fmt: skip
    counted = model.within(stage="author", workflow=commission.skill.id, budget=budget)
    report, draft = await author(
        brief, counted, WorkshopBench(workshop), keeper, subject=commission.subject,
        tell=lambda line: tell(f"{commission.skill.id}: {line}"),
    )  # fmt: skip
    if report.outcome is Outcome.ENDPOINT_DOWN:
        again = "the same command goes on with the conversation"
        raise EndpointDownError(
            f"authoring {commission.skill.id}: {report.reason}",
            mend=f"{report.mend}; {again}" if report.mend else again,
        )
    workflow = None
    if report.outcome is Outcome.AUTHORED and commission.mode == "workflow":
        workflow = promote(draft, commission.into)
    conversation = warehouse.blobs.put(json.dumps(keeper.load() or {}, ensure_ascii=False).encode())
    return _writes(workshop, commission, report, draft, workflow, conversation)


def keeper_of(workshop: Workshop, commission: Commission) -> FileKeeper:
    """Who keeps a commission's conversation."""
    return FileKeeper(workshop.settings.home.resolve() / "authoring" / f"{digest(commission.key)[:16]}.json")


def start_afresh(workshop: Workshop, commission: Commission) -> Path | None:
    """Set a kept conversation aside, so that the skill is authored anew: with other answers, and a budget of its own.

    A skill that had been authored, or given up, is open again; its row stays until the new run ends.

    Returns:
        Where the old conversation lies now; None when there was none.

    Raises:
        InputError: somebody is authoring it now.
    """
    warehouse = workshop.warehouse
    if warehouse.claims.is_held("author", commission.key):
        raise InputError(f"{commission.skill.id} is being authored now", mend="wait for it, or stop that run first")
    keeper = keeper_of(workshop, commission)
    begun = int((keeper.load() or {}).get("begun", 0)) + 1
    aside = keeper.set_aside(begun)
    keeper.save({"begun": begun, "before": list(warehouse.ledger.spent_for(commission.subject))})
    warehouse.claims.reopen("author", [commission.key], done=True)
    return aside


def _spent(warehouse: Warehouse, commission: Commission, before: Sequence[float]) -> tuple[int, float]:
    """What this conversation has spent; conversations that were set aside have had theirs."""
    tokens, usd = warehouse.ledger.spent_for(commission.subject)
    return tokens - int(before[0]), usd - before[1]


def promote(draft: Draft, library: Path) -> Path:
    """Move a finished workflow into a library, whole or not at all; an older one of the same skill makes way.

    Returns:
        The path of its `workflow.yaml`.

    Raises:
        InputError: the draft does not load.
    """
    library.mkdir(parents=True, exist_ok=True)
    target = library / draft.skill.id
    for left in library.glob(f".*-{draft.skill.id}-*"):  # by a run that was killed; nobody else promotes this skill
        shutil.rmtree(left)
    made = Path(tempfile.mkdtemp(prefix=f".promoting-{draft.skill.id}-", dir=library))
    try:
        draft.lay(made, graded=True)
        made.chmod(0o755)
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".replaced-{draft.skill.id}-", dir=library))
            os.rename(target, old / "old")
            os.rename(made, target)
            shutil.rmtree(old)
        else:
            os.rename(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target / "workflow.yaml"


def skill_of(skill_id: str, apps: Sequence[str] = (), title: str = "", description: str = "") -> Skill:
    """The skill to author: a candidate of the taxonomy, or one that is described here.

    Raises:
        InputError: it is no skill id, or it is in no taxonomy and nothing is said of it.
    """
    from pydantic import ValidationError

    from skills.taxonomy import all_skills

    known = {skill.id: skill for skill in all_skills()}
    base = known.get(skill_id)
    if base is None and not title:
        raise InputError(f"the taxonomy has no skill {skill_id!r}", mend="describe it with --title (and --app)")
    try:
        return Skill(
            id=skill_id,
            apps=tuple(apps) or (base.apps if base else (skill_id.split(".")[0],)),
            title=title or (base.title if base else ""),
            description=description or (base.description if base else ""),
            origin=base.origin if base else "person",
            state=SkillState.CANDIDATE,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{skill_id!r} is no skill: {first['msg']}", mend="an id reads app.area.verb-object") from None


def _writes(
    workshop: Workshop, commission: Commission, report: Report, draft: Draft, workflow: Path | None, conversation: str
) -> Writes:
    skill = commission.skill.model_copy(update={"round": commission.round})
    loaded = None if workflow is None else draft.load(graded=True)

    def writes(session: Any) -> None:
        warehouse = workshop.warehouse
        if loaded is not None:
            made = loaded.skill.model_copy(
                update={"round": commission.round, "origin": skill.origin, "state": SkillState.AUTHORED}
            )
            warehouse.register_skill(session, made)
            warehouse.register_workflow(session, loaded.version, made.id, loaded.source, commission.round)
        add_authoring(
            session, skill, commission.round, commission.mode, commission.subject,
            {**report.to_json(), "files": draft.to_json()}, conversation,
        )  # fmt: skip

    return writes
