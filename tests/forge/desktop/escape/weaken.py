"""Taking one protection away: what is patched here is the code that builds boxes, for the time of one attempt."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from unittest import mock

from forge.desktop import seccomp
from forge.desktop.box import BoxPlan
from forge.desktop.display import Display
from tests.forge.desktop.escape.attack import Ground

ALLOW_ALL = seccomp._allow()
Weaken = Callable[[Ground], AbstractContextManager[object]]


def without(*options: str, binds: Callable[[Ground], Sequence[str]] = lambda ground: ()) -> Weaken:
    """Boxes without these options of bubblewrap, and with further ones."""

    def weaken(ground: Ground) -> AbstractContextManager[object]:
        return _edited(lambda box: _remove(box, options), binds(ground))

    return weaken


def with_folder(writable: bool) -> Weaken:
    """Boxes that see the folder that is to be hidden."""
    kind = "--bind" if writable else "--ro-bind"
    return without(binds=lambda ground: [kind, str(ground.hidden), str(ground.hidden)])


def without_processes(*options: str) -> Weaken:
    """Boxes that share the host's processes; their /proc is the host's."""
    shared = instead(("--proc", "/proc"), ("--bind", "/proc", "/proc"))
    return together(without("--unshare-pid", "--as-pid-1", *options), shared)


def instead(old: Sequence[str], new: Sequence[str]) -> Weaken:
    """Boxes with other options in the place of some."""

    def edit(box: list[str]) -> list[str]:
        size = len(old)
        place = next(i for i in range(len(box)) if box[i : i + size] == list(old))
        return [*box[:place], *new, *box[place + size :]]

    return lambda ground: _edited(edit)


def writable(inside: str) -> Weaken:
    """Boxes in which what is bound at a path can be written."""

    def edit(box: list[str]) -> list[str]:
        place = box.index(inside) - 2
        return [*box[:place], "--bind", *box[place + 1 :]]

    return lambda ground: _edited(edit)


def without_filter() -> Weaken:
    """Boxes, shells, applications and displays that may make every system call."""
    return lambda ground: mock.patch("forge.desktop.seccomp.program", return_value=ALLOW_ALL)


def program(name: str, old: str, new: str) -> Weaken:
    """Boxes whose program of ours has another text: a slot's supervisor, the office's server."""

    def weaken(ground: Ground) -> AbstractContextManager[object]:
        original = BoxPlan.command

        def command(plan: BoxPlan, argv: Sequence[str], stack: ExitStack) -> tuple[list[str], list[int]]:
            path = f"/opt/forge/{name}"
            if path in plan.files:
                text = plan.files[path].decode()
                assert old in text, f"{name} has no {old!r}"
                plan = replace(plan, files={**plan.files, path: text.replace(old, new).encode()})
            return original(plan, argv, stack)

        return mock.patch.object(BoxPlan, "command", command)

    return weaken


def display(*, without: Sequence[str] = (), arguments: Sequence[str] = ()) -> Weaken:
    """X servers without these options of bubblewrap, or with further arguments."""
    from forge.desktop import display as displays

    original, start = Display._start, displays.start

    def start_one(self: Display, argv: list[str], *more: str, **options: object) -> object:
        if argv[0] != displays.SERVER:
            return original(self, argv, *more, **options)  # type: ignore[arg-type]
        with mock.patch.object(displays, "start", lambda argv, **options: start(_remove(argv, without), **options)):
            return original(self, [*argv, *arguments], *more, **options)  # type: ignore[arg-type]

    return lambda ground: mock.patch.object(Display, "_start", start_one)


def patched(target: str, value: object) -> Weaken:
    """One name of our code means something else."""
    return lambda ground: mock.patch(target, value)


def box_limits(**changes: object) -> Weaken:
    """One-shot boxes with other limits."""
    return lambda ground: _changed(ground, "box_limits", replace(ground.box_limits, **changes))  # type: ignore[arg-type]


def together(*parts: Weaken) -> Weaken:
    """Several protections that stand behind each other."""

    @contextlib.contextmanager
    def weaken(ground: Ground) -> Iterator[None]:
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(part(ground))
            yield

    return weaken


def _changed(ground: Ground, name: str, value: object) -> AbstractContextManager[object]:
    return mock.patch.object(ground, name, value)


def _edited(edit: Callable[[list[str]], list[str]], more: Sequence[str] = ()) -> AbstractContextManager[object]:
    original = BoxPlan.command

    def command(plan: BoxPlan, argv: Sequence[str], stack: ExitStack) -> tuple[list[str], list[int]]:
        made, fds = original(plan, argv, stack)
        place = made.index("--remount-ro")
        return edit([*made[:place], *more, *made[place:]]), fds

    return mock.patch.object(BoxPlan, "command", command)


def _remove(box: Sequence[str], options: Sequence[str]) -> list[str]:
    """Without these options; `--seccomp` has a value."""
    kept: list[str] = []
    skip = False
    for each in box:
        if skip:
            skip = False
        elif each in options:
            skip = each in ("--seccomp",)
        else:
            kept.append(each)
    return kept
