"""Claims: each piece of work is done by exactly one owner, once, however many processes want it and whenever one dies.

A claim is a row under a natural key (`kind`, `key`). Its owner holds a lease that runs out unless it is renewed; then
anybody may take it over, and at once when the owner is a process of this machine that died (`warehouse.owners`). Every
change of hands raises the fencing token, and `Lease.complete` checks the token inside the transaction that writes the
result: an owner that was taken for dead cannot write late. A done claim is never given out again. Times are seconds
since the epoch by the clock that all owners share (`warehouse.engine.now`).

What this does not do: queue, order or schedule; a job lists its items and asks for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.engine import Connection, Engine

from forge.records import WarehouseError
from warehouse.engine import begin, insert_new, now, read
from warehouse.owners import is_gone
from warehouse.schema import ClaimRow

C = ClaimRow.__table__.c


@dataclass
class Lease:
    """The right to do one piece of work until `expires_at`. Made by `Claims.acquire`."""

    kind: str
    key: str
    owner: str
    token: int
    attempt: int
    expires_at: float
    ttl: float
    _claims: Claims = field(repr=False)

    def renew(self, ttl: float | None = None) -> None:
        """Hold it for `ttl` more seconds from now (default: as long as it was acquired for).

        Raises:
            WarehouseError: somebody else took it over.
        """
        self._claims.renew([self], ttl)

    def release(self, reason: str = "") -> bool:
        """Give it back undone, for anybody to take. False when it was not ours any more, which is no error."""
        with self._claims.begin() as connection:
            return self._leave(connection, state="free", reason=reason, expires_at=0.0)

    def fail(self, reason: str) -> bool:
        """Give the work up for good: it is not given out again until `Claims.reopen`."""
        with self._claims.begin() as connection:
            return self._leave(connection, state="failed", reason=reason, expires_at=0.0)

    def complete(self, session: Connection) -> None:
        """Mark the work done, in the transaction that writes its result.

        Raises:
            WarehouseError: the lease was lost; the transaction must not be committed, and is rolled back by the raise.
        """
        if not self._leave(session, state="done", reason="", expires_at=0.0):
            raise self._lost()

    def _leave(self, connection: Connection, **values: Any) -> bool:
        held = and_(C.kind == self.kind, C.key == self.key, C.token == self.token, C.state == "held")
        statement = update(ClaimRow).where(held).values(updated_at=now(connection), **values)
        return connection.execute(statement).rowcount == 1

    def _lost(self) -> WarehouseError:
        return WarehouseError(
            f"the claim on {self.kind} {self.key} is not {self.owner}'s any more (token {self.token})",
            mend="nothing is lost: whoever took it over does the work; renew leases more often than they run out",
        )


class Claims:
    """All claims of a warehouse."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def acquire(
        self, kind: str, key: str, owner: str, ttl: float = 120.0, *, limit_attempts: int | None = None
    ) -> Lease | None:
        """Try to get one claim.

        Args:
            kind: of work: "materialize", "probe", "play".
            key: what it is done to; unique within the kind.
            owner: who asks: `warehouse.owners.owner_name()`, or any name, of which nobody can tell that it is gone.
            ttl: seconds until the lease runs out if it is not renewed.
            limit_attempts: when it was acquired that often and never done, it becomes failed instead.

        Returns:
            The lease, or None: it is held by another, done, or failed.
        """
        leases = self.acquire_many(kind, [key], owner, ttl, limit_attempts=limit_attempts)
        return leases[0] if leases else None

    def acquire_many(
        self,
        kind: str,
        keys: Iterable[str],
        owner: str,
        ttl: float = 120.0,
        *,
        limit_attempts: int | None = None,
        limit: int | None = None,
    ) -> list[Lease]:
        """Get the first of these claims that are to be had, at most `limit`, in one transaction; in the order of `keys`."""
        wanted = list(dict.fromkeys(keys))
        leases: list[Lease] = []
        with self.begin() as connection:
            moment = now(connection)
            self._make_rows(connection, kind, wanted, moment)
            for key in self._available(connection, kind, wanted, moment):
                if limit is not None and len(leases) >= limit:
                    break
                lease = self._take(connection, kind, key, owner, ttl, limit_attempts, moment)
                if lease is not None:
                    leases.append(lease)
        return leases

    def renew(self, leases: Iterable[Lease], ttl: float | None = None) -> None:
        """Renew many leases in one transaction. Raises WarehouseError when one is lost; the others are renewed."""
        lost: list[Lease] = []
        with self.begin() as connection:
            moment = now(connection)
            for lease in sorted(leases, key=lambda item: (item.kind, item.key)):
                expires = moment + (lease.ttl if ttl is None else ttl)
                if lease._leave(connection, expires_at=expires):
                    lease.expires_at = expires
                else:
                    lost.append(lease)
        if lost:
            raise lost[0]._lost()

    def is_done(self, kind: str, key: str) -> bool:
        """Whether the work is done (or was done by another's hand in the meantime)."""
        return self.state(kind, key) == "done"

    def is_held(self, kind: str, key: str) -> bool:
        """Whether somebody holds it whose lease has not run out."""
        return self.state(kind, key) == "held"

    def state(self, kind: str, key: str) -> str:
        """`free` (also when nobody ever asked for it), `held`, `stale` (ran out, or its owner died), `done` or `failed`."""
        with read(self._engine) as connection:
            row = connection.execute(select(C.state, C.expires_at, C.owner).where(C.kind == kind, C.key == key)).first()
            if row is None:
                return "free"
            return "stale" if _is_stale(row, now(connection)) else str(row.state)

    def done(self, kind: str) -> set[str]:
        """The keys of all done work of a kind."""
        with read(self._engine) as connection:
            return set(connection.scalars(select(C.key).where(C.kind == kind, C.state == "done")))

    def failed(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What was given up: rows of kind, key, attempt and reason."""
        query = select(C.kind, C.key, C.attempt, C.reason).where(C.state == "failed").order_by(C.kind, C.key)
        if kind is not None:
            query = query.where(C.kind == kind)
        with read(self._engine) as connection:
            return [dict(row._mapping) for row in connection.execute(query)]

    def counts(self) -> dict[str, dict[str, int]]:
        """Claims by kind and state; a held one whose lease ran out, or whose owner died, counts as `stale`."""
        with read(self._engine) as connection:
            moment = now(connection)
            stale = and_(C.state == "held", _abandoned(connection, moment))
            found: dict[str, dict[str, int]] = {}
            for kind, state, is_stale, number in connection.execute(
                select(C.kind, C.state, stale, func.count()).group_by(C.kind, C.state, stale).order_by(C.kind, C.state)
            ):
                found.setdefault(kind, {})["stale" if is_stale else state] = number
            return found

    def reopen(self, kind: str, keys: Iterable[str] | None = None, *, done: bool = False) -> int:
        """Make failed work free again, with its attempts forgotten; all of the kind without `keys`. Returns how many.

        Args:
            kind: of work.
            keys: only these.
            done: also what is done; its result is written anew then.
        """
        states = ("failed", "done") if done else ("failed",)
        statement = (
            update(ClaimRow).where(C.kind == kind, C.state.in_(states)).values(state="free", attempt=0, reason="")
        )
        with self.begin() as connection:
            if keys is None:
                return connection.execute(statement).rowcount
            return sum(connection.execute(statement.where(C.key == key)).rowcount for key in sorted(set(keys)))

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction of the warehouse."""
        with begin(self._engine) as connection:
            yield connection

    def _make_rows(self, connection: Connection, kind: str, keys: list[str], moment: float) -> None:
        fresh = {"kind": kind, "state": "free", "owner": "", "expires_at": 0.0, "attempt": 0, "token": 0, "reason": ""}
        # In one order everywhere: two transactions that insert the same keys crosswise would wait for each other.
        insert_new(connection, ClaimRow, [{**fresh, "key": key, "updated_at": moment} for key in sorted(keys)])

    def _available(self, connection: Connection, kind: str, keys: list[str], moment: float) -> list[str]:
        found: set[str] = set()
        for start in range(0, len(keys), 500):  # bounds the number of bound parameters
            part = and_(C.kind == kind, C.key.in_(keys[start : start + 500]))
            abandoned = and_(C.state == "held", _abandoned(connection, moment, part))
            found |= set(connection.scalars(select(C.key).where(part, or_(C.state == "free", abandoned))))
        return [key for key in keys if key in found]

    def _take(
        self,
        connection: Connection,
        kind: str,
        key: str,
        owner: str,
        ttl: float,
        limit_attempts: int | None,
        moment: float,
    ) -> Lease | None:
        """Take a claim that looked free; another transaction may have been faster, then None."""
        row = connection.execute(
            select(C.state, C.expires_at, C.attempt, C.token, C.reason, C.owner)
            .where(C.kind == kind, C.key == key)
            .with_for_update(skip_locked=True)
        ).first()
        if row is None or not (row.state == "free" or _is_stale(row, moment)):
            return None
        this = update(ClaimRow).where(C.kind == kind, C.key == key)
        if limit_attempts is not None and row.attempt >= limit_attempts:
            last = row.reason or (f"{row.owner} vanished" if row.state == "held" else "no reason given")
            reason = f"given up after {row.attempt} attempts; last: {last}"
            connection.execute(this.values(state="failed", reason=reason, expires_at=0.0, updated_at=moment))
            return None
        token, attempt, expires = row.token + 1, row.attempt + 1, moment + ttl
        connection.execute(
            this.values(
                state="held",
                owner=owner,
                token=token,
                attempt=attempt,
                expires_at=expires,
                updated_at=moment,
                reason="",
            )
        )
        return Lease(kind, key, owner, token, attempt, expires, ttl, self)


def _is_stale(row: Any, moment: float) -> bool:
    """Whether a claim's row (state, expires_at, owner) is held by nobody that could still work."""
    return row.state == "held" and (row.expires_at <= moment or is_gone(row.owner))


def _abandoned(connection: Connection, moment: float, part: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    """For held rows (in a part of the table): the lease ran out, or its owner is gone. Owners of leases are few."""
    running = select(C.owner).distinct().where(C.state == "held", C.expires_at > moment)
    if part is not None:
        running = running.where(part)
    gone = [owner for owner in connection.scalars(running) if is_gone(owner)]
    return or_(C.expires_at <= moment, C.owner.in_(gone))
