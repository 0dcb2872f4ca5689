"""The styles part of an .xlsx: cell formats are derived from existing ones, never changed, for other cells share them."""

from __future__ import annotations

from .markup import Node, element
from .package import Package

BUILT_IN_FORMATS: dict[int, str] = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0",
    48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Number formats that files name by number only (ECMA-376 part 1, 18.8.30)."""

_FIRST_OWN_FORMAT = 164
_FONT_ORDER = ("b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz", "color", "name")
_SIDES = ("left", "right", "top", "bottom")


class Styles:
    """Cell formats by index (the `s` of a cell)."""

    def __init__(self, package: Package, part: str):
        self._package = package
        self._part = part

    def number_format(self, index: int) -> str:
        """The number format code of a cell format."""
        xf = self._format(index)
        identity = int((xf.get("numFmtId") if xf is not None else None) or 0)
        return self._own_formats().get(identity) or BUILT_IN_FORMATS.get(identity, "General")

    def with_number_format(self, index: int, code: str) -> int:
        """The index of a format like `index` with another number format."""
        own = self._own_formats()
        known = {text: identity for identity, text in [*BUILT_IN_FORMATS.items(), *own.items()]}
        if code not in known:
            known[code] = max([_FIRST_OWN_FORMAT - 1, *own]) + 1
            table = self._table("numFmts", first=True)
            child = Node(f"{table.prefix}numFmt", {"numFmtId": str(known[code]), "formatCode": code})
            self._add(table, child)
        return self._derive(index, {"numFmtId": str(known[code]), "applyNumberFormat": "1"})

    def with_font(
        self,
        index: int,
        *,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
        color: str | None = None,
        size: float | None = None,
        font: str | None = None,
    ) -> int:
        """The index of a format like `index` with another font; None keeps what is there."""
        fonts = self._table("fonts")
        xf = self._format(index)
        old = int((xf.get("fontId") if xf is not None else None) or 0)
        node = fonts.children[old].copy()
        for name, wanted in (("b", bold), ("i", italic), ("u", underline)):
            if wanted is not None:
                _set_child(node, name, {} if wanted else None)
        if color is not None:
            _set_child(node, "color", {"rgb": "FF" + color.upper()})
        if size is not None:
            _set_child(node, "sz", {"val": f"{size:g}"})
        if font is not None:
            _set_child(node, "name", {"val": font})
            _set_child(node, "scheme", None)
        return self._derive(index, {"fontId": str(self._add(fonts, node)), "applyFont": "1"})

    def with_fill(self, index: int, color: str | None) -> int:
        """The index of a format like `index`, filled with a colour (`FFF2CC`); an empty text takes the fill away."""
        fills = self._table("fills")
        name = f"{fills.prefix}patternFill"
        if color:
            shades = [
                Node(f"{fills.prefix}fgColor", {"rgb": "FF" + color.upper()}),
                Node(f"{fills.prefix}bgColor", {"indexed": "64"}),
            ]
            pattern = Node(name, {"patternType": "solid"}, [*shades])
        else:
            pattern = Node(name, {"patternType": "none"})
        identity = self._add(fills, Node(f"{fills.prefix}fill", {}, [pattern]))
        return self._derive(index, {"fillId": str(identity), "applyFill": "1"})

    def with_border(self, index: int, sides: dict[str, str]) -> int:
        """The index of a format like `index` with lines, e.g. {"top": "thin", "bottom": "double"}; `none` takes away."""
        borders = self._table("borders")
        xf = self._format(index)
        node = borders.children[int((xf.get("borderId") if xf is not None else None) or 0)].copy()
        for side, line in sides.items():
            child = node.find(side, {"left": "start", "right": "end"}.get(side, side))
            if child is None:
                child = Node(node.prefix + side)
                behind = [c for c in node.children if c.local in _SIDES and _SIDES.index(c.local) > _SIDES.index(side)]
                node.insert(node.content.index(behind[0]) if behind else len(node.content), child)
            child.set("style", None if line == "none" else line)
            child.replace([] if line == "none" else [Node(f"{node.prefix}color", {"auto": "1"})])
        return self._derive(index, {"borderId": str(self._add(borders, node)), "applyBorder": "1"})

    def with_alignment(self, index: int, **wanted: str | None) -> int:
        """The index of a format like `index`, aligned: horizontal, vertical, wrapText, indent, textRotation."""
        xfs = self._table("cellXfs")
        node = xfs.children[index].copy()
        child = node.find("alignment")
        if child is None:
            child = node.insert(0, Node(f"{node.prefix}alignment"))
        for name, value in wanted.items():
            child.set(name, value)
        node.set("applyAlignment", "1")
        return self._add(xfs, node)

    def _format(self, index: int) -> Node | None:
        table = self._root().find("cellXfs")
        formats = table.children if table is not None else []
        return formats[index] if index < len(formats) else None

    def _derive(self, index: int, attributes: dict[str, str]) -> int:
        xfs = self._table("cellXfs")
        node = xfs.children[index].copy()
        for name, value in attributes.items():
            node.set(name, value)
        return self._add(xfs, node)

    def _own_formats(self) -> dict[int, str]:
        table = self._root().find("numFmts")
        nodes = table.children if table is not None else []
        return {int(node.get("numFmtId") or 0): node.get("formatCode") or "" for node in nodes}

    def _root(self) -> Node:
        return self._package.document(self._part)

    def _table(self, local: str, *, first: bool = False) -> Node:
        root = self._package.document(self._part, change=True)
        table = root.find(local)
        if table is None:
            table = root.insert(0 if first else len(root.content), Node(root.prefix + local, {"count": "0"}))
        return table

    def _add(self, table: Node, node: Node) -> int:
        source = node.source()
        for index, other in enumerate(table.children):
            if other.source() == source:
                return index
        table.append(node)
        table.set("count", str(len(table.children)))
        return len(table.children) - 1


def _set_child(font: Node, local: str, attributes: dict[str, str] | None) -> None:
    """Put, replace or (None) remove a child of a font at the place that the schema wants."""
    old = font.find(local)
    if old is not None:
        font.remove(old)
    if attributes is None:
        return
    order = _FONT_ORDER.index(local)
    behind = [c for c in font.children if c.local not in _FONT_ORDER or _FONT_ORDER.index(c.local) > order]
    place = font.content.index(behind[0]) if behind else len(font.content)
    font.insert(place, element(font.prefix + local, attributes))
