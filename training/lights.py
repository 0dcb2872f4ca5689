"""Made-up episodes whose screens say by their colour what to do: what a tiny model can learn in a few steps.

For tests and the bench, where the question is whether pictures reach the loss; the records, the prompt and the shards are
those of real episodes. NOT a task that anybody should train for.
"""

from __future__ import annotations

import io
import random

from PIL import Image, ImageDraw

from forge.harness.dialects import DIALECTS
from forge.records import (
    Action,
    ActionRecord,
    Criterion,
    Done,
    EndedBy,
    Grading,
    Guest,
    Harness,
    Observation,
    ObservationSpec,
    Point,
    Pointer,
    Provenance,
    Rubric,
    Solution,
    Step,
    Task,
    Trajectory,
    Turn,
    sha256_hex,
)

LIGHTS = {
    "red": ((210, 30, 30), Point(x=0.1, y=0.9)),
    "green": ((30, 170, 60), Point(x=0.3, y=0.2)),
    "blue": ((40, 60, 220), Point(x=0.6, y=0.7)),
    "white": ((245, 245, 245), Point(x=0.9, y=0.4)),
}
"""Colour of the screen to where one has to click."""

HARNESS = Harness(
    name="lights",
    channel="gui",
    tools=("computer", "done"),
    actions=("left_click",),
    system_prompt="Click where the light says.",
    observation=ObservationSpec(width=320, screenshots_kept=3, responses_kept=4),
)

SKILL = "lights.click.follow-light"


class Blobs(dict[str, bytes]):
    """A blob store in memory."""

    def put(self, data: bytes) -> str:
        name = sha256_hex(data)
        self[name] = data
        return name


def screen(colour: str, rng: random.Random) -> bytes:
    """A PNG of 640 x 400 pixels: a coloured desktop with some grey clutter, so that no two are equal."""
    picture = Image.new("RGB", (640, 400), LIGHTS[colour][0])
    pen = ImageDraw.Draw(picture)
    for _ in range(5):
        x, y = rng.randrange(600), rng.randrange(380)
        pen.rectangle([x, y, x + rng.randrange(10, 60), y + 15], fill=(128, 128, 128))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def task(number: int, skill: str = SKILL) -> Task:
    """The `number`-th task of the skill."""
    return Task(
        skill=skill,
        workflow=sha256_hex(skill.encode()),
        seed=number,
        apps=("lights",),
        guest=Guest(),
        resolved={"number": number},
        instruction="Follow the light.",
        rubric=Rubric(criteria=(Criterion(id="right", kind="must", check="lights.right"),)),
        solutions=(Solution(channel="gui", steps=(Step(move="click"),)),),
    )


def episode(
    number: int, put: Blobs, *, clicks: int = 2, reward: float | None = 1.0, skill: str = SKILL
) -> tuple[Trajectory, Task]:
    """An episode of `clicks` turns with one click each; the last turn says done as well."""
    rng = random.Random(f"lights {number}")
    chosen = [rng.choice(list(LIGHTS)) for _ in range(clicks)]
    shots = [put.put(screen(colour, rng)) for colour in [*chosen, "white"]]
    views = [Observation(screenshot=shot, width=640, height=400) for shot in shots]
    turns: list[Turn] = []
    records: list[ActionRecord] = []
    for index, colour in enumerate(chosen):
        actions: list[Action] = [Pointer(kind="left_click", at=LIGHTS[colour][1])]
        if index == clicks - 1:
            actions.append(Done())
        calls = [
            DIALECTS.get("forge").encode(action, f"call_{index}_{place}").to_json()
            for place, action in enumerate(actions)
        ]
        for action in actions:
            before = views[index] if isinstance(action, Pointer) else views[index + 1]
            records.append(
                ActionRecord(turn=index, index=len(records), action=action, before=before, after=views[index + 1])
            )
        text = f"The light is {colour}."
        turns.append(Turn(index=index, text=text, summary=f"Click the {colour} light", tool_calls=tuple(calls)))
    made = task(number, skill)
    trajectory = Trajectory(
        task=made.id,
        harness=HARNESS.digest(),
        channel="gui",
        teacher="oracle",
        provenance=Provenance.ORACLE,
        turns=tuple(turns),
        actions=tuple(records),
        ended_by=EndedBy.DONE,
        done_status="success",
        grading=Grading.GRADED if reward is not None else Grading.GRADER_ERROR,
        reward=reward,
    )
    return trajectory, made
