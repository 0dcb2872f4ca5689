"""`python -m bench [NAME ...] [--json] [--quick]`: run the benches one after another, each in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

BENCHES = (
    "author_faults",
    "command",
    "cost",
    "desktop",
    "density",
    "chaos",
    "moves",
    "probing",
    "round",
    "oracle",
    "settling",
    "escape",
    "grounding",
    "library",
    "warehouse",
    "training",
)


def main() -> None:
    """Run the chosen benches; with --json print one object, bench name to its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which; default: all")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    found, failed = {}, False
    for name in options.names or BENCHES:
        command = [sys.executable, "-m", f"bench.{name}", *(["--quick"] if options.quick else [])]
        if options.json:
            run = subprocess.run([*command, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
            found[name] = json.loads(run.stdout) if run.returncode == 0 else None
        else:
            print(f"\n== {name}", flush=True)
            run = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
        failed |= run.returncode != 0
    if options.json:
        json.dump(found, sys.stdout, indent=2)
        print()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
