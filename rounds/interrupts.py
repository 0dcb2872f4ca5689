"""Ctrl-C while a job runs: told at once, ended in order, and at once when it comes a second time.

At the first one the job is cancelled as `asyncio.run` does it: claims are given back and slots are closed; a walk, a probe
or a grading in a thread ends by itself before. The second one kills what was started and leaves like a `kill -9`,
which the next start tidies up. Not covered: SIGTERM, and jobs outside the main thread.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

from forge.desktop.health import below

T = TypeVar("T")

EXIT_CODE = 130
FIRST = "forge: stopping; what is under way comes to an end first (up to a minute), once more stops at once"
LAST = "forge: interrupted; finished work is kept, the same command goes on from here"


def run(job: Coroutine[Any, Any, T]) -> T:
    """Run a job as `asyncio.run` does, and tell of an interrupt when it comes. From then on the next one ends the process.

    Raises:
        KeyboardInterrupt: the job was interrupted, and has ended.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(job)  # somebody else sees to it, or it is ignored
    told = False

    async def whole() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal told
            told = True
            signal.signal(signal.SIGINT, at_once)
            say(FIRST)
            task.cancel()
            loop.call_soon_threadsafe(lambda: None)  # wakes the loop

        signal.signal(signal.SIGINT, stop)
        try:
            return await job
        finally:
            if not told:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        return asyncio.run(whole())
    except asyncio.CancelledError:
        if told:
            raise KeyboardInterrupt from None
        raise


def at_once(number: int, frame: FrameType | None) -> NoReturn:
    """A signal's handler that ends this process and all that it started, without tidying up."""
    for pid in reversed(below([os.getpid()])[1:]):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        say("\x1b[?25h", end="")  # bars hide the cursor
    say(LAST)
    os._exit(EXIT_CODE)


def say(line: str, end: str = "\n") -> None:
    """A line on standard error, also from a signal's handler, in the middle of another line's writing."""
    with suppress(OSError, RuntimeError):
        print(line, end=end, file=sys.stderr, flush=True)
