"""Several texts in one answer of bounded length: equal shares that say what they lack, or the first ones first."""

from __future__ import annotations

from collections.abc import Sequence


def shared(parts: Sequence[tuple[str, str]], room: int, more: str) -> str:
    """Put titled texts one below another.

    Args:
        parts: (title, text).
        room: characters for all texts together; what a short one does not need goes to the longer ones.
        more: how to see a cut text whole; `{}` stands for its title.
    """
    limit = level([len(text) for _, text in parts], room)
    return "\n\n".join(f"## {title}\n\n{cut(text, limit, more.format(title))}" for title, text in parts)


def fitting(parts: Sequence[str], room: int) -> str:
    """The parts below one another, in whole lines: an early one takes half of what is left, the last may fall away."""
    shown: list[str] = []
    left = room
    for number, part in enumerate(parts):
        share = left // 2 if number + 1 < len(parts) else left
        lines = part.split("\n")
        kept: list[str] = []
        for line in lines:
            if sum(map(len, kept)) + len(kept) + len(line) > max(share, min(left, 300)):
                break
            kept.append(line)
        if not kept:
            break
        text = "\n".join(kept if len(kept) == len(lines) else [*kept, "  ..."])
        shown.append(text)
        left -= len(text) + 1
    return "\n".join(shown)


def level(sizes: Sequence[int], room: int) -> int:
    """The size that the larger ones have to be cut to, so that all fit the room together."""
    left, number = room, len(sizes)
    for size in sorted(sizes):
        if size * number > left:
            return max(0, left // number)
        left, number = left - size, number - 1
    return max(sizes, default=0)


def cut(text: str, limit: int, more: str) -> str:
    """The beginning of a text, up to the end of a line where one is near, and what is missing in brackets."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", limit // 2, limit)
    shown = text[: end if end > 0 else limit].rstrip()
    return f"{shown}\n[{len(text) - len(shown)} of {len(text)} characters cut; {more}]"
