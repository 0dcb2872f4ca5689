"""A bad link: a TCP proxy that cuts connections, swallows requests and answers, and delays both."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from types import TracebackType


class LossyLink:
    """Forwards to a server, badly. Use it as a context manager.

    For each piece of data, with the given chance: the connection is reset before it is passed on (a lost request or
    answer, as the case may be), or it is swallowed and the connection goes dead for `dead` seconds before it is reset, or it
    comes late.

    Args:
        host: of the server.
        port: of the server.
        seed: of the chances.
        cut: chance of a reset for a piece.
        mute: chance that a piece is swallowed.
        late: chance that a piece is delayed by up to 0.2 s.
        dead: seconds that a swallowed connection stays open.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        seed: int = 1,
        cut: float = 0.1,
        mute: float = 0.0,
        late: float = 0.2,
        dead: float = 1.0,
    ):
        self._there = (host, port)
        self._random = random.Random(seed)
        self._cut, self._mute, self._late, self._dead = cut, mute, late, dead
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lossy-link")
        self._ready = threading.Event()
        self.url = ""
        self.lost_requests = 0
        self.lost_answers = 0

    def __enter__(self) -> LossyLink:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        other: asyncio.StreamWriter | None = None
        ways: list[asyncio.Task[None]] = []
        try:
            back, other = await asyncio.open_connection(*self._there)
            ways = [
                asyncio.ensure_future(self._forward(reader, other, "lost_requests")),
                asyncio.ensure_future(self._forward(back, writer, "lost_answers")),
            ]
            self._tasks.update(ways)
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass
        finally:
            for way in ways:
                way.cancel()
            self._tasks.difference_update(ways)
            for each in (writer, other):
                if each is not None:
                    _reset(each)
            self._tasks.discard(task)

    async def _forward(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, lost: str) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(1 << 16):
                chance = self._random.random()
                if chance < self._cut:
                    setattr(self, lost, getattr(self, lost) + 1)
                    return
                if chance < self._cut + self._mute:
                    setattr(self, lost, getattr(self, lost) + 1)
                    await asyncio.sleep(self._dead)
                    return
                if chance < self._cut + self._mute + self._late:
                    await asyncio.sleep(self._random.random() * 0.2)
                target.write(piece)
                await target.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset."""
    opened = writer.get_extra_info("socket")
    if opened is not None:
        with contextlib.suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
