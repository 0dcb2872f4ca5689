"""LibreOffice: commands that a menu, tool bar or context menu offers, and controls of its dialogs; from its own files.

Labels come from the registry (`share/registry/*.xcd`, component data of org.openoffice.Office.UI), the ways that lead to them
from `share/config/soffice.cfg` (menubar, toolbar and popup XML, `.ui` files of dialogs). Nothing is started.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from skills.harvest.candidate import Candidate, Effect, slug

ROOT = Path("/usr/lib/libreoffice/share")
MODULES = {
    "calc": ("scalc", "CalcCommands"), "writer": ("swriter", "WriterCommands"),
    "impress": ("simpress", "DrawImpressCommands"), "draw": ("sdraw", "DrawImpressCommands"),
    "math": ("smath", "MathCommands"),
}  # fmt: skip
"""Application to its module folder and the registry's component; charts are an area of Calc, see `CHART`."""

CHART = ("schart", "ChartCommands")

_OOR = "{http://openoffice.org/2001/registry}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_MENU = "{http://openoffice.org/2001/menu}"
_SEEN_ONLY = {"none", "window", "help", "file", "edit", "go to", "slide show"}
_SEEN_WORDS = re.compile(
    r"\b(zoom|toolbar|sidebar|ruler|print|preview|select|go to|find|undo|redo|copy|help|recent|navigator|close|exit|macro|"
    r"show|hide)\b",
    re.I,
)
_KEEPS = re.compile(r"\b(save as|export|properties|headers? and footers?|paste|cut|delete|replace|protect)\b", re.I)
_SHARED = {"cui", "svx", "sfx"}
_CONTROLS = {
    "GtkCheckButton": "switch", "GtkToggleButton": "switch", "GtkRadioButton": "choose", "GtkSpinButton": "set",
    "GtkEntry": "set", "GtkComboBoxText": "choose", "GtkComboBox": "choose", "GtkScale": "set", "GtkTreeView": "choose",
    "GtkIconView": "choose",
}  # fmt: skip


def harvest() -> Iterator[Candidate]:
    """All candidates of an installed LibreOffice; none where it is missing."""
    if not ROOT.is_dir():
        return
    commands = _labels()
    for app, (module, component) in MODULES.items():
        yield from _commands(app, module, {**commands["GenericCommands"], **commands.get(component, {})}, area=None)
    module, component = CHART
    yield from _commands("calc", module, {**commands["GenericCommands"], **commands.get(component, {})}, area="chart")
    yield from _dialogs()


def _labels() -> dict[str, dict[str, dict[str, str]]]:
    """Component -> command -> its English texts."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for path in sorted((ROOT / "registry").glob("*.xcd")):
        for _, data in etree.iterparse(path, tag=f"{_OOR}component-data", huge_tree=True):
            name = data.get(f"{_OOR}name", "")
            if data.get(f"{_OOR}package") == "org.openoffice.Office.UI" and name.endswith("Commands"):
                for node in data.iter("node"):
                    command = node.get(f"{_OOR}name", "")
                    if command.startswith(".uno:"):
                        texts = found[name].setdefault(command, {})
                        texts.update(_texts(node))
            data.clear()
    return found


def _texts(node: etree._Element) -> Iterator[tuple[str, str]]:
    for prop in node.findall("prop"):
        values = [v for v in prop.findall("value") if v.get(_LANG) in (None, "en-US") and v.text]
        if values:
            yield prop.get(f"{_OOR}name", ""), str(values[0].text)


def _commands(app: str, module: str, labels: dict[str, dict[str, str]], area: str | None) -> Iterator[Candidate]:
    folder = ROOT / "config" / "soffice.cfg" / "modules" / module
    ways: dict[str, str] = {}
    for path in sorted((folder / "menubar").glob("*.xml")):
        _walk(etree.parse(path).getroot(), (), labels, ways)
    for kind, words in (("toolbar", "tool bar"), ("popupmenu", "context menu")):
        for path in sorted((folder / kind).glob("*.xml")):
            for command in re.findall(r'(?:xlink:href|menu:id)="(\.uno:[^"]+)"', path.read_text("utf-8", "replace")):
                ways.setdefault(command, f"{words} {path.stem}")
    for command in sorted(ways):
        texts = labels.get(command) or labels.get(command.split("?")[0], {})
        label = _clean(texts.get("ContextLabel") or texts.get("Label") or texts.get("PopupLabel") or "")
        if not label:
            continue
        reached = ways[command]
        top = reached.split(" > ")[0].lower() if " > " in reached else ""
        yield Candidate(
            app, area or (slug(top) if top else "toolbar"), "", label.removesuffix("..."),
            f"{reached} > {label}" if " > " in reached or top else f"{reached}: {label}", f"{app}:{command}",
            _effect(top, label), _clean(texts.get("TooltipLabel", "")),
        )  # fmt: skip


def _walk(node: etree._Element, path: tuple[str, ...], labels: dict[str, dict[str, str]], ways: dict[str, str]) -> None:
    for child in node:
        if not isinstance(child.tag, str):
            continue
        tag, command = etree.QName(child).localname, child.get(f"{_MENU}id") or ""
        if tag == "menu":
            label = child.get(f"{_MENU}label") or labels.get(command, {}).get("Label") or command
            _walk(child, (*path, _clean(label)), labels, ways)
        elif tag == "menuitem" and command.startswith(".uno:"):
            ways.setdefault(command, " > ".join(path))
        elif tag != "menuitem":
            _walk(child, path, labels, ways)


def _dialogs() -> Iterator[Candidate]:
    """Labelled controls of dialogs: what can be ticked, chosen or typed there."""
    folder = ROOT / "config" / "soffice.cfg"
    owners = {
        "scalc": "calc",
        "swriter": "writer",
        "simpress": "impress",
        "sdraw": "draw",
        "smath": "math",
        "schart": "calc",
    }
    for path in sorted(folder.rglob("*.ui")):
        parts = path.relative_to(folder).parts
        if "notebookbar" in path.name or path.name.startswith("sidebar"):
            continue
        app = (
            owners.get(parts[1], "")
            if parts[0] == "modules"
            else {"cui": "office", "svx": "office", "sfx": "office"}.get(parts[0], "")
        )
        if not app:
            continue
        try:
            root = etree.parse(path).getroot()
        except etree.XMLSyntaxError:
            continue
        title = _title(root) or path.stem
        options = "optionen" in path.name or path.stem.startswith("opt")
        for verb, label, key in _controls(root):
            effect: Effect = "profile" if options else "document"
            yield Candidate(app, slug(title), verb, label, f"dialog {title}", f"{'/'.join(parts)}#{key}", effect)


def _title(root: etree._Element) -> str:
    for thing in root.iter("object"):
        if thing.get("class") in ("GtkDialog", "GtkAssistant"):
            title = thing.find("property[@name='title']")
            if title is not None and title.text:
                return _clean(title.text)
    return ""


def _controls(root: etree._Element) -> Iterator[tuple[str, str, str]]:
    mnemonics: dict[str, str] = {}
    for label in root.iter("object"):
        if label.get("class") == "GtkLabel":
            text, target = label.find("property[@name='label']"), label.find("property[@name='mnemonic_widget']")
            if text is not None and text.text and target is not None and target.text:
                mnemonics[target.text] = text.text
    for control in root.iter("object"):
        verb = _CONTROLS.get(control.get("class", ""))
        if verb is None:
            continue
        own = control.find("property[@name='label']")
        label = (own.text if own is not None else None) or mnemonics.get(control.get("id", ""))
        if label and (words := _clean(label.replace("_", ""))):
            yield verb, words, control.get("id", "")


def _effect(top: str, label: str) -> Effect:
    if _KEEPS.search(label):
        return "document"
    return "none" if top in _SEEN_ONLY or _SEEN_WORDS.search(label) else "document"


def _clean(label: str) -> str:
    return re.sub(r"\s+", " ", label.replace("~", "").replace("…", "...")).strip().rstrip(":")
