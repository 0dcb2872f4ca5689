"""Charts, pictures and shapes of .xlsx (ECMA-376 part 1, chapters 20 and 21)."""

from __future__ import annotations

import hashlib
from typing import Any

from forge.harness.layers.office.python.sheetpatch.references import address
from preparers.calc.book.container import Parts
from preparers.calc.book.model import Chart, Series

_PLACE = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

_KINDS = {
    "barChart": "column", "bar3DChart": "column", "lineChart": "line", "line3DChart": "line", "pieChart": "pie",
    "pie3DChart": "pie", "doughnutChart": "doughnut", "ofPieChart": "pie", "areaChart": "area", "area3DChart": "area",
    "scatterChart": "scatter", "radarChart": "radar", "bubbleChart": "bubble", "stockChart": "stock",
    "surfaceChart": "surface",
}  # fmt: skip
_REMEMBERED = ("numCache", "strCache", "multiLvlStrCache", "externalData", "extLst", "printSettings", "userShapes")
"""Children of a chart that repeat what the cells say, or that name other parts."""


def drawing(parts: Parts, part: str) -> tuple[tuple[Chart, ...], tuple[str, ...], tuple[str, ...]]:
    """(charts, pictures, shapes) of a drawing part; pictures and shapes in one spelling each, sorted."""
    from preparers.calc.book.xlsx import relations

    if part not in parts:
        return (), (), ()
    links = relations(parts, part)
    charts: list[Chart] = []
    pictures: list[str] = []
    shapes: list[str] = []
    for anchor in parts.xml(part):
        at = _at(anchor)
        for node in anchor.iter(f"{_PLACE}graphicFrame", f"{_PLACE}pic", f"{_PLACE}sp", f"{_PLACE}cxnSp"):
            local = node.tag.rpartition("}")[2]
            if local == "graphicFrame":
                chart = node.find(f".//{_CHART}chart")
                if chart is None:
                    shapes.append(f"{at} frame")
                    continue
                place = links[chart.get(f"{_RELATION}id")][1]
                charts.append(read_chart(parts, place, at))
            elif local == "pic":
                blip = node.find(f".//{_DRAWING}blip")
                place = links.get(blip.get(f"{_RELATION}embed") if blip is not None else "", ("", ""))[1]
                content = hashlib.sha256(parts.read(place)).hexdigest()[:16] if place in parts else "?"
                pictures.append(f"{at} {content}")
            else:
                geometry = node.find(f".//{_DRAWING}prstGeom")
                text = "".join(t.text or "" for t in node.iter(f"{_DRAWING}t"))
                shapes.append(f"{at} {local} {geometry.get('prst') if geometry is not None else ''} {text}".strip())
    charts.sort(key=lambda chart: (chart.at, chart.kind, chart.title, chart.series))
    return tuple(charts), tuple(sorted(pictures)), tuple(sorted(shapes))


def read_chart(parts: Parts, part: str, at: str) -> Chart:
    """Read a chart part; `at` is the cell of its upper left corner."""
    root = parts.xml(part)
    chart = root.find(f"{_CHART}chart")
    area = chart.find(f"{_CHART}plotArea")
    kinds: list[str] = []
    series: list[Series] = []
    for node in area:
        local = node.tag.rpartition("}")[2]
        if local not in _KINDS:
            continue
        kind = _KINDS[local]
        direction = node.find(f"{_CHART}barDir")
        if direction is not None and direction.get("val") == "bar":
            kind = "bar"
        grouping = node.find(f"{_CHART}grouping")
        if grouping is not None and grouping.get("val") in ("stacked", "percentStacked"):
            kind += f" {grouping.get('val')}"
        if kind not in kinds:
            kinds.append(kind)
        series += [_series(child) for child in node.iterfind(f"{_CHART}ser")]
    axes = []
    for node in area:
        if node.tag.endswith(("catAx", "valAx", "dateAx", "serAx")):
            axes.append(_title(node.find(f"{_CHART}title")))
    title = (
        ""
        if _says(chart, "autoTitleDeleted") and chart.find(f"{_CHART}title") is None
        else _title(chart.find(f"{_CHART}title"))
    )
    look = hashlib.sha256(_look(root).encode()).hexdigest()[:16]
    return Chart("+".join(kinds), title, tuple(series), tuple(axis for axis in axes if axis), at, look)


def _series(node: Any) -> Series:
    from preparers.calc.book.xlsx import spelled

    name = node.find(f"{_CHART}tx")
    label = ""
    if name is not None:
        formula = name.findtext(f".//{_CHART}f")
        label = spelled(formula) if formula else f'"{name.findtext(f"{_CHART}v") or ""}"'
    found = []
    for keys in (("cat", "xVal"), ("val", "yVal")):
        holder = next((child for key in keys if (child := node.find(_CHART + key)) is not None), None)
        found.append(spelled(holder.findtext(f".//{_CHART}f")) if holder is not None else "")
    return Series(label, found[0], found[1])


def _title(node: Any) -> str:
    if node is None:
        return ""
    formula = node.findtext(f".//{_CHART}f")
    if formula:
        from preparers.calc.book.xlsx import spelled

        return "=" + spelled(formula)
    paragraphs = ["".join(t.text or "" for t in p.iter(f"{_DRAWING}t")) for p in node.iter(f"{_DRAWING}p")]
    return "\n".join(paragraphs).strip()


def _says(node: Any, name: str) -> bool:
    child = node.find(_CHART + name)
    return child is not None and child.get("val") in ("1", "true")


def _at(anchor: Any) -> str:
    start = anchor.find(f"{_PLACE}from")
    if start is None:
        return "?"
    return address(int(start.findtext(f"{_PLACE}row") or 0) + 1, int(start.findtext(f"{_PLACE}col") or 0) + 1)


def _look(node: Any) -> str:
    """The whole chart in one spelling, without what only repeats cells, identifiers and exact positions."""
    local = str(node.tag.rpartition("}")[2])
    if local in _REMEMBERED:
        return ""
    if local in ("axId", "crossAx", "f"):
        return local
    attributes = " ".join(f"{key.rpartition('}')[2]}={value}" for key, value in sorted(node.attrib.items()))
    inside = "".join(_look(child) for child in node if isinstance(child.tag, str))
    return f"<{local} {attributes}>{(node.text or '').strip()}{inside}"
