"""`python -m bench.command`: how long `forge --help` takes, as a whole process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.report import Figure, options, show


def main() -> None:
    """Start the command a few times; the first start, which may compile, is not counted."""
    chosen = options(__doc__ or "")
    command = [str(Path(sys.executable).parent / "forge"), "--help"]
    seconds = []
    for _ in range(4 if chosen.quick else 11):
        began = time.perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - began)
    show([Figure("forge --help, median", statistics.median(seconds[1:]), "s", "<= 0.5")], as_json=chosen.json)


if __name__ == "__main__":
    main()
