"""Styles of .ods, resolved through their parents: cell formats, column widths, row heights, pages."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import cache
from typing import Any

from forge.harness.layers.office.python.sheetpatch.ods_formats import format_code
from preparers.calc.book.model import CellStyle
from preparers.calc.formats import normal

NAMESPACES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "chart": "urn:oasis:names:tc:opendocument:xmlns:chart:1.0",
    "config": "urn:oasis:names:tc:opendocument:xmlns:config:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "number": "urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
}

_STYLE = f"{{{NAMESPACES['style']}}}"
_FO = f"{{{NAMESPACES['fo']}}}"
_NUMBER = f"{{{NAMESPACES['number']}}}"
_TABLE = f"{{{NAMESPACES['table']}}}"
_OFFICE = f"{{{NAMESPACES['office']}}}"
_UNITS = {"in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "pt": 1.0}
_ALIGN = {"start": "left", "end": "right"}
_SIDES = ("left", "right", "top", "bottom")


class Styles:
    """All styles of a document by name."""

    def __init__(self, content: Any, styles: Any):
        self._nodes: dict[tuple[str, str], Any] = {}
        self._numbers: dict[str, Any] = {}
        self._defaults: dict[str, Any] = {}
        self._masters: dict[str, str] = {}
        self._layouts: dict[str, Any] = {}
        for root in (styles, content):
            for node in root.iter(f"{_STYLE}style", f"{_STYLE}default-style") if root is not None else ():
                family = node.get(f"{_STYLE}family") or ""
                if node.tag.endswith("}style"):
                    self._nodes[family, node.get(f"{_STYLE}name")] = node
                else:
                    self._defaults[family] = node
            for holder in root if root is not None else ():
                if holder.tag in (f"{_OFFICE}styles", f"{_OFFICE}automatic-styles"):
                    for node in holder:
                        if isinstance(node.tag, str) and node.tag.startswith(_NUMBER):
                            self._numbers[node.get(f"{_STYLE}name")] = node
            for node in root.iter(f"{_STYLE}master-page") if root is not None else ():
                self._masters[node.get(f"{_STYLE}name")] = node.get(f"{_STYLE}page-layout-name")
            for node in root.iter(f"{_STYLE}page-layout") if root is not None else ():
                self._layouts[node.get(f"{_STYLE}name")] = node
        self.cell = cache(self._cell)

    def _cell(self, name: str | None) -> CellStyle:
        """The look of a cell style."""
        chain = self._chain("table-cell", name or "Default")
        text = self._merged(chain, "text")
        cell = self._merged(chain, "table-cell")
        paragraph = self._merged(chain, "paragraph")
        code = next((c for n in reversed(chain) if (c := n.get(f"{_STYLE}data-style-name"))), None)
        line = text.get(f"{_STYLE}text-underline-style", "none")
        double = text.get(f"{_STYLE}text-underline-type") == "double"
        horizontal = paragraph.get(f"{_FO}text-align", "") if cell.get(f"{_STYLE}text-align-source") == "fix" else ""
        vertical = cell.get(f"{_STYLE}vertical-align", "")
        look: dict[str, Any] = {
            "number_format": self._code(code),
            "bold": text.get(f"{_FO}font-weight") in ("bold", "600", "700", "800", "900"),
            "italic": text.get(f"{_FO}font-style") in ("italic", "oblique"),
            "underline": "" if line == "none" else "double" if double else "single",
            "strike": text.get(f"{_STYLE}text-line-through-style", "none") != "none",
            "font": text.get(f"{_STYLE}font-name") or (text.get(f"{_FO}font-family") or "").strip("'"),
            "size": _points(text.get(f"{_FO}font-size")),
            "color": _color(text.get(f"{_FO}color")) if text.get(f"{_STYLE}use-window-font-color") != "true" else "",
            "fill": _color(cell.get(f"{_FO}background-color")),
            "horizontal": _ALIGN.get(horizontal, horizontal),
            "vertical": {"middle": "center", "bottom": "", "automatic": ""}.get(vertical, vertical),
            "wrap": cell.get(f"{_FO}wrap-option") == "wrap",
            "indent": round(_points(paragraph.get(f"{_FO}margin-left")) / 10),
            "rotation": round(float(cell.get(f"{_STYLE}rotation-angle", "0").removesuffix("deg"))),
            "locked": cell.get(f"{_STYLE}cell-protect", "protected") not in ("none", "formula-hidden"),
        }
        for side in _SIDES:
            look[side] = _line(cell.get(f"{_FO}border-{side}", cell.get(f"{_FO}border", "")))
        return CellStyle(**look)

    def conditional(self, name: str | None) -> str:
        """What a conditional style changes, in one spelling. The attribute holds the name as people see it."""
        if name is None:
            return ""
        encoded = re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):x}_", name)
        known = next((n for n in (name, encoded) if ("table-cell", n) in self._nodes), None)
        if known is None:
            return name
        base, look = asdict(self.cell("Default")), asdict(self.cell(known))
        return " ".join(f"{key}={value}" for key, value in look.items() if value != base[key])

    def text(self, name: str | None) -> str:
        """Marks of a run of text: b, i, u, strike."""
        found = self._merged(self._chain("text", name or ""), "text")
        flags = ["b"] if found.get(f"{_FO}font-weight") == "bold" else []
        flags += ["i"] if found.get(f"{_FO}font-style") == "italic" else []
        flags += ["u"] if found.get(f"{_STYLE}text-underline-style", "none") != "none" else []
        return "".join(flags)

    def shown(self, name: str | None) -> bool:
        """Whether a sheet of this style is visible."""
        return self._merged(self._chain("table", name or ""), "table").get(f"{_TABLE}display") != "false"

    def tab_color(self, name: str | None) -> str:
        """The colour of a sheet's tab."""
        return _color(self._merged(self._chain("table", name or ""), "table").get(f"{_TABLE}tab-color"))

    def width(self, name: str | None) -> float:
        """The width of a column in points."""
        return round(
            _points(self._merged(self._chain("table-column", name or ""), "table-column").get(f"{_STYLE}column-width")),
            1,
        )

    def height(self, name: str | None) -> float:
        """The height of a row in points; 0 when LibreOffice chooses it."""
        found = self._merged(self._chain("table-row", name or ""), "table-row")
        if found.get(f"{_STYLE}use-optimal-row-height", "true") == "true":
            return 0.0
        return round(_points(found.get(f"{_STYLE}row-height")), 1)

    def page(self, table: str | None) -> str:
        """What a print of a sheet would look like: paper size and orientation."""
        node = self._nodes.get(("table", table or ""))
        layout = (
            self._layouts.get(self._masters.get(node.get(f"{_STYLE}master-page-name") or "", ""))
            if node is not None
            else None
        )
        properties = layout.find(f"{_STYLE}page-layout-properties") if layout is not None else None
        if properties is None:
            return ""
        keys = ("print-orientation", "page-width", "page-height", "margin-left", "margin-top", "scale-to")
        found = {key.rpartition("}")[2]: value for key, value in properties.attrib.items()}
        return " ".join(f"{key}={found[key]}" for key in keys if key in found)

    def _chain(self, family: str, name: str) -> list[Any]:
        """A style and its parents, the eldest first, behind the family's default."""
        chain: list[Any] = []
        while name and (family, name) in self._nodes and len(chain) < 16:
            node = self._nodes[family, name]
            chain.insert(0, node)
            name = node.get(f"{_STYLE}parent-style-name") or ""
        return [self._defaults[family], *chain] if family in self._defaults else chain

    def _merged(self, chain: list[Any], kind: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for node in chain:
            properties = node.find(f"{_STYLE}{kind}-properties")
            if properties is None:
                continue
            if f"{_FO}border" in properties.attrib:
                for side in _SIDES:
                    found.pop(f"{_FO}border-{side}", None)
            found.update(properties.attrib)
        return found

    def _code(self, name: str | None) -> str:
        node = self._numbers.get(name or "")
        if node is None:
            return "General"
        for child in node.iterfind(f"{_STYLE}map"):
            positive = self._numbers.get(child.get(f"{_STYLE}apply-style-name") or "")
            if positive is not None and (child.get(f"{_STYLE}condition") or "").replace(" ", "").startswith("value()>"):
                node = positive
        pieces = []
        for child in node:
            if isinstance(child.tag, str) and not child.tag.startswith(_STYLE):
                attributes = {key.rpartition("}")[2]: value for key, value in child.attrib.items()}
                pieces.append((child.tag.rpartition("}")[2], attributes, child.text or ""))
        return normal(format_code(node.tag.rpartition("}")[2], pieces))


def _points(text: str | None) -> float:
    found = re.fullmatch(r"(-?[0-9.]+)(in|cm|mm|pt)", text or "")
    return float(found[1]) * _UNITS[found[2]] if found else 0.0


def _color(text: str | None) -> str:
    return text[1:].upper() if text and text.startswith("#") else ""


def _line(text: str) -> str:
    """`0.74pt solid #000000` as `thin 000000`, by width."""
    found = re.fullmatch(r"([0-9.]+)pt (\S+) #([0-9a-fA-F]{6})", text)
    if found is None:
        return ""
    width = float(found[1])
    kind = (
        found[2]
        if found[2] != "solid"
        else "hair"
        if width < 0.5
        else "thin"
        if width < 1.3
        else "medium"
        if width < 2.2
        else "thick"
    )
    return f"{kind} {found[3].upper()}"
