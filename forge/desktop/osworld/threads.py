"""The threads of one machine, so that what holds one up holds up neither its neighbours nor its own reset."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """Waits for blocking calls of four kinds, each in threads of its own."""

    def __init__(self) -> None:
        self._asking = ThreadPoolExecutor(16, thread_name_prefix="forge-osworld-ask")
        self._looking = ThreadPoolExecutor(4, thread_name_prefix="forge-osworld-look")
        self._reading = ThreadPoolExecutor(4, thread_name_prefix="forge-osworld-read")
        self._caring = ThreadPoolExecutor(1, thread_name_prefix="forge-osworld-care")

    async def ask(self, call: Callable[[], T]) -> T:
        """What the guest answers: it takes as long as the guest pleases, up to its limit."""
        return await _in(self._asking, call)

    async def look(self, call: Callable[[], T]) -> T:
        """What the host sees and does on the display by itself."""
        return await _in(self._looking, call)

    async def read(self, call: Callable[[], T]) -> T:
        """What the host reads of the home by itself: neither the worker nor a grabbed display holds it up."""
        return await _in(self._reading, call)

    async def care(self, call: Callable[[], T]) -> T:
        """Reset and end, by which all else is set free."""
        return await _in(self._caring, call)

    def later(self, call: Callable[[], object]) -> None:
        """Ask the guest and do not wait."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._asking.submit(call)

    def close(self) -> None:
        """Begin nothing more; what runs ends by itself once the machine is closed."""
        for pool in (self._asking, self._looking, self._reading, self._caring):
            pool.shutdown(wait=False, cancel_futures=True)


async def _in(pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, call)
