"""The models of a workshop: who answers for a role, with the budgets of the run and the warehouse's ledger."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from forge.llm import Budget, ChatModel, Client, Directory, Endpoint, Role
from forge.records import InputError, Settings

if TYPE_CHECKING:
    from warehouse import Ledger

M = TypeVar("M", bound=ChatModel)


def choosing(settings: Settings, role: Role, endpoint: str) -> Settings:
    """The settings with another endpoint for a role; the same ones for an empty name.

    Args:
        settings: name the endpoints; a choice of theirs for other roles stays.
        role: who asks.
        endpoint: its name, or a choice for several roles as in FORGE_LLM_ROLES (`author=NAME,judge=NAME`).
    """
    if not endpoint:
        return settings
    choice = endpoint if "=" in endpoint else f"{role}={endpoint}"
    return settings.model_copy(update={"llm_roles": f"{settings.llm_roles},{choice}".strip(",")})


class Models:
    """Clients by role. All clients of a run share its budget, which counts what the run spent before it was killed.

    Args:
        settings: name the endpoints, the roles, and the budgets.
        ledger: where calls are written and answers kept.

    Raises:
        InputError: the endpoints or the budgets in the settings are no such thing.
    """

    def __init__(self, settings: Settings, ledger: Ledger):
        self.directory = Directory.from_settings(settings)
        self._settings = settings
        self._ledger = ledger
        self._stages = _stages(settings.llm_stage_tokens)
        self._budgets: dict[tuple[str, str], Budget] = {}
        self._clients: dict[tuple[str, str, str], Client] = {}
        self._lock = threading.RLock()

    def client(self, role: Role, run: str = "", stage: str = "") -> Client | None:
        """The client for a role, or None when nobody answers for it. See `require`."""
        return self.require(role, run, stage) if self.directory.endpoint(role) is not None else None

    def require(self, role: Role, run: str = "", stage: str = "") -> Client:
        """The client for a role.

        Args:
            role: who asks.
            run: the run that its calls are counted for.
            stage: the part of the run; default: the role's name.

        Raises:
            InputError: nobody answers for the role.
        """
        endpoint, stage = self.directory.require(role), stage or role
        with self._lock:
            key = (endpoint.name, run, stage)
            if key not in self._clients:
                made = Client(endpoint, self._ledger, self.budget(run), run=run)
                self._clients[key] = made.within(stage=stage, budget=self.budget(run, stage))
            return self._clients[key]

    def asking(self, endpoint: Endpoint) -> Client:
        """A client of this very endpoint, outside of any run."""
        return Client(endpoint, self._ledger, self.budget()).within(stage="check")

    def serving(self, model: M, workflow: str) -> M:
        """The model, its calls counted for a workflow (or the skill that it will be of), within the workflow's budget."""
        tokens, budget = self._settings.llm_workflow_tokens, None
        if isinstance(model, Client) and tokens is not None:
            budget = model.budget.part(f"workflow {workflow}", tokens=tokens)
        return cast("M", model.within(workflow=workflow, budget=budget))

    def budget(self, run: str = "", stage: str = "") -> Budget:
        """The budget of a run, or of one of its stages; calls outside of any run have one for this process."""
        with self._lock:
            if (run, stage) not in self._budgets:
                self._budgets[run, stage] = self._made(run, stage)
            return self._budgets[run, stage]

    def _made(self, run: str, stage: str) -> Budget:
        source: Callable[[], tuple[int, float]] | None = (lambda: self._ledger.spent(run, stage)) if run else None
        if stage:
            whole = self.budget(run)
            return whole.part(f"stage {stage}", tokens=self._stages.get(stage), source=source)
        settings = self._settings
        return Budget(tokens=settings.llm_tokens, usd=settings.llm_usd, name=run or "this run", source=source)


def _stages(text: str) -> dict[str, int]:
    """Stage to tokens. Raises InputError."""
    found = {}
    for part in text.replace(",", " ").split():
        stage, _, tokens = part.partition("=")
        if not stage or not tokens.isdigit():
            raise InputError(f"FORGE_LLM_STAGE_TOKENS: {part!r} is no budget", mend="write author=2000000,topup=100000")
        found[stage] = int(tokens)
    return found
