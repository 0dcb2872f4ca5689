"""The guest's wall clock: a small preloaded library, compiled once into the cache, and the file that steers it.

See `inside/guestclock.c` for what it covers. The file holds an offset to real time and not a start time, because a start
would begin anew in every process; it is shared memory, so a warm slot's clock can be set at the moment it is handed over.
"""

from __future__ import annotations

import hashlib
import platform
import struct
import subprocess
import time
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from forge.desktop import inside
from forge.desktop.place import cached
from forge.records.errors import DesktopError, InputError
from forge.records.guest import Guest

CLOCK_FILE = "/run/forge/clock"
LIBRARY = "/opt/forge/guestclock.so"
OWNER = "FORGE_OWNER"
"""Environment variable with the number of the box's end of `forge.desktop.spawn.lifeline`."""


def environment() -> dict[str, str]:
    """What a process in a box needs in its environment to live in guest time."""
    return {"LD_PRELOAD": LIBRARY, "FORGE_CLOCK": CLOCK_FILE}


def library() -> Path:
    """The compiled library on the host. Raises DesktopError when there is no C compiler."""
    source = Path(inside.__file__ or "").with_name("guestclock.c")
    name = f"clock/{platform.machine()}-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"

    def build(folder: Path) -> None:
        target = folder / "guestclock.so"
        argv = ["cc", "-shared", "-fPIC", "-O2", "-o", str(target), str(source)]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except FileNotFoundError:
            raise DesktopError("no C compiler for the guest's clock", mend="install gcc and libc6-dev") from None
        if done.returncode:
            raise DesktopError(
                f"the guest's clock cannot be compiled: {done.stderr.decode(errors='replace').strip()[-300:]}",
                mend="install gcc and libc6-dev",
            )
        target.chmod(0o755)

    return cached(name, build) / "guestclock.so"


def clock_bytes(guest: Guest) -> bytes:
    """The clock file's content at which the guest's clock begins now and runs on.

    Raises:
        InputError: the time is too far from now.
        DesktopError: the guest's time zone is unknown.
    """
    try:
        zone = ZoneInfo(guest.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        mend = "use an IANA name such as Europe/Berlin"
        raise DesktopError(f"time zone {guest.timezone!r} is unknown", mend=mend) from None
    try:
        begins = guest.now.replace(
            tzinfo=zone
        ).timestamp()  # by way of UTC: summer time may differ between then and now
        return struct.pack("qq", round((begins - time.time()) * 1e9), 0)
    except (struct.error, OverflowError):
        raise InputError(f"the guest's clock cannot show {guest.clock}: it is too far from now") from None
