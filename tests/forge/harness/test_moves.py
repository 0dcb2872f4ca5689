"""Hands and moves on a fake desktop: finding by meaning, retrying once, and saying what was there instead."""

from typing import Any

import pytest

from forge.desktop.windows import Window
from forge.harness.fake import FakeDesktop
from forge.harness.moves import MOVES, Act, MoveError
from forge.harness.moves.general import by_label
from forge.harness.moves.hands import Hands, Scene, same_name
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
