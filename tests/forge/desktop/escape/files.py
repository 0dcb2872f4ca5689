"""Out of the home: the host's files, devices and descriptors."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from unittest import mock

from forge.desktop import Layers
from tests.forge.desktop.escape.attack import Attack, Ground
from tests.forge.desktop.escape.weaken import instead, together, with_folder, writable

READ = "import sys; print(open(sys.argv[1]).read())"
WRITE = "import sys; open(sys.argv[1], 'w').write('mine')"
SEARCH = """
import os, sys
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/usr", "/dev")]
    for name in names:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path) and os.path.getsize(path) < 1000000:
                print(open(path, errors="replace").read())
        except OSError:
            pass
"""
PICKLE = """
import os, pickle, sys
class Payload:
    def __reduce__(self):
        return os.system, (f"echo mine > {sys.argv[1]}",)
open("result.pkl", "wb").write(pickle.dumps(Payload()))
pickle.load(open("result.pkl", "rb"))
"""
DEVICES = """
import os, stat
usual = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx"}
for name in os.listdir("/dev"):
    mode = os.lstat(f"/dev/{name}").st_mode
    if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and name not in usual:
        print("HIT")
        break
"""
DESCRIPTORS = """
import os
for number in range(3, 64):
    try:
        print(os.pread(number, 1000, 0).decode(errors="replace"))
    except OSError:
        pass
"""


def _writes(script: str, ground: Ground) -> bool:
    target = ground.hidden / "target"
    ground.box(script, str(target))
    return target.exists()


def _writes_layer(ground: Ground) -> bool:
    commands = ground.folder / "commands"
    commands.mkdir()
    commands.chmod(0o777)
    ground.layers = Layers(commands=(commands,))
    ground.box("open('/opt/forge/commands/0/git', 'w').write('mine')")
    return (commands / "git").exists()


def _finds_gold(ground: Ground) -> bool:
    return ground.token in ground.shell(SEARCH)


@contextlib.contextmanager
def _inherited(ground: Ground) -> Iterator[None]:
    """Every child inherits a descriptor of the secret."""
    start = subprocess.Popen
    secret = os.open(ground.secret, os.O_RDONLY)

    def popen(argv: list[str], **options: object) -> object:
        options["pass_fds"] = [*options.get("pass_fds", ()), secret]  # type: ignore[misc]
        return start(argv, **options)  # type: ignore[call-overload]

    try:
        with mock.patch("forge.desktop.box.subprocess.Popen", popen):
            yield
    finally:
        os.close(secret)


ATTACKS = [
    Attack(
        "read a file of the host",
        "files",
        "box",
        "only chosen folders are in the box",
        lambda ground: ground.hits(READ, str(ground.secret)),
        with_folder(writable=False),
    ),
    Attack(
        "write a file of the host",
        "files",
        "box",
        "only chosen folders are in the box",
        lambda ground: _writes(WRITE, ground),
        with_folder(writable=True),
    ),
    Attack(
        "search everything for gold",
        "files",
        "shell",
        "gold and hidden files are not in the box",
        _finds_gold,
        with_folder(writable=False),
    ),
    Attack(
        "plant a command in a layer",
        "files",
        "box",
        "layers are bound read-only",
        _writes_layer,
        writable("/opt/forge/commands/0"),
    ),
    Attack(
        "write by a pickle that is loaded",
        "files",
        "box",
        "what an agent left is run in a box only",
        lambda ground: _writes(PICKLE, ground),
        with_folder(writable=True),
    ),
    Attack(
        "see the host's devices",
        "files",
        "box",
        "a /dev of its own",
        lambda ground: ground.hits(DEVICES),
        together(instead(("--dev", "/dev"), ("--dev-bind", "/dev", "/dev")), instead(("--remount-ro", "/dev"), ())),
    ),
    Attack(
        "read through an inherited descriptor",
        "files",
        "box",
        "descriptors are not inherited",
        lambda ground: ground.hits(DESCRIPTORS),
        _inherited,
    ),
]
