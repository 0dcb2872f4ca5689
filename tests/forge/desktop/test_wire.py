"""The D-Bus client inside the box, against a real bus: many questions at once, and none waits for one that is stuck."""

from __future__ import annotations

import contextlib
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forge.desktop.inside import wire

DBUS = "org.freedesktop.DBus"
ASK = (DBUS, "/org/freedesktop/DBus", DBUS)
Connect = Callable[[str], wire.Bus]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A message bus of its own."""
    place = f"unix:path={tmp_path}/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={place}", "--print-address=1"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    yield process.stdout.readline().decode().strip()
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def connect(address: str) -> Iterator[Connect]:
    """Connections, each with a name of its own; what the bus says about names has been read from them."""
    with contextlib.ExitStack() as stack:

        def connected(name: str) -> wire.Bus:
            bus = stack.enter_context(contextlib.closing(wire.Bus(address)))
            bus.call(*ASK, "RequestName", "su", wire.pack("su", name, 0))
            bus.call(*ASK, "NameHasOwner", "s", wire.pack("s", name))
            return bus

        yield connected


def test_many_questions_are_answered_in_order(connect: Connect) -> None:
    bus, answers = connect("a.Asker"), []
    for _ in range(500):
        bus.post(*ASK, "NameHasOwner", answers.append, "s", wire.pack("s", DBUS))
        bus.post(*ASK, "GetNameOwner", answers.append, "s", wire.pack("s", "no.such.name"))
    bus.run()
    assert answers == [[1], None] * 500
    (names,) = bus.call(*ASK, "ListNames")
    assert DBUS in names


def test_one_that_does_not_answer_is_given_up_and_the_others_are_not(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SILENCE", 0.2)
    bus, name, answers = connect("a.Asker"), "a.Silent", {}
    connect(name)

    def then(value: Any) -> None:
        answers["silent"] = value
        bus.post(name, "/", "a.b", "Again", lambda again: answers.update(again=again))

    bus.post(name, "/", "a.b", "C", then)
    bus.post(*ASK, "NameHasOwner", lambda value: answers.update(bus=value), "s", wire.pack("s", DBUS))
    bus.run()
    assert answers == {"silent": None, "bus": [1], "again": None}
    with pytest.raises(wire.BusError, match=r"did not answer a\.b\.C"):
        bus.call(name, "/", "a.b", "C")
    assert bus.call(*ASK, "NameHasOwner", "s", wire.pack("s", DBUS)) == [1]


def test_one_that_answers_slowly_without_end_is_given_up_and_the_others_are_not(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "LONGEST", 0.5)
    bus, slow, answers = connect("a.Asker"), connect("a.Slow"), []
    slow.socket.settimeout(0.05)
    ended = threading.Event()

    def reply() -> None:
        while not ended.wait(0.01):
            with contextlib.suppress(TimeoutError):
                _, _, _, _, _, serial, _ = wire.HEADER.unpack_from(slow.socket.recv(65536))
                head = b"\5\1u\0" + wire.U32.pack(serial) + b"\6\1s\0" + wire.pack("s", "a.Asker")
                slow.socket.sendall(wire.HEADER.pack(ord("l"), 2, 0, 1, 0, 9, len(head)) + head + bytes(-len(head) % 8))

    def again(value: Any) -> None:
        answers.append(value)
        if value is None:
            bus.post(*ASK, "NameHasOwner", answers.append, "s", wire.pack("s", DBUS))
        else:
            bus.post("a.Slow", "/", "a.b", "C", again)

    thread = threading.Thread(target=reply)
    thread.start()
    bus.begin()
    again([])
    bus.run()
    ended.set()
    thread.join()
    assert len(answers) > 3
    assert answers[-2:] == [None, [1]]


def test_who_was_stuck_is_asked_again_in_the_next_look(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "SILENCE", 0.2)
    bus, name, answers = connect("a.Asker"), "a.Late", []
    late = connect(name)
    bus.post(name, "/", "a.b", "C", answers.append)
    bus.run()
    late.socket.settimeout(10)
    assert late.socket.recv(65536)
    late.socket.settimeout(2)
    bus.begin()
    bus.post(name, "/", "a.b", "C", answers.append)
    bus._send()
    assert late.socket.recv(1)
    assert answers == [None]


def test_a_look_of_many_questions_ends_too(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SILENCE", "LONGEST", "REST"):
        monkeypatch.setattr(wire, name, 0.2)
    bus = connect("a.Asker")
    connect("a.Silent")
    bus.begin()
    began = time.monotonic()
    for _ in range(300):
        bus.post("a.Silent", "/", "a.b", "C", [].append)
        bus.run()
    assert time.monotonic() - began < 30  # each for itself it would be a minute
    bus.begin()
    assert bus.call(*ASK, "NameHasOwner", "s", wire.pack("s", DBUS)) == [1]


@pytest.mark.parametrize(
    "place",
    [("", "/"), ("a", "/"), (":1.", "/"), ("a.1b", "/"), ("é.b", "/"), ("a.b\n", "/"), ("a." + "b" * 300, "/")]
    + [(":1.0", path) for path in ("", "x", "/a/", "/a\n", "/" + "a" * 5000, "/org/freedesktop/DBus/Local")],
)
def test_where_no_call_may_go_nobody_answers_and_the_bus_does_not_hang_up(
    connect: Connect, place: tuple[str, str]
) -> None:
    bus, answers = connect("a.Asker"), []
    bus.post(*place, "a.b", "C", answers.append)
    bus.run()
    assert answers == [None]
    assert bus.call(*ASK, "NameHasOwner", "s", wire.pack("s", DBUS)) == [1]


@pytest.mark.parametrize("large", ["body", "head"])
def test_an_answer_that_is_too_large_is_none_and_the_next_one_is_read(large: str) -> None:
    size = 8 * wire.LARGEST
    fields = b"\5\1u\0" + wire.U32.pack(3) + (bytes(size) if large == "head" else b"")
    first = wire.HEADER.pack(ord("l"), wire.REPLY, 0, 1, size if large == "body" else 0, 1, len(fields))
    first += fields + bytes(size if large == "body" else 0)
    second = b"\5\1u\0" + wire.U32.pack(4) + b"\x08\1g\0\1u\0\0"
    second = wire.HEADER.pack(ord("l"), wire.REPLY, 0, 1, 4, 2, len(second)) + second + wire.U32.pack(7)
    ours, theirs = socket.socketpair()
    bus, answers = wire.Bus.__new__(wire.Bus), {}
    bus.socket, bus.received, bus.skipping = ours, bytearray(), 0
    bus.waiting = {number: (":1.1", partial(answers.__setitem__, number)) for number in (3, 4)}
    sending = threading.Thread(target=theirs.sendall, args=(first + second,))
    sending.start()
    most = 0
    while 4 not in answers:
        bus._receive()
        most = max(most, len(bus.received))
    sending.join()
    assert answers == ({3: None, 4: [7]} if large == "body" else {4: [7]})
    assert most < 2 * wire.LARGEST
    ours.close()
    theirs.close()


@pytest.mark.parametrize(("order", "expected"), [("<", [7]), (">", None)])
def test_an_answer_in_the_other_byte_order_is_none(order: str, expected: list[int] | None) -> None:
    number = struct.Struct(order + "I").pack
    fields = b"\5\1u\0" + number(3) + b"\x08\1g\0\1u\0\0" + b"\6\1s\0" + number(4) + b":1.1\0"
    head = struct.pack(order + "BBBBIII", ord("l" if order == "<" else "B"), wire.REPLY, 0, 1, 4, 1, len(fields))
    ours, theirs = socket.socketpair()
    bus, answers = wire.Bus.__new__(wire.Bus), []
    bus.socket, bus.received, bus.skipping, bus.waiting = ours, bytearray(), 0, {3: (":1.1", answers.append)}
    theirs.sendall(head + fields + bytes(-len(fields) % 8) + number(7))
    bus._receive()
    assert (answers, bytes(bus.received)) == ([expected], b"")
    ours.close()
    theirs.close()


def test_values_are_read_as_the_specification_lays_them_out() -> None:
    reference = wire.pack("s", ":1.1") + b"\0" * 3 + wire.pack("o", "/a")
    items = struct.pack("<II", len(reference), 0) + reference
    assert wire.unpack("a(so)", items) == [[(":1.1", "/a")]]
    assert wire.unpack("(iiii)", struct.pack("<4i", 1, -2, 3, 4)) == [(1, -2, 3, 4)]
    assert wire.unpack("v", b"\1s\0\0" + wire.pack("s", "é")) == ["é"]
    assert wire.unpack("a{yv}", struct.pack("<II", 8, 0) + b"\7\1i\0" + struct.pack("<i", 9)) == [[(7, 9)]]
    assert wire.unpack("au", struct.pack("<III", 8, 5, 6)) == [(5, 6)]
    assert wire.unpack("yx", b"\1" + b"\0" * 7 + struct.pack("<q", -1)) == [1, -1]
    assert wire.pack("iu", 1 << 40, -1) == struct.pack("<iI", (1 << 31) - 1, 0)
    assert wire.pack("ius", -1, 2, "ab") == struct.pack("<iII", -1, 2, 2) + b"ab\0"
