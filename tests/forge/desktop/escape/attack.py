"""What an attack is, the ground it is tried on, and the outcome of trying it with and without its protection.

An attack is tried twice: on the box as it is, and on the same box with the one protection taken away that stands against
it (for exhaustion: with a higher limit in its place). It must fail the first time and succeed the second time, so that the
test is known to bite.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forge.desktop import Completed, Layers, Slot, chown_home, run_boxed
from forge.desktop.files import restore, snapshot
from forge.desktop.limits import ONE_SHOT, SLOT, Limits
from forge.records import DesktopError

HIT = "HIT"
"""What a script prints when it got what it wanted, where that is not seen otherwise."""


@dataclass(frozen=True)
class Attack:
    """One way out.

    Args:
        name: short, unique.
        area: the table's chapter.
        where: what it is run from: "box", "shell", "terminal", "document", "copy", "state" or "grader".
        protection: what stands against it, for the table.
        run: tries it; whether it succeeded.
        weaken: a context in which that protection is missing.
        offered: whether this host has the protection at all.
        slow: whether it is left to the long tests.
    """

    name: str
    area: str
    where: str
    protection: str
    run: Callable[[Ground], bool]
    weaken: Callable[[Ground], AbstractContextManager[object]]
    offered: Callable[[], bool] = lambda: True
    slow: bool = False


@dataclass(frozen=True)
class Outcome:
    """Whether an attack succeeded against the box as it is, and without its protection."""

    attack: Attack
    held: bool
    bites: bool


class Ground:
    """Where one attack is tried once: a home, things on the host that are worth stealing, boxes and slots.

    Attributes:
        token: what is stolen: a random word.
        hidden: a folder of the host, open to everybody, with the file `secret` that holds the token.
        box_limits: what one-shot boxes may use.
        slot_limits: what slots may use.
        snapshot: how the home is copied out.
        restore: how it is laid out again from what was copied.
    """

    def __init__(self, folder: Path, stack: ExitStack):
        self.token = secrets.token_hex(8)
        self.folder = folder
        self.hidden = folder / "hidden"
        self.hidden.mkdir()
        self.hidden.chmod(0o777)
        self.secret = self.hidden / "secret"
        self.secret.write_text(self.token)
        self.home = folder / "home"
        self.home.mkdir()
        chown_home(self.home)
        self.box_limits: Limits = ONE_SHOT
        self.slot_limits: Limits = SLOT
        self.layers = Layers()
        self.snapshot = snapshot
        self.restore = restore
        self.stack = stack

    def box(self, script: str, *more: str, **options: object) -> Completed:
        """Run a Python script in a one-shot box."""
        options = {"timeout": 20, "layers": self.layers, "limits": self.box_limits, **options}
        return run_boxed(["/usr/bin/python3", "-c", script, *more], home=self.home, **options)  # type: ignore[arg-type]

    def hits(self, script: str, *more: str) -> bool:
        """Whether a script in a one-shot box prints the token or HIT."""
        said = self.box(script, *more).stdout.decode(errors="replace")
        return self.token in said or HIT in said.split()

    def open(self) -> Slot:
        """A slot, closed at the end of the attack."""
        return self.stack.enter_context(Slot.open(root=self.folder / "root", limits=self.slot_limits))

    @cached_property
    def slot(self) -> Slot:
        """The attacker's slot."""
        return self.open()

    def shell(self, script: str, *more: str, timeout: float = 20) -> str:
        """What a Python script says that is run by the agent's shell."""
        self.slot.lay([("~/attack.py", script.encode(), 0o644, False)])
        arguments = " ".join(f"'{each}'" for each in more)
        return self.slot.shell.run(f"python3 attack.py {arguments}", timeout=timeout).output

    def terminal(self, script: str, *more: str, timeout: float = 20) -> str:
        """What a Python script says that is typed into a terminal window."""
        slot = self.slot
        slot.lay([("~/attack.py", script.encode(), 0o644, False)])
        slot.launch("terminal")
        arguments = " ".join(f"'{each}'" for each in more)
        slot.input.type(f"python3 attack.py {arguments} > said 2>&1; touch finished\n")
        until((slot.home / "finished").exists, timeout)
        said = slot.home / "said"
        return said.read_text(errors="replace") if said.exists() else ""

    def serve(self, kind: int, address: object) -> Server:
        """A server of the host that gives the token to whoever connects."""
        return self.stack.enter_context(Server(kind, address, self.token))


class Server:
    """Listens on the host; `visits` is how often somebody came."""

    def __init__(self, kind: int, address: object, token: str):
        self.visits = 0
        self._token = token
        self._socket = socket.socket(kind, socket.SOCK_STREAM)
        self._socket.bind(address)  # type: ignore[arg-type]
        if isinstance(address, str) and address.startswith("/"):
            os.chmod(address, 0o777)
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        body = self._token
        answer = f"HTTP/1.0 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            with visitor:
                self.visits += 1
                visitor.settimeout(2)
                with contextlib.suppress(OSError):
                    visitor.sendall(answer.encode())
                    visitor.recv(4096)


def attempt(attack: Attack, *, weak: bool) -> bool:
    """Try an attack once on new ground; whether it succeeded."""
    folder = Path(tempfile.mkdtemp(prefix="forge-escape-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        with ExitStack() as stack:
            ground = Ground(folder, stack)
            with attack.weaken(ground) if weak else contextlib.nullcontext():
                try:
                    return attack.run(ground)
                finally:
                    stack.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def outcome(attack: Attack) -> Outcome:
    """Try it both ways."""
    return Outcome(attack, held=not attempt(attack, weak=False), bites=attempt(attack, weak=True))


def until(condition: Callable[[], bool], timeout: float = 10) -> bool:
    """Wait for a condition; whether it came true in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def survives(slot: Slot) -> bool:
    """Whether a slot still works."""
    try:
        slot.alive()
        return slot.shell.run("echo well", timeout=5).output.strip() == "well"
    except DesktopError:
        return False


@contextlib.contextmanager
def both(*contexts: AbstractContextManager[object]) -> Iterator[None]:
    """Several contexts as one."""
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield
