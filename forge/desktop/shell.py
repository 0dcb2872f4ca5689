"""The persistent shell of a slot, for the `bash` tool. It runs inside the box, see `inside/shell.py`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from forge.desktop.channel import Channel

OUTPUT_LIMIT = 100_000
_GRACE = 30.0  # seconds beyond a command's own limit: interrupting, killing, starting a new shell


@dataclass(frozen=True)
class ShellResult:
    """What a command gave.

    `output` is stdout and stderr in the order they were written; of a long one the first and last part, with a line
    between that says how much was left out (`truncated`). `exit_code` is None when the time limit was reached
    (`timed_out`): the command was then interrupted or killed, the shell goes on. When the shell itself ended, a last
    line of the output says so and that a new one was started.
    """

    output: str
    exit_code: int | None
    timed_out: bool
    truncated: bool


class Shell:
    """Directory, variables and functions stay from command to command; stdin is empty; background jobs go on.

    Args:
        channel: leads to it.
        agents: makes a context in which each command of the agent's runs.
    """

    def __init__(self, channel: Channel, agents: Callable[[], AbstractContextManager[None]] = nullcontext):
        self._channel = channel
        self._agents = agents

    def run(
        self, command: str, timeout: float = 60, output_limit: int = OUTPUT_LIMIT, *, by_host: bool = False
    ) -> ShellResult:
        """Run a command in the shell.

        Args:
            command: any bash text, many lines too.
            timeout: seconds.
            output_limit: bytes of output kept.
            by_host: it is no command of the agent's, so that what breaks meanwhile is not the agent's doing. It leaves
                nothing running.

        Raises:
            DesktopError: the box is broken. A command that fails, or kills its own shell, is no error.
        """
        with nullcontext() if by_host else self._agents():
            answer = self._channel.ask(
                "run", timeout=timeout + _GRACE, command=command, limit=output_limit, seconds=timeout
            )
        output: str = answer["output"]
        if answer["note"]:
            output = f"{output.rstrip()}\n{answer['note']}\n".lstrip("\n")
        return ShellResult(output, answer["code"], answer["timed_out"], answer["truncated"])

    def restart(self) -> None:
        """End the shell and all it started, and start a new one in the home."""
        with self._agents():
            self._channel.ask("restart", timeout=_GRACE)
