"""The model as teacher: what it is shown, what is made of its answer, and how its failures end."""

import json
from typing import Any

from forge.harness import SlotEnvironment, load_harness, play
from forge.harness.fake import FakeDesktop
from forge.harness.prompt import as_data_url, build_messages
from forge.harness.teachers import LlmTeacher
from forge.llm import FakeModel, Reply, ToolCall
from forge.records import Element, EndedBy, ModelError, Provenance, Task, Usage, sha256_hex
from training.folding import fold

BUTTON = Element(role="push button", name="Go", box=(100, 100, 80, 40), path=(0, 0))


def reply(text: str, *calls: tuple[str, dict[str, Any]], **more: Any) -> Reply:
    made = tuple(ToolCall(f"id{i}", name, json.dumps(arguments)) for i, (name, arguments) in enumerate(calls))
    return Reply(text=text, tool_calls=made, finish="tool_calls" if made else "stop", model="m-1", **more)


async def test_it_sees_the_prompt_alone_and_its_calls_are_carried_out(task: Task) -> None:
    blobs: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        blobs[sha256_hex(data)] = data
        return sha256_hex(data)

    harness = load_harness("gui")
    model = FakeModel(
        [
            reply(
                "I press it.",
                ("computer", {"action": "left_click", "coordinate": [218, 250]}),
                ("computer", {"action": "tap"}),
                usage=Usage(prompt_tokens=7, completion_tokens=3),
                thought="Go is there.",
            ),
            reply("", ("done", {"status": "success"})),
        ]
    )
    environment = SlotEnvironment(FakeDesktop(elements=[BUTTON]), put)
    went = await play(task, harness, LlmTeacher(model, blobs.__getitem__), environment)
    environment.close()
    assert (went.ended_by, went.done_status, went.provenance) == (EndedBy.DONE, "success", Provenance.MODEL)
    first = went.turns[0]
    assert (first.text, first.thought, first.model, first.usage.total) == ("I press it.", "Go is there.", "m-1", 10)
    assert first.tool_calls[1]["error"].startswith("computer: `action` must be one of")
    assert went.actions[0].element == BUTTON
    assert len({call["id"] for turn in went.turns for call in turn.tool_calls}) == 3

    messages, tools = build_messages(
        harness, task.instruction, went.turns[:1], went.actions, went.actions[-1].before, as_data_url(blobs.__getitem__)
    )
    assert model.requests[1] == (messages, tools)
    assert messages[-2]["content"].startswith("error: computer: `action` must be one of")
    assert messages[-1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")


async def test_a_refusal_and_a_dead_endpoint_end_the_episode_apart_from_a_failure(task: Task) -> None:
    for answer, message in (
        (Reply(text="I will not.", finish="refusal"), "the model refused: I will not."),
        (ModelError("the endpoint is gone"), "the endpoint is gone"),
    ):
        desktop = FakeDesktop()
        environment = SlotEnvironment(desktop, sha256_hex)
        picture = desktop.screenshot().png
        teacher = LlmTeacher(FakeModel([answer]), {sha256_hex(picture): picture}.__getitem__)
        went = await play(task, load_harness("gui"), teacher, environment)
        environment.close()
        assert (went.ended_by, went.error, went.done_status) == (EndedBy.MODEL_ERROR, message, None)


async def test_a_harness_with_elements_shows_them_and_training_sees_the_same(task: Task) -> None:
    blobs: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        blobs[sha256_hex(data)] = data
        return sha256_hex(data)

    harness = load_harness("gui-elements")
    press = reply("", ("computer", {"action": "left_click", "coordinate": [218, 250]}))
    model = FakeModel([press, reply("", ("done", {"status": "success"}))])
    desktop = FakeDesktop(elements=[BUTTON])
    environment = SlotEnvironment(desktop, put, elements=True)
    went = await play(task, harness, LlmTeacher(model, blobs.__getitem__), environment)
    environment.close()
    shown = [str(request[0][-1]["content"]) for request in model.requests]
    assert all('push button "Go"' in text for text in shown)
    graded = went.model_copy(update={"reward": 1.0, "grading": "graded"})
    learned = fold(graded, task, harness, blobs.__getitem__)
    for request, example in zip(model.requests, learned, strict=True):
        texts = [part["text"] for part in example.prompt[-1]["content"] if part["type"] == "text"]
        assert texts == [part["text"] for part in request[0][-1]["content"] if part["type"] == "text"]
