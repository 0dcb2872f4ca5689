"""What agents wrote, on a person's terminal."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable

from forge.records import DesktopError
from tests.forge.desktop.escape.attack import Attack, Ground
from tests.forge.desktop.escape.weaken import patched, together

SAY = r"print('\x1b]0;owned\x07 \x1b[2J \x9b2J \u202egnp.exe [red]warned[/red]')"
SEQUENCES = ("\x1b]0;", "\x1b[2J", "\x9b", "\u202e")


def _obeyed(show: Callable[[str], None]) -> Callable[[Ground], bool]:
    """Whether what a box said reaches the terminal as it is."""

    def run(ground: Ground) -> bool:
        said = ground.box(SAY).stdout.decode()
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            show(said)
        shown = out.getvalue() + error.getvalue()
        return any(sequence in shown for sequence in SEQUENCES)

    return run


def _table(said: str) -> None:
    from rounds.terminal import print_table

    print_table("Verdict", ["criterion", "evidence"], [("it", said)])


def _json(said: str) -> None:
    from rounds.terminal import print_json

    print_json({"error": said})


def _error(said: str) -> None:
    from cli.main import _fail

    with contextlib.suppress(SystemExit):
        _fail(DesktopError(f"the editor died: {said}"), 3)


def _same(text: str) -> str:
    return text


ATTACKS = [
    Attack(
        "terminal sequences in a table's cell",
        "printing",
        "box",
        "control characters are shown as escapes",
        _obeyed(_table),
        patched("rounds.terminal.printable", _same),
    ),
    Attack(
        "terminal sequences in JSON",
        "printing",
        "box",
        "control characters are shown as escapes",
        _obeyed(_json),
        patched("rounds.terminal._JSON_UNSAFE", re.compile("(?!)")),
    ),
    Attack(
        "terminal sequences in an error",
        "printing",
        "box",
        "control characters are shown as escapes",
        _obeyed(_error),
        together(patched("forge.records.printable.printable", _same)),
    ),
]
