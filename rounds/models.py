"""The models of a workshop: who answers for a role, with the run's one budget and the warehouse's ledger."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from forge.llm import Budget, Client, Directory, Role
from forge.records import Settings

if TYPE_CHECKING:
    from warehouse import Ledger


class Models:
    """Clients by role. All clients of a run share its budget, which counts what the run spent before it was killed.

    Args:
        settings: name the endpoints, the roles, and the budget of a run.
        ledger: where calls are written and answers kept.
    """

    def __init__(self, settings: Settings, ledger: Ledger):
        self.directory = Directory.from_settings(settings)
        self._settings = settings
        self._ledger = ledger
        self._budgets: dict[str, Budget] = {}
        self._clients: dict[tuple[str, str], Client] = {}
        self._lock = threading.RLock()

    def client(self, role: Role, run: str = "") -> Client | None:
        """The client for a role, or None when nobody answers for it."""
        return self.require(role, run) if self.directory.endpoint(role) is not None else None

    def require(self, role: Role, run: str = "") -> Client:
        """As `client`. Raises InputError when nobody answers for the role."""
        endpoint = self.directory.require(role)
        with self._lock:
            key = (endpoint.name, run)
            if key not in self._clients:
                self._clients[key] = Client(endpoint, self._ledger, self.budget(run), run=run)
            return self._clients[key]

    def budget(self, run: str = "") -> Budget:
        """The budget of a run; calls outside of any run have one for this process."""
        with self._lock:
            if run not in self._budgets:
                settings = self._settings
                self._budgets[run] = Budget(
                    tokens=settings.llm_tokens, usd=settings.llm_usd, name=run or "this run",
                    source=(lambda: self._ledger.spent(run)) if run else None,
                )  # fmt: skip
            return self._budgets[run]
