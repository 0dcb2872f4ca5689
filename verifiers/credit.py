"""Partial credit over several items: the share of what was to be done that is done.

Items that were right before the agent began earn nothing, so that the untouched state scores 0; losing one costs as much
as a missing one.
"""

from __future__ import annotations

from collections.abc import Sequence


def credit(before: Sequence[bool], after: Sequence[bool]) -> float:
    """The score of a criterion over several items.

    Args:
        before: whether each item was right in the initial state.
        after: whether each is right now, in the same order.

    Returns:
        1 when all are right now; else what was gained over what there was to gain, at least 0 and below 1. When all were
        right before there is nothing to gain: 0 as soon as one is lost.
    """
    if all(after):
        return 1.0
    to_gain = sum(not was for was in before)
    gained = sum(after) - sum(before)
    return max(0.0, gained / to_gain) if to_gain else 0.0
