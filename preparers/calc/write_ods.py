"""Making an .ods of an .xlsx: LibreOffice converts, and what differs from one conversion to the next is made fixed.

What differs (seen over many conversions): dates and durations in meta.xml, the order and names of page styles, and the
sheet that a validation's base cell is said to lie on. What a conversion without a window leaves out is put in: frozen
rows and columns, and the sheet that is shown.
"""

from __future__ import annotations

import io
import zipfile

from forge.harness.layers.office.python.sheetpatch.markup import Document, Node, element
from forge.harness.layers.office.python.sheetpatch.references import Area
from forge.records import PreparerError
from preparers.base import Context
from preparers.calc.params import WorkbookParams
from preparers.calc.write_xlsx import normalised

_LEFT_OUT = ("Thumbnails/", "Configurations2/")


def write_ods(data: bytes, params: WorkbookParams, context: Context) -> bytes:
    """The .ods of a written .xlsx. Raises PreparerError when there is no office to convert it."""
    if context.office is None:
        raise PreparerError(f"{params.path}: an .ods is made by LibreOffice, and there is none", mend="open an Office")
    converted = context.office.convert(data, ".xlsx", ".ods")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(converted)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            if name.startswith(_LEFT_OUT):
                continue
            part = source.read(name)
            if name in _FIXES:
                document = Document(part)
                _FIXES[name](document.root, params, context)
                part = document.render()
            target.writestr(name, part)
    return normalised(buffer.getvalue())


def _fix_meta(root: Node, params: WorkbookParams, context: Context) -> None:
    for node in list(root.walk()):
        if node.name in ("meta:creation-date", "dc:date"):
            node.replace([context.guest.clock])
        elif node.name in ("meta:editing-duration", "meta:editing-cycles") and node.parent is not None:
            node.parent.remove(node)


def _fix_manifest(root: Node, params: WorkbookParams, context: Context) -> None:
    for node in root.children:
        if (node.get("manifest:full-path") or "").startswith(_LEFT_OUT):
            root.remove(node)


def _fix_content(root: Node, params: WorkbookParams, context: Context) -> None:
    users: dict[str, str] = {}
    sheet = ""
    for node in root.walk():
        if node.name == "table:table":
            sheet = node.get("table:name") or ""
        elif node.local == "table-cell" and (rule := node.get("table:content-validation-name")):
            users.setdefault(rule, sheet)
    for node in root.walk():
        if node.name == "table:content-validation" and (name := node.get("table:name")) in users:
            cell = (node.get("table:base-cell-address") or "").rpartition(".")[2]
            node.set("table:base-cell-address", "'" + users[name].replace("'", "''") + f"'.{cell}")


def _fix_styles(root: Node, params: WorkbookParams, context: Context) -> None:
    holder = root.find("master-styles")
    automatic = root.find("automatic-styles")
    if holder is None or automatic is None:
        return
    masters = sorted(holder.children, key=lambda node: node.get("style:name") or "")
    layouts = {node.get("style:name"): node for node in automatic.children if node.name == "style:page-layout"}
    renamed: dict[str | None, str] = {}
    for node in masters:
        old = node.get("style:page-layout-name")
        renamed.setdefault(old, f"Mpm{len(renamed) + 1}")
        node.set("style:page-layout-name", renamed[old])
    holder.replace([*masters])
    for old, node in layouts.items():
        node.set("style:name", renamed.get(old, old or ""))
    others = [node for node in automatic.children if node.name != "style:page-layout"]
    automatic.replace([*others, *sorted(layouts.values(), key=lambda node: node.get("style:name") or "")])


def _fix_settings(root: Node, params: WorkbookParams, context: Context) -> None:
    """Put the view's settings in, as LibreOffice writes them for a window."""
    holder = root.find("settings")
    if holder is None:
        return
    views = next((node for node in holder.children if node.get("config:name") == "ooo:view-settings"), None)
    if views is None:
        views = holder.insert(0, Node("config:config-item-set", {"config:name": "ooo:view-settings"}))
    for node in views.children:
        if node.get("config:name") == "Views":
            views.remove(node)
    tables: list[Node | str] = []
    for sheet in params.sheets:
        corner = Area.parse(sheet.freeze or "A1")
        rows, columns = corner.top - 1, corner.left - 1
        items = [
            ("HorizontalSplitMode", "short", 2 if columns else 0),
            ("VerticalSplitMode", "short", 2 if rows else 0),
            ("HorizontalSplitPosition", "int", columns),
            ("VerticalSplitPosition", "int", rows),
            ("ActiveSplitRange", "short", 3 if rows and columns else 1 if columns else 2),
            ("PositionLeft", "int", 0),
            ("PositionRight", "int", columns),
            ("PositionTop", "int", 0),
            ("PositionBottom", "int", rows),
        ]
        entries: list[Node | str] = [_item(name, kind, str(value)) for name, kind, value in items]
        tables.append(Node("config:config-item-map-entry", {"config:name": sheet.name}, entries))
    shown = params.sheets[params.main]
    active = shown if not shown.hidden else next(sheet for sheet in params.sheets if not sheet.hidden)
    entry: list[Node | str] = [
        _item("ViewId", "string", "view1"),
        Node("config:config-item-map-named", {"config:name": "Tables"}, tables),
        _item("ActiveTable", "string", active.name),
    ]
    inside = Node("config:config-item-map-entry", {}, entry)
    views.append(Node("config:config-item-map-indexed", {"config:name": "Views"}, [inside]))


def _item(name: str, kind: str, text: str) -> Node:
    return element("config:config-item", {"config:name": name, "config:type": kind}, text)


_FIXES = {
    "meta.xml": _fix_meta,
    "META-INF/manifest.xml": _fix_manifest,
    "content.xml": _fix_content,
    "styles.xml": _fix_styles,
    "settings.xml": _fix_settings,
}
