"""Hands and moves on a fake desktop: finding by meaning, retrying once, and saying what was there instead."""

from pathlib import Path
from typing import Any

import pytest

from forge.desktop.windows import Window
from forge.desktop.words import whereabouts
from forge.harness.describe import describe
from forge.harness.fake import FakeDesktop
from forge.harness.moves import MOVES, Act, MoveError
from forge.harness.moves.general import by_label
from forge.harness.moves.hands import Hands, Scene, as_chord, same_name
from forge.harness.moves.values import same_amount
from forge.records import Action, Bash, Drag, Element, InputError, Key, Pointer, Scroll, Type, Wait


def thing(
    role: str, name: str = "", box: tuple[int, ...] = (10, 10, 40, 20), path: tuple[int, ...] = (0, 0), **more: Any
):
    return Element(role=role, name=name, box=box, path=path, **more)


def play(desktop: FakeDesktop, move: str, value: Any, patience: float = 0.2) -> list[Action]:
    """Play a move on the fake desktop; its actions."""
    hands = Hands(desktop, patience)
    done: list[Action] = []
    for act in MOVES.get(move).play(hands, value):
        assert len(act.actions) == len(act.elements)
        for action in act.actions:
            carry_out(desktop, action)
            done.append(action)
        desktop.settle(act.until)
    return done


def carry_out(desktop: FakeDesktop, action: Action) -> None:
    width, height = desktop.guest.width, desktop.guest.height
    match action:
        case Pointer():
            button = {"right_click": 3, "middle_click": 2}.get(action.kind, 1)
            desktop.input.click(int(action.at.x * width), int(action.at.y * height), button)
        case Type():
            desktop.input.type(action.text)
        case Key():
            desktop.input.key(action.keys)
        case Drag():
            desktop.input.drag(0, 0, int(action.at.x * width), int(action.at.y * height))
        case Scroll():
            desktop.input.scroll(0, 0, action.dx, action.dy)
        case Wait() | Bash():
            pass


@pytest.mark.parametrize(
    ("name", "wanted", "same"),
    [
        ("Sort...", "Sort…", True),
        ("Sort…", "Sort...", True),
        ("Name:", "Name", True),
        ("doesn’t contain", "doesn't contain", True),
        ("Inbox, 4 unread messages", "Inbox*", True),
        ("Write: Minutes - Thunderbird", "Write:*", True),
        ("Price (EUR)", "Price (EUR)", True),
        ("Bold", "bold", False),
        ("Bolder", "Bold", False),
    ],
)
def test_names_are_compared_without_their_accidents(name: str, wanted: str, same: bool) -> None:
    assert same_name(name, wanted) is same


def test_a_scene_prefers_the_newest_window_and_leaves_out_what_does_not_show() -> None:
    old = thing("push button", "OK", path=(0, 3))
    new = thing("push button", "OK", path=(2, 1))
    hidden = thing("push button", "OK", path=(3, 1), box=(-2147483648, -2147483648, 20, 20))
    scene = Scene([old, thing("dialog", "Sort", path=(2,)), new, hidden])
    assert scene.select("OK", "push button") == [new, old]
    assert scene.select("OK", within="Sort") == [new]
    assert scene.select("OK", where=lambda e: e.path[0] == 0) == [old]


def test_entries_of_a_closed_menu_do_not_count_wherever_they_lie() -> None:
    closed = thing("menu", "Tag", path=(0, 1), states=("expandable",))
    stale = thing("menu item", "Work", path=(0, 1, 0))
    opened = thing("menu", "Mark", path=(0, 2), states=("expandable", "expanded"))
    fresh = thing("menu item", "Read", path=(0, 2, 0))
    scene = Scene([closed, stale, opened, fresh])
    assert scene.select(None, "menu item") == [fresh]
    assert scene.entries(opened) == [fresh]


def test_fields_are_found_by_name_by_label_and_by_number() -> None:
    elements = [
        thing("label", "Title", (10, 10, 50, 20), (1, 0)),
        thing("text", "", (70, 10, 200, 20), (1, 1)),
        thing("label", "Subtitle", (10, 40, 50, 20), (1, 2)),
        thing("text", "", (70, 40, 200, 20), (1, 3)),
        thing("label", "Notes", (10, 70, 100, 20), (1, 4)),
        thing("text", "", (10, 95, 260, 60), (1, 5)),
        thing("text", "Owner", (10, 160, 260, 20), (1, 6)),
        thing("text", "", (70, 10, 200, 20), (0, 9)),
    ]
    scene = Scene(elements)
    roles = ("text",)
    assert by_label(scene, "Title", roles, None, 0) == elements[1]
    assert by_label(scene, "Subtitle", roles, None, 0) == elements[3]
    assert by_label(scene, "Notes", roles, None, 0) == elements[5]
    assert by_label(scene, "Owner", roles, None, 0) == elements[6]
    assert by_label(scene, None, roles, None, 1) == elements[3]
    assert by_label(scene, "Missing", roles, None, 0) is None


def test_every_move_has_a_summary_and_says_what_it_takes() -> None:
    for name, move in MOVES:
        assert move.summary.endswith("."), name
        with pytest.raises(InputError, match=f"move {name}: ") as caught:
            move.validate({"nosuch": 1})
        assert "its arguments are" in str(caught.value)


@pytest.mark.parametrize(
    ("move", "value", "message"),
    [
        ("select", "2B", "cells: String should match pattern"),
        ("select", None, "cells: Field required"),
        ("enter", "B2", "a mapping of cell, text is needed"),
        ("enter", {"cell": "B2"}, "text: Field required"),
        ("save", "/etc/passwd", "path: String should match pattern"),
        ("sort", {"range": "A1:B2", "keys": []}, "keys: Tuple should have at least 1 item"),
        ("rename_sheet", {"sheet": "a", "to": "x" * 32}, "to: String should have at most 31"),
        ("write", {"then": "burn"}, "then: Input should be 'draft' or 'send'"),
    ],
)
def test_a_wrong_argument_is_named(move: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"move {move}: ") as caught:
        MOVES.get(move).validate(value)
    assert message in str(caught.value)


def test_a_bare_value_is_the_main_argument_also_inside() -> None:
    assert MOVES.get("select").validate("B2").cells == "B2"
    assert MOVES.get("menu").validate(["Data", "Sort..."]).path == ("Data", "Sort...")
    keys = MOVES.get("sort").validate({"range": "A1:B9", "keys": ["Price", {"column": "Day", "descending": True}]}).keys
    assert [(item.column, item.descending) for item in keys] == [("Price", False), ("Day", True)]
    drag = MOVES.get("drag").validate({"from": "A", "to": {"role": "icon", "name": "B"}})
    assert (drag.start.name, drag.to.role) == ("A", "icon")


def test_an_unknown_move_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown move 'slect'.*\n.*select"):
        MOVES.get("slect")


def test_a_click_goes_to_the_middle_of_the_thing() -> None:
    desktop = FakeDesktop(elements=[thing("push button", "Go", (100, 100, 80, 40))])
    play(desktop, "click", {"name": "Go", "role": "push button"})
    play(desktop, "click", {"name": "Go", "button": "right", "count": 1})
    assert desktop.log == [("click", 139, 119, 1, 1, ()), ("click", 139, 119, 3, 1, ())]


def test_what_is_missing_is_named_with_what_was_there() -> None:
    desktop = FakeDesktop(elements=[thing("push button", "Go"), thing("push button", "Stop", path=(0, 1))])
    with pytest.raises(MoveError, match="no push button 'Run' shows") as caught:
        play(desktop, "click", {"name": "Run", "role": "push button"})
    assert "there were 'Go' (push button), 'Stop' (push button)" in str(caught.value)


def test_a_menu_is_walked_by_its_labels_and_what_is_not_there_is_tried_twice() -> None:
    bar = thing("menu bar", path=(0, 0), box=(0, 0, 300, 20))
    top = thing("menu", "Data", (0, 0, 60, 20), (0, 0, 0))
    entry = thing("menu item", "Sort...", (0, 20, 60, 20), (0, 0, 0, 0))
    desktop = FakeDesktop(elements=[bar, top])
    desktop.on_click["Data"] = lambda: desktop.elements.append(entry)
    desktop.on_click["Sort..."] = lambda: desktop.elements.remove(entry)
    actions = play(desktop, "menu", ["Data", "Sort…"])
    assert [type(action) for action in actions] == [Pointer, Pointer]
    assert desktop.elements == [bar, top]

    with pytest.raises(MoveError, match=r"no 'Filter' in the menu 'Data'\n.*it has Sort\.\.\."):
        play(desktop, "menu", ["Data", "Filter"])
    assert ("key", "Escape") in desktop.log


def test_a_grey_entry_is_not_chosen() -> None:
    bar = thing("menu bar", path=(0, 0), box=(0, 0, 300, 20))
    top = thing("menu", "Data", (0, 0, 60, 20), (0, 0, 0))
    entry = thing("menu item", "Sort...", (0, 20, 60, 20), (0, 0, 0, 0), states=("disabled",))
    desktop = FakeDesktop(elements=[bar, top, entry])
    with pytest.raises(MoveError, match="is greyed out"):
        play(desktop, "menu", ["Data", "Sort..."])


def test_a_dialog_that_does_not_close_is_tried_again_and_then_told() -> None:
    dialog, ok = thing("dialog", "Sort", path=(1,)), thing("push button", "OK", path=(1, 0))
    desktop = FakeDesktop(elements=[dialog, ok], window_list=[Window(1, "Book", 0, 0, 640, 480, False)])
    tries: list[int] = []

    def press() -> None:
        tries.append(1)
        if len(tries) == 2:
            desktop.elements.clear()

    desktop.on_click["OK"] = press
    play(desktop, "press", {"button": "OK", "dialog": "Sort"})
    assert len(tries) == 2
    desktop.elements[:] = [dialog, ok]
    with pytest.raises(MoveError, match="the dialog stays open after 'OK'"):
        play(desktop, "press", {"button": "OK", "dialog": "Sort"})


def test_a_box_is_ticked_only_when_it_is_not() -> None:
    box = thing("check box", "Headings", (10, 10, 200, 20), states=("checked",))
    desktop = FakeDesktop(elements=[box])
    assert play(desktop, "check", "Headings") == []
    desktop.on_click["Headings"] = lambda: desktop.elements.__setitem__(0, box.model_copy(update={"states": ()}))
    actions = play(desktop, "uncheck", "Headings")
    assert len(actions) == 1
    assert actions[0].at.x * 640 < 30, "the box is on the left of its label"
    desktop.on_click.clear()
    with pytest.raises(MoveError, match="'Headings' does not become checked"):
        play(desktop, "check", "Headings")


def test_a_window_is_waited_for() -> None:
    desktop = FakeDesktop(window_list=[Window(1, "Report.xlsx - Calc", 0, 0, 640, 480, True)])
    assert play(desktop, "wait_window", "Report*") == []
    with pytest.raises(MoveError, match="the window 'Sort' is not there"):
        play(desktop, "wait_window", {"title": "Sort", "seconds": 0.1})


def test_acts_are_joined_and_wait_for_the_last_effect_only() -> None:
    hands = Hands(FakeDesktop(), 0.1)
    act = hands.type("a", until=lambda: False) + hands.key("Return", until=lambda: True)
    assert isinstance(act, Act)
    assert act.actions == (Type(text="a"), Key(keys="Return"))
    assert act.until is not None
    assert act.until()


def test_a_condition_that_an_act_saw_come_true_is_not_asked_again() -> None:
    hands = Hands(FakeDesktop(), 0.1)
    asked: list[int] = []

    def condition() -> str:
        asked.append(1)
        return "value"

    act = hands.type("a", until=condition)
    assert act.until is not None
    assert act.until() is True
    assert hands.becomes(condition) == "value"
    assert len(asked) == 1
    assert hands.becomes(condition) == "value"
    assert len(asked) == 2


def test_the_window_in_front_comes_first_and_open_menus_before_it() -> None:
    front, newer = thing("push button", "OK", path=(0, 3)), thing("push button", "OK", path=(2, 1))
    popup = thing("push button", "OK", path=(1, 0))
    frames = [thing("frame", "Old", path=(0,)), thing("window", "", path=(1,)), thing("frame", "New", path=(2,))]
    assert Scene([*frames, front, popup, newer], "Old").select("OK") == [popup, front, newer]
    assert Scene([*frames, front, popup, newer]).select("OK") == [popup, newer, front]


def test_qt_menus_hold_their_entries_in_a_popup() -> None:
    top = thing("menu item", "View", path=(0, 0, 0))
    entry = thing("menu item", "Playlist", path=(0, 0, 0, 0, 4))
    assert Scene([top, thing("popup menu", path=(0, 0, 0, 0)), entry]).entries(top) == [entry]


def test_a_menu_that_the_pointer_does_not_open_is_opened_by_its_mnemonic() -> None:
    bar = thing("menu bar", path=(0, 0), box=(0, 0, 300, 20))
    top = thing("menu", "Data", (0, 0, 60, 20), (0, 0, 0))
    sort = thing("menu item", "Sort...", (0, 20, 60, 20), (0, 0, 0, 0))
    fill = thing("menu item", "Fill", (0, 40, 60, 20), (0, 0, 0, 1))
    desktop = FakeDesktop(elements=[bar, top], key_bindings={"Data": "<Alt>d;<Alt>d"})
    marked: list[int] = []

    def down() -> None:
        marked.append(1)
        number = len(marked) - 1
        shown = [sort, fill]
        shown[number] = shown[number].model_copy(update={"states": ("selected",)})
        desktop.elements[2:] = shown

    desktop.on_key = {
        "alt+d": lambda: desktop.elements.extend([sort, fill]),
        "Down": down,
        "Return": lambda: desktop.elements.__delitem__(slice(2, None)),
    }
    play(desktop, "menu", ["Data", "Fill"], patience=0.05)
    keys = [entry[1] for entry in desktop.log if entry[0] == "key" and entry[1] != "Escape"]
    assert keys == ["alt+d", "Down", "Down", "Return"]
    assert desktop.elements == [bar, top]


def test_a_failed_move_keeps_a_picture_of_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    with pytest.raises(MoveError) as caught:
        play(FakeDesktop(), "click", "Nothing")
    assert caught.value.picture is not None
    assert Path(caught.value.picture).read_bytes().startswith(b"\x89PNG")
    assert f"screenshot: {caught.value.picture}" in str(caught.value)


@pytest.mark.parametrize(
    ("told", "chord"),
    [
        ("<Control>s", "ctrl+s"),
        ("<Primary><Shift>S", "ctrl+shift+s"),
        ("Ctrl+S", "ctrl+s"),
        ("<Alt>f:s", "s"),
        ("F5", "F5"),
        ("", ""),
        ("<Hyper>x", ""),
    ],
)
def test_key_bindings_are_read_as_toolkits_write_them(told: str, chord: str) -> None:
    assert as_chord(told) == chord


@pytest.mark.parametrize(
    ("shown", "wanted", "same"),
    [
        ("3", "3", True),
        ("3", "4", False),
        ("0.59″", "1.5 cm", True),
        ("0.60″", "1.5 cm", False),
        ("12.0 pt", "12", True),
        ("1,234.5", "1234.5", True),
        ("50%", "50 %", True),
        ("", "5", False),
    ],
)
def test_amounts_are_compared_across_units(shown: str, wanted: str, same: bool) -> None:
    assert same_amount(shown, wanted) is same


def test_a_number_is_typed_and_else_counted_to() -> None:
    label, value = thing("label", "Rows", (10, 10, 50, 20), (1, 0)), [2]

    def shown() -> Element:
        return thing("spin button", "", (70, 10, 100, 20), (1, 1), text=str(value[0]))

    desktop = FakeDesktop(elements=[label, shown()])

    def up() -> None:
        value[0] += 1
        desktop.elements[1] = shown()

    desktop.on_key = {"Up": up}
    play(desktop, "spin", {"value": "5", "field": "Rows"})
    assert value == [5]
    assert [entry[1] for entry in desktop.log if entry[0] == "type"] == ["5"]
    assert play(desktop, "spin", {"value": "5", "field": "Rows"}) == []
    desktop.on_key.clear()
    with pytest.raises(MoveError, match="the number field 'Rows' shows '5' instead of '9'"):
        play(desktop, "spin", {"value": "9", "field": "Rows"})


def test_a_row_is_scrolled_to_and_chosen() -> None:
    pane = thing("tree table", "Files", (0, 0, 300, 100), (0, 0))
    far = thing("table cell", "z.txt", (0, 180, 300, 20), (0, 0, 9))
    desktop = FakeDesktop(elements=[pane, far], window_list=[Window(1, "Fake", 0, 0, 640, 480, True)])

    def scrolled(*_: object) -> None:
        desktop.log.append(("scrolled",))
        desktop.elements[1] = far.model_copy(update={"box": (0, 60, 300, 20)})

    desktop.input.scroll = scrolled  # type: ignore[method-assign]
    desktop.on_click["z.txt"] = lambda: desktop.elements.__setitem__(
        1, desktop.elements[1].model_copy(update={"states": ("selected",)})
    )
    play(desktop, "row", "z.txt")
    assert ("scrolled",) in desktop.log
    assert desktop.elements[1].states == ("selected",)
    with pytest.raises(MoveError, match=r"no row 'y\.txt' in any list\n.*'z\.txt'"):
        play(desktop, "row", "y.txt")


def test_a_branch_is_opened_once() -> None:
    branch = thing("tree item", "Projects", (0, 0, 200, 20), (0, 0, 0), states=("expandable",))
    desktop = FakeDesktop(elements=[thing("tree", "", (0, 0, 300, 200), (0, 0)), branch])
    opened = branch.model_copy(update={"states": ("expandable", "expanded")})
    desktop.on_key["Right"] = lambda: desktop.elements.__setitem__(1, opened)
    play(desktop, "expand", "Projects")
    assert desktop.elements[1] == opened
    assert play(desktop, "expand", "Projects") == []


def test_states_and_texts_are_waited_for() -> None:
    desktop = FakeDesktop(elements=[thing("check box", "Done", states=("checked",)), thing("label", "Saved 3 files")])
    assert play(desktop, "wait_for", {"name": "Done", "state": "checked"}) == []
    assert play(desktop, "wait_for", {"role": "label", "text": "3 files"}) == []
    assert play(desktop, "wait_for", {"name": "Busy", "gone": True}) == []
    with pytest.raises(MoveError, match="'Done' is not disabled"):
        play(desktop, "wait_for", {"name": "Done", "state": "disabled", "seconds": 0.1})


def test_a_thing_without_a_name_says_where_it_is() -> None:
    elements = [
        thing("frame", "Page", (0, 0, 640, 480), (1,)),
        thing("label", "Title:", (10, 10, 50, 20), (1, 0)),
        thing("text", "", (70, 10, 200, 20), (1, 1)),
        thing("label", "Notes", (10, 70, 100, 20), (1, 2)),
        thing("text", "", (10, 95, 260, 60), (1, 3)),
        thing("push button", "", (500, 400, 20, 20), (1, 4)),
    ]
    desktop = FakeDesktop(elements=elements)
    hands = Hands(desktop, 0.1)
    near = [hands.click(hands.find(None, role, index=i)).elements[0] for role, i in (("text", 0), ("text", 1))]
    assert [element.near for element in near if element] == ['beside "Title"', 'below "Notes"']
    assert whereabouts(elements[5], elements) == 'in "Page"'
    assert describe(Pointer(kind="left_click", at=hands.middle(near[0])), near[0]).startswith(
        'Clicked a text beside "Title" at ('
    )
