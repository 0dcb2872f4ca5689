"""Entry point of the `forge` command: the command tree, and the one place where errors become exit codes.

Exit codes: 0 done; 1 done, but the result is not what was asked (a round that is short, a doctor that found a gap);
2 bad input; 3 the machine or a service failed; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys

import typer

from cli import (
    cost,
    desktop,
    doctor,
    export,
    grounding,
    llm,
    plan,
    regrade,
    rollout,
    round,
    show,
    skills,
    stats,
    tasks,
    train,
)

app = typer.Typer(
    name="forge",
    help="Synthesize verified computer-use tasks, play teachers on real desktops, train from the warehouse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Settings are FORGE_* variables or a forge.toml; `forge doctor` shows them.",
)
app.command("doctor")(doctor.doctor)
app.command("round")(round.round_)
app.add_typer(skills.app, name="skills")
app.add_typer(tasks.app, name="tasks")
app.add_typer(desktop.app, name="desktop")
app.command("rollout")(rollout.rollout)
app.command("regrade")(regrade.regrade)
app.add_typer(llm.app, name="llm")
app.command("stats")(stats.stats)
app.command("cost")(cost.cost)
app.command("plan")(plan.plan)
app.command("show")(show.show)
app.command("export")(export.export)
app.command("train")(train.train)
app.add_typer(grounding.app, name="grounding")


_PATH_ERRORS = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError)


def main() -> None:
    """Run the command line; errors that Forge raises on purpose are printed without a traceback."""
    from forge.records.errors import DesktopError, ForgeError, InputError, ModelError, WarehouseError

    try:
        app()
    except InputError as error:
        _fail(error, 2)
    except (DesktopError, ModelError, WarehouseError) as error:
        _fail(error, 3)
    except ForgeError as error:
        _fail(error, 1)
    except SystemExit as error:
        if error.code == 130:  # what typer makes of Ctrl-C
            from rounds.interrupts import LAST, say

            say(LAST)
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers"):
            raise
        _fail(ForgeError(f"{error.name} is not installed", mend="run `setup/install.sh test`"), 3)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _fail(ForgeError(str(error), mend="free some space, or write elsewhere"), 3)
        if error.filename is None or not isinstance(error, _PATH_ERRORS):
            raise
        where = " or ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        _fail(ForgeError(f"{where}: {error.strerror}", mend="name a place that can be read and written"), 2)


def _fail(error: Exception, code: int) -> None:
    from forge.records.printable import printable

    if os.environ.get("FORGE_TRACEBACK"):
        raise error
    print(printable(f"forge: {error}"), file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
