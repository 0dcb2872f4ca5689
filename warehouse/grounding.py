"""Grounding rows: screens of a harvest, and the targets and pairs that were made of them.

Screens are facts and stay. Pairs follow from all screens of an application together (no target more than five times), so
they are replaced as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.engine import Connection

from forge.records import GroundingPair, GroundingScreen, GroundingTarget, Style
from warehouse.engine import insert_new
from warehouse.schema import GroundingPairRow, GroundingScreenRow, GroundingTargetRow

_CHUNK = 500


def add_screens(connection: Connection, screens: Iterable[GroundingScreen]) -> None:
    """Write screens; one whose key is there stays as it is."""
    now = time.time()
    insert_new(connection, GroundingScreenRow, [{**screen.to_json(), "created_at": now} for screen in screens])


def read_screens(connection: Connection, app: str, *, lock: bool = False) -> list[GroundingScreen]:
    """All screens of an application, by key; with `lock` one transaction after the other that also locks them."""
    names = list(GroundingScreen.model_fields)
    table = GroundingScreenRow.__table__
    query = select(*(table.c[name] for name in names)).where(table.c.app == app).order_by(table.c.key)
    query = query.with_for_update() if lock else query  # SQLite has one writer anyway
    return [GroundingScreen(**row._mapping) for row in connection.execute(query)]


def replace_pairs(connection: Connection, app: str, pairs: Sequence[GroundingPair]) -> None:
    """Make these the pairs of an application."""
    known = select(GroundingTargetRow.id).where(GroundingTargetRow.app == app)
    connection.execute(delete(GroundingPairRow).where(GroundingPairRow.target.in_(known)))
    connection.execute(delete(GroundingTargetRow).where(GroundingTargetRow.app == app))
    targets = {pair.target.digest(): pair.target for pair in pairs}
    rows = [_pair_row(pair) for pair in pairs]
    for start in range(0, len(targets), _CHUNK):
        part = list(targets.items())[start : start + _CHUNK]
        insert_new(connection, GroundingTargetRow, [{"id": key, **target.to_json()} for key, target in part])
    for start in range(0, len(rows), _CHUNK):
        insert_new(connection, GroundingPairRow, rows[start : start + _CHUNK])


def read_pairs(connection: Connection, apps: Sequence[str] | None = None) -> list[GroundingPair]:
    """All pairs, or those of some applications, in a fixed order."""
    t, p, s = GroundingTargetRow, GroundingPairRow, GroundingScreenRow
    query = (
        select(
            t.app, t.context, t.role, t.name, p.style, p.instruction, p.screen, p.x, p.y, p.width, p.height,
            s.screenshot, s.width.label("screen_width"), s.height.label("screen_height"),
        )
        .join(t, p.target == t.id)
        .join(s, p.screen == s.key)
        .order_by(t.app, p.screen, p.target, p.style)
    )  # fmt: skip
    if apps is not None:
        query = query.where(t.app.in_(list(apps)))
    return [_pair(row) for row in connection.execute(query)]


def counts(connection: Connection) -> list[dict[str, Any]]:
    """By application: screens, targets, pairs by style, and the most pairs that one target has."""
    t, p, s = GroundingTargetRow, GroundingPairRow, GroundingScreenRow
    found: dict[str, dict[str, Any]] = {}
    for app, number in connection.execute(select(s.app, func.count()).group_by(s.app)):
        found[app] = {"app": app, "screens": number, "targets": 0, "pairs": 0, "most": 0}
        found[app] |= {style.value: 0 for style in Style}
    uses = select(p.target, func.count().label("n")).group_by(p.target).subquery()
    most = select(t.app, func.max(uses.c.n)).join(uses, uses.c.target == t.id).group_by(t.app)
    for app, number in connection.execute(most):
        found[app]["most"] = number
    shown = select(t.app, func.count()).where(t.role != "none").group_by(t.app)
    for app, number in connection.execute(shown):
        found[app]["targets"] = number
    by_style = select(t.app, p.style, func.count()).join(t, p.target == t.id).group_by(t.app, p.style)
    for app, style, number in connection.execute(by_style):
        found[app][style] = number
        found[app]["pairs"] += number
    return [found[app] for app in sorted(found)]


def _pair_row(pair: GroundingPair) -> dict[str, Any]:
    x, y, width, height = pair.box or (None, None, None, None)
    return {
        "target": pair.target.digest(), "style": pair.style.value, "screen": pair.screen,
        "instruction": pair.instruction, "x": x, "y": y, "width": width, "height": height,
    }  # fmt: skip


def _pair(row: Any) -> GroundingPair:
    return GroundingPair(
        target=GroundingTarget(app=row.app, context=row.context, role=row.role, name=row.name),
        style=Style(row.style), instruction=row.instruction, screen=row.screen, screenshot=row.screenshot,
        width=row.screen_width, height=row.screen_height,
        box=None if row.x is None else (row.x, row.y, row.width, row.height),
    )  # fmt: skip
