"""The dialect `forge`: what goes out comes back, and what is wrong is said precisely."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.harness.dialects import COMPUTER_ACTIONS, DIALECTS, Call, CallError
from forge.harness.load import load_harness
from forge.records import (
    Action,
    Answer,
    Bash,
    Button,
    Done,
    Drag,
    HarnessError,
    HoldKey,
    Key,
    Point,
    Pointer,
    Scroll,
    Type,
    Wait,
    Zoom,
)

FORGE = DIALECTS.get("forge")
HYBRID = load_harness("hybrid")

points = st.builds(Point, x=st.floats(0, 1), y=st.floats(0, 1))
seconds = st.floats(0, 60, allow_nan=False)
texts = st.text()
pointers = st.builds(
    Pointer,
    kind=st.sampled_from(["left_click", "right_click", "middle_click", "double_click", "triple_click", "mouse_move"]),
    at=points,
    modifiers=st.lists(st.sampled_from(["ctrl", "shift", "alt", "super"]), max_size=2).map(tuple),
)
zooms = st.tuples(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0.6, 1), st.floats(0.6, 1)).map(
    lambda box: Zoom(top_left=Point(x=box[0], y=box[1]), bottom_right=Point(x=box[2], y=box[3]))
)
actions = st.one_of(
    pointers,
    zooms,
    st.builds(Drag, start=points, at=points),
    st.builds(Button, kind=st.sampled_from(["left_mouse_down", "left_mouse_up"])),
    st.builds(Scroll, at=points, dx=st.integers(-100, 100), dy=st.integers(-100, 100)),
    st.builds(Type, text=texts),
    st.builds(Key, keys=st.text(min_size=1), repeat=st.integers(1, 100)),
    st.builds(HoldKey, keys=st.text(min_size=1), seconds=seconds),
    st.builds(Wait, seconds=seconds),
    st.builds(Bash, command=st.text(min_size=1), timeout=st.floats(0.1, 600), restart=st.booleans()),
    st.builds(Answer, text=texts),
    st.builds(Done, status=st.sampled_from(["success", "failure", "infeasible"])),
)


def on_grid(value: object) -> object:
    """The canonical form with every point moved to the middle of its bin."""
    if isinstance(value, dict):
        if set(value) == {"x", "y"}:
            return {axis: (min(999, int(number * 1000)) + 0.5) / 1000 for axis, number in value.items()}
        return {key: on_grid(item) for key, item in value.items()}
    return value


@given(actions)
def test_decoding_what_was_encoded_gives_the_action_on_the_grid_and_is_stable(action: Action) -> None:
    call = FORGE.encode(action)
    back = FORGE.decode(call, HYBRID)
    assert back.to_json() == on_grid(action.to_json())
    assert FORGE.encode(back) == call
    assert FORGE.decode(FORGE.encode(back), HYBRID) == back


@given(st.integers(0, 999), st.integers(0, 999))
def test_every_coordinate_survives_the_round_trip(x: int, y: int) -> None:
    call = Call("c", "computer", json.dumps({"action": "left_click", "coordinate": [x, y]}))
    assert json.loads(FORGE.encode(FORGE.decode(call, HYBRID)).arguments)["coordinate"] == [x, y]


@pytest.mark.parametrize("size", [640, 1280, 1920, 3840])
def test_a_pixel_comes_back_within_a_bin_of_the_grid(size: int) -> None:
    for pixel in range(size):
        point = Point(x=(pixel + 0.5) / size, y=0)
        back = FORGE.decode(FORGE.encode(Pointer(kind="left_click", at=point)), HYBRID)
        assert abs(int(back.at.x * size) - pixel) <= max(1, size / 2000 + 1)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("mouse", "{}", "there is no tool 'mouse'; the tools are computer, bash, answer, done"),
        ("bash", "{", "bash: the arguments are not JSON"),
        ("bash", "[1]", "bash: the arguments must be a JSON object, got list"),
        ("bash", "{}", "bash: give a `command`"),
        ("bash", '{"cmd": "ls"}', "bash: unknown argument `cmd`; it takes command (optional), timeout (optional)"),
        ("bash", '{"command": "ls", "timeout": 0}', "bash: `timeout`: Input should be greater than 0; got 0"),
        ("answer", "{}", "answer: `text` missing; it takes text"),
        ("done", '{"status": "ok"}', "done: `status`: Input should be 'success', 'failure' or 'infeasible'"),
        ("computer", "{}", "computer: `action` must be one of left_click, right_click"),
        ("computer", '{"action": "tap"}', 'got "tap"'),
        ("computer", '{"action": "left_click"}', "computer, left_click: `coordinate` missing; it takes coordinate"),
        ("computer", '{"action": "left_click", "coordinate": [1000, 0]}', "integers from 0 to 999; got [1000, 0]"),
        ("computer", '{"action": "left_click", "coordinate": [0.5, 0.5]}', "integers from 0 to 999; got [0.5, 0.5]"),
        ("computer", '{"action": "left_click", "coordinate": [1, 2, 3]}', "`coordinate` must be [x, y]"),
        ("computer", '{"action": "left_click", "coordinate": "1,2"}', "`coordinate` must be [x, y]"),
        ("computer", '{"action": "key", "keys": "a", "text": "b"}', "unknown argument `text`; it takes keys, repeat"),
        ("computer", '{"action": "key", "keys": "a", "repeat": 0}', "`repeat`: Input should be greater than or equal"),
        ("computer", '{"action": "zoom", "region": [5, 5, 5, 9]}', "left < right, top < bottom"),
    ],
)
def test_a_call_that_cannot_be_read_is_answered_precisely(name: str, arguments: str, message: str) -> None:
    with pytest.raises(CallError) as caught:
        FORGE.decode(Call("c", name, arguments), HYBRID)
    assert message in str(caught.value)


def test_only_the_harness_s_tools_and_actions_are_offered_and_taken() -> None:
    gui = load_harness("gui")
    few = gui.model_copy(update={"actions": ("left_click", "type")})
    names = [tool["function"]["name"] for tool in FORGE.tools(gui)]
    assert names == ["computer", "answer", "done"]
    properties = FORGE.tools(few)[0]["function"]["parameters"]["properties"]
    assert properties["action"]["enum"] == ["left_click", "type"]
    assert set(properties) == {"action", "coordinate", "modifiers", "text"}
    with pytest.raises(CallError, match="must be one of left_click, type; got"):
        FORGE.decode(FORGE.encode(Key(keys="a")), few)
    with pytest.raises(CallError, match="no tool 'bash'"):
        FORGE.decode(FORGE.encode(Bash(command="ls")), gui)


def test_every_action_of_the_computer_is_in_the_tool() -> None:
    assert FORGE.tools(HYBRID)[0]["function"]["parameters"]["properties"]["action"]["enum"] == list(COMPUTER_ACTIONS)
    assert "hold_key" in COMPUTER_ACTIONS
    assert "bash" not in COMPUTER_ACTIONS


def test_an_empty_zoom_cannot_be_said() -> None:
    point = Point(x=0.5, y=0.5)
    with pytest.raises(HarnessError, match="is empty on the grid"):
        FORGE.encode(Zoom(top_left=point, bottom_right=point))
