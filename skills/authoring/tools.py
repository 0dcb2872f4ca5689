"""The author's tools: what it may look up, write, try and say."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.llm.errors import RefusedError, TruncatedError, UnusableReplyError
from forge.llm.port import ChatModel
from forge.records import InputError, Skill, Task
from skills.authoring import catalogue
from skills.authoring.breakage import machine_fault, redacted, told
from skills.authoring.brief import Brief, Outcome
from skills.authoring.draft import Draft
from skills.authoring.evidence import picture, rejected, report
from skills.authoring.outline import outline, without_bytes
from skills.authoring.port import Bench
from skills.authoring.readers import Agreement, read_blind
from skills.authoring.room import cut, level, shared
from skills.authoring.rubric_writer import empty, write_rubric
from skills.drawing import Draw
from skills.language.located import nearest
from skills.nodes.llm import Llm
from skills.workflow import Workflow

log = logging.getLogger(__name__)

RESULT_CHARACTERS = 12_000
"""How much of a tool's result the author is shown."""

ONE_CHARACTERS = 40_000
"""How much of a single thing that was asked for by its name."""

VALUE_CHARACTERS = 600
"""How much of each value of a draw, unless it was asked for by its name."""

NO_MORE = "that is all that is shown of it"
"""What is said of something that is cut although it was asked for alone."""

MISSING = (
    "Not yet: the rubric's writer misses a check for: {}\n"
    "Change the draft so that its instructions do not need it, and have the rubric written again with `ask_rubric`; "
    "or, where a check or a name of the draft can express it, say in `ask_rubric` which; or end with `give_up` as "
    "needs_check."
)
"""What is said to who submits while the latest rubric leaves something ungraded."""

READ_DRAWS = 2
"""On how many draws blind readers look."""


class Arguments(BaseModel):
    """Base of a tool's arguments."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class List(Arguments):
    """List what the catalogue has of a kind: one line each."""

    kind: str = Field(description=f"one of {', '.join(catalogue.KINDS)}")
    query: str = Field("", description="only those that hold one of these words")
    apps: list[str] = Field(
        default_factory=list, max_length=8,
        description="moves: those of these applications and of any window; without any, of the skill's applications",
    )  # fmt: skip


class Describe(Arguments):
    """Describe things of the catalogue: parameters, facts, arguments; a workflow with all its files. One alone comes whole;
    several share the room of an answer.
    """

    kind: str
    names: list[str] = Field(min_length=1, max_length=8)


class File(Arguments):
    """One file of the draft."""

    name: str = Field(description="workflow.yaml, wording.yaml, x.py, banks/x.yaml")
    text: str = Field(description="its whole content; empty removes the file")


class Write(Arguments):
    """Write files of the draft, whole; files that are not named stay. The draft is checked at once."""

    files: list[File] = Field(min_length=1)


class Show(Arguments):
    """Draw tasks and show them: instruction, values of all names in short, files. With `names`, only these values, in full."""

    count: int = Field(2, ge=1, le=5)
    first: int = Field(0, ge=0, le=500, description="number of the first draw, counted from 0, as `try` names it")
    names: list[str] = Field(default_factory=list, max_length=8, description="show these values in full")


class Look(Arguments):
    """See the desktop as the agent will find it, as a picture."""

    draw: int = Field(0, ge=0, le=500, description="which draw, by its number")


class AskRubric(Arguments):
    """Have the rubric written anew, with a note on what is wrong with it, in terms of the instruction."""

    note: str = Field(max_length=1000)


class Try(Arguments):
    """Run gates and probes on draws; with `play`, also play the solutions on the real desktop. Says what failed and why."""

    count: int = Field(3, ge=1, le=6)
    play: bool = False


class Lesson(Arguments):
    """Leave a short lesson for those who author for these applications after you."""

    text: str = Field(min_length=10, max_length=300)


class Submit(Arguments):
    """Hand the workflow in. When the readers disagree and you are sure, say why in `despite_readers`."""

    despite_readers: str = ""


class GiveUp(Arguments):
    """End without a workflow."""

    outcome: str = Field(pattern="^(needs_preparer|needs_check|not_verifiable|gave_up)$")
    reason: str = Field(min_length=10)


TOOLS: dict[str, type[Arguments]] = {
    "list": List, "describe": Describe, "write": Write, "draw": Show, "look": Look, "ask_rubric": AskRubric,
    "try": Try, "lesson": Lesson, "submit": Submit, "give_up": GiveUp,
}  # fmt: skip
"""Tool name to its arguments; the first line of their docstring is the tool's description."""


def definitions() -> list[dict[str, Any]]:
    """The tools in OpenAI's form."""
    return [
        {
            "type": "function",
            "function": {
                "name": name, "description": (args.__doc__ or "").strip(), "parameters": args.model_json_schema(),
            },
        }
        for name, args in TOOLS.items()
    ]  # fmt: skip


@dataclass
class Result:
    """What a tool gave back: a text, perhaps a picture, and the outcome when it ended the run.

    `fitted` says that the text's parts have been cut to their room already, and say themselves what they lack.
    """

    text: str
    png: bytes | None = None
    outcome: Outcome | None = None
    fitted: bool = False


@dataclass
class Bag:
    """What an authoring run has gathered, besides the conversation."""

    draft: Draft
    lessons: list[str] = field(default_factory=list)
    readers: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""
    version: str | None = None
    acceptance: float | None = None

    def to_json(self) -> dict[str, Any]:
        """For keeping."""
        return {**{k: v for k, v in vars(self).items() if k != "draft"}, "draft": self.draft.to_json()}

    @classmethod
    def from_json(cls, skill: Skill, value: dict[str, Any]) -> Bag:
        """What `to_json` kept."""
        return cls(**{**value, "draft": Draft.from_json(skill, value["draft"])})


class Toolbox:
    """Carries out the author's calls.

    Args:
        brief: the job.
        bag: what has been gathered; changed by the calls.
        bench: where drafts are tried.
        model: writes rubrics and reads blindly.
        subject: for the ledger.
    """

    def __init__(self, brief: Brief, bag: Bag, bench: Bench, model: ChatModel, subject: str):
        self.brief, self.bag, self.bench, self.model, self.subject = brief, bag, bench, model, subject

    async def call(self, name: str, arguments: str) -> Result:
        """One call. What is wrong with it, or breaks in it, is its result; only what the machine or an endpoint failed at is
        raised: DesktopError, ModelError, WarehouseError, OSError.
        """
        if name not in TOOLS:
            return Result(f"There is no tool {name!r}; there are {', '.join(TOOLS)}.")
        try:
            args = TOOLS[name].model_validate(json.loads(arguments or "{}"))
        except (ValueError, RecursionError) as error:
            return Result(f"These arguments cannot be used: {_said(error)}")
        run: Callable[[Any], Awaitable[Result]] = getattr(self, f"_{name}")
        try:
            result = await run(args)
        except (RefusedError, TruncatedError, UnusableReplyError) as error:
            result = Result(f"{error}")
        except Exception as error:
            if (fault := machine_fault(error)) is not None:
                raise fault from fault.__cause__
            if isinstance(error, InputError):
                result = Result(f"{error}")
            else:
                log.warning("%s, %s broke: %s", self.subject, name, error, exc_info=error)
                result = Result(f"This broke: {told(error)}\nAnother way to write it may avoid that.")
        text = redacted(result.text)
        result.text = text if result.fitted else cut(text, RESULT_CHARACTERS, "ask for less at once")
        return result

    async def _list(self, args: List) -> Result:
        for app in args.apps:
            if app not in catalogue.entries("apps"):
                raise InputError(f"there is no application {app!r}", mend=nearest(app, catalogue.entries("apps")))
        return Result(catalogue.listing(args.kind, args.query, args.apps or self.brief.skill.apps))

    async def _describe(self, args: Describe) -> Result:
        names = list(dict.fromkeys(args.names))
        room = ONE_CHARACTERS if len(names) == 1 else RESULT_CHARACTERS
        parts = [(name, catalogue.describe(args.kind, name)) for name in names]
        more = NO_MORE if len(names) == 1 else "describe {} alone for all of it"
        return Result(shared(parts, room, more), fitted=True)

    async def _write(self, args: Write) -> Result:
        draft = self.bag.draft
        draft.write({file.name: file.text for file in args.files})
        workflow = draft.load(graded=False)
        said = f"Written. The workflow reads well.{self._below(workflow)}"
        if workflow.unread:  # there is no rubric yet, which may be what they are for
            said += f" Only a rubric could still read {', '.join(workflow.unread)}."
        return Result(said)

    async def _draw(self, args: Show) -> Result:
        workflow = self.bag.draft.load(graded=False)
        for name in args.names:
            if name not in workflow.steps:
                raise InputError(f"the workflow has no name {name!r}", mend=nearest(name, workflow.steps))
        draws = await self.bench.draws(workflow, args.count, args.first)
        room = (ONE_CHARACTERS if args.names else RESULT_CHARACTERS) // len(draws) - 200
        if args.names:
            more = NO_MORE if len(draws) == len(args.names) == 1 else "draw {} alone, with count 1"
            shown = [_named(d.task, args.names, room, more) for d in draws]
        else:
            more = NO_MORE if len(draws) == 1 else "draw fewer at once"
            shown = [_shown(d.task, room, more) for d in draws]
        text = "\n\n".join(f"Draw {n}:\n{text}" for n, text in enumerate(shown, args.first))
        if not self.bag.draft.needs_rubric():
            text = _lines(text, self._empty(draws, args.first))
        return Result(text, fitted=bool(args.names))

    async def _look(self, args: Look) -> Result:
        png = await self.bench.picture(self.bag.draft.load(graded=False), args.draw)
        return Result(f"The picture of draw {args.draw} follows.", png)

    async def _ask_rubric(self, args: AskRubric) -> Result:
        return Result(await self._rubric(args.note))

    async def _try(self, args: Try) -> Result:
        said = await self._rubric("") if self.bag.draft.needs_rubric() else ""
        smoke = await self.bench.smoke(self.bag.draft.load(graded=True), args.count, play=args.play)
        return Result("\n\n".join(part for part in (said, report(smoke)) if part), picture(smoke))

    async def _lesson(self, args: Lesson) -> Result:
        self.bag.lessons.append(args.text)
        return Result("Noted.")

    async def _give_up(self, args: GiveUp) -> Result:
        self.bag.reason = args.reason
        return Result("Ended.", outcome=Outcome(args.outcome))

    async def _submit(self, args: Submit) -> Result:
        said = await self._rubric("") if self.bag.draft.needs_rubric() else ""
        workflow = self.bag.draft.load(graded=True)
        if below := self._below(workflow, graded=True):
            return Result("\n\n".join(part for part in (said, f"Not yet:{below}") if part))
        if missing := self.bag.draft.missing:
            return Result("\n\n".join(part for part in (said, MISSING.format(missing)) if part))
        count = self.brief.smoke if self.brief.mode == "workflow" else 1
        smoke = await self.bench.smoke(workflow, count, play=True)
        self.bag.acceptance = smoke.share
        if not smoke.sound:
            text = "\n\n".join(p for p in (said, "Not promoted: the smoke batch failed.", report(smoke)) if p)
            return Result(text, picture(smoke))
        lost = rejected(smoke.tried)
        draws = await self.bench.draws(workflow, READ_DRAWS if self.brief.mode == "workflow" else 1)
        agreements = [await read_blind(self.model, d, self.subject) for d in draws]
        self.bag.readers += [_reading(a, args.despite_readers) for a in agreements]
        complaints = list(dict.fromkeys(c for a in agreements for c in a.complaints))
        if complaints and not args.despite_readers:
            listed = "\n".join(f"- {c}" for c in complaints)
            passed = f"The smoke batch passed. {lost}".rstrip()
            text = f"{passed} But blind readers see differences between instruction and rubric:\n{listed}"
            return Result(
                f"{text}\nMend the wording, or ask for another rubric, or submit with `despite_readers` and your reason."
            )
        self.bag.version = workflow.version
        return Result(f"Promoted. {lost}".rstrip(), outcome=Outcome.AUTHORED)

    def _below(self, workflow: Workflow, *, graded: bool = False) -> str:
        """What keeps the draft below the library's standard; without a rubric nobody knows yet what is read."""
        if self.brief.mode != "workflow":
            return ""
        unread = {f"nothing reads {name!r}" for name in workflow.unread}
        remarks = [remark for remark in workflow.remarks if graded or remark not in unread]
        remarks += [f"nothing uses the file {name}" for name in _unused(self.bag.draft, workflow)]
        return f" Below the library's standard: {'; '.join(remarks)}." if remarks else ""

    async def _rubric(self, note: str) -> str:
        workflow = self.bag.draft.load(graded=False)
        draws = await self.bench.draws(workflow, 3 if self.brief.mode == "workflow" else 1)
        remarks = await write_rubric(self.model, self.bag.draft, workflow, draws, note=note, subject=self.subject)
        lines = [json.dumps(c.mapping(), ensure_ascii=False) for c in self.bag.draft.rubric]
        text = "The rubric's writer has written:\n" + "\n".join(f"- {line}" for line in lines)
        return _lines(text, remarks, self._empty(draws))

    def _empty(self, draws: Sequence[Draw], first: int = 0) -> str:
        """A warning of criteria that have no instances in some of the draws."""
        found = empty(self.bag.draft.load(graded=True), dict(enumerate(draws, first)))
        return "\n".join(f"Warning: {line}; there it grades nothing." for line in found)


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _unused(draft: Draft, workflow: Workflow) -> list[str]:
    """Files of the draft that are no part of its workflow."""
    banks = {f"banks/{node.bank.name}.yaml" for node in workflow.nodes.values() if isinstance(node, Llm)}
    return sorted(set(draft.files) - set(workflow.source) - banks)


def _shown(task: Task, room: int, more: str) -> str:
    """A draw in short: every value in its share of the room."""
    files = cut(", ".join(f"{a.path} ({a.size} bytes)" for a in task.artifacts if not a.folder), room // 8, more)
    values = {name: value for name, value in task.resolved.items() if name != "wording"}
    left = room - len(files) - len(task.instruction) - sum(len(name) + 5 for name in values)
    limit = level([len(outline(value, VALUE_CHARACTERS)) for value in values.values()], left)
    lines = [f"  {name}: {outline(value, max(limit, 60))}" for name, value in values.items()]
    return "\n".join([task.instruction, *lines, f"  files: {files}"])


def _named(task: Task, names: Sequence[str], room: int, more: str) -> str:
    """Some values of a draw, whole where there is room; bytes by their size."""
    values = {name: without_bytes(task.resolved[name]) for name in names}
    parts = [(name, json.dumps(value, ensure_ascii=False, indent=1)) for name, value in values.items()]
    return shared(parts, room, more)


def _reading(agreement: Agreement, despite: str) -> dict[str, Any]:
    return {
        "task": agreement.task, "agreed": agreement.agreed, "complaints": agreement.complaints,
        "reconstruction": agreement.reconstruction, "despite": despite,
    }  # fmt: skip


def _said(error: ValueError | RecursionError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
