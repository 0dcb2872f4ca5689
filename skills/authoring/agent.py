"""The authoring agent: a conversation with tools that turns a skill into an accepted workflow.

Everything it has is kept after every step (`Keeper`), so that a killed run goes on with the same conversation: an answer
that was paid for is used, and calls that were not carried out are carried out. What the conversation cannot do: read or
write a file outside the draft, run code anywhere but in the box, reach the network. Texts in artifacts and results are
data; all they could do is make the author call these same tools.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

from forge.llm import Budget
from forge.llm.port import ChatModel
from forge.llm.prompts import Prompt
from forge.llm.reply import Reply
from forge.records import BudgetError, Guest, ModelError
from skills.authoring.brief import Brief, Limits, Outcome, Report
from skills.authoring.catalogue import workflow_text
from skills.authoring.draft import Draft
from skills.authoring.port import Bench
from skills.authoring.prompts import PROMPTS
from skills.authoring.tools import Bag, Result, Toolbox, definitions

EXAMPLE = "calc.formula.total-below-column"
WHOLE = 12
"""How many of the latest tool results the author is shown whole; of older ones the beginning stays."""
BEGINNING = 300
FEW_TURNS, FEW = 10, 0.25
"""Turns, and the share of tokens and of time, below which every result says how much is left."""

Tell = Callable[[str], None]
"""Says one line of progress to whoever watches."""


class Keeper(Protocol):
    """Keeps the state of one authoring run; `save` is atomic."""

    def load(self) -> dict[str, Any] | None:
        """The last state saved, or None."""
        ...

    def save(self, state: dict[str, Any]) -> None:
        """Keep this state instead of the last."""
        ...


async def author(
    brief: Brief, model: ChatModel, bench: Bench, keeper: Keeper, *, subject: str, tell: Tell = lambda line: None
) -> tuple[Report, Draft]:
    """Author one skill, or go on where a killed run stopped.

    Args:
        brief: the job.
        model: who authors, writes the rubric and reads blindly, in conversations of their own; its budget is the run's.
        bench: where drafts are tried.
        keeper: keeps the state. `begun` in it counts fresh starts: each is a conversation of its own.
        subject: for the ledger: one for all calls of this run.
        tell: told about every turn, every call and what it came to.

    Returns:
        The report, and the draft as it is at the end.

    Raises:
        DesktopError: the machine failed; run it again, nothing is lost.
    """
    state = keeper.load() or {}
    bag = Bag.from_json(brief.skill, state["bag"]) if "bag" in state else Bag(Draft(brief.skill))
    if state.get("limits") != asdict(brief.limits):  # a new conversation, or one that goes on with other limits
        opening = _opening(brief)
        rest = state.get("messages", [])[len(opening.messages) :]
        state |= {"messages": [*opening.messages, *rest], "prompt": opening.version, "limits": asdict(brief.limits)}
    messages: list[dict[str, Any]] = state["messages"]
    steps, spent = int(state.get("steps", 0)), float(state.get("seconds", 0.0))
    toolbox = Toolbox(brief, bag, bench, model, subject)
    began = time.monotonic()

    def seconds() -> float:
        return spent + time.monotonic() - began

    def keep(outcome: Outcome | None = None) -> None:
        keeper.save(
            {
                **state, "messages": messages, "bag": bag.to_json(), "steps": steps, "outcome": outcome,
                "seconds": seconds(),
            }
        )  # fmt: skip

    def ended(outcome: Outcome, reason: str = "", mend: str | None = None) -> tuple[Report, Draft]:
        report = Report(
            outcome, reason or bag.reason, bag.version, steps, seconds(), bag.lessons, bag.readers, bag.acceptance,
            mend or "",
        )  # fmt: skip
        tell(f"{outcome}{f': {report.reason}' if report.reason else ''}")
        return report, bag.draft

    if state.get("outcome"):  # it had ended when it was killed
        return ended(Outcome(state["outcome"]))
    try:
        while True:
            for call in _open_calls(messages):
                name = call["function"]["name"]
                tell(f"{name} {_gist(call['function']['arguments'])}".rstrip())
                result = await toolbox.call(name, call["function"]["arguments"])
                tell(f"{name}: {_line(result.text)}")
                result.text += left(model, brief.limits, steps, seconds())
                messages += _answers(call["id"], result)
                keep(result.outcome)
                if result.outcome is not None:
                    return ended(result.outcome)
            if steps >= brief.limits.steps:
                return ended(Outcome.BUDGET, f"{steps} turns were used up")
            if seconds() > brief.limits.seconds:
                return ended(Outcome.BUDGET, f"{brief.limits.seconds:g} s were used up")
            reply = await model.chat(
                _sent(messages),
                definitions(),
                purpose="author",
                recurring=False,
                subject=subject,
                prompt=state["prompt"],
                sample=int(state.get("begun", 0)),
            )
            steps += 1
            tell(f"turn {steps} of {brief.limits.steps}{_so_far(model)}")
            messages.append(_assistant(reply))
            if not reply.tool_calls:
                messages.append({"role": "user", "content": _nudge(reply)})
            keep()
    except BudgetError as error:
        return ended(Outcome.BUDGET, str(error))
    except ModelError as error:
        return ended(Outcome.ENDPOINT_DOWN, error.message, error.mend)


def left(model: ChatModel, limits: Limits, steps: int, seconds: float) -> str:
    """What is left of turns, tokens and time, in a line for the author; nothing while there is plenty.

    Args:
        model: its budget says what is left of the tokens.
        limits: of the run.
        steps: turns that were used.
        seconds: that were used.
    """
    budget: Budget | None = getattr(model, "budget", None)
    share, turns, rest = 1.0 if budget is None else budget.share_left(), limits.steps - steps, limits.seconds - seconds
    late = rest <= FEW * limits.seconds
    if turns >= FEW_TURNS and share > FEW and not late:
        return ""
    clock = f", {max(0.0, rest):,.0f} seconds" if late else ""
    return f"\n[Left: {turns} turns, about {5 * round(20 * share)} % of the tokens{clock}.]"


def _opening(brief: Brief) -> Prompt:
    return PROMPTS.render(
        "author", skill=brief.skill, mode=brief.mode, limits=brief.limits, lessons=brief.lessons,
        example=workflow_text(EXAMPLE), guest=Guest(),
    )  # fmt: skip


def _so_far(model: ChatModel) -> str:
    budget: Budget | None = getattr(model, "budget", None)
    return f", {budget.spent_tokens:,} tokens so far" if budget is not None else ""


def _gist(arguments: str) -> str:
    """A call's arguments in a line: files by their names."""
    try:
        given = json.loads(arguments or "{}")
        if not isinstance(given, dict):
            return _line(arguments)
        if "files" in given:
            return ", ".join(str(file["name"]) for file in given["files"])
        return ", ".join(
            f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given.items()
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return _line(arguments)


def _line(text: str) -> str:
    """The first words of a text."""
    words = " ".join(text.split())
    return words if len(words) <= 110 else f"{words[:110]} ..."


def _assistant(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in reply.tool_calls
        ]
    return message


def _nudge(reply: Reply) -> str:
    if reply.finish == "length":
        return "Your answer was cut off. Write less at once: one file a call."
    return "Go on by calling tools; end with `submit` or `give_up`."


def _open_calls(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of the latest answer that have no result yet. Ids are told apart within one answer only: some servers
    begin anew with each.
    """
    latest = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=0)
    done = {m["tool_call_id"] for m in messages[latest:] if m["role"] == "tool"}
    return [c for c in messages[latest].get("tool_calls", []) if c["id"] not in done]


def _answers(call_id: str, result: Result) -> list[dict[str, Any]]:
    """A tool's result as messages. Tools answer in text only; a picture follows as the user's message."""
    found: list[dict[str, Any]] = [{"role": "tool", "tool_call_id": call_id, "content": result.text}]
    if result.png is not None:
        url = f"data:image/png;base64,{base64.b64encode(result.png).decode()}"
        found.append({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    return found


def _sent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation as it is sent: tool results in their places, pictures after all results of their turn, older
    results cut to their beginning, and only the latest picture.
    """
    results = [m for m in messages if m["role"] == "tool"]
    old = {id(m) for m in results[:-WHOLE]}
    pictures = [m for m in messages if isinstance(m["content"], list)]
    sent: list[dict[str, Any]] = []
    held: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message["content"], list):
            if message is pictures[-1]:
                held.append(message)
            continue
        if message["role"] != "tool" and held:
            sent += held
            held = []
        if id(message) in old and len(message["content"]) > BEGINNING:
            message = {**message, "content": f"{message['content'][:BEGINNING]} [cut; call again if you need it]"}
        sent.append(message)
    return [*sent, *held]
