"""What a server refuses before it acts, and that it says so in one way, to clients of any kind."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from pydantic import BaseModel

from forge.desktop.lease import SILENCE
from forge.desktop.remote import RemotePool, RemoteSlot
from forge.desktop.server import bounds, wire
from forge.records import Guest, InputError
from forge.records.action import HoldKey, Wait
from tests.forge.desktop.server.conftest import TOKEN, FakePool


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("", '{"lease": -1}', "lease = -1: "),
        ("", '{"lease": 0}', "lease = 0: "),
        ("", '{"lease": 1e999}', "lease = inf: "),
        ("", '{"lease": NaN}', "lease = nan: "),
        ("", '{"lease": 604801}', "lease = 604801: "),
        ("", '{"lease": "long"}', "lease: "),
        ("", '{"leese": 1}', "leese: "),
        ("", '{"self": 1}', "self: "),
        ("", '{"files": [{"path": "~/a"}, {"path": 1}]}', "files.1.path: "),
        ("", "[]", "body: "),
        ("", "{", "body.1: "),
        ("/exec", '{"timeout": 0}', "timeout = 0: "),
        ("/exec", '{"timeout": 3601}', "timeout = 3601: "),
        ("/exec", '{"output_limit": -1}', "output_limit = -1: "),
        ("/settle", '{"quiet": 1e6}', "quiet = 1e+06: "),
        ("/settle", '{"first": NaN}', "first = nan: "),
        ("/settle", '{"timeout": -1}', "timeout = -1: "),
        ("/act", '{"action": {"kind": "dance"}}', "action: "),
        ("/act", '{"action": {"kind": "wait", "seconds": 1}, "settle": {"timeout": 31}}', "timeout = 31: "),
        (
            "/act",
            '{"action": {"kind": "wait", "seconds": 1}, "output_limit": 16777217}',
            "output_limit = 1.67772e+07: ",
        ),
        ("/launch", '{"app": "calc", "timeout": -1}', "timeout = -1: "),
        ("/ask", '{"what": "ping", "timeout": 1e999}', "timeout = inf: "),
        ("/input", '{"what": "dance"}', "what: "),
        ("/input", '{"what": "click", "arguments": {"x": 1, "y": 1, "button": 10}}', "click: button = 10: "),
        ("/input", '{"what": "scroll", "arguments": {"x": 1, "y": 1, "dy": 10001}}', "scroll: dy = 10001: "),
        ("/input", '{"what": "hold", "arguments": {"keys": "a", "seconds": NaN}}', "hold: seconds = nan: "),
        ("/input", '{"what": "position", "arguments": {"self": 1}}', "position: self: "),
    ],
)
def test_what_is_not_understood_is_bad_input_and_names_its_field(
    served: Callable[..., str], fake_pool: FakePool, path: str, body: str, said: str
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with httpx.Client(base_url=served(), headers=headers, timeout=30) as http:
        slot = http.post("/v1/slots", content="{}").json()["id"]
        answer = http.post(f"/v1/slots/{slot}{path}" if path else "/v1/slots", content=body)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "input"), answer.text
        assert answer.json()["error"]["message"].startswith(said)
        assert len(fake_pool.slots) == 1
        assert fake_pool.slots[0].log == []


def test_a_query_that_is_not_understood_is_bad_input_too(served: Callable[..., str]) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=served(), headers=headers, timeout=30) as http:
        slot = http.post("/v1/slots", json={}).json()["id"]
        answer = http.get(f"/v1/slots/{slot}/element", params={"x": "left", "y": 1})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "input")
    assert answer.json()["error"]["message"].startswith("query.x: ")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda slot: slot.shell.run("true", timeout=0), "timeout = 0"),
        (lambda slot: slot.shell.run("true", output_limit=1 << 30), "output_limit = 1.07374e"),
        (lambda slot: slot.settle(timeout=1e6), "timeout = 1e"),
        (lambda slot: slot.settle(timeout=31), "timeout = 31"),
        (lambda slot: slot.settle(quiet=float("nan")), "quiet = nan"),
        (lambda slot: slot.launch("calc", timeout=-1), "timeout = -1"),
        (lambda slot: slot.ask("ping", timeout=601), "timeout = 601"),
        (lambda slot: slot.input.hold("a", 61), "hold: seconds = 61"),
    ],
)
def test_a_client_is_told_the_same(served: Callable[..., str], call: Callable[[RemoteSlot], object], said: str) -> None:
    with RemotePool([served()], TOKEN) as pool, pool.acquire() as slot, pytest.raises(InputError, match=said):
        call(slot)


@pytest.mark.parametrize("lease", [-1.0, float("inf"), 1e6])
def test_a_lease_that_cannot_be_is_bad_input_to_a_client(served: Callable[..., str], lease: float) -> None:
    with RemotePool([served()], TOKEN) as pool, pytest.raises(InputError, match="lease = "):
        pool.acquire(Guest(), lease=lease)


def test_arguments_within_their_bounds_are_passed_on_as_the_method_takes_them() -> None:
    taken = bounds.input_arguments("click", {"x": 1, "y": 2, "modifiers": ["ctrl"]})
    assert taken == {"x": 1, "y": 2, "button": 1, "count": 1, "modifiers": ["ctrl"]}
    assert bounds.input_arguments("hold", {"keys": "a", "seconds": 60}) == {"keys": "a", "seconds": 60.0}


@pytest.mark.parametrize("action", [HoldKey, Wait])
def test_whatever_one_request_may_wait_for_is_over_before_a_slot_has_been_silent_for_too_long(
    action: type[BaseModel],
) -> None:
    longest = max(getattr(bound, "le", 0) for bound in action.model_fields["seconds"].metadata)
    assert longest == wire.LONGEST_HOLD, "an action is carried out in one request"
    assert wire.LONGEST_HOLD + wire.LONGEST_SETTLE + 20 < SILENCE
