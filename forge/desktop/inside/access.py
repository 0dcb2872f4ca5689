"""The accessibility tree, read inside the box. Boxes are as the toolkits report them."""

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

STATE = Atspi.StateType
FLAGS = (
    (STATE.FOCUSED, "focused"),
    (STATE.CHECKED, "checked"),
    (STATE.SELECTED, "selected"),
    (STATE.ACTIVE, "active"),
    (STATE.EXPANDED, "expanded"),
    (STATE.EXPANDABLE, "expandable"),
    (STATE.EDITABLE, "editable"),
    (STATE.MODAL, "modal"),
    (STATE.PRESSED, "pressed"),
)
MENU_ITEMS = {"menu item", "check menu item", "radio menu item", "menu", "separator", "tearoff menu item"}
HOLDERS = {  # may have no size of their own and still hold what shows
    *("application", "frame", "panel", "section", "document web", "filler", "unknown", "page tab", "form", "label"),
    *("paragraph", "static", "layered pane", "menu", "combo box", "landmark"),
}
WITH_TEXT = {"text", "entry", "password text", "spin button", "paragraph", "combo box", "heading", "terminal"}
MANY = {"table", "tree table", "list", "tree", "list box"}
MAX_CHILDREN = 300
MAX_NODES = 8000
TEXT_KEPT = 300


def applications():
    """(name, accessible) of all applications on the accessibility bus."""
    desktop = Atspi.get_desktop(0)
    found = []
    for index in range(desktop.get_child_count()):
        try:
            app = desktop.get_child_at_index(index)
            if app is not None and app.get_child_count() >= 0:
                found.append((app.get_name() or "", app))
        except GLib.Error:
            continue
    return found


def box_of(node):
    """[x, y, width, height] on the screen as the toolkit says, or None."""
    try:
        component = node.get_component_iface()
        if component is None:
            return None
        box = component.get_extents(Atspi.CoordType.SCREEN)
        return [box.x, box.y, box.width, box.height]
    except GLib.Error:
        return None


def text_of(node, limit=TEXT_KEPT):
    try:
        text = node.get_text_iface()
        if text is None:
            return None
        count = Atspi.Text.get_character_count(text)
        if limit and node.get_role_name() == "terminal":  # of a terminal the end is of interest
            return Atspi.Text.get_text(text, max(0, count - limit * 10), count)
        return Atspi.Text.get_text(text, 0, min(count, limit) if limit else count)
    except GLib.Error:
        return None


def has_showing_child(node, count):
    for index in range(min(count, node.get_child_count())):
        child = node.get_child_at_index(index)
        if child is not None:
            box = box_of(child)
            if child.get_state_set().contains(STATE.SHOWING) or (box and box[0] > -10000 and box[2] > 1):
                return True
    return False


class Dump:
    """Walks what shows. With `at`, only along the way to what lies at a point."""

    def __init__(self, menus=True, at=None, text=True):
        self.menus = menus
        self.at = at
        self.text = text
        self.nodes = []
        self.pid = {}

    def walk(self, node, parent, index, depth):
        if node is None or depth > 60 or len(self.nodes) > MAX_NODES:
            return
        try:
            self.visit(node, parent, index, depth)
        except GLib.Error:
            pass  # it vanished, or its application does not answer; what is known of the rest still counts

    def visit(self, node, parent, index, depth):
        role = node.get_role_name()
        states = node.get_state_set()
        in_menu = role in MENU_ITEMS and parent >= 0 and self.nodes[parent]["role"] == "menu"
        # page tabs lack "showing" in gtk, landmarks in Thunderbird; the states of gtk2's menu items are stale
        judged = depth and role not in ("page tab", "landmark") and not in_menu
        if judged and not (states.contains(STATE.SHOWING) and states.contains(STATE.VISIBLE)):
            return
        if in_menu and not self.menus:
            return
        box = box_of(node)
        if in_menu and (not box or box[0] < -10000 or box[2] <= 1):
            return
        if depth > 1 and box and (box[2] <= 0 or box[3] <= 0) and role not in HOLDERS:
            return
        if self.at and depth and box and box[2] > 0 and box[3] > 0 and not self.near(box, depth):
            return
        number = len(self.nodes)
        entry = {"parent": parent, "index": index, "role": role, "name": node.get_name() or "", "box": box}
        flags = [name for state, name in FLAGS if states.contains(state)]
        if not (states.contains(STATE.SENSITIVE) or states.contains(STATE.ENABLED)):
            flags.append("disabled")
        entry["states"] = flags
        if self.text and role in WITH_TEXT:
            entry["text"] = text_of(node)
        self.nodes.append(entry)
        count = node.get_child_count()
        # a context menu may begin with many hidden entries; of the menu bar's menus a few entries tell enough
        popup = parent >= 0 and self.nodes[parent]["role"] == "window"
        if role == "menu" and count and not has_showing_child(node, count if popup else 4):
            return
        if count > MAX_CHILDREN and role in MANY:
            entry["many"] = True  # a sheet has 2^34 cells: they are looked up one by one, see `Sheets`
            return
        for child in range(min(count, 4 * MAX_CHILDREN)):
            self.walk(node.get_child_at_index(child), number, child, depth + 1)

    def near(self, box, depth):
        """Whether the point lies in a box, allowing for LibreOffice's wrong origin (some 45 pixels)."""
        x, y = self.at
        slack = 60 if depth > 1 else 4
        return box[0] - slack <= x < box[0] + box[2] + slack and box[1] - slack <= y < box[1] + box[3] + slack


def cell_entry(cell, parent):
    states = cell.get_state_set()
    return {
        "parent": parent,
        "index": cell.get_index_in_parent(),
        "role": "table cell",
        "name": cell.get_name() or "",
        "box": box_of(cell),
        "states": [name for state, name in FLAGS if states.contains(state)],
        "text": text_of(cell),
    }


def tree(match=None, menus=True, at=None, text=True):
    """Nodes of all applications, or of those whose name contains `match`, parents before children."""
    result = []
    for name, app in applications():
        if match is None or match.lower() in name.lower():
            dump = Dump(menus, at, text)
            dump.walk(app, -1, 0, 0)
            result.append({"app": name, "nodes": dump.nodes})
    return result


def find_table(node, depth=0):
    """The sheet in view: the table with many cells. Only what shows is walked; menus are not."""
    if node is None or depth > 14:
        return None
    try:
        role = node.get_role_name()
        if role in MENU_ITEMS or role in ("menu bar", "tool bar", "scroll bar"):
            return None
        states = node.get_state_set()
        if depth and not (states.contains(STATE.SHOWING) and states.contains(STATE.VISIBLE)):
            return None
        count = node.get_child_count()
        if role == "table" and count > MAX_CHILDREN:
            return node
        if role in MANY or count > 1000:
            return None
        for index in range(count):
            found = find_table(node.get_child_at_index(index), depth + 1)
            if found is not None:
                return found
    except GLib.Error:
        pass
    return None


class Sheets:
    """Cells of the spreadsheet in view, looked up one by one."""

    def __init__(self):
        self.app = self.table = None

    def locate(self, match, titles):
        """The table of the uppermost window that has one; `titles` are the windows', uppermost first."""
        if self.table is not None:
            try:  # the last one, while it shows and there is no other window
                showing = self.table.get_state_set().contains(STATE.SHOWING) and self.table.get_name()
                if showing and self.app.get_child_count() == 1:
                    return self.table
            except GLib.Error:
                pass
        self.table = None
        for name, app in applications():
            if match.lower() not in name.lower():
                continue
            found = [app.get_child_at_index(index) for index in range(app.get_child_count())]
            frames = [frame for frame in found if frame is not None]
            self.app = app
            order = {title: place for place, title in reversed(list(enumerate(titles)))}
            for frame in sorted(frames, key=lambda frame: order.get(frame.get_name(), len(order))):
                self.table = find_table(frame)
                if self.table is not None:
                    return self.table
        return None

    def describe(self, table, cells):
        """Cells with what is needed to correct their boxes: the path from the window to the table."""
        above = []
        node = table
        while node is not None and node.get_role_name() != "application":
            above.append(
                {"role": node.get_role_name(), "name": node.get_name() or "", "box": box_of(node),
                 "index": node.get_index_in_parent()}
            )  # fmt: skip
            node = node.get_parent()
        app = node.get_name() if node is not None else ""
        return {"app": app, "above": list(reversed(above)), "cells": cells}

    def cell(self, match, row, column, titles=()):
        table = self.locate(match, titles)
        if table is None:
            return None
        cell = table.get_table_iface().get_accessible_at(row, column)
        if cell is None:
            return None
        return self.describe(table, [cell_entry(cell, -1)])

    def at(self, match, x, y, titles=()):
        """The cell at a point, in the toolkit's own coordinates."""
        table = self.locate(match, titles)
        if table is None:
            return None
        cell = table.get_component_iface().get_accessible_at_point(x, y, Atspi.CoordType.SCREEN)
        if cell is None or cell.get_role_name() != "table cell":
            return None
        return self.describe(table, [cell_entry(cell, -1)])

    def visible(self, match, titles=(), limit=2000):
        table = self.locate(match, titles)
        if table is None:
            return None
        left, top, width, height = box_of(table)
        component, grid = table.get_component_iface(), table.get_table_iface()
        columns = grid.get_n_columns()
        first = component.get_accessible_at_point(left + 3, top + 3, Atspi.CoordType.SCREEN)
        last = component.get_accessible_at_point(left + width - 4, top + height - 4, Atspi.CoordType.SCREEN)
        if first is None or last is None:
            return self.describe(table, [])
        start, end = first.get_index_in_parent(), last.get_index_in_parent()
        cells = []
        for row in range(start // columns, end // columns + 1):
            for column in range(start % columns, end % columns + 1):
                cell = grid.get_accessible_at(row, column)
                if cell is not None and len(cells) < limit:
                    cells.append(cell_entry(cell, -1))
        return self.describe(table, cells)


def details(match, paths):
    """What applications tell of single elements beside the tree: (description, key bindings, label) by their paths.

    A path holds child indices from the application on; None stands for an element that is not there any more.
    """
    apps = [app for name, app in applications() if match.lower() in name.lower()]
    found = []
    for path in paths:
        try:
            node = next(iter(apps), None)
            for index in path:
                node = None if node is None else node.get_child_at_index(index)
            found.append(None if node is None else detail(node))
        except GLib.Error:
            found.append(None)
    return found


def detail(node):
    action, keys, label = node.get_action_iface(), "", ""
    if action is not None and Atspi.Action.get_n_actions(action):
        keys = Atspi.Action.get_key_binding(action, 0) or ""
    for relation in node.get_relation_set():
        if relation.get_relation_type() == Atspi.RelationType.LABELLED_BY and relation.get_n_targets():
            label = relation.get_target(0).get_name() or ""
    return {"description": node.get_description() or "", "keys": keys, "label": label}
