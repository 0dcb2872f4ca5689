"""Topping up banks: one call of a model writes many values, each is checked, and tasks draw from them without a call.

What a model wrote is data and nothing else: a value that is not of the bank's form, or that holds what could be taken for a
path or a template, is thrown away and counted. The values go to a store that only grows (`skills.kitchen.Pool`).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from forge.llm import ChatModel, Prompts, TruncatedError, UnusableReplyError
from forge.records import JSON
from skills.banks.bank import Bank
from skills.kitchen import Kitchen
from skills.nodes.base import Station
from skills.nodes.llm import Llm
from skills.workflow import Workflow

WANTED = 40
"""Written values for each bank and topic."""

BATCH = 20
"""Values asked for in one call."""

FEWEST = 5
"""Values asked for at least: a call for one or two costs nearly as much, and some will not do."""

FRUITLESS = 4
"""Calls in a row without a new value after which a bank is as full as it gets."""

TAKEN_SHOWN = 60
"""Values that the model is shown so that it writes others."""

Keep = Callable[[list[JSON]], Awaitable[None]]
"""Stores values; they are there for good when it returns."""


@dataclass(frozen=True)
class Need:
    """Values wanted of a bank, about something."""

    bank: Bank
    about: str

    @property
    def name(self) -> str:
        """Pool and topic."""
        return f"{self.bank.pool}/{self.about}"


@dataclass
class Written:
    """What a top-up came to: new values, and why others were thrown away."""

    values: list[JSON] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


def needs(workflows: Iterable[tuple[Workflow, Sequence[int]]]) -> list[Need]:
    """What the draws with these seeds would take from banks that a model can top up, each once, by name.

    A topic that depends on more than parameters is not known before the draw; such nodes need all topics of their bank.
    """
    found: dict[str, Need] = {}
    for workflow, seeds in workflows:
        for node in workflow.nodes.values():
            if isinstance(node, Llm) and node.mode == "topup" and node.bank.prompt:
                for about in _topics(workflow, node, seeds):
                    need = Need(node.bank.whole, about)
                    found.setdefault(need.name, need)
    return [found[name] for name in sorted(found)]


async def top_up(
    model: ChatModel, need: Need, have: Sequence[JSON], keep: Keep, *, wanted: int = WANTED, batch: int = BATCH
) -> Written:
    """Have values written until there are `wanted`, or a few more, and keep each batch as soon as it is checked.

    Args:
        model: the writer.
        need: the bank and the topic.
        have: written values that are there already.
        keep: stores a batch.
        wanted: how many there are to be, those that are there included.
        batch: how many to ask for in one call.

    Raises:
        RefusedError: the model will not.
        BudgetError, ModelError: as of `ChatModel`; what was kept stays.
    """
    values, written = list(have), Written()
    fruitless = cut_off = sample = 0
    while len(values) < wanted and fruitless < FRUITLESS:
        prompt = _prompts().render("topup", **_asked(need, values, min(batch, max(FEWEST, wanted - len(values)))))
        try:
            answer = await model.typed(
                prompt.messages, _batch_of(need.bank), purpose="writer", recurring=True, subject=f"bank/{need.name}",
                prompt=prompt.version, sample=sample,
            )  # fmt: skip
        except TruncatedError:
            cut_off += 1
            if cut_off % 2 == 0:  # twice in a row is no accident: ask for less
                batch, fruitless = max(1, batch // 2), fruitless + (batch == 1)
            continue
        except UnusableReplyError:
            fruitless, sample = fruitless + 1, sample + 1
            continue
        cut_off = 0
        new = _checked(need, values, [item.model_dump() for item in answer.values], written.rejected)
        fruitless, sample = (0, 0) if new else (fruitless + 1, sample + 1)
        if new:
            await keep(new)
            values += new
            written.values += new
    return written


class LiveValues:
    """Values written while a task is drawn; fills `skills.kitchen.ValueModel`. The same draw gets the same values.

    Args:
        model: the writer. Called from threads without an event loop.
    """

    def __init__(self, model: ChatModel):
        self._model = model

    def values(self, bank: Bank, about: str, count: int, seed: int) -> list[JSON]:
        """`count` values that fit the bank.

        Raises:
            ModelError: there are none.
        """
        need = Need(bank, about)
        prompt = _prompts().render("topup", **_asked(need, [], count))
        asking = self._model.typed(
            prompt.messages, _exactly(bank, count), purpose="writer", recurring=True, subject=f"bank/{need.name}",
            prompt=prompt.version, sample=seed,
        )  # fmt: skip
        return [item.model_dump() for item in asyncio.run(_awaited(asking)).values]


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")


def _asked(need: Need, have: Sequence[JSON], count: int) -> dict[str, Any]:
    """What the template is given."""
    bank = need.bank
    first = next(iter(bank.fields))
    taken = [str(value[first]) for value in have][-TAKEN_SHOWN:]
    fields = [
        {"name": name, "rule": bank.rule(name).words, "examples": bank.column(name, need.about)[:4]}
        for name in bank.fields
    ]
    return {
        "task": bank.prompt, "bank": bank.about, "about": need.about, "count": count, "fields": fields, "taken": taken,
    }  # fmt: skip


def _checked(need: Need, have: Sequence[JSON], found: list[dict[str, JSON]], rejected: Counter[str]) -> list[JSON]:
    """Those that fit the bank and are not there yet; why the others are not is counted."""
    first = next(iter(need.bank.fields))
    known = {_plain(value[first]) for value in have} | {_plain(v) for v in need.bank.column(first, need.about)}
    kept: list[JSON] = []
    for value in found:
        problem = need.bank.problem(value)
        if problem is None and _plain(value[first]) in known:
            problem = "it is there already"
        if problem is not None:
            rejected[problem] += 1
            continue
        known.add(_plain(value[first]))
        kept.append(value)
    return kept


def _plain(value: JSON) -> str:
    return str(value).casefold()


def _topics(workflow: Workflow, node: Llm, seeds: Sequence[int]) -> set[str]:
    """What the node's `about` comes to for these seeds, in their first attempt."""
    about = node.args.fields["about"]
    read: set[str] = set()
    todo = set(about.names)
    while todo:
        name = todo.pop()
        read.add(name)
        if name not in workflow.params:
            return set(node.bank.topics)
        todo |= workflow.params[name].names - read
    found = set()
    kitchen = Kitchen()
    for seed in seeds if read else [0]:
        scope: dict[str, JSON] = {}
        for name in workflow.order:
            if name in read:
                param = workflow.params[name]
                station = Station(kitchen, kitchen.guest, (workflow.version, seed, 0), files=False)
                scope[name] = json.loads(json.dumps(param.run(param.render(scope), station).value))
        found.add(str(about.render(scope)))
    return found


class _Values(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _record_of(bank: Bank) -> type[BaseModel]:
    types: dict[str, Any] = {"text": str, "number": int | float}
    columns: Any = {name: (types[kind], Field(...)) for name, kind in bank.kinds.items()}
    made: type[BaseModel] = create_model("Value", __config__=ConfigDict(extra="ignore"), **columns)
    return made


def _batch_of(bank: Bank) -> type[Any]:
    """A list of records of the bank's form; each is checked apart, for one bad value spoils no batch."""
    record: Any = _record_of(bank)
    return create_model("Values", __base__=_Values, values=(list[record], Field(min_length=1)))


def _exactly(bank: Bank, count: int) -> type[Any]:
    """Exactly `count` good records: what is wrong is shown to the model."""
    record: Any = _record_of(bank)

    def check(cls: Any, values: list[Any]) -> list[Any]:
        for value in values:
            if problem := bank.problem(value.model_dump()):
                raise ValueError(problem)
        return values

    return create_model(
        "Values", __base__=_Values, values=(list[record], Field(min_length=count, max_length=count)),
        __validators__={"good": field_validator("values")(check)},
    )  # fmt: skip
