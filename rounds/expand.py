"""Expand: what the deployment `forge/skill-expand` does in a round, with an endpoint or without.

Always: harvest, if that was never done; validate the library and register it for the round, with its tasks divided by what a
student came to. With an endpoint for the role `author`: have skills proposed where coverage is thin, and author what is wanted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import preparers  # noqa: F401 - registers the preparers
import skills.harvest as harvesting
from forge.records import BudgetError, InputError, ModelError, Skill, SkillState
from preparers.base import PREPARERS
from rounds.author import Commission, author_all
from rounds.items import Progress
from rounds.register import Plan, Wish, choose, preview, register, round_of
from rounds.workshop import Workshop
from skills.authoring.brief import Limits
from skills.expand import expand
from skills.feedback import Standing
from skills.loading import own_folder
from skills.taxonomy import all_skills, harvest_file
from warehouse.authorings import in_work_elsewhere, list_authorings, tries_before
from warehouse.owners import owner_name


@dataclass(frozen=True)
class Order:
    """What is wanted of one expansion.

    Args:
        round: its number; None: the unfinished round of the same plan, else the next.
        skills: patterns of the workflows that are registered; all without one.
        apps: applications to expand; all that have preparers without one.
        count: workflows to author at most.
        tasks: accepted tasks that a skill is to reach in the round, on average.
        tokens: budget of all calls together; None: no limit.
        usd: the same in US dollars.
        limits: of one authoring run.
        into: the library that is promoted into.
        dry_run: say what would be done; change nothing and ask nobody.
        harvest: read candidates from the applications' registries, if that was never done.
    """

    round: int | None = None
    skills: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    count: int = 0
    tasks: int = 2
    tokens: int | None = None
    usd: float | None = None
    limits: Limits = field(default_factory=Limits)
    into: Path | None = None
    dry_run: bool = False
    harvest: bool = True


@dataclass
class Expanded:
    """What came of an expansion. `note` says in one line what an endpoint would add, or what ended the work early."""

    round: int | None = None
    harvested: int = 0
    registered: list[dict[str, Any]] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    authored: list[dict[str, Any]] = field(default_factory=list)
    shares: list[Standing] = field(default_factory=list)
    note: str = ""


async def skill_expand(workshop: Workshop, order: Order, progress: Progress | None = None) -> Expanded:
    """Expand the taxonomy and the library, and register a round.

    Raises:
        InputError: a workflow of the library is broken, or an application has no preparers.
        DesktopError: the machine failed.
    """
    apps = _apps(order.apps)
    found = Expanded(harvested=_harvest(order.harvest and not order.dry_run))
    client = workshop.models.client("author", workshop.run)
    if client is None:
        many = f"up to {order.count}" if order.count else "any"
        found.note = (
            f"no endpoint for the role author: with one, {many} of {len(_open(apps))} open skills would be authored, and "
            "new ones proposed"
        )
    number = round_of(workshop.warehouse, _wish(order, order.round))
    wanted = _wanted(workshop, apps, order.count, number)
    if order.dry_run:
        plan = preview(workshop.warehouse, _wish(order, number))
        found.registered, found.shares = _rows(plan), list(plan.standings)
        found.note = found.note or f"would author {', '.join(s.id for s in wanted) or 'nothing'}"
        return found
    if client is not None and order.count:
        client = client.within(budget=client.budget.part("skill-expand", tokens=order.tokens, usd=order.usd))
        found.note = await _author(workshop, order, number, apps, wanted, client, found, progress)
    plan = register(workshop.warehouse, _wish(order, number))
    found.round = plan.round
    found.registered, found.shares = _rows(plan), list(plan.standings)
    return found


def _wish(order: Order, round: int | None) -> Wish:
    """Of the library as it is now: authoring adds to it."""
    return Wish(choose(order.skills), tasks=order.tasks, round=round, named=order.skills)


async def _author(
    workshop: Workshop, order: Order, number: int, apps: Sequence[str], wanted: list[Skill], client: Any,
    found: Expanded, progress: Progress | None,
) -> str:  # fmt: skip
    """Propose and author; returns why it ended early, if it did. Finished work is kept."""
    try:
        if len(wanted) < order.count:
            lacking = order.count - len(wanted)
            made = await expand(
                client.within(stage="expand"), all_skills(), apps, lacking, round=number, subject=f"expand/{number}"
            )
            found.proposed, found.refused = [s.id for s in made.added], list(made.refused)
            with workshop.warehouse.begin() as session:
                for skill in made.added:
                    workshop.warehouse.register_skill(session, skill)
            wanted = [*wanted, *made.added]
        into = order.into or own_folder().resolve()
        commissions = [Commission(skill, number, into, limits=order.limits) for skill in wanted]
        random.Random(owner_name()).shuffle(commissions)  # workers side by side do not wait for the same one
        tally = await author_all(workshop, commissions, client, progress=progress)
        note = "; ".join(dict.fromkeys(tally.faults.values()))
    except BudgetError as error:
        note = str(error)
    except ModelError as error:
        note = f"the endpoint failed: {error}"
    ids = {skill.id for skill in wanted}
    with workshop.warehouse.read() as connection:
        found.authored = [r for r in list_authorings(connection) if r["round"] == number and r["skill"] in ids]
    return note


def _harvest(wanted: bool) -> int:
    """Harvest once, if wanted; how many candidates there are."""
    path = harvest_file()
    if not path.is_file():
        if not wanted:
            return 0
        harvesting.write(harvesting.harvest(), path)
    return sum(1 for _ in harvesting.read(path))


def _apps(wanted: Sequence[str]) -> list[str]:
    known = sorted({name.split(".")[0] for name in PREPARERS.names()})
    for app in wanted:
        if app not in known:
            raise InputError(f"{app!r} has no preparers, so nothing can be authored for it", mend=f"there are {known}")
    return list(wanted) or known


def _open(apps: Sequence[str]) -> list[Skill]:
    """Candidates whose applications all have preparers; those that people wrote down first, harvested ones last."""
    found = [s for s in all_skills() if s.state is SkillState.CANDIDATE and set(s.apps) <= set(apps)]
    return sorted(found, key=lambda s: (s.origin == "harvest", s.id))


def _wanted(workshop: Workshop, apps: Sequence[str], count: int, round: int) -> list[Skill]:
    """What is authored first: the taxonomy's own candidates, those first that were tried least in earlier rounds; none that
    is in work for another round. Harvested ones only feed the coverage.

    What this round made of them does not matter: workers of one round, and one that takes it up again, want the same.
    """
    with workshop.warehouse.read() as connection:
        tries, busy = tries_before(connection, round), in_work_elsewhere(connection, round)
    found = [s for s in _open(apps) if s.origin != "harvest" and s.id not in busy]
    return sorted(found, key=lambda s: (tries[s.id], s.id))[:count]


def _rows(plan: Plan) -> list[dict[str, Any]]:
    shares = {s.skill: s.share for s in plan.standings}
    return [
        {
            "round": plan.round, "skill": w.skill.id, "version": w.version[:12], "apps": " ".join(w.skill.apps),
            "channels": " ".join(w.channels), "share": shares[w.skill.id], "tasks": plan.of(w),
        }
        for w in plan.workflows
    ]  # fmt: skip
