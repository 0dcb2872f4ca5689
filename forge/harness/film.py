"""An episode as a film, from the screenshots that its trajectory kept: before each action with the action drawn on it, and
after. It is a replay at a reader's pace, not a recording; what moved in between is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PIL import Image

from forge.harness.filmstrip import Panels
from forge.records import Done, Trajectory

WIDTH = 960
BEFORE, AFTER, LAST = 1.0, 0.6, 2.0
"""Seconds for which the pictures are shown."""


def frames(
    trajectory: Trajectory, get_blob: Callable[[str], bytes], *, width: int = WIDTH
) -> Iterator[tuple[Image.Image, float]]:
    """The film's pictures with their seconds, for `forge.desktop.recording.write_film`.

    Args:
        trajectory: the episode.
        get_blob: PNG bytes by SHA-256; may raise KeyError or FileNotFoundError for screenshots that are gone.
        width: of the pictures, in pixels.
    """
    panels = Panels(trajectory, get_blob, width)
    for record in trajectory.actions:
        if isinstance(record.action, Done):
            continue
        yield panels.panel(record), BEFORE
        if record.after.screenshot != record.before.screenshot:
            yield panels.after(record), AFTER
    yield panels.last(trajectory), LAST
