"""Collateral damage: what counts, what belongs to applications, what is allowed; names that are no UTF-8."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.records import Criterion, ProbeKind, Rubric
from verifiers.base import Case, Finding
from verifiers.grading import grade
from verifiers.spoil import near_misses

Make = Callable[..., Case]
Run = Callable[..., Finding]

HOME = {
    "Documents/a.txt": "a\n",
    "Documents/b.txt": "b\n",
    "Documents/sub/c.txt": "c\n",
    "Pictures/p.png": b"\x89PNG",
    ".config/app/settings": "x=1\n",
    ".config/vlc/vlcrc": "x=1\n",
    ".local/share/notes/todo.txt": "x\n",
    ".local/share/Trash/files/old.txt": "old\n",
    ".local/share/Trash/info/old.txt.trashinfo": "[Trash Info]\nPath=/home/alex/old.txt\n",
}


def change(**actions: Any) -> Callable[[Path], None]:
    def apply(home: Path) -> None:
        for name, content in actions.items():
            path = home / name
            if content is None:
                path.unlink()
            elif isinstance(content, int):
                path.chmod(content)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)

    return apply


def gone_with_its_folder(home: Path) -> None:
    (home / "Documents/sub/c.txt").unlink()
    (home / "Documents/sub").rmdir()


@pytest.mark.parametrize(
    ("apply", "allow", "score", "said"),
    [
        (change(), [], 1, "as they were"),
        (change(**{"Documents/a.txt": "A\n"}), [], 0, "~/Documents/a.txt has other content (2 bytes before, 2 after)"),
        (change(**{"Documents/a.txt": "A\n"}), ["~/Documents/a.txt"], 1, ""),
        (change(**{"Documents/a.txt": "A\n"}), ["~/Documents"], 1, ""),
        (change(**{"Documents/a.txt": "A\n"}), ["~/Documents/a"], 0, ""),
        (change(**{"Documents/a.txt": None}), [], 0, "~/Documents/a.txt is gone"),
        (change(**{"Documents/a.txt": None}), ["~/Documents/a.txt"], 1, ""),
        (change(**{"Documents/a.txt": 0o755}), [], 0, "has mode 755 instead of 644"),
        (change(**{"Documents/new.txt": "n"}), [], 0, "~/Documents/new.txt is new (file)"),
        (change(**{"Documents/deep/er/new.txt": "n"}), ["~/Documents/deep/er/new.txt"], 1, ""),
        (change(**{"Documents/deep/er/new.txt": "n"}), ["~/Documents/deep/er/other.txt"], 0, "is new (file)"),
        (change(**{".config/vlc/vlcrc": "x=2\n"}), [], 1, ""),
        (change(**{".config/vlc/vlcrc": None}), [], 1, ""),
        (change(**{".config/other/settings": "x=2\n"}), [], 1, ""),
        (change(**{".config/app/settings": "x=2\n"}), [], 0, "~/.config/app/settings has other content"),
        (change(**{".config/app/settings": "x=2\n"}), ["~/.config/app/settings"], 1, ""),
        (change(**{".config/app/more": "x=2\n"}), [], 0, "~/.config/app/more is new (file)"),
        (change(**{".local/share/notes/todo.txt": None}), [], 0, "~/.local/share/notes/todo.txt is gone"),
        (change(**{".cache/thumb": "x"}), [], 1, ""),
        (change(**{".bash_history": "ls"}), [], 1, ""),
        (change(**{"Documents/.~lock.a.txt#": "x"}), [], 1, ""),
        (change(**{".local/share/recently-used.xbel": "x"}), [], 1, ""),
        (change(**{".thunderbird/alex.default/prefs.js": "x"}), [], 1, ""),
        (lambda home: [(home / name).mkdir() for name in ("Desktop", "Downloads")], [], 1, ""),
        (lambda home: (home / "Stuff").mkdir(), [], 0, "~/Stuff is new (folder)"),
        (lambda home: (home / "link").symlink_to("Documents"), [], 0, "~/link is new (link)"),
        (change(**{".local/share/Trash/files/b.txt": "b", ".local/share/Trash/info/b.txt.trashinfo": "x"}), [], 1, ""),
        (change(**{".local/share/Trash/files/old.txt": None}), [], 0, "Trash/files/old.txt is gone"),
        (change(**{".local/share/Trash/files/old.txt": None}), ["~/.local/share/Trash"], 1, ""),
        (gone_with_its_folder, ["~/Documents/sub/c.txt"], 1, ""),
        (lambda home: ((home / "Pictures/p.png").unlink(), (home / "Pictures/p.png").mkdir()), [], 0, "was a file and is a folder"),
    ],
)  # fmt: skip
def test_what_counts_as_damage(
    apply: Callable[[Path], None], allow: list[str], score: float, said: str, case: Make, run: Run
) -> None:
    made = case(HOME, HOME)
    apply(made.after.root)
    finding = run(made, "files.changed_elsewhere", allow=allow)
    assert finding.score == score, finding.evidence
    assert said in finding.evidence


@pytest.mark.parametrize(
    "made",
    [
        [".local"],
        [".local/share"],
        [".local/share/recently-used.xbel", ".local/share/Mousepad/x", ".local/share/gvfs-metadata/home"],
        [".local/state/x", ".cache/thumbnails/x", ".config/Thunar/accels.scm", ".dbus/session-bus/x"],
        [".local/share/Trash/files/b", ".local/share/Trash/expunged/x"],
    ],
)
def test_what_programs_make_for_themselves_is_no_damage(made: list[str], case: Make, run: Run) -> None:
    plain = {"Documents/a.txt": "a\n"}
    after = {name: None if name in (".local", ".local/share") else "x" for name in made}
    finding = run(case(plain, {**plain, **after}), "files.changed_elsewhere", allow=[])
    assert finding.score == 1, finding.evidence


def test_hulls_that_held_programs_affairs_only_may_go(case: Make, run: Run) -> None:
    plain = {"a.txt": "a\n"}
    assert run(case({**plain, ".local/share/icc/x": "x"}, plain), "files.changed_elsewhere").score == 1
    assert run(case({**plain, ".local/bin/tool": "x"}, plain), "files.changed_elsewhere").score == 0


def test_over_edits_reach_what_the_task_laid_among_settings(case: Make, survivors: Any) -> None:
    files = {"only.txt": "x\n", ".config/app/settings": "x=1\n"}
    made = case({**files, "only.txt": "y\n"}, files)
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.content", args={"path": "~/only.txt", "text": "x"}),
            Criterion(id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": ["~/only.txt"]}),
        )
    )
    assert "rest:neighbour-edited" in {s.near_miss.name for s in near_misses(rubric, made, 0)}
    assert survivors(rubric, made) == []


def test_more_paths_can_be_an_applications_own(case: Make, run: Run) -> None:
    made = case(HOME, {**HOME, "Documents/b.txt": "other"})
    assert run(made, "files.changed_elsewhere", allow=[]).score == 0
    assert run(made, "files.changed_elsewhere", allow=[], ignore=["~/Documents/b.txt"]).score == 1


def test_a_long_list_of_damage_is_cut(case: Make, run: Run) -> None:
    made = case(HOME, {**HOME, **{f"{i}.txt": "x" for i in range(20)}})
    assert run(made, "files.changed_elsewhere", allow=[]).evidence.endswith("and 15 more")


def test_over_edits_touch_a_neighbour_and_never_what_is_allowed(case: Make, survivors: Any) -> None:
    args = {"path": "~/Documents/a.txt", "text": "A"}
    rubric = Rubric(
        criteria=(
            Criterion(id="a", kind="must", check="files.content", args=args),
            Criterion(
                id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": ["~/Documents/a.txt"]}
            ),
        )
    )
    made = case(HOME, {**HOME, "Documents/a.txt": "A\n"})
    assert survivors(rubric, made) == []
    kinds = {s.near_miss.name: s.kind for s in near_misses(rubric, made, 0) if s.near_miss.name.startswith("rest:")}
    assert kinds == {
        "rest:stray-file": ProbeKind.OVER_EDIT,
        "rest:neighbour-edited": ProbeKind.OVER_EDIT,
        "rest:neighbour-deleted": ProbeKind.OVER_EDIT,
        "rest:neighbour-renamed": ProbeKind.AUDIT,
        "rest:neighbour-mode": ProbeKind.AUDIT,
        "rest:some-file-emptied": ProbeKind.AUDIT,
    }


@pytest.mark.parametrize("allow", [["~/only.txt"], ["~/Documents"], ["~/Documents", "~/Pictures"], []])
def test_over_edits_exist_in_every_home(allow: list[str], case: Make, survivors: Any) -> None:
    files = {"only.txt": "x\n", "Documents/d.txt": "d\n"} if allow != ["~/only.txt"] else {"only.txt": "x\n"}
    made = case({"only.txt": "y\n"} | {k: v for k, v in files.items() if k != "only.txt"}, files)
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.content", args={"path": "~/only.txt", "text": "x"}),
            Criterion(
                id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": [*allow, "~/only.txt"]}
            ),
        )
    )
    assert survivors(rubric, made) == []


def test_names_that_are_no_utf8_are_graded_and_shown(case: Make) -> None:
    made = case(HOME, HOME)
    (made.after.root / os.fsdecode(b"odd-\xff.txt")).write_text("x")
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.exists", args={"path": "~/Documents/a.txt"}),
            Criterion(id="rest", kind="must_not", check="files.changed_elsewhere"),
        )
    )
    verdict = grade(rubric, made)
    assert verdict.error is None
    assert verdict.score == 0
    assert "odd-\\udcff.txt is new" in verdict.criteria[1].evidence
    assert "odd-" in verdict.model_dump_json()
