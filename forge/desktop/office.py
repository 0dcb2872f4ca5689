"""The office: real LibreOffice, headless in a box, that computes, converts and reads workbooks for us.

`Office` runs it; `OfficeClient` talks to it from any thread or process. Documents are untrusted: they are only ever
opened inside the box, with a time limit, without macros and without network; LibreOffice is replaced when it crashes.

What `TODAY()` and `NOW()` say is fixed by the client's `clock`, so that the same bytes give the same values.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
import threading
import time
from collections import OrderedDict
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from forge.records.base import JSON
from forge.records.errors import DesktopError, PreparerError
from forge.records.guest import Guest

if TYPE_CHECKING:
    import subprocess

    from forge.desktop.limits import Group
    from forge.desktop.sweep import Claim

_PATIENCE = 20.0  # seconds that an office may need to be back after its box died
_MEMORY_LIMIT = 64 << 20  # bytes of results that one process keeps
_VERSION = 2  # of how results are computed: raise it when what is kept must not be used again


class OfficeClient:
    """Asks an office. Cheap to make, safe in threads and after a fork; one connection a request.

    Args:
        address: the office's socket.
        clock: local wall time at which formulas like TODAY() are computed, ISO 8601; the default guest's if None.
        cache: folder that keeps results across processes, by content; none if None. Failures are never kept.
        timeout: seconds that one document may take.
        patience: seconds that an answer may take, with other people's documents before it; if None as long as four
            documents and two minutes.
    """

    def __init__(
        self,
        address: Path,
        *,
        clock: str | None = None,
        cache: Path | None = None,
        timeout: float = 60,
        patience: float | None = None,
    ):
        self.address = Path(address)
        self.clock = clock or Guest().clock
        self.cache = cache
        self.timeout = timeout
        self.patience = timeout * 4 + 120 if patience is None else patience

    def recalculate(self, data: bytes, suffix: str) -> bytes:
        """Load, recalculate everything, store in the same format.

        Args:
            data: the workbook.
            suffix: its format: ".xlsx" or ".ods" (also .xlsm, .xls, .fods, .csv, .tsv).

        Raises:
            PreparerError: the document is corrupt or too large; says what LibreOffice said.
            DesktopError: LibreOffice crashed, took too long, or is not running.
        """
        return self._ask("recalculate", data, suffix, "")

    def convert(self, data: bytes, source: str, target: str) -> bytes:
        """Load one format and store another, e.g. ".xlsx" to ".csv" (first sheet, values as shown), ".ods", ".pdf".

        Formulas are recalculated on load, as the guest's LibreOffice does. Raises as `recalculate`.
        """
        return self._ask("convert", data, source, target)

    def values(self, data: bytes, suffix: str) -> dict[str, dict[str, JSON]]:
        """Sheet name -> {"B7": value} of all cells that are not empty, after a hard recalculation.

        A value is a float, a str, a bool, or {"error": "#DIV/0!"}. Dates are LibreOffice's day numbers. Sheets keep
        their order. Raises as `recalculate`.
        """
        result: dict[str, dict[str, JSON]] = json.loads(self._ask("values", data, suffix, ""))
        return result

    def ping(self) -> bool:
        """Whether an office answers at the address."""
        try:
            return bool(self._send({"op": "ping"}, b"")[0].get("ok"))
        except DesktopError:
            return False

    def answer(self, operation: str, data: bytes, source: str, target: str) -> tuple[dict[str, Any], bytes]:
        """What the office says to a request, as it says it: from what is kept, where it was asked before.

        Args:
            operation: "values", "recalculate" or "convert".
            data: the document.
            source: its suffix.
            target: the suffix to convert to.

        Returns:
            (fields, result); the fields `error` and `message` say that there is no result.

        Raises:
            DesktopError: no office answers.
        """
        about = f"{_VERSION}\0{operation}\0{source}\0{target}\0{self.clock}\0".encode()
        key = hashlib.sha256(about + data).hexdigest()
        found = _kept.get(key)
        if found is None and self.cache is not None:
            found = _read(self.cache / key)
        if found is not None:
            _kept.put(key, found)
            return {}, found
        header = {"op": operation, "suffix": source, "target": target, "clock": self.clock, "timeout": self.timeout}
        answer, body = self._send(header, data)
        if "error" not in answer:
            _kept.put(key, body)
            if self.cache is not None:
                _write(self.cache / key, body)
        return answer, body

    def _ask(self, operation: str, data: bytes, source: str, target: str) -> bytes:
        answer, body = self.answer(operation, data, source, target)
        if "error" not in answer:
            return body
        message = f"{operation} of a {source} document of {len(data)} bytes: {answer['message']}"
        if answer["error"] == "document":
            raise PreparerError(message)
        if answer["error"] == "request":
            raise PreparerError(
                message, mend="use .xlsx, .xlsm, .xls, .ods, .fods, .csv, .tsv or, as a target, .pdf, .html"
            )
        raise DesktopError(message)

    def _send(self, header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        text = json.dumps({**header, "size": len(data)}).encode()
        deadline = time.monotonic() + _PATIENCE
        hung_up = 0
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    _connect(connection, self.address)
                    connection.settimeout(self.patience)
                    connection.sendall(struct.pack(">I", len(text)) + text)
                    connection.sendall(data)
                    (size,) = struct.unpack(">I", _receive(connection, 4))
                    answer = json.loads(_receive(connection, size))
                    return answer, _receive(connection, answer["size"])
            # its box is being restarted, or it is closed; a broken pipe: it ended before it had read the document
            except (FileNotFoundError, ConnectionRefusedError, BrokenPipeError) as error:
                reason = str(error)
                if not self.address.parent.exists() or time.monotonic() > deadline:
                    break
                time.sleep(0.05)
            except ConnectionError as error:  # it died under this document: once is bad luck, twice is the document
                reason, hung_up = str(error), hung_up + 1
                if hung_up == 2:
                    break
            except OSError as error:
                reason = str(error)
                break
        mend = "is its `Office` still open?"
        raise DesktopError(f"the office at {self.address} does not answer: {reason}", mend=mend)


class Office:
    """Runs LibreOffice in a box while the context is open.

    The box starts with the context (some 60 ms); LibreOffice itself starts at the first document.

    Args:
        root: FORGE_HOME; the settings' if None.
        workers: LibreOffice processes that work side by side.
        timeout: the most seconds that one document may take.
        memory_mb: limit of each process's private memory.
    """

    def __init__(self, *, root: Path | None = None, workers: int = 1, timeout: float = 120, memory_mb: int = 4096):
        self._root = root
        self._workers = workers
        self._timeout = timeout
        self._memory_mb = memory_mb
        self._claim: Claim | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._group: Group | None = None
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def address(self) -> Path:
        """The socket for clients. Raises DesktopError while the office is not open."""
        if self._claim is None:
            raise DesktopError("the office is not open", mend="use `with Office() as office:`")
        return self._claim.folder / "run" / "office.sock"

    @property
    def pid(self) -> int:
        """Host process id of the box. Raises DesktopError while the office is not open."""
        if self._process is None:
            raise DesktopError("the office is not open", mend="use `with Office() as office:`")
        return self._process.pid

    def client(self, *, clock: str | None = None, cache: Path | None = None) -> OfficeClient:
        """A client of this office."""
        return OfficeClient(self.address, clock=clock, cache=cache)

    def __enter__(self) -> Office:
        from forge.desktop.sweep import claim

        self._claim = claim("office", self._root)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        self._watcher = threading.Thread(target=self._watch, name="forge-office", daemon=True)
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the box and delete its folder."""
        from forge.desktop.spawn import stop

        self._closing.set()
        stop(self._process)
        if self._watcher is not None:
            self._watcher.join()
            stop(self._process)  # the watcher may just have started another
        if self._group is not None:
            self._group.close()
            self._group = None
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _start(self) -> None:
        from forge.desktop import inside, libreoffice
        from forge.desktop.box import BoxPlan, chown_home
        from forge.desktop.limits import Group, Limits
        from forge.desktop.spawn import start

        assert self._claim is not None
        folder = self._claim.folder
        for name in ("home", "run"):
            (folder / name).mkdir(exist_ok=True)
        chown_home(folder / "home")
        self.address.unlink(missing_ok=True)
        chown_home(folder / "run")
        script = Path(inside.__file__ or "").with_name("office_server.py").read_bytes()
        limits = Limits(memory_mb=(self._workers + 1) * self._memory_mb, process_memory_mb=self._memory_mb, tmp_mb=2048)
        if self._group is None:
            self._group = Group(limits, "office")
        plan = BoxPlan(
            home=folder / "home",
            binds={
                folder / "run": ("/run/office", True),
                libreoffice.template(): ("/opt/forge/profile", False),
            },
            files={"/opt/forge/office_server.py": script},
            env={"SAL_USE_VCLPLUGIN": "svp"},
            limits=limits,
            gate=True,
        )
        server = ["/usr/bin/python3", "-I", "/opt/forge/office_server.py", "/run/office/office.sock"]
        with ExitStack() as stack:
            command, fds = plan.command([*server, str(self._workers), str(self._timeout), "/opt/forge/profile"], stack)
            log = folder / "office.log"
            self._process = start(command, pass_fds=fds, log=log, admit=self._group.admit)
            deadline = time.monotonic() + 30
            while not self.address.exists():
                if self._process.poll() is not None or time.monotonic() > deadline:
                    said = log.read_text(errors="replace").strip()[-500:]
                    raise DesktopError(f"the office did not start: {said}", mend="run `forge doctor`")
                time.sleep(0.002)

    def _watch(self) -> None:
        """Start the box anew when it died under us."""
        while not self._closing.is_set():
            process = self._process
            if process is None:
                return
            process.wait()
            if self._closing.is_set():
                return
            try:
                self._start()
            except (DesktopError, OSError):  # a full disk, no more processes: it may be better soon
                self._closing.wait(1.0)


class _Kept:
    """Results by key, the least recently used forgotten first."""

    def __init__(self, limit: int):
        self._limit = limit
        self._size = 0
        self._items: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._renew)

    def get(self, key: str) -> bytes | None:
        with self._lock:
            data = self._items.get(key)
            if data is not None:
                self._items.move_to_end(key)
            return data

    def put(self, key: str, data: bytes) -> None:
        with self._lock:
            if key in self._items or len(data) > self._limit // 4:
                return
            self._items[key] = data
            self._size += len(data)
            while self._size > self._limit:
                self._size -= len(self._items.popitem(last=False)[1])

    def _renew(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it at the fork


_kept = _Kept(_MEMORY_LIMIT)


def _connect(connection: socket.socket, address: Path) -> None:
    """Connect, also where the path is longer than the 107 bytes that a socket address holds."""
    if len(os.fsencode(address)) < 104:
        connection.connect(str(address))
        return
    folder = os.open(address.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{address.name}")
    finally:
        os.close(folder)


def _receive(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(1 << 20, size - len(data)))
        if not piece:
            raise ConnectionError("the office hung up")
        data += piece
    return bytes(data)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # a cache that cannot be written is no cache, not an error
