"""The accessibility tree, read inside the box. Boxes are as the toolkits report them.

It is read over the accessibility bus itself, many questions at once (see `wire`): a window of 200 elements in a tenth of
the time that asking one after another takes. Nothing is remembered from one look to the next but which sheet is in view,
so nothing is stale. Interfaces: at-spi2-core's xml/*.xml.
"""

import itertools
import os

from roles import ROLES
from wire import Bus, BusError, pack

__all__ = ["BusError", "Sheets", "applications", "details", "tree"]

ACCESSIBLE = "org.a11y.atspi.Accessible"
ACTION = "org.a11y.atspi.Action"
COMPONENT = "org.a11y.atspi.Component"
TABLE = "org.a11y.atspi.Table"
TEXT = "org.a11y.atspi.Text"
PROPERTIES = "org.freedesktop.DBus.Properties"
ROOT = "/org/a11y/atspi/accessible/root"

SHOWING, VISIBLE, ENABLED, SENSITIVE = 1 << 25, 1 << 30, 1 << 8, 1 << 24
FLAGS = (  # AtspiStateType
    (1 << 12, "focused"),
    (1 << 4, "checked"),
    (1 << 23, "selected"),
    (1 << 1, "active"),
    (1 << 10, "expanded"),
    (1 << 9, "expandable"),
    (1 << 7, "editable"),
    (1 << 16, "modal"),
    (1 << 20, "pressed"),
)
MENU_ITEMS = {"menu item", "check menu item", "radio menu item", "menu", "separator", "tearoff menu item"}
HOLDERS = {  # may have no size of their own and still hold what shows
    *("application", "frame", "panel", "section", "document web", "filler", "unknown", "page tab", "form", "label"),
    *("paragraph", "static", "layered pane", "menu", "combo box", "landmark"),
}
WITH_TEXT = {"text", "entry", "password text", "spin button", "paragraph", "combo box", "heading", "terminal"}
MANY = {"table", "tree table", "list", "tree", "list box"}
MAX_CHILDREN = 300
SHEET = 1_000_000  # children from which a table is a sheet
MARGIN = 24  # children asked before and after those found in view
MAX_NODES = 8000
TEXT_KEPT = 300
LONGEST_TEXT = 4000  # characters of any answer
LABELLED_BY = 2  # AtspiRelationType

SCREEN = pack("u", 0)
PROPERTY = {
    (interface, name): pack("ss", interface, name)
    for interface, name in (
        (ACCESSIBLE, "Name"),
        (ACCESSIBLE, "Description"),
        (ACCESSIBLE, "ChildCount"),
        (TEXT, "CharacterCount"),
        (TABLE, "NColumns"),
    )
}


def is_number(value):
    return isinstance(value, int)


def is_text(value):
    return isinstance(value, str)


def is_node(value):
    return isinstance(value, tuple) and tuple(map(type, value)) == (str, str)


def is_box(value):
    return isinstance(value, tuple) and tuple(map(type, value)) == (int, int, int, int)


def is_relation(value):
    return isinstance(value, tuple) and len(value) == 2 and is_number(value[0]) and each(is_node)(value[1])


def each(fits):
    return lambda value: isinstance(value, (list, tuple)) and all(map(fits, value))


# what an answer has to be: programs of the agent's may be on the bus as well, and answer anything
FITS = {
    "GetRole": is_number,
    "GetState": each(is_number),
    "GetChildren": each(is_node),
    "GetChildAtIndex": is_node,
    "GetIndexInParent": is_number,
    "GetRelationSet": each(is_relation),
    "GetExtents": is_box,
    "GetAccessibleAtPoint": is_node,
    "GetAccessibleAt": is_node,
    "GetText": is_text,
    "GetKeyBinding": is_text,
    PROPERTY[ACCESSIBLE, "Name"]: is_text,
    PROPERTY[ACCESSIBLE, "Description"]: is_text,
    PROPERTY[ACCESSIBLE, "ChildCount"]: is_number,
    PROPERTY[TEXT, "CharacterCount"]: is_number,
    PROPERTY[TABLE, "NColumns"]: is_number,
}

_connection = []
_looks = []  # functions that ask the bus, one within the other


def connection():
    """The accessibility bus. It is left and joined anew after anything went wrong on it."""
    if not _connection:
        session = Bus(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        (address,) = session.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
        session.close()
        _connection.append(Bus(address))
    return _connection[0]


def asking(function):
    """A function that asks the bus, as one look or a part of one. It fails with BusError alone, and then the next one gets a
    fresh connection.
    """

    def ask(*args, **options):
        outermost = not _looks
        _looks.append(function)
        try:
            if outermost:
                connection().begin()
            return function(*args, **options)
        except Exception as error:
            if _connection:
                _connection.pop().close()
            raise BusError(f"{type(error).__name__}: {error}") from None
        finally:
            _looks.pop()

    return ask


def ask(node, then, interface, member, signature="", body=b""):
    """Queue a question about a node; `then` gets its answer's only value, None when there is none or it is no such."""
    fits = FITS[body if interface == PROPERTIES else member]

    def on_answer(got):
        value = got[0] if got and fits(got[0]) else None
        then(value[:LONGEST_TEXT] if is_text(value) else value)

    connection().post(*node, interface, member, on_answer, signature, body)


def ask_property(node, then, interface, name):
    ask(node, then, PROPERTIES, "Get", "ss", PROPERTY[interface, name])


def answers(*questions):
    """The answers to several questions, in order. A question is the arguments of `ask` without `then`."""
    got = [None] * len(questions)
    for number, (node, *question) in enumerate(questions):
        ask(node, lambda value, number=number: got.__setitem__(number, value), *question)
    connection().run()
    return got


def property_of(interface, name):
    """A question for `answers`."""
    return PROPERTIES, "Get", "ss", PROPERTY[interface, name]


def flags_of(states):
    """Names of states; none of what has vanished, for which some answer with an empty list."""
    if not states:
        return []
    found = [name for bit, name in FLAGS if states[0] & bit]
    if not states[0] & (SENSITIVE | ENABLED):
        found.append("disabled")
    return found


def role_of(number):
    return ROLES[number] if number is not None and 0 <= number < len(ROLES) else "unknown"


@asking
def applications():
    """(name, node) of all applications on the accessibility bus. A node is its bus name and path."""
    (found,) = answers((("org.a11y.atspi.Registry", ROOT), ACCESSIBLE, "GetChildren"))
    names = answers(*((node, *property_of(ACCESSIBLE, "Name")) for node in found or ()))
    return [(name, node) for name, node in zip(names, found or (), strict=True) if name is not None]


class Look:
    """Walks what shows. With `at`, only along the way to what lies at a point; with `under`, a path of child indices
    from the application on, only along that path and below its end.
    """

    def __init__(self, menus=True, at=None, text=True, under=()):
        self.menus = menus
        self.at = at
        self.text = text
        self.under = under
        self.count = 0

    def start(self, node):
        """Queue the questions; after `connection().run()` the returned application is complete."""
        above = {"role": "", "children": {}}
        self.visit(node, above, 0, 0)
        return above

    def visit(self, node, parent, index, depth):
        if depth > 60 or self.count > MAX_NODES:
            return
        self.count += 1
        role = ["unknown"]  # as long as it is not told: answers may come in any order
        ask(node, lambda number: role.append(role_of(number)), ACCESSIBLE, "GetRole")
        ask(node, lambda states: self.on_states(node, parent, index, depth, role[-1], states), ACCESSIBLE, "GetState")

    def on_states(self, node, parent, index, depth, role, states):
        if not states:
            return  # it vanished, or its application does not answer; what is known of the rest still counts
        in_menu = role in MENU_ITEMS and parent["role"] == "menu"
        # page tabs lack "showing" in gtk, landmarks in Thunderbird; the states of gtk2's menu items are stale
        judged = depth and role not in ("page tab", "landmark") and not in_menu
        if judged and not (states[0] & SHOWING and states[0] & VISIBLE):
            return
        if in_menu and not self.menus:
            return
        entry = {"role": role, "index": index, "name": "", "box": None, "states": flags_of(states), "children": {}}
        if in_menu or (self.at and depth):  # its box says whether to go on
            ask(
                node,
                lambda box: self.on_box(node, parent, entry, depth, box, in_menu),
                COMPONENT,
                "GetExtents",
                "u",
                SCREEN,
            )
            return
        parent["children"][index] = entry
        ask(node, lambda box: self.keep_if_sized(parent, entry, depth, box), COMPONENT, "GetExtents", "u", SCREEN)
        self.describe(node, entry, parent, depth)

    def on_box(self, node, parent, entry, depth, box, in_menu):
        if in_menu and (not box or box[0] < -10000 or box[2] <= 1):
            return
        if self.at and box and box[2] > 0 and box[3] > 0 and not self.near(box, depth):
            return
        parent["children"][entry["index"]] = entry
        self.keep_if_sized(parent, entry, depth, box)
        self.describe(node, entry, parent, depth)

    def keep_if_sized(self, parent, entry, depth, box):
        entry["box"] = None if box is None else list(box)
        if depth > 1 and box and (box[2] <= 0 or box[3] <= 0) and entry["role"] not in HOLDERS:
            del parent["children"][entry["index"]]

    def near(self, box, depth):
        """Whether the point lies in a box, allowing for LibreOffice's wrong origin (some 45 pixels)."""
        x, y = self.at
        slack = 60 if depth > 1 else 4
        return box[0] - slack <= x < box[0] + box[2] + slack and box[1] - slack <= y < box[1] + box[3] + slack

    def describe(self, node, entry, parent, depth):
        role = entry["role"]
        ask_property(node, lambda name: self.on_name(node, entry, name or ""), ACCESSIBLE, "Name")
        if self.text and role in WITH_TEXT:
            ask_text(node, entry)
            if "focused" in entry["states"]:
                ask_selection(node, entry)
        if role in MANY:
            ask_property(node, lambda count: self.on_count(node, entry, depth, count or 0), ACCESSIBLE, "ChildCount")
        else:
            popup = parent["role"] == "window"
            ask(node, lambda nodes: self.on_children(nodes or (), entry, depth, popup), ACCESSIBLE, "GetChildren")

    def on_name(self, node, entry, name):
        entry["name"] = name
        if self.text and not name and entry["role"] in ("label", "static"):  # LibreOffice's status bar
            ask_text(node, entry)

    def on_count(self, node, entry, depth, count):
        if count <= MAX_CHILDREN:
            ask(node, lambda nodes: self.on_children(nodes or (), entry, depth), ACCESSIBLE, "GetChildren")
        elif count > SHEET:
            entry["many"] = True  # a sheet has 2^34 cells: they are looked up one by one, see `Sheets`
        elif depth < len(self.under):
            self.visit_some(node, entry, depth, range(self.under[depth], self.under[depth] + 1))
        else:
            LongList(self, node, entry, depth)

    def on_children(self, nodes, entry, depth, popup=False):
        if entry["role"] == "menu" and depth >= len(self.under):
            # a context menu may begin with many hidden entries; of the menu bar's menus a few entries tell enough
            self.probe(nodes, nodes if popup else nodes[:4], entry, depth)
            return
        self.visit_all(nodes, entry, depth)

    def visit_all(self, nodes, entry, depth):
        for index, node in enumerate(nodes[: 4 * MAX_CHILDREN]):
            if depth >= len(self.under) or index == self.under[depth]:
                self.visit(node, entry, index, depth + 1)

    def visit_some(self, node, entry, depth, indices):
        for index in indices[: 4 * MAX_CHILDREN]:
            ask(node, lambda child, index=index: is_null(child) or self.visit(child, entry, index, depth + 1),
                ACCESSIBLE, "GetChildAtIndex", "i", pack("i", index))  # fmt: skip

    def probe(self, nodes, some, entry, depth):
        """Visit a menu's entries if any of some of them shows."""
        opened = []

        def seen(shows):
            if shows and not opened:
                opened.append(True)
                self.visit_all(nodes, entry, depth)

        for node in some:
            ask(node, lambda states: seen(states and states[0] & SHOWING), ACCESSIBLE, "GetState")
            ask(node, lambda box: seen(box and box[0] > -10000 and box[2] > 1), COMPONENT, "GetExtents", "u", SCREEN)


class LongList:
    """Visits the rows in view of a list that has too many to ask each: those between the first and the last of them."""

    STEPS = (4, 16, 32, 48)  # pixels from its edges at which a row is looked for: a heading may lie there

    def __init__(self, look, node, entry, depth):
        self.look, self.node, self.entry, self.depth = look, node, entry, depth
        self.places = []
        self.open = 2 * len(self.STEPS)
        ask(node, self.on_box, COMPONENT, "GetExtents", "u", SCREEN)

    def on_box(self, box):
        if not box or box[3] <= 0:
            return
        left, top, _width, height = box
        for step in self.STEPS:
            for y in (top + step, top + height - step):
                place = pack("iiu", left + 8, y, 0)
                ask(self.node, self.on_child, COMPONENT, "GetAccessibleAtPoint", "iiu", place)

    def on_child(self, child):
        if is_null(child):
            self.on_index(None)
        else:
            ask(child, self.on_index, ACCESSIBLE, "GetIndexInParent")

    def on_index(self, index):
        self.open -= 1
        if index is not None and index >= 0:
            self.places.append(index)
        if not self.open and self.places:
            # the cells right of the last one found, and those above the first
            first, last = max(0, min(self.places) - MARGIN), max(self.places) + MARGIN
            self.look.visit_some(self.node, self.entry, self.depth, range(first, last + 1))


def ask_text(node, entry, limit=TEXT_KEPT):
    """Queue the questions for an element's text: its beginning, of a terminal its end."""

    def on_count(count):
        if count is None:
            return
        first, last = 0, min(count, limit)
        if entry["role"] == "terminal":
            first, last = max(0, count - limit * 10), count
        ask(node, lambda text: entry.update(text=text), TEXT, "GetText", "ii", pack("ii", first, last))

    entry["text"] = None
    ask_property(node, on_count, TEXT, "CharacterCount")


def ask_selection(node, entry):
    """Queue the question whether something of a text is selected: told as a state, though AT-SPI has none for it."""

    def on_selection(got):
        if got and len(got) == 2 and got[0] != got[1]:
            entry["states"].append("selection")

    connection().post(*node, TEXT, "GetSelection", on_selection, "i", pack("i", 0))


def flat(above):
    """Entries as a list, parents before children."""
    result = []

    def add(entry, parent):
        number = len(result)
        children = entry.pop("children")
        result.append({"parent": parent, **entry})
        for index in sorted(children):
            add(children[index], number)

    for entry in above["children"].values():
        add(entry, -1)
    return result


@asking
def tree(match=None, menus=True, at=None, text=True, under=()):
    """Nodes of all applications, or of those whose name contains `match`, parents before children."""
    found = [
        (name, Look(menus, at, text, under).start(node))
        for name, node in applications()
        if match is None or match.lower() in name.lower()
    ]
    connection().run()
    return [{"app": name, "nodes": flat(above)} for name, above in found]


class Sheets:
    """Cells of the spreadsheet in view, looked up one by one. Where rows or columns are frozen, each pane has a table."""

    def __init__(self):
        self.app = self.table = None
        self.above = []
        self.panes = []

    def locate(self, match, titles):
        """The table of the uppermost window that has one; `titles` are the windows', uppermost first."""
        if self.table is not None:  # the last one, while it shows and there is no other window
            states, name, windows = answers(
                (self.table, ACCESSIBLE, "GetState"),
                (self.table, *property_of(ACCESSIBLE, "Name")),
                (self.app, *property_of(ACCESSIBLE, "ChildCount")),
            )
            if states and states[0] & SHOWING and name and windows == 1:
                return self.table
        self.table = None
        order = {title: place for place, title in reversed(list(enumerate(titles)))}
        for name, app in applications():
            if match.lower() not in name.lower():
                continue
            self.app = app
            frames = (answers((app, ACCESSIBLE, "GetChildren"))[0] or [])[:MAX_CHILDREN]
            names = answers(*((frame, *property_of(ACCESSIBLE, "Name")) for frame in frames))
            ranks = sorted((order.get(name, len(order)), number) for number, name in enumerate(names))
            for _, number in ranks:
                self.panes = find_tables(frames[number])
                if self.panes:
                    self.above, self.table = self.panes[0], self.panes[0][-1]
                    return self.table
        return None

    def turn_to(self, holds):
        """Go on with the pane whose table's box `holds(box, table)`; the first one when none does."""
        boxes = answers(*((way[-1], COMPONENT, "GetExtents", "u", SCREEN) for way in self.panes))
        ways = [way for way, box in zip(self.panes, boxes, strict=True) if box and holds(box, way[-1])]
        self.above = (ways or self.panes)[0]
        self.table = self.above[-1]
        return self.table

    def describe(self, nodes):
        """Cells with what is needed to correct their boxes: the path from the window to the table."""
        questions = []
        for node in self.above:
            questions += [(node, ACCESSIBLE, "GetRole"), (node, *property_of(ACCESSIBLE, "Name"))]
            questions += [(node, COMPONENT, "GetExtents", "u", SCREEN), (node, ACCESSIBLE, "GetIndexInParent")]
        for node in nodes:
            questions += [(node, ACCESSIBLE, "GetState"), (node, *property_of(ACCESSIBLE, "Name"))]
            questions += [(node, COMPONENT, "GetExtents", "u", SCREEN), (node, ACCESSIBLE, "GetIndexInParent")]
            questions += [(node, TEXT, "GetText", "ii", pack("ii", 0, -1))]
        name, *got = answers((self.app, *property_of(ACCESSIBLE, "Name")), *questions)
        size = 4 * len(self.above)
        above = [
            {"role": role_of(role), "name": name or "", "box": box and list(box), "index": index or 0}
            for role, name, box, index in zip(*(iter(got[:size]),) * 4, strict=True)
        ]
        cells = [
            {"parent": -1, "index": index, "role": "table cell", "name": name or "", "box": box and list(box),
             "states": [flag for flag in flags_of(states) if flag != "disabled"], "text": text}
            for states, name, box, index, text in zip(*(iter(got[size:]),) * 5, strict=True)
            if states is not None and index is not None
        ]  # fmt: skip
        return {"app": name or "", "above": above, "cells": cells}

    @asking
    def cell(self, match, row, column, titles=()):
        table = self.locate(match, titles)
        if table is None:
            return None
        place = (TABLE, "GetAccessibleAt", "ii", pack("ii", row, column))
        if len(self.panes) > 1:
            table = self.turn_to(lambda box, table: inside(box, answers((table, *place))[0]))
        (cell,) = answers((table, *place))
        return None if is_null(cell) else self.describe([cell])

    @asking
    def at(self, match, x, y, titles=()):
        """The cell at a point, in the toolkit's own coordinates."""
        table = self.locate(match, titles)
        if table is None:
            return None
        if len(self.panes) > 1:
            table = self.turn_to(lambda box, _: box[0] <= x < box[0] + box[2] and box[1] <= y < box[1] + box[3])
        (cell,) = answers(at_point(table, x, y))
        if is_null(cell) or role_of(answers((cell, ACCESSIBLE, "GetRole"))[0]) != "table cell":
            return None
        return self.describe([cell])

    @asking
    def visible(self, match, titles=(), limit=2000):
        table = self.locate(match, titles)
        if table is None:
            return None
        box, columns = answers((table, COMPONENT, "GetExtents", "u", SCREEN), (table, *property_of(TABLE, "NColumns")))
        if not box or not columns or columns < 0:
            return self.describe([])
        left, top, width, height = box
        corners = answers(at_point(table, left + 3, top + 3), at_point(table, left + width - 4, top + height - 4))
        if any(map(is_null, corners)):
            return self.describe([])
        start, end = answers(*((corner, ACCESSIBLE, "GetIndexInParent") for corner in corners))
        if start is None or end is None:
            return self.describe([])
        rows = range(start // columns, end // columns + 1)[:limit]
        places = itertools.product(rows, range(start % columns, end % columns + 1)[:limit])
        asked = itertools.islice(places, limit)
        cells = answers(*((table, TABLE, "GetAccessibleAt", "ii", pack("ii", *place)) for place in asked))
        return self.describe([cell for cell in cells if not is_null(cell)])


def at_point(node, x, y):
    """A question for `answers`: what of a node's children lies at a point."""
    return node, COMPONENT, "GetAccessibleAtPoint", "iiu", pack("iiu", x, y, 0)


def is_null(node):
    return node is None or node[1].endswith("/null")


def inside(box, cell):
    """Whether the middle of a cell lies in a box."""
    (extents,) = answers((cell, COMPONENT, "GetExtents", "u", SCREEN)) if not is_null(cell) else (None,)
    if not extents:
        return False
    x, y = extents[0] + extents[2] // 2, extents[1] + extents[3] // 2
    return box[0] <= x < box[0] + box[2] and box[1] <= y < box[1] + box[3]


def find_tables(frame):
    """The ways from a window to the sheet in view: a table with many cells, one in each pane where some are frozen.
    Only what shows is walked; menus are not.
    """
    ways, found = [[frame]], []
    for _ in range(15):
        questions = []
        for way in ways:
            questions += [(way[-1], ACCESSIBLE, "GetRole"), (way[-1], ACCESSIBLE, "GetState")]
            questions += [(way[-1], *property_of(ACCESSIBLE, "ChildCount"))]
        shown = []
        for way, (number, states, count) in zip(ways, zip(*(iter(answers(*questions)),) * 3, strict=True), strict=True):
            role = role_of(number)
            if not states or not (states[0] & SHOWING and states[0] & VISIBLE) or not count:
                continue
            if role == "table" and count > MAX_CHILDREN:
                found.append(way)
            elif role not in MENU_ITEMS | MANY | {"menu bar", "tool bar", "scroll bar"} and count <= 1000:
                shown.append(way)
        children = answers(*((way[-1], ACCESSIBLE, "GetChildren") for way in shown))
        ways = [[*way, node] for way, nodes in zip(shown, children, strict=True) for node in nodes or ()][:MAX_NODES]
        if found or not ways:
            break
    return found


@asking
def details(match, paths):
    """What applications tell of single elements beside the tree: (description, key bindings, label) by their paths.

    A path holds child indices from the application on; None stands for an element that is not there any more.
    """
    app = next((node for name, node in applications() if match.lower() in name.lower()), None)
    known = {(): app}
    for length in range(max(map(len, paths), default=0)):
        wanted = {tuple(path[: length + 1]) for path in paths if len(path) > length}
        wanted = [way for way in wanted if not is_null(known.get(way[:-1]))]
        got = answers(*((known[way[:-1]], ACCESSIBLE, "GetChildAtIndex", "i", pack("i", way[-1])) for way in wanted))
        known.update(zip(wanted, got, strict=True))
    found = [detail(known.get(tuple(path))) for path in paths]
    connection().run()
    label_of = [entry.pop("by") for entry in found if entry is not None]
    labels = answers(*((by[0], *property_of(ACCESSIBLE, "Name")) for by in label_of if by))
    named = iter(labels)
    for entry, by in zip((entry for entry in found if entry is not None), label_of, strict=True):
        entry["label"] = (next(named) or "") if by else ""
    return found


def detail(node):
    """An entry that is complete after `connection().run()`."""
    if is_null(node):
        return None
    entry = {"description": "", "keys": "", "by": []}
    relations = {}

    def related(answer):
        relations.update(answer or ())
        entry["by"] = relations.get(LABELLED_BY, [])

    ask_property(node, lambda text: entry.update(description=text or ""), ACCESSIBLE, "Description")
    ask(node, lambda keys: entry.update(keys=keys or ""), ACTION, "GetKeyBinding", "i", pack("i", 0))
    ask(node, related, ACCESSIBLE, "GetRelationSet")
    return entry
