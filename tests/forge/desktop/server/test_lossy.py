"""A link that loses requests and answers: nothing is done twice, nothing is left out, episodes end right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from forge.desktop import acting
from forge.desktop.acting import Settle
from forge.desktop.pool import SlotPool
from forge.desktop.remote import RemotePool
from forge.desktop.server.app import create_app
from forge.desktop.server.leases import Desk
from forge.desktop.server.running import Background
from forge.harness import OracleTeacher, SlotEnvironment, load_harness, play
from forge.records import DesktopError, EndedBy
from forge.records.action import Bash, Key, Type
from tests.forge.desktop.conftest import becomes
from tests.forge.desktop.server.conftest import TOKEN, FakePool
from tests.forge.desktop.server.lossy import LossyLink
from tests.forge.desktop.server.tasks import BOOK, task_with, value_of

QUICK = Settle(0.05, 0.03, 1.0)


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LossyLink]]:
    """Two servers of one slot each, and a bad link to each."""
    with ExitStack() as stack:
        found = []
        for number in (1, 2):
            pool = stack.enter_context(SlotPool(1, spares=0, root=tmp_path_factory.mktemp("server")))
            background = stack.enter_context(Background(create_app(Desk(pool, 1), TOKEN)))
            place = urlsplit(background.url)
            link = LossyLink(place.hostname or "", place.port or 0, seed=number, cut=0.08, late=0.1)
            found.append(stack.enter_context(link))
        yield found


@pytest.fixture
def lossy(links: list[LossyLink]) -> Iterator[RemotePool]:
    with RemotePool([link.url for link in links], TOKEN, patience=20) as pool:
        yield pool


@pytest.mark.desktop
def test_each_key_and_command_arrives_once(lossy: RemotePool, links: list[LossyLink]) -> None:
    """Keystrokes and commands are counted in files: all are there, in order, none twice."""
    expected = [str(number) for number in range(30)]
    with lossy.acquire() as slot:
        slot.launch("terminal")
        acting.act(slot, Type(text="cat > ~/typed\n"), settle=QUICK)
        for line in expected:
            acting.act(slot, Type(text=line), settle=None)
            acting.act(slot, Key(keys="Return"), settle=QUICK)
            acted = acting.act(slot, Bash(command=f"echo {line} >> ~/run"), settle=None)
            assert acted.exit_code == 0
        acting.act(slot, Key(keys="ctrl+d"), settle=QUICK)
        assert becomes(lambda: slot.read("~/typed").decode().count("\n") >= len(expected))
        assert slot.read("~/typed").decode().splitlines() == expected
        assert slot.read("~/run").decode().splitlines() == expected
    lost = [(link.lost_requests, link.lost_answers) for link in links]
    assert sum(requests for requests, _ in lost) > 0, lost
    assert sum(answers for _, answers in lost) > 0, lost


@pytest.mark.desktop
async def test_episodes_on_two_servers_at_once_end_right(
    lossy: RemotePool, workbook: bytes, put: Callable[[bytes], str], blobs: dict[str, bytes]
) -> None:
    async def episode(formula: str) -> tuple[str, object, str]:
        task = task_with("gui", [{"enter": {"cell": "E2", "text": formula}}, {"save": BOOK}])
        solution = task.solution("gui")
        assert solution is not None
        slot = await asyncio.to_thread(lossy.acquire, task.guest, [(BOOK, workbook, 0o644, False)])
        try:
            await asyncio.to_thread(slot.launch, "calc", BOOK)
            environment = SlotEnvironment(slot, put)
            teacher = OracleTeacher(solution, environment)
            trajectory = await play(task, load_harness("gui"), teacher, environment, put)
            environment.close()
            await asyncio.to_thread(slot.stop)
            state = await asyncio.to_thread(slot.snapshot, put)
        finally:
            await asyncio.to_thread(slot.close)
        assert (trajectory.ended_by, trajectory.error) == (EndedBy.DONE, None)
        return trajectory.done_status or "", value_of(state, blobs, "E2"), slot.url

    ended = await asyncio.gather(episode("=SUM(D2:D13)"), episode("=MAX(D2:D13)"))
    assert [each[:2] for each in ended] == [("success", "=SUM(D2:D13)"), ("success", "=MAX(D2:D13)")]
    assert len({each[2] for each in ended}) == 2, "both servers were used"


def test_a_dead_link_is_a_fault_and_the_slot_is_taken_back(served: Callable[..., str], fake_pool: FakePool) -> None:
    place = urlsplit(served(size=1, lease=1.0))
    with LossyLink(place.hostname or "", place.port or 0, cut=0.0, late=0.0) as link:
        pool = RemotePool([link.url], TOKEN, patience=0.5)
        slot = pool.acquire()
    with pytest.raises(DesktopError, match="out of reach"):
        slot.input.move(1, 1)
    slot._connection.patience = 0.1
    slot.close()
    pool.close()
    assert becomes(lambda: bool(fake_pool.slots[0].closed), 5)


def test_a_link_that_swallows_everything_for_a_while(
    served: Callable[..., str], fake_pool: FakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No reset, no end: only silence. The client gives a connection up and asks again on another."""
    import httpx

    short = httpx.Timeout(connect=1.0, read=0.6, write=1.0, pool=None)
    monkeypatch.setattr("forge.desktop.server.connection._TIMEOUT", short)
    monkeypatch.setattr("forge.desktop.server.connection._SLOW_READ", short)
    place = urlsplit(served(size=1))
    with LossyLink(place.hostname or "", place.port or 0, seed=3, cut=0.0, mute=0.3, dead=30.0) as link:
        with RemotePool([link.url], TOKEN, patience=10) as pool, pool.acquire() as slot:
            for number in range(6):
                slot.input.move(number, number)
        assert link.lost_requests + link.lost_answers > 0
    moves = [entry for entry in fake_pool.slots[0].log if entry[0] == "move"]
    assert moves == [("move", number, number) for number in range(6)]
