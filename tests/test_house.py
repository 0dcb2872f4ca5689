"""The house as a whole: whose packages are imported, who may import whom, how soon, and what must not be in the files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("forge", "flows", "cli", "rounds", "skills", "preparers", "verifiers", "warehouse", "training")
HEAVY = ("torch", "transformers", "prefect", "pandas", "openpyxl", "openai", "pyarrow", "alembic")


def python(code: str, cwd: Path) -> str:
    """What a fresh interpreter prints."""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def tracked() -> list[Path]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return [ROOT / name for name in run.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@cache
def imports() -> set[tuple[str, str]]:
    """(package, what one of its files imports), also inside functions."""
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {(package, alias.name) for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    found.add((package, node.module or ""))
    return found


def test_our_packages_come_from_this_repository(tmp_path: Path) -> None:
    # PyPI has other packages of these names; asked from elsewhere, so that the working directory does not help
    code = f"import importlib\nfor n in {PACKAGES}: print(importlib.import_module(n).__file__)"
    found = python(code, tmp_path).split("\n")
    assert [Path(file).resolve() for file in found] == [ROOT / name / "__init__.py" for name in PACKAGES]


def test_every_package_of_ours_is_listed_here() -> None:
    with_init = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert with_init == {*PACKAGES, "bench", "docs"}


def test_no_module_of_flows_hides_a_package() -> None:
    # a flow's entrypoint puts flows/ first on sys.path
    taken = {*PACKAGES, *packages_distributions(), *sys.stdlib_module_names} - {"__init__"}
    inside = {path.stem for path in (ROOT / "flows").iterdir()} - {"__init__", "__pycache__"}
    assert inside & taken == set()


def test_rooms_import_only_what_lies_below() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"[1-9]\d* kept, 0 broken", run.stdout)


@pytest.mark.parametrize(
    ("library", "room"), [("prefect", "flows"), ("torch", "training"), ("transformers", "training")]
)
def test_a_heavy_library_has_one_room(library: str, room: str) -> None:
    users = {package for package, imported in imports() if imported.split(".")[0] == library}
    assert users <= {room}


@pytest.mark.parametrize(
    "module",
    ["forge", "forge.records", "forge.desktop", "forge.harness", "forge.llm", "cli.main", "skills", "preparers",
     "verifiers", "warehouse", "training", "rounds"],
)  # fmt: skip
def test_importing_is_cheap(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}\nprint(*sorted(set({HEAVY}) & set(sys.modules)))"
    assert python(code, tmp_path) == ""


def test_no_file_tells_of_the_machine_it_was_written_on() -> None:
    place = re.compile(r"(?<![\w.~$}\])*<>-])/(?:" + "work|root" + r")/\w")
    host = re.compile(r"(?:" + "|".join(["pypi", "pythonhosted", "npmjs"]) + r")\.org|deb\.debian\.org")
    assert _matches(place) == []
    assert _matches(host) == []


def test_no_file_holds_a_secret() -> None:
    secret = re.compile(
        r"\bsk-[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}|\bxox[abp]-\w{10,}|"
        + "-----BEGIN [A-Z ]*PRIVATE "
        + "KEY"
    )
    assert _matches(secret) == []


def _matches(pattern: re.Pattern[str]) -> list[str]:
    """File, line and text of every match in a tracked text file."""
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    return found
