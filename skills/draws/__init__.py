"""Kinds of draws. Importing this package registers all of them in `skills.draws.base.DRAWS`."""

from skills.draws import basic, mail, sheets, trees
from skills.draws.base import DRAWS, DrawArgs, DrawKind, draw_kind

__all__ = ["DRAWS", "DrawArgs", "DrawKind", "basic", "draw_kind", "mail", "sheets", "trees"]
