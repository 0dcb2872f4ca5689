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
    of: str = Field(description="its kind")
    size: Literal["small", "medium", "large"] = Field(
        "small", description="small is about 10 files and few nested folders, medium twice, large four times as many"
    )
    layout: str | None = Field(None, description="one of the kind's layouts; drawn unless given")
    root: str | None = Field(
        None, pattern="^~/", description="the folder, ~/...; one that suits the layout unless given"
    )


@draw_kind
class Tree(DrawKind[TreeArgs]):
    """A folder with everything in it: root and items for `files.tree`.

    Goes into `{prepare: files.tree, with: "${plan}"}`; the facts of that node list its files and folders. Items have the keys
    that `files.tree` takes; to add a file of your own write `items: "${flatten([plan.items, [{...}]])}"` beside `with`.
    """

    name = "tree"
    args = TreeArgs
    examples = ("{tree: photos, size: medium}", "{tree: course, layout: submissions, root: ~/Downloads/course}")

    def draw(self, args: TreeArgs, dice: Dice) -> JSON:
        from preparers.files.drawing import draw_tree

        return from_module(lambda: draw_tree(args.of, args.size, dice, layout=args.layout, root=args.root))

    def values(self) -> str:
        from preparers.files.drawing import kind_words

        return "Kinds and their layouts (with the suffixes that occur):\n" + "\n".join(
            f"- `{kind}`: {words}" for kind, words in kind_words().items()
        )

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape({"root": "text", "items": [{"kind": "text", "path": "text", "...": "any"}]})
