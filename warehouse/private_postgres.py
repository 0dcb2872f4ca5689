"""A private PostgreSQL server, for tests and benches: its own data folder, a Unix socket, no TCP, gone afterwards.

Not for keeping anything: it does not sync to disk. PostgreSQL refuses to run as root; then it runs as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from forge.records import WarehouseError

if TYPE_CHECKING:
    import psycopg

START_SECONDS, STOP_SECONDS = 60.0, 30.0

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "jit": "off",
    "logging_collector": "off",
}


class PrivatePostgres:
    """A running server; use it as a context manager, from the process's main thread.

    It dies with the process that started it, also when that is killed.

    Raises:
        WarehouseError: PostgreSQL is not installed or does not start; the message holds its log.
    """

    def __enter__(self) -> PrivatePostgres:
        self._bin = find_binaries()
        # Not below the temporary folder of a test: a socket's path has at most 107 characters.
        self._root = Path(tempfile.mkdtemp(prefix="forge-pg-"))
        self._databases = 0
        self._server: subprocess.Popen[bytes] | None = None
        try:
            self._as = _unprivileged(self._root)
            self._make_data()
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._server is not None:
                self._server.send_signal(signal.SIGQUIT)  # at once: there is nothing to keep
                self._server.wait(STOP_SECONDS)
        finally:
            shutil.rmtree(self._root, ignore_errors=True)

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database of this server."""
        return f"postgresql://forge@/{database}?host={quote(str(self._root), safe='')}"

    def new_database(self) -> str:
        """Create an empty database; returns its URL."""
        self._databases += 1
        name = f"warehouse_{self._databases}"
        with self._connect() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def _make_data(self) -> None:
        command = [
            *self._as, str(self._bin / "initdb"), "--pgdata", str(self._root / "data"), "--username", "forge",
            "--auth", "trust", "--no-sync", "--encoding", "UTF8", "--locale", "C.UTF-8",
        ]  # fmt: skip
        with self._log.open("ab") as log:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._root, check=False
            )
        if done.returncode != 0:
            raise self._failed("initdb failed")

    def _start(self) -> None:
        settings = {**_SETTINGS, "unix_socket_directories": str(self._root)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [*self._as, str(self._bin / "postgres"), "-D", str(self._root / "data"), *options]
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._root
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise self._failed("the server does not start")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        import psycopg

        try:
            self._connect().close()
            return True
        except psycopg.OperationalError:
            return False

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        return psycopg.connect(host=str(self._root), user="forge", dbname="postgres", autocommit=True)

    @property
    def _log(self) -> Path:
        return self._root / "log"

    def _failed(self, what: str) -> WarehouseError:
        said = self._log.read_text(errors="replace")[-2000:]
        return WarehouseError(f"PostgreSQL: {what}: {said}", mend="is there space in the temporary folder?")


def find_binaries() -> Path:
    """The folder with PostgreSQL's server programs: of PATH, of Debian, or what `pg_config` says.

    Raises:
        WarehouseError: there is none.
    """
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3]))
    if debian:
        return debian[-1].parent
    if shutil.which("pg_config") is not None:
        told = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False).stdout.strip()
        if told and (Path(told) / "initdb").exists():
            return Path(told)
    raise WarehouseError("PostgreSQL's server programs are not installed", mend="apt-get install postgresql")


def _unprivileged(root: Path) -> list[str]:
    """What to put before a command, so that it ends with us and does not run as root; that user gets the folder."""
    end_with_us = ["setpriv", "--pdeathsig", "QUIT"]
    if os.geteuid() != 0:
        return [*end_with_us, "--"]
    nobody = pwd.getpwnam("nobody")
    os.chown(root, nobody.pw_uid, nobody.pw_gid)
    return [*end_with_us, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--"]
