"""The turn loop on a fake desktop: budgets, loops, faults, interruptions, and a record of all that happened."""

import asyncio
import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from forge.desktop.shell import ShellResult
from forge.harness.dialects import Call
from forge.harness.environment import SlotEnvironment
from forge.harness.fake import FakeDesktop, ScriptedTeacher
from forge.harness.load import load_harness
from forge.harness.loop import play
from forge.harness.teachers import Response, View
from forge.llm import EndpointDownError
from forge.records import (
    DesktopError,
    Element,
    EndedBy,
    Grading,
    Harness,
    ModelError,
    Provenance,
    Task,
    Trajectory,
    Usage,
    sha256_hex,
)

HYBRID = load_harness("hybrid")
BUTTON = Element(role="push button", name="Go", box=(100, 100, 80, 40))


def call(name: str, call_id: str = "c", **arguments: Any) -> Call:
    return Call(call_id, name, json.dumps(arguments))


def clicks(x: int = 200, y: int = 250) -> Call:
    return call("computer", action="left_click", coordinate=[x, y])


class Stage:
    """A fake desktop with an environment and a blob store."""

    def __init__(self, task: Task, **options: Any):
        self.task = task
        self.blobs: dict[str, bytes] = {}
        self.desktop = FakeDesktop(elements=[BUTTON], **options)
        self.environment = SlotEnvironment(self.desktop, self.put)

    def put(self, data: bytes) -> str:
        self.blobs[sha256_hex(data)] = data
        return sha256_hex(data)

    async def play(self, script: Iterable[Any], harness: Harness = HYBRID, **options: Any) -> Trajectory:
        self.teacher = ScriptedTeacher(script)
        return await play(self.task, harness, self.teacher, self.environment, self.put, **options)


NewStage = Callable[..., Stage]


@pytest.fixture
def new_stage(task: Task) -> NewStage:
    return functools.partial(Stage, task)


async def test_a_complete_episode_is_recorded_with_what_was_seen_before_and_after_each_action(
    new_stage: NewStage,
) -> None:
    stage = new_stage(commands={"ls": ShellResult("a.txt\n", 0, False, False)})
    went = await stage.play(
        [
            Response(text="I click.", calls=(clicks(),), usage=Usage(prompt_tokens=5), model="m", call_id="row1"),
            Response(calls=(call("bash", "c1", command="ls"), call("computer", "c2", action="type", text="hi\n"))),
            Response(calls=(call("answer", "c1", text="42"), call("done", "c2", status="success"))),
        ],
        attempt=2,
        fingerprint="f",
    )
    assert (went.ended_by, went.done_status, went.answer, went.error) == (EndedBy.DONE, "success", "42", None)
    assert (went.task, went.harness, went.attempt, went.fingerprint) == (stage.task.id, HYBRID.digest(), 2, "f")
    assert (went.teacher, went.provenance, went.channel) == ("scripted", Provenance.REPLAY, "hybrid")
    assert (went.reward, went.verdict, went.grading) == (None, None, Grading.NOT_GRADABLE)
    assert [record.action.kind for record in went.actions] == ["left_click", "bash", "type", "answer", "done"]
    assert [(record.turn, record.index) for record in went.actions] == [(0, 0), (1, 1), (1, 2), (2, 3), (2, 4)]
    assert went.actions[0].element == BUTTON
    assert (went.actions[1].result, went.actions[1].exit_code) == ("a.txt", 0)
    for earlier, later in zip(went.actions, went.actions[1:], strict=False):
        assert earlier.after == later.before
    assert all(record.before.screenshot in stage.blobs for record in went.actions)
    assert went.actions[0].before.screenshot != went.actions[0].after.screenshot
    assert went.actions[1].before.screenshot == went.actions[1].after.screenshot
    assert (went.actions[0].before.width, went.actions[0].before.window) == (640, "Fake")
    assert stage.desktop.log == [
        ("click", 128, 120, 1, 1, ()),
        ("run", "ls", 60.0),
        ("type", "hi\n"),
    ]
    assert [turn.text for turn in went.turns] == ["I click.", "", ""]
    assert (went.turns[0].usage.prompt_tokens, went.turns[0].model, went.turns[0].call_id) == (5, "m", "row1")
    assert went.turns[0].tool_calls == (clicks().to_json(),)
    assert [turn.summary for turn in went.turns] == [
        'Clicked "Go" (push button)',
        'Ran: ls; Typed "hi⏎"',
        'Answered "42"; Ended with success',
    ]
    assert [len(view.actions) for view in stage.teacher.views] == [0, 1, 3]
    assert stage.teacher.views[1].observation == went.actions[0].after
    assert set(went.timings) == {"observe", "act", "settle", "model"}


async def test_a_click_can_change_the_desktop(new_stage: NewStage) -> None:
    stage = new_stage()
    stage.desktop.on_click["Go"] = lambda: stage.desktop.elements.clear()
    went = await stage.play([Response(calls=(clicks(),)), Response(calls=(clicks(),))])
    assert [record.element for record in went.actions] == [BUTTON, None, None]
    assert went.turns[1].summary == "Clicked (200, 250)"


async def test_the_budget_of_turns_ends_an_episode(new_stage: NewStage) -> None:
    stage = new_stage()
    harness = HYBRID.model_copy(update={"max_turns": 3})
    went = await stage.play((Response(calls=(clicks(i * 20),)) for i in range(99)), harness)
    assert (went.ended_by, len(went.turns)) == (EndedBy.BUDGET, 3)
    assert went.done_status is None


async def test_the_time_ends_an_episode_even_while_the_teacher_thinks(new_stage: NewStage) -> None:
    class Slow(ScriptedTeacher):
        async def respond(self, view: View) -> Response:
            await asyncio.sleep(30)
            raise AssertionError

    stage = new_stage()
    harness = HYBRID.model_copy(update={"max_seconds": 0.1})
    went = await play(stage.task, harness, Slow([]), stage.environment)
    assert (went.ended_by, went.turns) == (EndedBy.TIMEOUT, ())
    assert went.seconds < 5


async def test_a_command_s_own_time_limit_is_bounded_by_the_episode_s(new_stage: NewStage) -> None:
    stage = new_stage()
    await stage.play(
        [Response(calls=(call("bash", command="x", timeout=600),))], HYBRID.model_copy(update={"max_seconds": 20})
    )
    assert 18 < stage.desktop.log[0][2] <= 20


@pytest.mark.parametrize("period", [1, 2, 3])
async def test_going_round_in_circles_ends_an_episode(new_stage: NewStage, period: int) -> None:
    stage = new_stage(frozen=True)
    went = await stage.play(Response(calls=(clicks(100 * (i % period)),)) for i in range(99))
    assert went.ended_by is EndedBy.LOOP
    assert len(went.actions) == 5 * period


async def test_the_same_action_is_no_loop_while_the_screen_changes(new_stage: NewStage) -> None:
    stage = new_stage()
    went = await stage.play([Response(calls=(call("computer", action="key", keys="Down"),)) for _ in range(12)])
    assert (went.ended_by, len(went.actions)) == (EndedBy.DONE, 13)


async def test_a_model_that_never_calls_a_tool_is_a_loop(new_stage: NewStage) -> None:
    went = await new_stage().play(Response(text="Hm.") for _ in range(99))
    assert (went.ended_by, len(went.turns), went.actions) == (EndedBy.LOOP, 5, ())
    assert went.turns[0].summary == "Called no tool"


async def test_a_call_that_cannot_be_read_is_shown_and_stops_the_rest_of_its_turn(new_stage: NewStage) -> None:
    stage = new_stage()
    went = await stage.play(
        [Response(calls=(clicks(), call("computer", "c2", action="tap"), call("bash", "c3", command="ls")))]
    )
    assert [record.action.kind for record in went.actions] == ["left_click", "done"]
    errors = [item.get("error") for item in went.turns[0].tool_calls]
    assert errors[0] is None
    assert errors[1].startswith("computer: `action` must be one of")
    assert errors[2] == "not carried out: an earlier call of this turn failed"
    assert went.turns[0].summary == 'Clicked "Go" (push button); 1 invalid tool call'


async def test_an_action_the_desktop_refuses_is_an_error_result_and_no_fault(new_stage: NewStage) -> None:
    stage = new_stage()
    went = await stage.play(
        [Response(calls=(call("computer", "c1", action="key", keys="nosuchkey"), call("bash", "c2", command="ls")))]
    )
    assert went.ended_by is EndedBy.DONE
    assert (went.actions[0].error, went.actions[0].result) == (True, "no key 'nosuchkey'")
    assert went.turns[0].tool_calls[1]["error"].startswith("not carried out")


async def test_more_calls_than_a_turn_may_have_are_left_out(new_stage: NewStage) -> None:
    went = await new_stage().play(
        [Response(calls=tuple(clicks(i * 20) for i in range(5)))], HYBRID.model_copy(update={"actions_per_turn": 3})
    )
    assert len(went.actions) == 4
    assert went.turns[0].tool_calls[3]["error"] == "not carried out: a turn has at most 3 calls"


async def test_nothing_is_carried_out_after_done(new_stage: NewStage) -> None:
    stage = new_stage()
    went = await stage.play([Response(calls=(call("done", status="infeasible"), clicks()))])
    assert (went.done_status, len(went.actions), stage.desktop.log) == ("infeasible", 1, [])
    assert went.turns[0].tool_calls[1]["error"] == "not carried out: the episode had ended"


async def test_a_model_s_failure_is_kept_apart(new_stage: NewStage) -> None:
    went = await new_stage().play([Response(calls=(clicks(),)), ModelError("the endpoint answered 500")])
    assert (went.ended_by, went.error, len(went.actions)) == (
        EndedBy.MODEL_ERROR,
        "the endpoint answered 500",
        1,
    )


async def test_an_endpoint_that_is_down_gives_no_episode(new_stage: NewStage) -> None:
    with pytest.raises(EndpointDownError, match="nobody there"):
        await new_stage().play([Response(calls=(clicks(),)), EndpointDownError("nobody there")])


async def test_a_fault_of_the_desktop_is_no_failure_of_the_agent(new_stage: NewStage) -> None:
    stage = new_stage()

    def die(view: View) -> Response:
        stage.desktop.broken = "the X server is gone"
        return Response(calls=(clicks(),))

    went = await stage.play([Response(calls=(clicks(),)), die])
    assert (went.ended_by, went.error, went.reward) == (EndedBy.FAULT, "the X server is gone", None)
    assert [record.error for record in went.actions] == [False, True]
    assert len(went.turns) == 2


async def test_a_desktop_that_the_agent_used_up_is_the_agents_doing(new_stage: NewStage) -> None:
    stage = new_stage()

    def bomb(view: View) -> Response:
        stage.desktop.broken, stage.desktop.exhausted = "the box ended", True
        return Response(calls=(clicks(),))

    went = await stage.play([bomb])
    assert (went.ended_by, went.error) == (EndedBy.EXHAUSTED, "the box ended")


async def test_a_desktop_found_dead_at_the_end_is_a_fault(new_stage: NewStage) -> None:
    stage = new_stage()

    def die(view: View) -> Response:
        stage.desktop.broken = "the box is gone"
        return Response(calls=(call("done", status="failure"),))

    went = await stage.play([die])
    assert (went.ended_by, went.error) == (EndedBy.FAULT, "the box is gone")


async def test_a_desktop_that_fails_while_the_teacher_looks_is_a_fault(new_stage: NewStage) -> None:
    went = await new_stage().play([DesktopError("no accessibility bus")])
    assert (went.ended_by, went.turns) == (EndedBy.FAULT, ())


async def test_an_interruption_loses_nothing(new_stage: NewStage) -> None:
    stage = new_stage()
    release = asyncio.Event()
    real = stage.environment.act

    async def slow(*args: Any) -> Any:
        result = await real(*args)
        release.set()
        await asyncio.sleep(0.2)
        return result

    stage.environment.act = slow  # type: ignore[method-assign]
    playing = asyncio.ensure_future(stage.play([Response(text="one", calls=(clicks(), clicks(500)))]))
    await release.wait()
    playing.cancel()
    went = await playing
    assert went.ended_by is EndedBy.INTERRUPTED
    assert [record.error for record in went.actions] == [False]
    assert went.turns[0].text == "one"
    assert went.turns[0].tool_calls[1]["error"] == "not carried out: the episode was interrupted"
    assert Trajectory.model_validate_json(went.model_dump_json()) == went


async def test_token_data_goes_into_a_blob(new_stage: NewStage) -> None:
    stage = new_stage()
    went = await stage.play([Response(calls=(clicks(),), tokens=b"ids")])
    assert stage.blobs[went.turns[0].tokens] == b"ids"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"action": "right_click", "coordinate": [0, 0]}, ("click", 0, 0, 3, 1, ())),
        ({"action": "middle_click", "coordinate": [999, 999]}, ("click", 639, 479, 2, 1, ())),
        ({"action": "double_click", "coordinate": [500, 500]}, ("click", 320, 240, 1, 2, ())),
        ({"action": "triple_click", "coordinate": [500, 500]}, ("click", 320, 240, 1, 3, ())),
        (
            {"action": "left_click", "coordinate": [500, 500], "modifiers": ["ctrl"]},
            ("click", 320, 240, 1, 1, ("ctrl",)),
        ),
        ({"action": "mouse_move", "coordinate": [500, 500]}, ("move", 320, 240)),
        (
            {"action": "left_click_drag", "start_coordinate": [0, 0], "coordinate": [500, 500]},
            ("drag", 0, 0, 320, 240),
        ),
        ({"action": "scroll", "coordinate": [500, 500], "dy": -3}, ("scroll", 320, 240, 0, -3)),
        ({"action": "left_mouse_down"}, ("press", 1)),
        ({"action": "left_mouse_up"}, ("release", 1)),
        ({"action": "key", "keys": "ctrl+s"}, ("key", "ctrl+s")),
        ({"action": "hold_key", "keys": "shift", "seconds": 1}, ("hold", "shift", 1.0)),
        ({"action": "type", "text": "ä"}, ("type", "ä")),
    ],
)
async def test_each_action_reaches_the_desktop_in_pixels(
    new_stage: NewStage, arguments: dict[str, Any], expected: tuple
) -> None:
    stage = new_stage()
    await stage.play([Response(calls=(call("computer", **arguments),))])
    assert stage.desktop.log == [expected]


async def test_a_key_is_pressed_as_often_as_asked_and_the_shell_restarts(new_stage: NewStage) -> None:
    stage = new_stage(commands={"ls": ShellResult("x" * 10, None, timed_out=True, truncated=True)})
    went = await stage.play(
        [
            Response(
                calls=(
                    call("computer", "1", action="key", keys="Tab", repeat=3),
                    call("bash", "2", restart=True),
                    call("bash", "3", command="ls", timeout=2),
                    call("computer", "4", action="wait", seconds=0),
                    call("computer", "5", action="zoom", region=[0, 0, 500, 500]),
                )
            )
        ]
    )
    assert stage.desktop.log == [("key", "Tab")] * 3 + [("restart",), ("run", "ls", 2.0)]
    assert [record.result for record in went.actions[1:3]] == [
        "[the shell was restarted]",
        "x" * 10 + "\n[ended after 2 s without finishing]",
    ]
    assert not any(record.error for record in went.actions)
