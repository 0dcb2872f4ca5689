"""The accessibility tree in OSWorld's XML, both ways.

Elements are tags named by their role with `-` for blanks; the name is an attribute, the text is the tag's text; states
are attributes of the namespace `st` with the value "true", place and size are `cp:screencoord="(x, y)"` and `cp:size="(w, h)"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lxml import etree

from forge.desktop.windows import Window
from forge.records.errors import DesktopError
from forge.records.trajectory import Element

_BASE = "https://accessibility.ubuntu.example.org/ns"
NAMESPACES = {
    "st": f"{_BASE}/state",
    "attr": f"{_BASE}/attributes",
    "cp": f"{_BASE}/component",
    "doc": f"{_BASE}/document",
    "docattr": f"{_BASE}/document/attributes",
    "txt": f"{_BASE}/text",
    "val": f"{_BASE}/value",
    "act": f"{_BASE}/action",
}
_STATE, _PLACE = f"{{{NAMESPACES['st']}}}", f"{{{NAMESPACES['cp']}}}"
_TAG = re.compile(r"[^A-Za-z0-9_.-]")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ufffc\ufffd]")
_PAIR = re.compile(r"\(\s*(-?\d+),\s*(-?\d+)\s*\)")
_WINDOWS = ("frame", "dialog", "alert", "file chooser", "window")


def to_xml(elements: Iterable[Element], windows: Sequence[Window] = ()) -> str:
    """OSWorld's document of a reading.

    Args:
        elements: parents before children, as `Slot.tree` gives them; several with the same path may follow one another.
        windows: say which frame is active.
    """
    root = etree.Element("desktop-frame", {"name": "main"}, nsmap=NAMESPACES)
    by_path: dict[tuple[str, tuple[int, ...]], etree._Element] = {}
    active = next((window.title for window in windows if window.active), None)
    for element in elements:
        parent = root
        for length in range(len(element.path) - 1, -1, -1):
            if (element.app, element.path[:length]) in by_path:
                parent = by_path[element.app, element.path[:length]]
                break
        node = etree.SubElement(parent, _TAG.sub("-", element.role.strip() or "unknown"))
        node.set("name", _UNFIT.sub("", element.name))
        states = {"visible", "showing", "enabled", "sensitive", *element.states}
        if element.role in _WINDOWS and element.name == active:
            states.add("active")
        for state in sorted(states):
            node.set(_STATE + _TAG.sub("-", state), "true")
        x, y, width, height = element.box
        if element.path:
            node.set(f"{_PLACE}screencoord", f"({x}, {y})")
            node.set(f"{_PLACE}size", f"({width}, {height})")
        if element.text:
            node.text = _UNFIT.sub("", element.text)
        by_path[element.app, element.path] = node
    return str(etree.tostring(root, encoding="unicode"))


def from_xml(text: str) -> list[Element]:
    """Elements of OSWorld's document: what shows, parents before children, paths counted in the document.

    Raises DesktopError: it cannot be read.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, recover=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise DesktopError(f"the accessibility tree cannot be read: {error}") from None
    found: list[Element] = []
    for application in root:
        name = application.get("name") or ""
        _collect(application, _known(name), (), found)
    return found


def windows_in(elements: Iterable[Element]) -> list[Window]:
    """The top windows of a reading, the active one last: the document does not say which lies over which."""
    found = []
    for number, element in enumerate(elements):
        if len(element.path) == 1 and element.role in _WINDOWS and element.box[2] > 0:
            found.append(Window(number + 1, element.name, *element.box, "active" in element.states))
    return sorted(found, key=lambda window: window.active)


def _collect(node: etree._Element, app: str, path: tuple[int, ...], found: list[Element]) -> None:
    if not isinstance(node.tag, str):
        return
    place = _PAIR.fullmatch(node.get(f"{_PLACE}screencoord") or "")
    size = _PAIR.fullmatch(node.get(f"{_PLACE}size") or "")
    box = (int(place[1]), int(place[2]), int(size[1]), int(size[2])) if place and size else (0, 0, 0, 0)
    states = tuple(str(key)[len(_STATE) :] for key, value in node.attrib.items() if str(key).startswith(_STATE))
    if path == () or "showing" in states or place is None:
        found.append(
            Element(
                role=node.tag.replace("-", " "),
                name=node.get("name") or "",
                box=box,
                app=app,
                states=states,
                text=(node.text or "").strip() or None,
                path=path,
            )
        )
    for index, child in enumerate(node):
        _collect(child, app, (*path, index), found)


def _known(name: str) -> str:
    from forge.desktop.apps import app_of

    return app_of(name)
