"""The token that a server asks for. It is never logged, never part of an address, and compared in constant time."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from forge.desktop.server.wire import Failure, Problem
from forge.records.errors import InputError

VARIABLE = "FORGE_DESKTOP_TOKEN"
MEND = (
    f"set {VARIABLE} to the server's token: it is in the file that `forge desktop serve` named when it started, "
    "FORGE_HOME/desktop-token, or in its --token-file"
)
"""For who has no token or another; the true path is not told to strangers."""
OPEN_PATHS = ("/v1/health", "/docs", "/openapi.json")
"""What tells nothing about slots and needs no token."""
OPEN_PREFIXES = ("/view/", "/novnc/")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def read_token(file: Path | None = None) -> str:
    """The token of a file, else of FORGE_DESKTOP_TOKEN; empty when there is neither.

    Raises InputError when the file cannot be read or holds none.
    """
    if file is None:
        token = os.environ.get(VARIABLE, "").strip()
        return _checked(token, None) if token else ""
    try:
        token = file.read_text().strip()
    except OSError as error:
        raise InputError(f"the token cannot be read: {error.strerror}", file=file) from None
    if not token:
        raise InputError("the file holds no token", file=file)
    return _checked(token, file)


def make_token(file: Path) -> str:
    """A new token in a new file that only its owner can read; the file's own when it is there already."""
    try:
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(file)
    token = secrets.token_urlsafe(32)
    with os.fdopen(fd, "w") as out:
        out.write(token + "\n")
    return token


class Guard:
    """ASGI middleware: lets in who sends `Authorization: Bearer TOKEN`, or, for a web socket, the subprotocol `token.TOKEN`."""

    def __init__(self, app: App, token: str):
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_open(scope) or self._knows(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4401})
        else:
            problem = Problem(kind="refused", message="the token is missing or wrong", mend=MEND)
            body = Failure(error=problem).model_dump_json().encode()
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            headers.append((b"content-length", str(len(body)).encode()))
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"]
        return scope["type"] == "http" and (path in OPEN_PATHS or path.startswith(OPEN_PREFIXES))

    def _knows(self, scope: Scope) -> bool:
        given = b""
        for name, value in scope["headers"]:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                given = value[7:].strip()
            elif scope["type"] == "websocket" and name == b"sec-websocket-protocol":
                for each in value.split(b","):
                    given = each.strip().removeprefix(b"token.") if each.strip().startswith(b"token.") else given
        return secrets.compare_digest(given, self._token)


def _checked(token: str, file: Path | None) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._~-]+", token):  # what a subprotocol of a web socket can be
        raise InputError("a token is made of letters, digits and . _ ~ -", file=file)
    return token
