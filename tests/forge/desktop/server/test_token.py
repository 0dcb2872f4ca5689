"""Nobody gets in without the token, and the token gets nowhere."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from forge.desktop.server.connection import Connection
from forge.desktop.server.token import make_token, read_token
from forge.records import InputError
from tests.forge.desktop.server.conftest import TOKEN

CALLS = [
    ("GET", "/v1/status"),
    ("POST", "/v1/slots"),
    ("POST", "/v1/slots/x/exec"),
    ("DELETE", "/v1/slots/x"),
    ("PUT", "/v1/layers/x"),
    ("GET", "/nothing"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize("given", [None, "Bearer wrong", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN}x"])
def test_no_call_without_the_token(served: Callable[..., str], method: str, path: str, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    answer = httpx.request(method, served() + path, headers=headers)
    assert answer.status_code == 401
    mend = answer.json()["error"]["mend"]
    assert mend.startswith("set FORGE_DESKTOP_TOKEN to the server's token: ")
    assert "the file that `forge desktop serve` named" in mend  # where it lies
    assert "--token-file" in mend


def test_health_and_the_description_are_open(served: Callable[..., str]) -> None:
    url = served()
    assert httpx.get(f"{url}/v1/health").json() == {"ok": True}
    paths = httpx.get(f"{url}/openapi.json").json()["paths"]
    assert {"/v1/slots", "/v1/slots/{slot}/act", "/v1/slots/{slot}/exec", "/v1/slots/{slot}/files"} <= set(paths)


def test_a_wrong_token_is_the_users_fault(served: Callable[..., str]) -> None:
    connection = Connection(served(), "wrong")
    with pytest.raises(InputError, match="token is missing or wrong"):
        connection.call("GET", "/v1/status")
    connection.close()


def test_the_token_is_never_logged(served: Callable[..., str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        connection = Connection(served(), TOKEN)
        connection.call("GET", "/v1/status")
        connection.close()
        httpx.get(served() + "/v1/status", headers={"Authorization": "Bearer wrong"})
    assert TOKEN not in caplog.text


def test_a_token_file_is_made_once_and_private(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = make_token(file)
    assert len(token) > 30
    assert file.stat().st_mode & 0o777 == 0o600
    assert make_token(file) == token == read_token(file)


def test_the_variable_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORGE_DESKTOP_TOKEN", " from-the-variable\n")
    assert read_token() == "from-the-variable"
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InputError, match="holds no token"):
        read_token(tmp_path / "empty")
    with pytest.raises(InputError, match="cannot be read"):
        read_token(tmp_path / "absent")


def test_a_token_must_fit_into_a_header(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("with blanks, and commas")
    with pytest.raises(InputError, match="letters, digits"):
        read_token(tmp_path / "token")
