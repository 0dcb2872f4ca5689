"""Draws of folder trees, made by `preparers.files`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from forge.records import JSON
from skills.dice import Dice
from skills.draws.base import DrawArgs, DrawKind, draw_kind, from_module
from skills.language.shapes import Shape, shape


class TreeArgs(DrawArgs):
    of: str = Field(description="kind: `preparers.files.drawing.tree_kinds()`")
    size: Literal["small", "medium", "large"] = Field("small", description="small is about 10 files, large about 40")
    layout: str | None = Field(None, description="one of the kind's layouts; drawn unless given")
    root: str | None = Field(None, description="the folder, ~/...; one of the layout's unless given")


@draw_kind
class Tree(DrawKind[TreeArgs]):
    """A folder with everything in it: root and items for `files.tree`."""

    name = "tree"
    args = TreeArgs

    def draw(self, args: TreeArgs, dice: Dice) -> JSON:
        from preparers.files.drawing import draw_tree

        return from_module(lambda: draw_tree(args.of, args.size, dice, layout=args.layout, root=args.root))

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape({"root": "text", "items": [{"kind": "text", "path": "text", "...": "any"}]})
