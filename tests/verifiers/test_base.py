"""The seam of the verifiers: reading a home safely, whose fault an unreadable file is, arguments, registration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.records import InputError, PreparerError, VerifierError
from verifiers.base import CHECKS, AgentFault, Args, Case, Finding, Tree, check, mutants


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "Documents/deep").mkdir(parents=True)
    (home / "Documents/a.txt").write_text("inside")
    (tmp_path / "secret.txt").write_text("outside")
    return home


@pytest.mark.parametrize("path", ["/etc/passwd", "a.txt", "~/../x", "~/a/../../x", "~", "", "~root/x"])
def test_a_path_that_is_none_below_the_home_is_the_graders_fault(home: Path, path: str) -> None:
    with pytest.raises(VerifierError, match="below the guest's home"):
        Tree(home, agents=True).path(path)


@pytest.mark.parametrize(
    ("target", "reads"),
    [
        ("Documents/a.txt", b"inside"),
        ("./Documents/deep/../a.txt", b"inside"),
        ("/home/alex/Documents/a.txt", b"inside"),
        ("Documents/none.txt", None),
    ],
)
def test_links_within_the_home_are_followed(home: Path, target: str, reads: bytes | None) -> None:
    (home / "link").symlink_to(target)
    assert Tree(home).read("~/link") == reads
    assert Tree(home).exists("~/link") is (reads is not None)


@pytest.mark.parametrize(
    "target",
    ["../secret.txt", "/etc/passwd", "/home/alex/../../secret.txt", "/home/alexandra/x", "Documents/../../x", "a"],
)
@pytest.mark.parametrize(("agents", "fault"), [(True, AgentFault), (False, PreparerError)])
def test_links_out_of_the_home_and_circles_are_refused(
    home: Path, target: str, agents: bool, fault: type[Exception]
) -> None:
    (home / "link").symlink_to(target)
    (home / "a").symlink_to("b")
    (home / "b").symlink_to("a")
    with pytest.raises(fault):
        Tree(home, agents).read("~/link")


def test_a_link_in_the_middle_of_a_path_is_followed_safely(home: Path) -> None:
    (home / "docs").symlink_to("Documents")
    (home / "out").symlink_to("..")
    assert Tree(home).read("~/docs/a.txt") == b"inside"
    with pytest.raises(PreparerError, match="leads out"):
        Tree(home).read("~/out/secret.txt")


def test_a_file_larger_than_a_grader_reads_is_refused(home: Path) -> None:
    os.truncate(home / "Documents/a.txt", 1000)
    assert Tree(home).read("~/Documents/a.txt", limit=1000) is not None
    with pytest.raises(PreparerError, match="1000 bytes, more than the 999"):
        Tree(home).read("~/Documents/a.txt", limit=999)
    with pytest.raises(AgentFault, match="1000 bytes"):
        Tree(home, agents=True).read("~/Documents/a.txt", limit=999)


@pytest.mark.parametrize(("agents", "fault"), [(True, AgentFault), (False, PreparerError)])
def test_whose_fault_an_unreadable_file_is(home: Path, agents: bool, fault: type[Exception]) -> None:
    tree = Tree(home, agents)
    with pytest.raises(fault, match="broken zip"), tree.reading("~/Documents/a.txt"):
        raise PreparerError("broken zip")
    with pytest.raises(fault, match="does not exist"), tree.reading("~/Documents/none.txt"):
        pass
    with pytest.raises(ZeroDivisionError), tree.reading("~/Documents/a.txt"):
        raise ZeroDivisionError
    with tree.reading("~/Documents/a.txt") as path:
        assert path.read_text() == "inside"


class Numbers(Args):
    count: int
    unit: str = "kg"


def test_arguments_are_checked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS, "_items", dict(CHECKS._items))

    @check("test.numbers", Numbers, version=3)
    def numbers(case: Case, args: Numbers) -> Finding:
        """Compares numbers.

        And more.
        """
        return Finding(1.0, "")

    @mutants("test.numbers")
    def spoil(case, args, rng):  # type: ignore[no-untyped-def]
        return []

    found = CHECKS.get("test.numbers")
    assert (found.version, found.summary, found.mutants) == (3, "Compares numbers.", spoil)
    assert found.validate({"count": 2}) == Numbers(count=2)
    for values, word in [({"count": "many"}, "count"), ({}, "count"), ({"count": 1, "colour": 2}, "colour")]:
        with pytest.raises(InputError, match=rf"check test.numbers: {word}.*\n.*count, unit"):
            found.validate(values)
    with pytest.raises(InputError, match=r"did you mean test.numbers"):
        CHECKS.get("test.number")
