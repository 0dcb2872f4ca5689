"""A D-Bus client that asks many things at once.

The libraries at hand wait for each answer before they ask the next; a look at a window needs several hundred. Here
questions are queued and sent together, and a function takes each answer as it comes and may ask on, so that the
application is kept busy and a look takes as long as the application needs for its answers.

Wire format: D-Bus Specification, "Message Protocol". It does NOT cover: answers in big endian (taken for none: everybody
is on this machine), file descriptors, signals and calls to us (dropped).
"""

import collections
import os
import re
import select
import socket
import struct
import time

SILENCE = 2.0  # seconds without any answer after which whoever was asked is taken to be stuck
LONGEST = 15.0  # seconds for a look, after which whoever still owes an answer is taken to be stuck
REST = 1.0  # seconds that a look then still has for what it asks next, all in all
CALL, REPLY, ERROR = 1, 2, 3
NO_AUTO_START = 2  # a flag: the call itself starts no service
PATH, INTERFACE, MEMBER, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = 1, 2, 3, 5, 6, 7, 8
U32 = struct.Struct("<I")
HEADER = struct.Struct("<BBBBIII")
BUS_NAME = re.compile(r":[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[A-Za-z_-][A-Za-z0-9_-]*(\.[A-Za-z_-][A-Za-z0-9_-]*)+")
OBJECT_PATH = re.compile(r"/|(/[A-Za-z0-9_]+)+")
LARGEST = 1 << 20  # bytes of an answer; it may take a second to read, and a larger one is none
LONGEST_NAME, LONGEST_PATH = 255, 4096
RESERVED = "/org/freedesktop/DBus/Local"
RANGES = {"i": ("<i", -(1 << 31), (1 << 31) - 1), "u": ("<I", 0, (1 << 32) - 1)}


class BusError(Exception):
    """A call failed, was not answered in time, or the bus hung up."""


class Bus:
    """A connection to a message bus. Addresses are those with a socket's path (`unix:path=`, `unix:abstract=`).

    Raises OSError or BusError when the bus does not let us in within `patience` seconds for each step.
    """

    def __init__(self, address, patience=10):
        options = dict(part.split("=", 1) for part in address.split(";")[0].removeprefix("unix:").split(","))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(options["path"] if "path" in options else "\0" + options["abstract"])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        if not self._line().startswith(b"OK"):
            raise BusError("the bus does not know us")
        self.socket.sendall(b"BEGIN\r\n")
        self.socket.settimeout(None)
        self.serial = 0
        self.waiting = {}  # serial -> (destination, function)
        self.unsent = []
        self.heads = {}  # the unchanging parts of calls
        self.received = bytearray()
        self.skipping = 0  # bytes still to come of an answer that is too large
        self.stuck = set()
        self.until = self.last = float("inf")  # when the look under way has to be over, and when at the very last
        self.dropped = collections.deque()  # calls to those that are stuck: their functions are told so in turn
        self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")

    def close(self):
        """Hang up."""
        self.socket.close()

    def _line(self):
        line = b""
        while not line.endswith(b"\r\n"):
            piece = self.socket.recv(1)
            if not piece:
                raise BusError("the bus hung up")
            line += piece
        return line

    def post(self, destination, path, interface, member, then, signature="", body=b"", flags=0):
        """Queue a call; `then` is called with the answer's values, or with None when it failed.

        Args:
            destination, path: where to; a place where no call may go does not answer.
            signature: of the arguments.
            body: the arguments as they are on the wire, see `pack`.
            flags: NO_AUTO_START, or none.
        """
        if destination in self.stuck or not is_place(destination, path):
            self.dropped.append(then)
            return
        self.serial = self.serial % 0xFFFFFFFF + 1
        key = destination, interface, member, signature
        head = self.heads.get(key)
        if head is None:
            fields = b""
            for code, kind, value in (
                (DESTINATION, b"s", destination), (INTERFACE, b"s", interface), (MEMBER, b"s", member),
                (SIGNATURE, b"g", signature),
            ):  # fmt: skip
                if value:
                    fields += bytes(-len(fields) % 8) + bytes((code, 1)) + kind + b"\0" + pack(kind.decode(), value)
            head = self.heads[key] = fields + bytes(-len(fields) % 8)
        name = path.encode()
        fields = head + b"\1\1o\0" + U32.pack(len(name)) + name + b"\0"
        self.unsent.append(HEADER.pack(ord("l"), CALL, flags, 1, len(body), self.serial, len(fields)))
        self.unsent.append(fields + bytes(-len(fields) % 8) + body)
        self.waiting[self.serial] = destination, then

    def begin(self, longest=None):
        """From here on it is one look: however slowly somebody answers, it is over after `longest` seconds (`LONGEST` if None)
        or little more.

        All its runs together: whoever owes an answer then is taken to be stuck, and what is asked of the others
        from then on has `REST` more.
        """
        self.stuck.clear()
        self.until = time.monotonic() + (LONGEST if longest is None else longest)
        self.last = self.until + REST

    def run(self):
        """Send what is queued and take answers until none is outstanding."""
        self.stuck.clear()
        heard = time.monotonic()
        while self.waiting or self.dropped:
            while self.dropped:
                self.dropped.popleft()(None)
            if self.unsent:
                self._send()
            if not self.waiting:
                continue
            now = time.monotonic()
            ready, _, _ = select.select([self.socket], [], [], max(0, min(heard + SILENCE, self.until) - now))
            if ready and now < self.until:
                heard = now
                self._receive()
            else:  # an application that does not answer holds nobody else up
                self.stuck |= {destination for destination, _ in self.waiting.values()}
                self.dropped.extend(then for _, then in self.waiting.values())
                self.waiting.clear()
                self.until = min(max(self.until, now + REST), self.last)
                heard = now

    def call(self, destination, path, interface, member, signature="", body=b"", flags=0):
        """Call and wait for the answer's values. Raises BusError."""
        answer = []
        self.post(destination, path, interface, member, answer.append, signature, body, flags)
        self.run()
        if answer[0] is None:
            raise BusError(f"{destination} did not answer {interface}.{member}")
        return answer[0]

    def _send(self):
        data = memoryview(b"".join(self.unsent))
        self.unsent.clear()
        while data:
            # both ways at once: a bus with full hands takes no more until some is taken from it
            readable, writable, _ = select.select([self.socket], [self.socket], [], 10)
            if readable:
                self._read()
            if writable:
                data = data[self.socket.send(data[:65536], socket.MSG_DONTWAIT) :]
            if not readable and not writable:
                raise BusError("the bus takes nothing")

    def _read(self):
        piece = self.socket.recv(262144)
        if not piece:
            raise BusError("the bus hung up")
        skipped = min(self.skipping, len(piece))
        self.skipping -= skipped
        self.received += piece[skipped:]

    def _receive(self):
        self._read()
        data, start = bytes(self.received), 0
        while len(data) - start >= 16:
            order = "<" if data[start] == ord("l") else ">"
            _, kind, _flags, _version, length, _serial, fields = struct.unpack_from(order + "BBBBIII", data, start)
            body = start + 16 + fields + (-fields % 8)
            end = body + length
            too_large = end - start > LARGEST
            if len(data) < (min(body, start + LARGEST) if too_large else end):
                break
            if kind in (REPLY, ERROR) and body - start <= LARGEST:
                serial, signature = answer_fields(data[start + 16 : start + 16 + fields], order)
                _, then = self.waiting.pop(serial, (None, None))
                if then is not None:
                    none = kind == ERROR or order == ">" or too_large
                    then(None if none else unpack(signature, data[body:end]))
            start = end
        self.skipping += max(0, start - len(data))
        self.received = bytearray(data[start:])


def is_place(name, path):
    """Whether a call may go there. The bus hangs up on whoever sends one elsewhere, and it may be what a program told."""
    if len(name) > LONGEST_NAME or len(path) > LONGEST_PATH or path == RESERVED:
        return False
    return BUS_NAME.fullmatch(name) is not None and OBJECT_PATH.fullmatch(path) is not None


def answer_fields(data, order="<"):
    """Which call an answer answers, and the signature of its values."""
    serial, signature, at = 0, "", 0
    u32 = struct.Struct(order + "I")
    while at < len(data):
        code, kind = data[at], data[at + 2]
        at += 4
        if kind == 117:  # u
            (value,) = u32.unpack_from(data, at)
            at += 4
            if code == REPLY_SERIAL:
                serial = value
        elif kind == 103:  # g
            size = data[at]
            if code == SIGNATURE:
                signature = data[at + 1 : at + 1 + size].decode()
            at += size + 2
        else:  # s, o
            at += u32.unpack_from(data, at)[0] + 5
        at += -at % 8
    return serial, signature


def pack(signature, *values):
    """Arguments as they are on the wire; only for the types i, u, s, o, g. A number out of range becomes the nearest in it."""
    data = b""
    for kind, value in zip(signature, values, strict=True):
        if kind == "g":
            data += bytes((len(value),)) + value.encode() + b"\0"
            continue
        data += bytes(-len(data) % 4)
        if kind in "so":
            text = value.encode()
            data += U32.pack(len(text)) + text + b"\0"
        else:
            form, least, most = RANGES[kind]
            data += struct.pack(form, max(least, min(value, most)))
    return data


def unpack(signature, data):
    """The values of a message's body."""
    quick = QUICK.get(signature)
    if quick is not None:
        return quick(data)
    values, at, place = [], 0, 0
    while place < len(signature):
        value, at, place = read(signature, place, data, at)
        values.append(value)
    return values


FIXED = {
    "y": ("<B", 1), "b": ("<I", 4), "n": ("<h", 2), "q": ("<H", 2), "i": ("<i", 4), "u": ("<I", 4),
    "x": ("<q", 8), "t": ("<Q", 8), "d": ("<d", 8), "h": ("<I", 4),
}  # fmt: skip
QUICK = {
    "": lambda data: [],
    "u": lambda data: list(U32.unpack_from(data)),
    "i": lambda data: list(struct.unpack_from("<i", data)),
    "au": lambda data: [struct.unpack_from(f"<{U32.unpack_from(data)[0] // 4}I", data, 4)],
    "(iiii)": lambda data: [struct.unpack_from("<4i", data)],
    "s": lambda data: [data[4 : 4 + U32.unpack_from(data)[0]].decode("utf-8", "replace")],
}


def read(signature, place, data, at):
    """One value: it, the offset behind it, and the place in the signature behind its type."""
    kind = signature[place]
    if kind in FIXED:
        form, size = FIXED[kind]
        at += -at % size
        return struct.unpack_from(form, data, at)[0], at + size, place + 1
    if kind in "so":
        at += -at % 4
        size = U32.unpack_from(data, at)[0]
        return data[at + 4 : at + 4 + size].decode("utf-8", "replace"), at + size + 5, place + 1
    if kind == "g":
        size = data[at]
        return data[at + 1 : at + 1 + size].decode(), at + size + 2, place + 1
    if kind == "v":
        inner, at, _ = read("g", 0, data, at)
        value, at, _ = read(inner, 0, data, at)
        return value, at, place + 1
    if kind in "({":
        at += -at % 8
        values, place = [], place + 1
        while signature[place] not in ")}":
            value, at, place = read(signature, place, data, at)
            values.append(value)
        return tuple(values), at, place + 1
    if kind == "a":
        at += -at % 4
        end = at + 4 + U32.unpack_from(data, at)[0]
        at += 4
        after = behind(signature, place + 1)
        if signature[place + 1] in "({xtd":
            pad = -at % 8
            at, end = at + pad, end + pad
        values = []
        while at < end:
            value, at, _ = read(signature, place + 1, data, at)
            values.append(value)
        return values, at, after
    raise BusError(f"an answer of the unknown type {kind!r}")


def behind(signature, place):
    """The place behind one complete type."""
    if signature[place] == "a":
        return behind(signature, place + 1)
    if signature[place] in "({":
        place += 1
        while signature[place] not in ")}":
            place = behind(signature, place)
    return place + 1
