"""Every record: frozen, closed, and the same after a round trip through JSON; the rules that each one adds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from forge.records import (
    Action,
    ActionAdapter,
    ActionRecord,
    Answer,
    Artifact,
    Bash,
    Button,
    Criterion,
    CriterionVerdict,
    Done,
    Drag,
    Element,
    EndedBy,
    FileEntry,
    Fingerprint,
    Grading,
    Guest,
    Harness,
    HoldKey,
    Key,
    ModelCall,
    NearMiss,
    Observation,
    ObservationSpec,
    Point,
    Pointer,
    Probe,
    ProbeKind,
    Provenance,
    Record,
    Role,
    Rubric,
    Scroll,
    Skill,
    Snapshot,
    Solution,
    Start,
    Step,
    Task,
    TerminalSpec,
    Trajectory,
    Turn,
    Type,
    Usage,
    Verdict,
    Wait,
    Zoom,
    channel_of,
)
from forge.records.task import task_id

SHA = "a" * 64
CRITERION = Criterion(id="total", kind="must", check="calc.formula", args={"cell": "B7"}, weight=3, says="total")
RUBRIC = Rubric(criteria=(CRITERION, Criterion(id="rest", kind="must_not", check="calc.changed_elsewhere")))
SOLUTION = Solution(channel="terminal", steps=(Step(move="bash", value="true"), Step(move="answer", value="7")))
TASK = Task(
    skill="calc.formula.total-below-column",
    workflow=SHA,
    seed=3,
    apps=("calc",),
    guest=Guest(),
    resolved={"rows": 7},
    instruction="Sum it up.",
    artifacts=(Artifact(path="~/a.xlsx", sha256=SHA, size=4),),
    start=(Start(app="calc", path="~/a.xlsx"),),
    rubric=RUBRIC,
    solutions=(SOLUTION,),
)
VERDICT = Verdict(
    grading=Grading.GRADED,
    score=0.75,
    criteria=(CriterionVerdict(criterion="total", check="calc.formula", kind="must", score=0.75, evidence="seen"),),
)
POINT = Point(x=0.25, y=1)
ACTIONS: list[Action] = [
    Pointer(kind="double_click", at=POINT, modifiers=("ctrl",)),
    Drag(start=POINT, at=POINT),
    Button(kind="left_mouse_up"),
    Scroll(at=POINT, dy=-3),
    Type(text="ü\n"),
    Key(keys="ctrl+s", repeat=2),
    HoldKey(keys="shift", seconds=1.5),
    Wait(seconds=2),
    Zoom(top_left=POINT, bottom_right=Point(x=1, y=1)),
    Bash(command="ls", timeout=5),
    Answer(text="7"),
    Done(status="infeasible"),
]
SEEN = Observation(screenshot=SHA, width=1280, height=800, window="a.xlsx")
ACTED = ActionRecord(
    turn=0,
    index=0,
    action=ACTIONS[0],
    before=SEEN,
    after=SEEN,
    element=Element(role="push button", name="Sum", box=(1, 2, 3, 4), path=(0, 2)),
)
SAMPLES: list[Record] = [
    Skill(id="calc.formula.total-below-column", apps=("calc",), title="t", parameters={"rows": "int"}),
    TASK,
    TASK.artifacts[0],
    RUBRIC,
    CRITERION,
    SOLUTION,
    VERDICT,
    Guest(),
    POINT,
    *ACTIONS,
    SEEN,
    ACTED,
    Snapshot(entries=(FileEntry(path="~/a", sha256=SHA, size=1), FileEntry(path="~/l", kind="link", target="a"))),
    NearMiss(name="total:hard-coded", breaks=("total",), only=True),
    Probe(task=SHA, kind=ProbeKind.NEAR_MISS, name="x", expected="loses", passed=True, verdict=VERDICT),
    Harness(
        name="gui",
        channel="gui",
        tools=("computer", "done"),
        system_prompt="x",
        terminal=TerminalSpec(commands=("a",)),
        observation=ObservationSpec(),
    ),
    Turn(
        index=0,
        text="t",
        tool_calls=({"id": "1", "name": "computer", "arguments": {"x": 1}},),
        usage=Usage(prompt_tokens=5),
    ),
    ModelCall(
        id="1", purpose="teacher", recurring=True, endpoint="e", model="m", request=SHA, status="ok", cost_usd=0.5
    ),
    Fingerprint(applications={"libreoffice": "7.4.7"}, checks={"calc.formula": 1}),
    Trajectory(
        task=SHA,
        harness=SHA,
        channel="gui",
        teacher="oracle",
        provenance=Provenance.ORACLE,
        ended_by=EndedBy.DONE,
        actions=(ACTED,),
        verdict=VERDICT,
        grading=Grading.GRADED,
        reward=1.0,
    ),
]
NAMES = [f"{index}-{type(sample).__name__}" for index, sample in enumerate(SAMPLES)]


@pytest.mark.parametrize("record", SAMPLES, ids=NAMES)
def test_a_record_is_frozen_closed_and_survives_json(record: Record) -> None:
    again = type(record).model_validate_json(record.model_dump_json())
    assert again == record
    assert again.digest() == record.digest()
    assert type(record).model_validate(json.loads(record.canonical())) == record
    assert json.loads(record.canonical()) == json.loads(json.dumps(record.to_json()))
    name = next(iter(type(record).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(record, name, getattr(record, name))
    with pytest.raises(ValidationError, match="colour"):
        type(record).model_validate({**record.to_json(), "colour": "red"})


@pytest.mark.parametrize("record", SAMPLES, ids=NAMES)
def test_no_number_of_a_record_is_infinite_and_none_is_a_text(record: Record) -> None:
    for name, value in record.to_json().items():
        if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
            for wrong in (float("nan"), float("inf"), "many", None, []):
                if wrong is None and type(record).model_fields[name].default is None:
                    continue
                with pytest.raises(ValidationError):
                    type(record).model_validate({**record.to_json(), name: wrong})


def test_free_json_is_checked_when_it_is_hashed() -> None:
    with pytest.raises(TypeError, match=r"\$\.value: set is no JSON value"):
        Step(move="x", value={"b", "a"}).digest()
    with pytest.raises(ValueError, match=r"\$\.args\.a: nan"):
        Criterion(id="a", kind="must", check="c", args={"a": float("nan")}).digest()


# actions


@given(
    st.one_of(
        st.builds(
            Pointer,
            kind=st.sampled_from(["left_click", "mouse_move"]),
            at=st.builds(Point, x=st.floats(0, 1), y=st.floats(0, 1)),
        ),
        st.builds(Scroll, at=st.just(POINT), dx=st.integers(-100, 100), dy=st.integers(-100, 100)),
        st.builds(Type, text=st.text(st.characters(exclude_categories=("Cs",)))),
        st.builds(Bash, command=st.text(st.characters(exclude_categories=("Cs",))), restart=st.booleans()),
        st.builds(Wait, seconds=st.floats(0, 60)),
        st.builds(Done, status=st.sampled_from(["success", "failure", "infeasible"])),
    )
)
def test_actions_are_told_apart_by_their_kind(action: Action) -> None:
    assert ActionAdapter.validate_json(ActionAdapter.dump_json(action)) == action


def test_all_actions_of_the_canonical_space_are_there() -> None:
    schema = ActionAdapter.json_schema()
    assert sorted(schema["discriminator"]["mapping"]) == sorted(
        [
            "left_click",
            "right_click",
            "middle_click",
            "double_click",
            "triple_click",
            "mouse_move",
            "left_click_drag",
            "left_mouse_down",
            "left_mouse_up",
            "scroll",
            "type",
            "key",
            "hold_key",
            "wait",
            "zoom",
            "bash",
            "answer",
            "done",
        ]
    )
    assert {type(a) for a in ACTIONS} == {
        Pointer,
        Drag,
        Button,
        Scroll,
        Type,
        Key,
        HoldKey,
        Wait,
        Zoom,
        Bash,
        Answer,
        Done,
    }


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "left_click", "at": {"x": 1.01, "y": 0}},
        {"kind": "left_click", "at": {"x": -0.1, "y": 0}},
        {"kind": "left_click"},
        {"kind": "jump"},
        {"kind": "key", "keys": ""},
        {"kind": "key", "keys": "a", "repeat": 0},
        {"kind": "scroll", "at": {"x": 0, "y": 0}, "dy": 101},
        {"kind": "wait", "seconds": 61},
        {"kind": "bash", "timeout": 0},
        {"kind": "done", "status": "maybe"},
        {"kind": "hold_key", "keys": "a"},
        {},
    ],
)
def test_actions_that_cannot_be_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ActionAdapter.validate_python(values)


def test_each_action_belongs_to_a_channel() -> None:
    channels = {type(action).__name__: channel_of(action) for action in ACTIONS}
    assert channels.pop("Bash") == "terminal"
    assert (channels.pop("Answer"), channels.pop("Done")) == ("control", "control")
    assert set(channels.values()) == {"gui"}


# artifacts, guest


@pytest.mark.parametrize("path", ["~/a", "~/a b/ü.tar.gz", "~/.config/x", "~/a..b", "~/..."])
def test_paths_of_the_guest(path: str) -> None:
    assert Artifact(path=path, sha256=SHA, size=0).path == path


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "no path below the guest's home"),
        ("a", "no path below"),
        ("~", "no path below"),
        ("~/", "no path below"),
        ("~/../x", "no path below"),
        ("~/a/../../x", "no path below"),
        ("~/a\0", "no path below"),
        ("~root/a", "no path below"),
        ("~/a/./b", "write '~/a/b'"),
        ("~/a//b", "write '~/a/b'"),
        ("~/a/", "write '~/a'"),
    ],
)
def test_what_is_no_path_of_the_guest(path: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Artifact(path=path, sha256=SHA, size=0)


def test_a_snapshot_is_its_content_in_whatever_order() -> None:
    one, two = FileEntry(path="~/a", sha256=SHA), FileEntry(path="~/b", kind="folder")
    assert Snapshot(entries=(two, one)) == Snapshot(entries=(one, two))
    assert Snapshot(entries=(two, one)).digest() == Snapshot(entries=(one, two)).digest()
    assert Snapshot(entries=(one,)).digest() != Snapshot(entries=(one, two)).digest()
    with pytest.raises(ValidationError, match=r"holds '~/a' once, not twice"):
        Snapshot(entries=(one, one))


@pytest.mark.parametrize("values", [{"sha256": "A" * 64}, {"sha256": "a" * 63}, {"size": -1}, {"role": "secret"}])
def test_artifacts_that_cannot_be_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Artifact.model_validate({"path": "~/a", "sha256": SHA, "size": 0, **values})
    assert Artifact(path="~/a", sha256=SHA, size=0).role is Role.VISIBLE


def test_the_guests_clock_is_local_and_whole_seconds() -> None:
    assert Guest(clock="2026-03-16 09:30").clock == "2026-03-16T09:30:00"
    assert Guest(clock="2026-03-16T09:30:00.9").clock == "2026-03-16T09:30:00"
    assert Guest().now.isoformat() == Guest().clock
    for wrong in ("2026-03-16T09:30:00Z", "2026-03-16T09:30:00+01:00", "noon"):
        with pytest.raises(ValidationError):
            Guest(clock=wrong)
    with pytest.raises(ValidationError):
        Guest(width=100)


# rubrics, verdicts


def rubric(*criteria: tuple[str, str, float]) -> Rubric:
    return Rubric(criteria=tuple(Criterion(id=n, kind=k, check="c", weight=w) for n, k, w in criteria))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "scores", "total"),
    [
        ([("a", "must", 1)], {"a": 1}, 1),
        ([("a", "must", 1), ("b", "must", 3)], {"a": 1, "b": 0}, 0.25),
        ([("a", "must", 1), ("n", "must_not", 50)], {"a": 0.5, "n": 1}, 0.5),
        ([("a", "must", 1), ("n", "must_not", 1)], {"a": 1, "n": 0.999}, 0),
        ([("a", "must", 1), ("j", "judge", 9)], {"a": 1}, 1),
        ([("a", "must", 0.1), ("b", "must", 0.2), ("c", "must", 0.3)], {"a": 1, "b": 1, "c": 1}, 1),
        ([("a", "must", 1)], {"a": 0}, 0),
    ],
)
def test_scores_are_weighted_shares(
    weights: list[tuple[str, str, float]], scores: dict[str, float], total: float
) -> None:
    assert rubric(*weights).score(scores) == total


@given(st.lists(st.tuples(st.floats(0.001, 100), st.floats(0, 1)), min_size=1, max_size=8))
def test_a_score_is_within_0_and_1_and_1_only_when_all_is_right(pairs: list[tuple[float, float]]) -> None:
    made = rubric(*((f"c{i}", "must", weight) for i, (weight, _) in enumerate(pairs)))
    score = made.score({f"c{i}": value for i, (_, value) in enumerate(pairs)})
    assert 0 <= score <= 1
    assert all(value == 1 for _, value in pairs) <= (score == 1)
    assert any(value < 0.999 for _, value in pairs) <= (score < 1)


def test_a_score_needs_every_criterion() -> None:
    with pytest.raises(KeyError):
        rubric(("a", "must", 1), ("n", "must_not", 1)).score({"a": 1})


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ([], "at least 1"),
        ([("a", "must", 1), ("a", "must", 1)], "ids must be unique"),
        ([("n", "must_not", 1)], "needs at least one `must`"),
        ([("a", "must", 0)], "greater than 0"),
        ([("Total", "must", 1)], "pattern"),
        ([("a", "should", 1)], "must_not"),
    ],
)
def test_rubrics_that_cannot_be_are_refused(criteria: list[tuple[str, str, float]], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        rubric(*criteria)


def test_a_verdict_passes_only_when_it_is_graded_with_full_score() -> None:
    assert Verdict(grading=Grading.GRADED, score=1).passed
    assert not Verdict(grading=Grading.GRADED, score=0.999999).passed
    assert not Verdict(grading=Grading.GRADER_ERROR, score=1).passed
    assert not Verdict(grading=Grading.NOT_GRADABLE).passed
    with pytest.raises(ValidationError):
        Verdict(grading=Grading.GRADED, score=1.1)


# tasks, skills


def test_a_task_is_its_workflow_and_what_was_resolved() -> None:
    assert TASK.id == task_id(SHA, {"rows": 7})
    same = TASK.model_copy(update={"seed": 99, "instruction": "Other words."})
    assert same.id == TASK.id
    assert TASK.model_copy(update={"resolved": {"rows": 8}}).id != TASK.id
    assert TASK.model_copy(update={"workflow": "b" * 64}).id != TASK.id


def test_a_task_has_one_solution_a_channel() -> None:
    assert TASK.solution("terminal") == SOLUTION
    assert TASK.solution("gui") is None
    with pytest.raises(ValidationError, match="one solution a channel"):
        Task(**{**dict(TASK), "solutions": (SOLUTION, SOLUTION)})
    with pytest.raises(ValidationError):
        Task(**{**dict(TASK), "solutions": ()})


@pytest.mark.parametrize("name", ["calc.formula.total-below-column", "files.archive.pack-folder", "mail2.x.a-b"])
def test_names_of_skills(name: str) -> None:
    assert Skill(id=name, apps=("calc",), title="t").id == name


@pytest.mark.parametrize(
    "name", ["calc.formula.total", "calc.total-x", "Calc.formula.a-b", "calc.formula.a-", "a.b.c-d.e", ""]
)
def test_what_is_no_name_of_a_skill(name: str) -> None:
    with pytest.raises(ValidationError):
        Skill(id=name, apps=("calc",), title="t")


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan")])
def test_a_reward_is_none_or_within_0_and_1(reward: float) -> None:
    values: dict[str, Any] = {
        "task": SHA,
        "harness": SHA,
        "channel": "gui",
        "teacher": "t",
        "provenance": "model",
        "ended_by": "done",
    }
    assert Trajectory(**values).reward is None
    with pytest.raises(ValidationError):
        Trajectory(**values, reward=reward)


def test_usage_adds_up() -> None:
    assert Usage(prompt_tokens=3, completion_tokens=4, cached_tokens=2).total == 7
