"""Cell formats of .xlsx, resolved: fonts, fills, borders, theme colours and number formats in one value."""

from __future__ import annotations

import colorsys
from typing import Any

from forge.harness.layers.office.python.sheetpatch.xlsx_styles import BUILT_IN_FORMATS
from preparers.calc.book.container import Parts
from preparers.calc.book.model import PLAIN, CellStyle
from preparers.calc.formats import normal

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SIDES = ("left", "right", "top", "bottom")

_PALETTE = (
    "000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF"
    "800000008000000080808000800080008080C0C0C08080809999FF993366FFFFCCCCFFFF660066FF80800066CCCCCCFF"
    "000080FF00FFFFFF0000FFFF8000808000000080800000FF00CCFFCCFFFFCCFFCCFFFF9999CCFFFF99CCCC99FFFFCC99"
    "3366FF33CCCC99CC00FFCC00FF9900FF6600666699969696003366339966003300333300993300993366333399333333"
)
"""The colours of ECMA-376 part 1, 18.8.27, six letters each."""


class Colors:
    """Resolves colour elements to `RRGGBB`."""

    def __init__(self, parts: Parts, theme: str | None):
        self._theme: list[str] = []
        if theme is not None and theme in parts:
            scheme = parts.xml(theme).find(f".//{_DRAWING}clrScheme")
            found = (
                [child[0].get("lastClr") or child[0].get("val") or "" for child in scheme] if scheme is not None else []
            )
            # The file lists dark 1, light 1, dark 2, light 2; cells count light 1, dark 1, light 2, dark 2.
            self._theme = [found[1], found[0], found[3], found[2], *found[4:]] if len(found) >= 4 else found

    def resolve(self, node: Any) -> str:
        """The colour that an element (`color`, `fgColor`, ...) names; empty for automatic."""
        if node is None or node.get("auto") in ("1", "true"):
            return ""
        if node.get("rgb"):
            return str(node.get("rgb"))[-6:].upper()
        tint = float(node.get("tint") or 0)
        if node.get("theme") is not None:
            index = int(node.get("theme"))
            return _tinted(self._theme[index].upper(), tint) if index < len(self._theme) else f"theme{index}"
        if node.get("indexed") is not None:
            index = int(node.get("indexed"))
            return _tinted(_PALETTE[6 * index : 6 * index + 6], tint)
        return ""


class Formats:
    """All cell formats of a workbook, and those of conditional formats."""

    def __init__(self, parts: Parts, part: str | None, theme: str | None):
        self.colors = Colors(parts, theme)
        self.styles: list[CellStyle] = [PLAIN]
        self.differential: list[Any] = []
        if part is None:
            return
        root = parts.xml(part)
        codes = dict(BUILT_IN_FORMATS)
        for node in root.iterfind(f"{MAIN}numFmts/{MAIN}numFmt"):
            codes[int(node.get("numFmtId"))] = node.get("formatCode")
        fonts = [self._font(node) for node in root.iterfind(f"{MAIN}fonts/{MAIN}font")]
        fills = [self._fill(node) for node in root.iterfind(f"{MAIN}fills/{MAIN}fill")]
        borders = [self._border(node) for node in root.iterfind(f"{MAIN}borders/{MAIN}border")]
        self.styles = []
        for node in root.iterfind(f"{MAIN}cellXfs/{MAIN}xf"):
            look: dict[str, Any] = {"number_format": normal(codes.get(int(node.get("numFmtId") or 0), "General"))}
            for name, table in (("fontId", fonts), ("fillId", fills), ("borderId", borders)):
                index = int(node.get(name) or 0)
                look |= table[index] if index < len(table) else {}
            look |= _alignment(node.find(f"{MAIN}alignment"))
            protection = node.find(f"{MAIN}protection")
            if protection is not None and protection.get("locked") in ("0", "false"):
                look["locked"] = False
            self.styles.append(CellStyle(**look))
        self.styles = self.styles or [PLAIN]
        self.differential = list(root.iterfind(f"{MAIN}dxfs/{MAIN}dxf"))

    def style(self, index: str | None) -> CellStyle:
        """The style that the `s` of a cell, row or column names."""
        return self.styles[int(index or 0)]

    def dxf(self, index: str | None) -> str:
        """What a conditional format changes, in one spelling."""
        if index is None or int(index) >= len(self.differential):
            return ""
        node = self.differential[int(index)]
        pieces: list[str] = []
        font = node.find(f"{MAIN}font")
        if font is not None:
            seen = self._font(font)
            pieces += [
                f"{key}={value}" for key, value in sorted(seen.items()) if key in ("bold", "italic", "color", "strike")
            ]
        fill = node.find(f"{MAIN}fill")
        if fill is not None:
            pattern = fill.find(f"{MAIN}patternFill")
            # Here the colour of a solid fill is the background's.
            shade = self.colors.resolve(pattern.find(f"{MAIN}bgColor")) if pattern is not None else ""
            shade = shade or (self.colors.resolve(pattern.find(f"{MAIN}fgColor")) if pattern is not None else "")
            pieces.append(f"fill={shade}")
        code = node.find(f"{MAIN}numFmt")
        if code is not None:
            pieces.append(f"format={code.get('formatCode')}")
        border = node.find(f"{MAIN}border")
        if border is not None:
            pieces += [f"{side}={line}" for side, line in self._border(border).items() if line]
        return " ".join(piece for piece in pieces if not piece.endswith(("=False", "=")))

    def _font(self, node: Any) -> dict[str, Any]:
        def flag(name: str) -> bool:
            child = node.find(MAIN + name)
            return child is not None and child.get("val") not in ("0", "false")

        line = node.find(f"{MAIN}u")
        size = node.find(f"{MAIN}sz")
        name = node.find(f"{MAIN}name")
        return {
            "bold": flag("b"),
            "italic": flag("i"),
            "strike": flag("strike"),
            "underline": "" if line is None or line.get("val") == "none" else line.get("val") or "single",
            "size": float(size.get("val")) if size is not None else 0.0,
            "font": name.get("val") if name is not None else "",
            "color": self.colors.resolve(node.find(f"{MAIN}color")),
        }

    def _fill(self, node: Any) -> dict[str, Any]:
        pattern = node.find(f"{MAIN}patternFill")
        if pattern is None:
            gradient = node.find(f"{MAIN}gradientFill")
            shades = [self.colors.resolve(c) for c in gradient.iter(f"{MAIN}color")] if gradient is not None else []
            return {"fill": f"gradient {' '.join(shades)}" if shades else ""}
        kind = pattern.get("patternType") or "none"
        shade = self.colors.resolve(pattern.find(f"{MAIN}fgColor"))
        return {"fill": "" if kind == "none" else shade if kind == "solid" else f"{kind} {shade}".strip()}

    def _border(self, node: Any) -> dict[str, Any]:
        found = {}
        for side in _SIDES:
            child = node.find(MAIN + side)
            style = child.get("style") if child is not None else None
            shade = self.colors.resolve(child.find(f"{MAIN}color")) if child is not None else ""
            found[side] = f"{style} {shade or '000000'}" if style and style != "none" else ""
        return found


def _alignment(node: Any) -> dict[str, Any]:
    if node is None:
        return {}
    horizontal = node.get("horizontal") or ""
    vertical = node.get("vertical") or ""
    return {
        "horizontal": "" if horizontal == "general" else horizontal,
        "vertical": "" if vertical == "bottom" else vertical,
        "wrap": node.get("wrapText") in ("1", "true"),
        "indent": int(node.get("indent") or 0),
        "rotation": int(node.get("textRotation") or 0),
    }


def _tinted(color: str, tint: float) -> str:
    """A colour made lighter (tint > 0) or darker, as ECMA-376 part 1, 18.8.19 says."""
    if not tint or len(color) != 6:
        return color
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    return "".join(f"{round(part * 255):02X}" for part in colorsys.hls_to_rgb(hue, light, saturation))
