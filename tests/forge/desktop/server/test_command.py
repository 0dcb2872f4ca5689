"""`forge desktop`: a server as a process of its own, that ends cleanly; in network namespaces, over links that lose data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from forge.desktop.remote import RemotePool
from forge.records import DesktopError
from tests.forge.desktop.conftest import becomes, processes
from tests.forge.desktop.server.lossy import LossyLink
from tests.forge.desktop.server.tasks import BOOK

ROOT = Path(__file__).parents[4]


@contextmanager
def forge(folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """The `forge desktop` command in a process of its own, its output in a file below its home."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "FORGE_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    environment.pop("FORGE_DESKTOP_TOKEN", None)
    code = "from cli.main import main; main()"
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-c", code, "desktop", *arguments],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, cwd=ROOT,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
        if process.poll() is None:
            process.kill()
            process.wait()


def answers(url: str, path: str = "/v1/health") -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(url + path, timeout=5).status_code == 200
    return False


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.desktop
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_cleanly(tmp_path: Path, how: signal.Signals) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with forge(tmp_path, "serve", "--slots", "1", "--spares", "0", "--port", str(port)) as process:
        assert becomes(lambda: answers(url), 30), (tmp_path / "said").read_text()
        token = (tmp_path / "home/desktop-token").read_text().strip()
        pool = RemotePool([url], token, patience=1)
        slot = pool.acquire()
        slot.launch("editor")
        mark = str(tmp_path / "home/slots")
        assert list((tmp_path / "home/slots").glob("slot-*"))
        process.send_signal(how)
        assert process.wait(30) == 0
        with pytest.raises(DesktopError):
            slot.screenshot()
        slot._connection.patience = 0.1
        slot.close()
        pool.close()
    said = (tmp_path / "said").read_text()
    assert said.endswith("closed\n")
    assert token not in said
    assert "Traceback" not in said
    assert list((tmp_path / "home/slots").glob("slot-*")) == []
    assert processes(mark) == []


@pytest.mark.desktop
def test_osworlds_protocol_is_for_this_machine_only(tmp_path: Path) -> None:
    with forge(tmp_path, "serve", "--osworld", "--host", "0.0.0.0") as process:
        assert process.wait(30) == 2
    assert "asks nobody for a token" in (tmp_path / "said").read_text()


@pytest.mark.desktop
def test_two_machines_on_two_ports(tmp_path: Path) -> None:
    first = free_port()
    ports = (first, first + 1)
    arguments = ("serve", "--osworld", "--slots", "2", "--port", str(first), "--screen", "1024x768")
    with forge(tmp_path, *arguments) as process:
        for port in ports:
            assert becomes(lambda port=port: answers(f"http://127.0.0.1:{port}", "/platform"), 40)  # type: ignore[misc]
            size = httpx.post(f"http://127.0.0.1:{port}/screen_size").json()
            assert size == {"width": 1024, "height": 768}
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert list((tmp_path / "home/slots").glob("slot-*")) == []


@pytest.mark.desktop
def test_a_running_slot_is_recorded_by_another_process(tmp_path: Path) -> None:
    from forge.desktop import Slot

    film = tmp_path / "film.mp4"
    with Slot.open(root=tmp_path / "home"):
        with forge(tmp_path, "record", str(film), "--seconds", "1") as process:
            assert process.wait(40) == 0, (tmp_path / "said").read_text()
    assert film.read_bytes()[4:8] == b"ftyp"


@pytest.mark.desktop
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_desktop_is_shown_and_recorded_until_the_end(tmp_path: Path, how: signal.Signals) -> None:
    film = tmp_path / "session.mp4"
    with forge(tmp_path, "open", "editor", "--record", str(film)) as process:
        said = lambda: (tmp_path / "said").read_text()
        assert becomes(lambda: "http://127.0.0.1:" in said(), 40), said()
        address = said().split()[-1]
        assert httpx.get(address).status_code == 200
        process.send_signal(how)
        assert process.wait(30) == 0
    assert film.read_bytes()[4:8] == b"ftyp"
    assert list((tmp_path / "home/slots").glob("slot-*")) == []


@pytest.mark.desktop
def test_a_file_of_this_machine_is_opened_beside_others(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    (tmp_path / "other.bin").write_bytes(bytes(range(256)))
    arguments = ("open", "editor", str(tmp_path / "note.txt"), "--file", str(tmp_path / "other.bin"))
    with forge(tmp_path, *arguments):
        said = lambda: (tmp_path / "said").read_text()
        assert becomes(lambda: "http://127.0.0.1:" in said(), 40), said()  # only once its window has shown note.txt
        (folder,) = (tmp_path / "home/slots").glob("slot-*/home/Documents")
        found = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert found == {"note.txt": b"mine", "other.bin": bytes(range(256))}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("calc", "~/Documents/x.csv"), "'~/Documents/x.csv' is not in the new desktop's home"),
        (("calc", "~/Documents/x.csv", "--file", "there/a.txt"), "'~/Documents/x.csv' is not in the new desktop's"),
        (("calc", "absent.csv"), "'absent.csv' does not exist on this machine"),
        (("files", "there"), "'there' is a folder"),
        (("clac",), "no application is called 'clac'"),
        (("--file", "absent.csv"), "'absent.csv' does not exist on this machine"),
        (("--record", "absent/a.mp4"), "absent/a.mp4 cannot be written: No such file or directory"),
        (("--file", "there/a.txt", "--file", "here/a.txt"), "two files are called a.txt: there/a.txt and here/a.txt"),
    ],
)
def test_what_cannot_be_opened_is_refused_before_there_is_a_desktop(
    tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    command = [sys.executable, "-c", "from cli.main import main; main()", "desktop", "open", *arguments]
    environment = {**os.environ, "FORGE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert "mend: " in done.stderr
    assert not (tmp_path / "home").exists()


def test_what_a_desktop_is_given_lies_in_its_documents(tmp_path: Path) -> None:
    from cli.desktop import from_here

    book, note = tmp_path / "b.ods", tmp_path / "n.txt"
    for file in (book, note):
        file.write_bytes(b"")
    laid = {"~/Documents/b.ods": book, "~/Documents/n.txt": note}
    assert from_here(str(note), [book]) == ("~/Documents/n.txt", laid)
    assert from_here("~/Documents/b.ods", [book, note]) == ("~/Documents/b.ods", laid)
    assert from_here("~/Documents/", [book, note]) == ("~/Documents", laid)
    assert from_here(str(book), [book, note]) == ("~/Documents/b.ods", laid)
    assert from_here("~/.gtkrc-2.0", []) == ("~/.gtkrc-2.0", {})
    assert from_here(None, []) == (None, {})
    for home in ("~", "~/"):
        assert from_here(home, [book]) == (None, {"~/Documents/b.ods": book})


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, stdin=subprocess.DEVNULL, capture_output=True)


@contextmanager
def namespace(name: str, number: int) -> Iterator[str]:
    """A network namespace with a veth pair to it; the address of its end."""
    ours, theirs, net = f"{name}-a", f"{name}-b", f"10.213.{number}"
    with ExitStack() as stack:
        _ip("netns", "add", name)
        stack.callback(_ip, "netns", "del", name)
        _ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
        _ip("link", "set", theirs, "netns", name)
        _ip("addr", "add", f"{net}.1/24", "dev", ours)
        _ip("link", "set", ours, "up")
        _ip("-n", name, "addr", "add", f"{net}.2/24", "dev", theirs)
        _ip("-n", name, "link", "set", theirs, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield f"{net}.2"


def can_make_namespaces() -> bool:
    """Whether this machine lets us make network namespaces and links into them."""
    if os.geteuid() != 0:
        return False
    with suppress(OSError, subprocess.CalledProcessError), namespace(f"fgx{os.getpid() % 10000}", 254):
        return True
    return False


@pytest.mark.slow
@pytest.mark.desktop
def test_two_servers_behind_lossy_links(tmp_path: Path, workbook: bytes, put: Callable[[bytes], str]) -> None:
    """Two servers, each in a network namespace of its own where the machine allows it, else beside each other; a link to
    each that cuts connections and swallows data. Keys are counted, files come back whole.
    """
    apart = can_make_namespaces()
    with ExitStack() as stack:
        links = []
        for number in (1, 2):
            name = f"fg{os.getpid() % 10000}n{number}"
            address = stack.enter_context(namespace(name, number)) if apart else "127.0.0.1"
            prefix = ("ip", "netns", "exec", name) if apart else ()
            port = 8765 if apart else free_port()
            folder = tmp_path / str(number)
            (folder).mkdir()
            (folder / "token").write_text("the-same-token")
            arguments = ("serve", "--slots", "1", "--spares", "0", "--port", str(port), "--host", address)
            stack.enter_context(forge(folder, *arguments, "--token-file", str(folder / "token"), prefix=prefix))
            assert becomes(lambda a=address, p=port: answers(f"http://{a}:{p}"), 40), (folder / "said").read_text()  # type: ignore[misc]
            place = urlsplit(f"http://{address}:{port}")
            link = LossyLink(place.hostname or "", place.port or 0, seed=number, cut=0.06, mute=0.01, dead=20)
            links.append(stack.enter_context(link))
        pool = stack.enter_context(RemotePool([link.url for link in links], "the-same-token", patience=60))
        slots = [stack.enter_context(pool.acquire(files=[(BOOK, workbook, 0o644, False)])) for _ in links]
        assert len({slot.url for slot in slots}) == 2
        for slot in slots:
            slot.launch("terminal")
            slot.input.type("cat > ~/typed\n")
        expected = [f"{number}" for number in range(40)]
        for line in expected:
            for slot in slots:
                slot.input.type(line + "\n")
                assert slot.shell.run(f"echo {line} >> ~/run").exit_code == 0
        for slot in slots:
            slot.input.key("ctrl+d")
            deadline = time.monotonic() + 20
            while slot.read("~/typed").count(b"\n") < len(expected) and time.monotonic() < deadline:
                time.sleep(0.2)
            assert slot.read("~/typed").decode().splitlines() == expected
            slot.stop()
            state = slot.snapshot(put)
            assert {entry.path for entry in state.entries} >= {BOOK, "~/typed", "~/run"}
            assert slot.read("~/run").decode().splitlines() == expected
            assert slot.read(BOOK) == workbook
        assert all(link.lost_requests + link.lost_answers > 0 for link in links)
