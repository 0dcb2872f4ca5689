"""From a state that is graded: up to whoever grades, and through the grader to the host.

What native code in the library that reads an agent's file could do, a check of the tests does.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from unittest import mock

from forge.records import Criterion, Rubric, Verdict
from tests.forge.desktop.escape.attack import HIT, Attack, Ground
from tests.forge.desktop.escape.weaken import Weaken, patched, together
from verifiers.pool import _BOOT, GraderPool

SHADOW = "/etc/shadow"
_NAME = "FORGE_LLM_API_KEY"


def _grade(ground: Ground, does: str, to: str = "") -> Verdict:
    """The verdict of a turned grade."""
    for folder in ("before", "after"):
        (ground.folder / folder).mkdir()
    args = {"does": does, "to": to}
    rubric = Rubric(criteria=(Criterion(id="it", kind="must", check="escape.turned", args=args),))
    with mock.patch("sys.path", [str(Path(__file__).parent), *sys.path]):
        pool = GraderPool(1, preload=("turned_check",))
    with pool:
        return pool.grade(rubric, ground.folder / "before", ground.folder / "after")


def _reaches_parent(ground: Ground) -> bool:
    """Whether a turned grade runs code in the process that wants its verdict."""
    note = ground.folder / "note"
    _grade(ground, "write to parent", str(note))
    return note.exists() and note.read_text() == str(os.getpid())


def _gets(does: str, to: Callable[[Ground], str], what: Callable[[Ground], str]) -> Callable[[Ground], bool]:
    """Whether a turned grade gets hold of something."""
    return lambda ground: any(what(ground) in each.evidence for each in _grade(ground, does, to(ground)).criteria)


def _writes(ground: Ground) -> bool:
    planted = ground.hidden / "planted"
    _grade(ground, "write", str(planted))
    return planted.exists()


def _connects(ground: Ground) -> bool:
    server = ground.serve(socket.AF_INET, ("127.0.0.1", 0))
    return ground.token in str(_grade(ground, "connect", str(server.port)))


def _kills(ground: Ground) -> bool:
    return "is gone" in str(_grade(ground, "kill").error)


def _takes_key(ground: Ground) -> bool:
    with mock.patch.dict(os.environ, {_NAME: ground.token}):
        return ground.token in str(_grade(ground, "key", _NAME))


def _trusting_read(connection: Connection) -> tuple[str, str]:
    said = connection.recv_bytes()
    if said.startswith(b"["):
        return "ready", ""
    pickle.loads(said)
    return "error", ""


def _server(*changes: str) -> Weaken:
    """A server of graders in which some names mean something else."""
    imports = "import verifiers.serving as serving, forge.desktop.confinement as confinement; "
    code = imports + "".join(f"{change}; " for change in changes)
    return patched("verifiers.pool._BOOT", _BOOT.replace("; serve(", f"; {code}serve("))


NO_TREE = _server("confinement.Confinement.build = lambda self, tree: None")
NO_FILTER = "confinement._filter_calls = lambda: None"


def _attack(name: str, protection: str, run: Callable[[Ground], bool], weaken: Weaken, root: bool = False) -> Attack:
    def offered() -> bool:
        return not root or os.geteuid() == 0

    return Attack(name, "grading", "grader", protection, run, weaken, offered=offered)


ATTACKS = [
    _attack(
        "from a turned grade into its parent",
        "a grade holds no channel, and only text is taken from it",
        _reaches_parent,
        together(
            patched("verifiers.pool._read_answer", _trusting_read),
            _server("serving._close_all_but = lambda *kept: None"),
        ),
    ),
    _attack(
        "a turned grade reads a file of the host",
        "a grade has a tree of its own",
        _gets("read", lambda ground: str(ground.secret), lambda ground: ground.token),
        NO_TREE,
    ),
    _attack(
        "a turned grade reads the host's passwords",
        "a grade has a tree of its own",
        _gets("read", lambda ground: SHADOW, lambda ground: "root:"),
        NO_TREE,
        root=True,
    ),
    _attack("a turned grade writes a file of the host", "a grade has a tree of its own", _writes, NO_TREE),
    _attack(
        "a turned grade reaches a server of the host",
        "graders have a network of their own; system calls are filtered",
        _connects,
        _server("confinement._NEWNET = 0", NO_FILTER),
    ),
    _attack(
        "a turned grade kills its server",
        "a grade has processes of its own, and another user",
        _kills,
        _server(
            "confinement.Confinement.prepare = lambda self: None",
            "confinement.Confinement._drop_rights = lambda self: confinement.libc().prctl(38, 1, 0, 0, 0)",
        ),
        root=True,
    ),
    _attack(
        "a turned grade runs a command",
        "system calls are filtered",
        _gets("run", lambda ground: f"echo {HIT}", lambda ground: HIT),
        _server(NO_FILTER),
    ),
    _attack(
        "a turned grade reads the keys of its parent",
        "graders get a few variables of the environment",
        _takes_key,
        patched("verifiers.pool._environment", lambda: dict(os.environ)),
    ),
]
