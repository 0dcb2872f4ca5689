"""The workshop: everything a job needs, opened when first used and closed in one place."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

from forge.desktop import Layers, Office, OfficeClient, Slot, SlotPool, chown_home, fingerprint, lay, lease
from forge.desktop.box import HOME
from forge.desktop.limits import slot_limits
from forge.desktop.remote import RemotePool
from forge.desktop.slot import File
from forge.desktop.sweep import claim, sweep
from forge.harness import layers_for, load_harness
from forge.records import Artifact, Fingerprint, Guest, Harness, Role, Settings, Task
from rounds.models import Models
from skills import Kitchen
from skills.kitchen import run_in_box
from skills.topup import LiveValues
from verifiers import CHECKS, GraderPool
from warehouse import Warehouse

T = TypeVar("T")


class _once(Generic[T]):
    """A property that is made at its first use, by one thread while the others wait. One lock for all of a workshop's,
    because making one may use another.
    """

    def __init__(self, make: Callable[[Workshop], T]):
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, workshop: Workshop, owner: type[Workshop]) -> T:
        name = self._make.__name__
        with workshop._lock:
            if name not in workshop.__dict__:  # from then on it is found there, before this property
                workshop.__dict__[name] = self._make(workshop)
        found: T = workshop.__dict__[name]
        return found


class Workshop:
    """The open resources of one process: warehouse, office, graders, desktop slots, scratch homes.

    Use it as a context manager; nothing it started outlives it.

    Args:
        settings: where things live; default: from the environment.

    Attributes:
        run: the run that model calls are counted for: "round-3"; empty: none.
        limits: what a slot of this machine may use of it.

    Raises:
        InputError: a setting cannot be.
    """

    def __init__(self, settings: Settings | None = None):
        self.settings = settings or Settings()
        self.run = ""
        self.limits = slot_limits(self.settings)
        self._stack = ExitStack()
        self._lock = threading.RLock()

    def __enter__(self) -> Workshop:
        sweep(self.settings.home.resolve())  # what killed processes left, also when this one will have nothing to do
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @_once
    def warehouse(self) -> Warehouse:
        """The warehouse, migrated."""
        warehouse = Warehouse.open(self.settings.warehouse_url, self.settings.blob_url)
        self._stack.callback(warehouse.close)
        return warehouse

    @_once
    def workers(self) -> int:
        """How many items are worked at once: one a core."""
        return max(1, os.cpu_count() or 1)

    @_once
    def _office(self) -> Office:
        return self._stack.enter_context(Office(workers=min(self.workers, 4)))

    def office(self) -> OfficeClient:
        """A client of the headless LibreOffices."""
        return OfficeClient(self._office.address)

    @_once
    def graders(self) -> GraderPool:
        """Graders in fresh processes."""
        return self._stack.enter_context(GraderPool(self.workers, scratch=self.scratch))

    def kitchen(self) -> Kitchen:
        """What drawing a task needs."""
        return Kitchen(
            office=self.office(),
            cache_folder=self.settings.home / "cache" / "nodes",
            boxed=partial(run_in_box, scratch=self.scratch),
            stamp=self.fingerprint.digest(),
            pool=self.warehouse.banks,
            llm=self._writer,
        )

    @_once
    def models(self) -> Models:
        """Who answers for which role."""
        return Models(self.settings, self.warehouse.ledger)

    @property
    def _writer(self) -> LiveValues | None:
        """Writes values while a task is drawn, where an endpoint can."""
        client = self.models.client("writer", self.run, "live")
        return None if client is None else LiveValues(client)

    @_once
    def slots(self) -> SlotPool | RemotePool:
        """Desktop slots with a warm spare, lent; those of slot servers where the settings name some."""
        if self.settings.desktop_urls:
            token = self.settings.desktop_token.get_secret_value()
            return self._stack.enter_context(RemotePool(self.settings.desktop_urls, token))
        pool = SlotPool(self.settings.slots, limits=self.limits, lease=lease.SILENCE)
        return self._stack.enter_context(pool)

    def own_slot(self, guest: Guest, files: Iterable[File]) -> Slot:
        """A slot of this machine that is none of the pool's, for screens of many sizes, of which no spare would fit: with the
        same limits, and lent as those are. Raises DesktopError.
        """
        slot = Slot.open(guest, home_files=files, limits=self.limits)
        slot.lend(lease.SILENCE)
        return slot

    @property
    def slot_count(self) -> int:
        """Desktops that may be open at once: this machine's, or those of all slot servers."""
        slots = self.slots if self.settings.desktop_urls else None
        return slots.size if isinstance(slots, RemotePool) else self.settings.slots

    @_once
    def fingerprint(self) -> Fingerprint:
        """What every result of this process depends on."""
        return fingerprint({name: check.version for name, check in CHECKS})

    @_once
    def play_fingerprint(self) -> Fingerprint:
        """What an episode depends on: this process, and the slot servers where slots are theirs."""
        slots = self.slots if self.settings.desktop_urls else None
        if not isinstance(slots, RemotePool):
            return self.fingerprint
        here, there = self.fingerprint, slots.fingerprint()
        # graders run here: a package that differs is named a second time
        ours = {f"here:{name}": v for name, v in here.applications.items() if there.applications.get(name) != v}
        return there.model_copy(
            update={"applications": {**there.applications, **ours}, "checks": here.checks, "layers": here.layers}
        )

    @_once
    def scratch(self) -> Path:
        """A folder for homes of probes and gradings, removed at the end, or by the next start when this process is killed."""
        own = claim("scratch", self.settings.home.resolve())
        self._stack.callback(own.release)
        own.folder.chmod(0o711)
        return own.folder

    def sharing(self, warehouse: Warehouse) -> Workshop:
        """A workshop over another warehouse that shares everything else, and must not outlive this one."""
        shared = ("_office", "graders", "slots", "scratch", "fingerprint", "workers", "models")
        for name in shared:
            getattr(self, name)
        other = Workshop(self.settings)
        other.run = self.run
        other.__dict__.update({name: self.__dict__[name] for name in shared}, warehouse=warehouse)
        return other

    @contextmanager
    def new_home(self, task: Task, roles: tuple[Role, ...] = (Role.VISIBLE, Role.HIDDEN)) -> Iterator[Path]:
        """A fresh copy of the task's initial state on this host, removed afterwards.

        Args:
            task: its artifacts are laid out.
            roles: which of them; an agent's home never holds gold.
        """
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self.scratch))
        try:
            lay(home, self.artifact_files(task, roles))
            chown_home(home)
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def artifact_files(self, task: Task, roles: tuple[Role, ...]) -> list[tuple[str, bytes, int, bool]]:
        """The task's artifacts as (path, data, mode, is a folder), ready to be laid out."""
        return [
            (a.path, b"" if a.folder else self.warehouse.blobs.get(a.sha256), a.mode, a.folder)
            for a in task.artifacts
            if a.role in roles
        ]

    def harness(self, name: str) -> Harness:
        """A preset, or a harness file."""
        return load_harness(name)

    def layers(self, harness: Harness) -> Layers:
        """The read-only layers of a harness."""
        return layers_for(harness)


def dating(task: Task) -> str:
    """A script for the guest that gives files the times of their last change; empty where no file of the task has one.

    It runs in the guest because only there a time means what the guest's clock says.
    """
    paths: dict[int, list[str]] = {}
    for artifact in task.artifacts:
        if artifact.mtime is not None and artifact.role is not Role.GOLD:
            paths.setdefault(artifact.mtime, []).append(shlex.quote(HOME + artifact.path[1:]))
    return "".join(
        f"touch --no-create --no-dereference -m --date=@{at} -- {' '.join(those)}\n" for at, those in paths.items()
    )


def artifacts_by_path(task: Task) -> dict[str, Artifact]:
    """Guest path to artifact."""
    return {a.path: a for a in task.artifacts}
