"""The prompt builder: folding, screenshots, results, and that training sees what serving showed."""

import base64
import io
import json

import pytest
from PIL import Image

from forge.desktop.outline import Line, Outline
from forge.harness.load import load_harness
from forge.harness.pictures import Picture, paint
from forge.harness.prompt import (
    ELEMENTS,
    NO_CALL,
    UNCHANGED,
    as_data_url,
    as_reference,
    build_messages,
    clip,
    system_prompt,
)
from forge.records import (
    Action,
    ActionRecord,
    Bash,
    Element,
    Harness,
    HarnessError,
    Observation,
    ObservationSpec,
    Point,
    Pointer,
    Turn,
    Zoom,
)

HYBRID = load_harness("hybrid")


def seen(name: str) -> Observation:
    return Observation(screenshot=name, width=1280, height=800)


def click(name: str, before: str, after: str, turn: int, index: int) -> ActionRecord:
    action = Pointer(kind="left_click", at=Point(x=0.5, y=0.25))
    element = Element(role="push button", name=name, box=(0, 0, 9, 9))
    return record(action, before, after, turn, index, element=element)


def record(action: Action, before: str, after: str, turn: int, index: int, **more: object) -> ActionRecord:
    return ActionRecord(turn=turn, index=index, action=action, before=seen(before), after=seen(after), **more)


def turn(index: int, *names: str, text: str = "", **more: object) -> Turn:
    calls = tuple({"id": f"c{index}.{i}", "name": name, "arguments": "{}"} for i, name in enumerate(names))
    return Turn(index=index, text=text or f"turn {index}", tool_calls=calls, **more)


def episode(count: int) -> tuple[list[Turn], list[ActionRecord]]:
    """`count` turns of one click each; the screen after turn i is s{i+1}."""
    turns = [turn(i, "computer", summary=f'Clicked "B{i}" (push button)') for i in range(count)]
    return turns, [click(f"B{i}", f"s{i}", f"s{i + 1}", i, i) for i in range(count)]


def pictures(messages: list[dict]) -> list[str]:
    return [
        Picture.parse(part["image_url"]["url"]).screenshot
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def text_of(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def build(harness: Harness, turns: list[Turn], actions: list[ActionRecord], now: str) -> list[dict]:
    return build_messages(harness, "Make it bold.", turns, actions, seen(now), as_reference)[0]


def test_the_first_prompt_is_the_system_prompt_the_task_and_the_screen() -> None:
    messages, tools = build_messages(HYBRID, "Make it bold.", [], [], seen("s0"), as_reference)
    assert messages == [
        {"role": "system", "content": system_prompt(HYBRID)},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Task: Make it bold."},
                {"type": "image_url", "image_url": {"url": "blob:s0?width=1280"}},
            ],
        },
    ]
    assert [tool["function"]["name"] for tool in tools] == ["computer", "bash", "answer", "done"]


@pytest.mark.parametrize("count", range(9))
def test_folding_keeps_three_screenshots_and_four_responses(count: int) -> None:
    messages = build(HYBRID, *episode(count), f"s{count}")
    assert pictures(messages) == [f"s{i}" for i in range(count + 1)][-3:]
    complete = [message["content"] for message in messages if message["role"] == "assistant"]
    assert complete == [f"turn {i}" for i in range(count)][-4:]
    folded = max(0, count - 4)
    lines = text_of(messages[1]).splitlines()
    assert lines[0] == "Task: Make it bold."
    assert lines[1:] == (
        ["", "What you did so far:", *(f'{i + 1}. Clicked "B{i}" (push button)' for i in range(folded))]
        if folded
        else []
    )
    roles = [message["role"] for message in messages]
    assert roles[:2] == ["system", "user"]
    assert roles.count("tool") == len(complete)


def test_a_folded_turn_without_a_summary_is_described_from_its_actions() -> None:
    turns, actions = episode(5)
    turns[0] = turn(0, "computer")
    assert '1. Clicked "B0" (push button)' in text_of(build(HYBRID, turns, actions, "s5")[1])


def test_a_screen_that_did_not_change_is_said_and_not_shown() -> None:
    turns = [turn(i, "bash") for i in range(3)]
    actions = [record(Bash(command="ls"), "s0", "s0", i, i, result="a.txt", exit_code=0) for i in range(3)]
    messages = build(HYBRID, turns, actions, "s0")
    assert pictures(messages) == ["s0"]
    assert [text_of(message) for message in messages[2:]] == ["turn 0", "a.txt", UNCHANGED] + [
        part for i in (1, 2) for part in (f"turn {i}", "a.txt", UNCHANGED)
    ]


def test_the_screen_at_the_fold_is_shown_when_it_is_among_the_latest() -> None:
    turns = [turn(0, "computer"), *(turn(i, "bash") for i in range(1, 7))]
    actions = [click("B", "s0", "s1", 0, 0)]
    actions += [record(Bash(command="ls"), "s1", "s1", i, i, result="x") for i in range(1, 7)]
    messages = build(HYBRID, turns, actions, "s1")
    assert pictures(messages) == ["s1"]
    assert pictures([messages[1]]) == ["s1"]


def test_a_terminal_harness_shows_no_screen() -> None:
    turns = [turn(0, "bash")]
    actions = [record(Bash(command="ls"), "s0", "s1", 0, 0, result="a.txt", exit_code=0)]
    messages = build(load_harness("terminal"), turns, actions, "s1")
    assert pictures(messages) == []
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]


def test_results_say_output_exit_code_and_error() -> None:
    turns = [turn(0, "bash", "bash", "computer", "computer")]
    turns[0] = turns[0].model_copy(
        update={"tool_calls": (*turns[0].tool_calls[:3], {**turns[0].tool_calls[3], "error": "no tool 'x'"})}
    )
    actions = [
        record(Bash(command="false"), "s0", "s0", 0, 0, result="", exit_code=1),
        record(Bash(command="yes"), "s0", "s0", 0, 1, result="y" * 20_000, exit_code=0),
        click("B", "s0", "s1", 0, 2).model_copy(update={"error": True, "result": "no such key"}),
    ]
    tools = [text_of(m) for m in build(HYBRID, turns, actions, "s1") if m["role"] == "tool"]
    assert tools[0] == "(no output)\n[exit code 1]"
    assert len(tools[1]) < 8100
    assert "characters left out" in tools[1]
    assert tools[2:] == ["error: no such key", "error: no tool 'x'"]


def test_a_turn_without_a_call_is_told_so() -> None:
    messages = build(HYBRID, [Turn(index=0, text="Hm.")], [], "s0")
    assert messages[2] == {"role": "assistant", "content": "Hm."}
    assert text_of(messages[3]) == f"{NO_CALL}\n{UNCHANGED}"


def test_arguments_that_are_no_json_are_wrapped_so_that_templates_can_parse_them() -> None:
    broken = Turn(index=0, tool_calls=({"id": "c", "name": "bash", "arguments": "{oops", "error": "not JSON"},))
    function = build(HYBRID, [broken], [], "s0")[2]["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == {"unparsed": "{oops"}


def test_training_and_serving_build_the_same_messages_with_the_same_pictures() -> None:
    blobs = {f"s{i}": screenshot(i) for i in range(8)}
    turns, actions = episode(7)
    zoom = Zoom(top_left=Point(x=0.1, y=0.1), bottom_right=Point(x=0.35, y=0.3))
    actions[5] = record(zoom, "s5", "s6", 5, 5)
    served, _ = build_messages(HYBRID, "Do it.", turns, actions, seen("s7"), as_data_url(blobs.__getitem__))
    stored, _ = build_messages(HYBRID, "Do it.", turns, actions, seen("s7"), as_reference)

    def resolve(messages: list[dict]) -> list[dict]:
        for message in messages:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part["type"] == "image_url":
                    picture = Picture.parse(part["image_url"]["url"])
                    data = base64.b64encode(paint(blobs[picture.screenshot], picture)).decode()
                    part["image_url"]["url"] = f"data:image/png;base64,{data}"
        return messages

    assert resolve(stored) == served
    assert sum(len(m["content"]) for m in served if isinstance(m["content"], list)) >= 4


def screenshot(seed: int, size: tuple[int, int] = (1920, 1200)) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize(size).point(lambda v: (v + seed * 9) % 256).convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("width", "size"), [(1280, (1280, 800)), (0, (1920, 1200)), (1920, (1920, 1200)), (4000, (1920, 1200))]
)
def test_a_screenshot_is_scaled_down_but_never_up(width: int, size: tuple[int, int]) -> None:
    png = screenshot(0)
    painted = paint(png, Picture("x", width))
    assert Image.open(io.BytesIO(painted)).size == size
    assert (painted == png) == (size == (1920, 1200))


def test_a_zoom_shows_the_region_larger_with_the_full_screen_s_detail() -> None:
    png = screenshot(0)
    picture = Picture("x", 1280, (0.5, 0.5, 0.75, 0.75))
    image = Image.open(io.BytesIO(paint(png, picture)))
    assert image.width == 1280
    assert abs(image.height - 800) <= 3
    assert Picture.parse(picture.reference) == picture
    tiny = Image.open(io.BytesIO(paint(png, Picture("x", 1280, (0.5, 0.5, 0.51, 0.51)))))
    assert tiny.width <= 4 * 21


def test_a_zoom_says_which_picture_is_the_enlarged_one() -> None:
    zoom = Zoom(top_left=Point(x=0.1, y=0.1), bottom_right=Point(x=0.4, y=0.3))
    for after, rest in (("s0", []), ("s1", ["The screen:", "s1"])):
        content = build(HYBRID, [turn(0, "computer")], [record(zoom, "s0", after, 0, 0)], after)[-1]["content"]
        shown = [part.get("text") or Picture.parse(part["image_url"]["url"]).screenshot for part in content]
        assert shown == ([UNCHANGED] if after == "s0" else []) + ["The region, enlarged:", "s0", *rest]
        assert Picture.parse(next(p["image_url"]["url"] for p in content if "image_url" in p)).region is not None


def test_a_prompt_that_names_what_is_not_there_is_an_error() -> None:
    harness = HYBRID.model_copy(update={"system_prompt": "You are {{ nobody }}."})
    with pytest.raises(HarnessError, match="'nobody' is undefined"):
        system_prompt(harness)


def test_keeping_no_screenshot_shows_none() -> None:
    harness = HYBRID.model_copy(update={"observation": ObservationSpec(screenshots_kept=0)})
    assert pictures(build(harness, *episode(3), "s3")) == []


def test_clip_keeps_head_and_tail() -> None:
    assert clip("abc", 3) == "abc"
    clipped = clip("a" * 300 + "b" * 300, 300)
    assert clipped.startswith("a" * 200 + "\n[... 300 characters left out ...]\n")
    assert clipped.endswith("\n" + "b" * 100)


def outline_blob() -> dict[str, bytes]:
    bold = Line(12, 1, "toggle button", "Bold", "", ("checked",), (640, 80, 32, 40))
    box = Line(14, 1, "text", "", 'say "A1"', (), (0, 0, 1280, 800))
    return {"e1": Outline((Line(1, 0, "frame", "Book", "", (), (0, 0, 1280, 800)), bold, box), 3).to_json()}


def test_the_elements_are_listed_under_the_latest_screen_in_the_dialects_coordinates() -> None:
    harness = load_harness("gui-elements")
    now = seen("s2").model_copy(update={"elements": "e1"})
    turns, actions = episode(2)
    blobs = outline_blob()
    messages, _ = build_messages(harness, "Do it.", turns, actions, now, as_reference, blobs.__getitem__)
    listed = [message for message in messages if ELEMENTS in text_of(message)]
    assert listed == [messages[-1]]
    assert text_of(messages[-1]).splitlines()[1:] == [
        '[1] frame "Book" 0,0,999,999',
        ' [12] toggle button "Bold" (checked) 500,100,525,150',
        ' [14] text says "say \\"A1\\"" 0,0,999,999',
        "... and 3 more",
    ]
    assert pictures([messages[-1]]) == ["s2"]
    first, _ = build_messages(harness, "Do it.", [], [], now, as_reference, blobs.__getitem__)
    assert ELEMENTS in text_of(first[-1])
    plain, _ = build_messages(load_harness("gui"), "Do it.", turns, actions, now, as_reference)
    assert not any(ELEMENTS in text_of(message) for message in plain)


def test_elements_that_cannot_be_had_are_an_error() -> None:
    harness = load_harness("gui-elements")
    now = seen("s0").model_copy(update={"elements": "e1"})
    with pytest.raises(HarnessError, match="given no get_blob"):
        build_messages(harness, "Do it.", [], [], now, as_reference)
    with pytest.raises(HarnessError, match="the outline e1 cannot be had"):
        build_messages(harness, "Do it.", [], [], now, as_reference, {}.__getitem__)
