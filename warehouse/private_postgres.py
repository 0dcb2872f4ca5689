"""A private PostgreSQL server, for tests and benches: its own data folder, a Unix socket, no TCP, gone afterwards.

Not for keeping anything: it does not sync to disk. PostgreSQL refuses to run as root; then it runs as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from forge.records import WarehouseError

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
    """A running server; use it as a context manager.

    Raises:
        WarehouseError: PostgreSQL is not installed or does not start; the message holds its log.
    """

    def __enter__(self) -> PrivatePostgres:
        self._bin = find_binaries()
        # Not below the temporary folder of a test: a socket's path has at most 107 characters.
        self._root = Path(tempfile.mkdtemp(prefix="forge-pg-"))
        self._as = _unprivileged(self._root)
        self._databases = 0
        try:
            self._run("initdb", "--pgdata", str(self._data), "--username", "forge", "--auth", "trust", "--no-sync",
                      "--encoding", "UTF8", "--locale", "C.UTF-8")  # fmt: skip
            settings = [f"-c {name}={value}" if value else f"-c {name}=''" for name, value in _SETTINGS.items()]
            options = " ".join([*settings, f"-c unix_socket_directories={self._root}"])
            self._run("pg_ctl", "--pgdata", str(self._data), "--log", str(self._root / "log"), "--wait", "start",
                      "--options", options)  # fmt: skip
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if (self._data / "postmaster.pid").exists():
                self._run("pg_ctl", "--pgdata", str(self._data), "--mode", "immediate", "--wait", "stop")
        finally:
            shutil.rmtree(self._root, ignore_errors=True)

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database of this server."""
        return f"postgresql://forge@/{database}?host={quote(str(self._root), safe='')}"

    def new_database(self, template: str = "template1") -> str:
        """Create a database, empty or as a copy of `template` (that nobody is connected to); returns its URL."""
        import psycopg

        self._databases += 1
        name = f"warehouse_{self._databases}"
        with psycopg.connect(host=str(self._root), user="forge", dbname="postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return self.url(name)

    @property
    def _data(self) -> Path:
        return self._root / "data"

    def _run(self, program: str, *args: str) -> None:
        output = self._root / f"{program}.out"
        with output.open("wb") as file:  # never a pipe: the server would inherit it
            done = subprocess.run(
                [*self._as, str(self._bin / program), *args],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=self._root, check=False,
            )  # fmt: skip
        if done.returncode != 0:
            log = self._root / "log"
            said = output.read_text(errors="replace") + (log.read_text(errors="replace") if log.exists() else "")
            raise WarehouseError(f"{program} failed: {said[-2000:]}", mend="is there space in the temporary folder?")


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
    """What to put before a command, so that it does not run as root; the folder is given to that user."""
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    os.chown(root, nobody.pw_uid, nobody.pw_gid)
    if shutil.which("setpriv") is not None:
        return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    return ["runuser", "-u", "nobody", "--"]
