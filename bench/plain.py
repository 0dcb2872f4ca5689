"""The plain start that slots are measured against: Xvfb, openbox, a session bus, the application, as one would by hand.

It is ready when a slot would call it ready: its window is there, its contents are on the accessibility bus, the screen
stands still. There is no box, no supervisor, no cookie, no guest clock, and every program runs with its own defaults.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from forge.desktop import inside, libreoffice
from forge.desktop.settle import Settler
from forge.desktop.windows import Windows
from forge.records import DesktopError, Guest

PROFILE = ".thunderbird/alex.default"
_PATIENCE = 120.0  # seconds
THUNDERBIRD = "/usr/lib/thunderbird/thunderbird"
_START = """
import subprocess, sys, time
sys.path.insert(0, sys.argv[1])
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.Popen(["/usr/libexec/at-spi-bus-launcher", "--launch-immediately", "--a11y=1"], **quiet)
subprocess.Popen(sys.argv[3:], **quiet)
from access import BusError, Sheets, tree
sheets = Sheets()
def ready():
    if sys.argv[2] == "calc":
        return sheets.cell("soffice", 0, 0)
    nodes = [node for app in tree("thunderbird", menus=False) for node in app["nodes"]]
    return any(node["role"] == "tree item" and node["box"] and node["box"][2] > 0 for node in nodes)
until = time.monotonic() + 120
while True:
    if time.monotonic() > until:
        sys.exit("not ready in time")
    try:
        if ready():
            break
    except BusError:
        pass
    time.sleep(0.02)
print("ready", flush=True)
time.sleep(60)
"""


class _Screen:
    """An X server and a window manager as they come."""

    def __init__(self, folder: Path):
        self.cookie = folder / "cookie"
        ready, told = os.pipe()
        size = f"{Guest().width}x{Guest().height}x24"
        self._started = [_quiet(["Xvfb", "-displayfd", str(told), "-screen", "0", size, "-ac"], {}, told)]
        os.close(told)
        with open(ready) as pipe:
            self.name = f":{pipe.readline().strip()}"
        fields = (b"", self.name[1:].encode(), b"MIT-MAGIC-COOKIE-1", b"unasked")  # or the library warns
        self.cookie.write_bytes(b"\xff\xff" + b"".join(struct.pack(">H", len(field)) + field for field in fields))
        watch = self.connect()
        self._started.append(_quiet(["openbox", "--sm-disable"], {"DISPLAY": self.name, "HOME": str(folder)}))
        check = watch.intern_atom("_NET_SUPPORTING_WM_CHECK")
        while watch.screen().root.get_full_property(check, 0) is None:
            time.sleep(0.005)
        watch.close()

    def connect(self) -> Any:
        from Xlib import display

        os.environ["XAUTHORITY"] = str(self.cookie)
        try:
            return display.Display(self.name)
        finally:
            del os.environ["XAUTHORITY"]

    def alive(self) -> None:
        assert all(process.poll() is None for process in self._started)

    def close(self) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()
        Path(f"/tmp/.X11-unix/X{self.name[1:]}").unlink(missing_ok=True)


def _quiet(argv: Sequence[str], env: dict[str, str], *descriptors: int) -> subprocess.Popen[bytes]:
    null = subprocess.DEVNULL
    return subprocess.Popen(argv, env={**os.environ, **env}, pass_fds=descriptors, stdin=null, stdout=null, stderr=null)


def calc(data: bytes) -> float:
    """Seconds until LibreOffice shows a workbook."""
    with _home() as home:
        shutil.copytree(libreoffice.template(), home / libreoffice.PROFILE)
        (home / "book.xlsx").write_bytes(data)
        book = str(home / "book.xlsx")
        return _start(home, "calc", "book.xlsx", [libreoffice.SOFFICE, "--norestore", "--nologo", "--calc", book])


def thunderbird() -> float:
    """Seconds until Thunderbird shows the folders of `mail_profile`."""
    with _home() as home:
        for path, content, _, _ in mail_profile(str(home)):
            (home / path[2:]).parent.mkdir(parents=True, exist_ok=True)
            (home / path[2:]).write_bytes(content)
        argv = [THUNDERBIRD, "-profile", str(home / PROFILE), "-no-remote"]
        return _start(home, "thunderbird", "Thunderbird", argv)


def mail_profile(home: str = "/home/alex") -> list[tuple[str, bytes, int, bool]]:
    """Files of a Thunderbird profile with local folders, for a home at this path."""
    prefs = {
        "mail.accountmanager.accounts": '"account1"',
        "mail.accountmanager.localfoldersserver": '"server1"',
        "mail.account.account1.server": '"server1"',
        "mail.server.server1.type": '"none"',
        "mail.server.server1.hostname": '"Local Folders"',
        "mail.server.server1.userName": '"nobody"',
        "mail.server.server1.name": '"Local Folders"',
        "mail.server.server1.directory": f'"{home}/{PROFILE}/Mail/Local Folders"',
        "mail.server.server1.directory-rel": '"[ProfD]Mail/Local Folders"',
        "mail.server.server1.storeContractID": '"@mozilla.org/msgstore/berkeleystore;1"',
        "mail.rights.version": "1",
        "mail.shell.checkDefaultClient": "false",
        "mail.provider.suppress_dialog_on_startup": "true",
        "mailnews.start_page.enabled": "false",
        "datareporting.policy.dataSubmissionPolicyBypassNotification": "true",
        "app.donation.eoy.version.viewed": "999",
        "mail.tabs.drawInTitlebar": "false",
    }
    text = "".join(f'user_pref("{name}", {value});\n' for name, value in prefs.items())
    folders = ("Figures", "Trash", "Unsent Messages")
    return [
        (f"~/{PROFILE}/prefs.js", text.encode(), 0o644, False),
        *((f"~/{PROFILE}/Mail/Local Folders/{name}", b"", 0o644, False) for name in folders),
    ]


@contextlib.contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _start(home: Path, app: str, title: str, argv: list[str]) -> float:
    began = time.perf_counter()
    screen = _Screen(home)
    try:
        environment = {
            "HOME": str(home),
            "DISPLAY": screen.name,
            "XAUTHORITY": str(screen.cookie),
            "PATH": os.environ["PATH"],
            "SAL_USE_VCLPLUGIN": "gtk3",
            "LC_ALL": "C.UTF-8",
            "GSETTINGS_BACKEND": "memory",
        }
        starter = ["/usr/bin/python3", "-c", _START, str(Path(inside.__file__ or "").parent), app]
        process = subprocess.Popen(
            ["dbus-run-session", "--", *starter, *argv],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            windows, settler = Windows(screen), Settler(screen)  # type: ignore[arg-type]
            while not any(title in window.title for window in windows.shown()):
                if time.perf_counter() - began > _PATIENCE:
                    raise DesktopError(f"the plain start of {app} shows no window")
                time.sleep(0.02)
            while (line := process.stdout.readline()) != b"ready\n":  # the session bus talks too
                if not line:
                    raise DesktopError(f"the plain start of {app} did not get ready")
            settler.settle(first=0.15, quiet=0.15)
            return time.perf_counter() - began
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # the bus removes its socket
            process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()
            windows.close()
            settler.close()
    finally:
        screen.close()
