"""Film strips: every action has a panel with its mark, and the verdict stands below with its evidence."""

import io

import pytest
from PIL import Image

from forge.harness.filmstrip import font, render, wrap
from forge.records import (
    Action,
    ActionRecord,
    Answer,
    Bash,
    Button,
    CriterionVerdict,
    Done,
    Drag,
    EndedBy,
    Grading,
    HoldKey,
    Key,
    Observation,
    Point,
    Pointer,
    Provenance,
    Scroll,
    Task,
    Trajectory,
    Turn,
    Type,
    Verdict,
    Wait,
    Zoom,
)

MIDDLE = Point(x=0.5, y=0.5)
ACTIONS: list[Action] = [
    Pointer(kind="left_click", at=MIDDLE),
    Pointer(kind="right_click", at=MIDDLE, modifiers=("ctrl",)),
    Pointer(kind="double_click", at=Point(x=1, y=1)),
    Drag(start=Point(x=0, y=0), at=MIDDLE),
    Scroll(at=MIDDLE, dy=3),
    Zoom(top_left=Point(x=0.1, y=0.1), bottom_right=MIDDLE),
    Type(text="=SUM(B2:B9)\n"),
    Key(keys="ctrl+s", repeat=2),
    HoldKey(keys="shift", seconds=1),
    Button(kind="left_mouse_down"),
    Wait(seconds=1),
    Bash(command="python3 - <<'EOF'\nprint(1)\nEOF"),
    Answer(text="42"),
    Done(),
]


def screen(color: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (1280, 800), color).save(buffer, "PNG")
    return buffer.getvalue()


def trajectory(task: Task, actions: list[Action], **more: object) -> Trajectory:
    seen = Observation(screenshot="green", width=1280, height=800)
    records = tuple(
        ActionRecord(turn=0, index=i, action=action, before=seen, after=seen, result="1\n" * 90, exit_code=1)
        for i, action in enumerate(actions)
    )
    return Trajectory(
        task=task.id, harness="h", channel="hybrid", teacher="oracle", provenance=Provenance.ORACLE,
        turns=(Turn(index=0),), actions=records, ended_by=EndedBy.DONE, done_status="success", **more,
    )  # fmt: skip


VERDICT = Verdict(
    grading=Grading.GRADED,
    score=0.5,
    criteria=(
        CriterionVerdict(criterion="total", check="calc.formula", kind="must", score=1, evidence="B10 is =SUM(B2:B9)"),
        CriterionVerdict(criterion="else", check="calc.changed", kind="must_not", score=0, evidence="A1 changed " * 40),
    ),
)


def drawn(task: Task, actions: list[Action], verdict: Verdict | None = VERDICT) -> Image.Image:
    blobs = {"green": screen("#008000")}
    png = render(trajectory(task, actions), task, verdict, blobs.__getitem__)
    return Image.open(io.BytesIO(png)).convert("RGB")


def test_a_strip_has_a_row_for_every_three_panels_and_grows_with_the_evidence(task: Task) -> None:
    one, four = drawn(task, ACTIONS[:1]), drawn(task, ACTIONS[:4])
    assert one.width == four.width == 3 * 578 + 18
    row = 18 + 3 * 23 + 6 + 350
    assert four.height - one.height == row
    assert drawn(task, ACTIONS[:1], None).height < one.height


@pytest.mark.parametrize("action", ACTIONS[:-1], ids=lambda action: action.kind)
def test_every_kind_of_action_leaves_its_mark_on_its_panel(task: Task, action: Action) -> None:
    image = drawn(task, [action])
    colors = {color for _, color in image.crop(first_panel(image)).getcolors(1 << 20)}
    if isinstance(action, Bash):
        assert (20, 24, 31) in colors
    elif isinstance(action, Answer):
        assert (255, 255, 255) in colors
    else:
        assert (224, 33, 138) in colors


def first_panel(image: Image.Image) -> tuple[int, int, int, int]:
    """The inside of the first panel's picture, found by its frame."""
    column = [image.getpixel((18 + 280, y)) for y in range(image.height)]
    top = column.index((197, 201, 208))
    return 20, top + 2, 18 + 560 - 2, top + 348


def test_a_screenshot_that_is_gone_does_not_stop_the_strip(task: Task) -> None:
    png = render(trajectory(task, ACTIONS[:2]), task, VERDICT, {}.__getitem__)
    assert Image.open(io.BytesIO(png)).width == 1752


def test_an_episode_without_an_action_has_a_strip(task: Task) -> None:
    assert drawn(task, []).height > 400


def test_lines_are_wrapped_at_blanks_and_long_words_are_broken() -> None:
    face = font(18)
    lines = wrap("one two three " * 10 + "\n" + "x" * 300, face, 200)
    assert all(face.getlength(line) <= 200 for line in lines)
    assert "".join(lines).count("x") == 300
    assert " ".join(lines).count("three") == 10
