"""A client's connection to one slot server. Every request is safe to send again, and is, until it has an answer.

What changes something carries an Idempotency-Key, so that a lost answer does not make it happen twice. A server that
cannot be reached for `patience` seconds is a DesktopError: infrastructure, never the agent's fault.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.desktop.server import wire
from forge.records.errors import DesktopError, ExhaustedError, InputError

M = TypeVar("M")
PATIENCE = 60.0
"""Seconds for which a server may be out of reach."""
_WAIT = 8  # seconds after which the server says that it is still at it, so that a dead connection is noticed
_TIMEOUT = httpx.Timeout(connect=4.0, read=_WAIT + 5.0, write=15.0, pool=None)
_SLOW_READ = httpx.Timeout(connect=4.0, read=20.0, write=15.0, pool=None)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


class GoneError(DesktopError):
    """The server does not hold the slot any more."""


class FullError(DesktopError):
    """All of the server's slots are lent."""


class MissingLayersError(DesktopError):
    """The server was never given these layers."""

    def __init__(self, message: str, digests: tuple[str, ...]):
        super().__init__(message)
        self.digests = digests


class Connection:
    """Requests to one server, from any thread; it keeps the leases of the slots it is told of.

    Args:
        url: "http://host:port".
        token: the server's token.
        patience: see `PATIENCE`.
    """

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE):
        if not url.startswith(("http://", "https://")):
            raise InputError(f"{url!r} is no address of a slot server", mend="write http://host:port")
        self.url = url.rstrip("/")
        self.patience = patience
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        self._client = httpx.Client(
            base_url=self.url, headers=headers, timeout=_TIMEOUT, limits=limits, trust_env=False
        )
        self._kept: dict[str, float] = {}
        self._changed = threading.Condition()
        self._heart: threading.Thread | None = None
        self._closed = False

    def call(
        self,
        method: str,
        path: str,
        answer: Any = None,
        *,
        body: BaseModel | bytes | None = None,
        params: dict[str, Any] | None = None,
        patience: float | None = None,
    ) -> Any:
        """Send a request until it is answered, and read the answer.

        Args:
            method: GET, POST, PUT or DELETE.
            path: below the server's address.
            answer: the type of the answer, anything that pydantic reads; None gives the raw response.
            body: a message, or bytes as they are.
            params: of the address.
            patience: instead of the connection's.

        Raises:
            InputError: the server refused what was asked for.
            DesktopError: the slot failed, or the server is out of reach.
        """
        content = body.model_dump_json().encode() if isinstance(body, BaseModel) else body
        headers = {"Content-Type": "application/json"} if isinstance(body, BaseModel) else {}
        if method != "GET":
            headers |= {"Idempotency-Key": secrets.token_hex(16), "Prefer": f"wait={_WAIT}"}
        timeout = _SLOW_READ if method == "GET" else _TIMEOUT
        params = {name: value for name, value in (params or {}).items() if value is not None}

        def once() -> httpx.Response | None:
            response = self._client.request(
                method, path, content=content, headers=headers, params=params, timeout=timeout
            )
            return None if response.status_code == 202 else response

        response = self._until_answered(once, f"{method} {path}", self.patience if patience is None else patience)
        if response.is_error:
            self._raise(response)
        if answer is None:
            return response
        try:
            return TypeAdapter(answer).validate_json(response.content)
        except ValidationError as error:
            first = error.errors()[0]["msg"]
            raise DesktopError(f"{self.url} answered {path} with something else: {first}") from None

    def fetch(self, path: str, size: int) -> bytes:
        """A large answer, gone on with where it broke off. Raises DesktopError."""
        data = bytearray()

        def once() -> bool | None:
            try:
                headers = {"Range": f"bytes={len(data)}-"}
                with self._client.stream("GET", path, headers=headers, timeout=_SLOW_READ) as response:
                    if response.is_error:
                        response.read()
                        self._raise(response)
                    if response.status_code != 206:
                        data.clear()
                    for piece in response.iter_raw():
                        data.extend(piece)
            finally:
                del data[size:]
            return True if len(data) == size else None

        if size:
            self._until_answered(once, f"GET {path}", self.patience)
        return bytes(data)

    def keep(self, slot: str, lease: float) -> None:
        """Keep a slot's lease from now on, whatever else is called."""
        with self._changed:
            self._kept[slot] = lease
            self._changed.notify()
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="forge-heartbeat", daemon=True)
                self._heart.start()

    def drop(self, slot: str) -> None:
        """Keep it no longer."""
        with self._changed:
            self._kept.pop(slot, None)

    def close(self) -> None:
        """Hang up. May be called twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._heart is not None:
            self._heart.join()
        self._client.close()

    def _until_answered(self, once: Callable[[], M | None], what: str, patience: float) -> M:
        """Call `once` until it gives something; None means that the server is still at it."""
        deadline = time.monotonic() + patience
        pause = _FIRST_PAUSE
        while True:
            try:
                given = once()
            except httpx.TransportError as error:
                if time.monotonic() > deadline:
                    said = str(error) or type(error).__name__
                    raise DesktopError(
                        f"the slot server {self.url} is out of reach: {what}: {said}",
                        mend="is `forge desktop serve` running there, and the network between all right?",
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            if given is not None:
                return given
            deadline = time.monotonic() + patience
            pause = _FIRST_PAUSE

    def _raise(self, response: httpx.Response) -> None:
        try:
            problem = wire.Failure.model_validate_json(response.content).error
        except ValidationError:
            if response.status_code == 404:
                raise FileNotFoundError(response.request.url.path) from None
            raise DesktopError(f"{self.url} answered {response.status_code} to {response.request.url.path}") from None
        if problem.kind == "input":
            raise InputError(problem.message, mend=problem.mend)
        if response.status_code == 401:
            raise InputError(f"{self.url}: {problem.message}", mend=problem.mend)
        if problem.kind == "layers":
            raise MissingLayersError(problem.message, problem.missing)
        kind = {"gone": GoneError, "full": FullError, "exhausted": ExhaustedError}.get(problem.kind, DesktopError)
        raise kind(problem.message, mend=problem.mend)

    def _beat(self) -> None:
        """Renew all leases, four times a lease. A heartbeat that fails is tried at the next; calls report the fault."""
        beaten = time.monotonic()
        while True:
            with self._changed:
                # looked at anew whenever one comes to be kept: its lease may be shorter than all before
                while not self._closed and (left := beaten + self._pause() - time.monotonic()) > 0:
                    self._changed.wait(left)
                if self._closed:
                    return
                slots = tuple(self._kept)
            beaten = time.monotonic()
            if slots:
                try:
                    self.call("POST", "/v1/renew", wire.Renewal, body=wire.Renewal(slots=slots), patience=0)
                except (DesktopError, InputError):
                    continue

    def _pause(self) -> float:
        return min(self._kept.values(), default=60.0) / 4
