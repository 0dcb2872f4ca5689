"""Grounding from real screens: what truly shows, and instructions for which each thing is the one right answer.

`sight` takes a screen with all that is known of it, `visible` says what can be pointed at, `phrases` and `places` put it
into words, `pairing` makes pairs of many screens, `explorer` walks through an application, `sheet` draws pairs.
"""

from forge.harness.grounding.pairing import pairs_of
from forge.harness.grounding.sight import Detail, Sight, Surface, take
from forge.harness.grounding.visible import Thing, things

__all__ = ["Detail", "Sight", "Surface", "Thing", "pairs_of", "take", "things"]
