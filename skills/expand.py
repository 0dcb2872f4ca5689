"""Expand: let a model propose skills where the taxonomy is thin, without letting the same ability in twice.

Duplicates are looked for by MinHash over words first; what is neither plainly new nor plainly old is put to the model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.llm.port import ChatModel
from forge.records import Skill, SkillState
from skills.authoring.catalogue import listing
from skills.authoring.prompts import PROMPTS

SAME, DOUBTFUL = 0.7, 0.3
"""Jaccard similarity of word sets from which two abilities are the same, and from which the model is asked."""
PERMUTATIONS = 128

_WORDS = re.compile(r"[a-z0-9]{2,}")
_EMPTY = {
    "a", "an", "and", "are", "as", "at", "be", "below", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "one",
    "or", "out", "that", "the", "then", "this", "to", "up", "with",
}  # fmt: skip


class Parameter(BaseModel):
    """One thing that a skill varies."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern="^[a-z][a-z0-9_]*$")
    type: str = Field(pattern="^(text|number|date|choice|cell|range|file|message|column)$")
    values: list[str] = Field(description="a few typical ones, or all of a choice")


class Proposal(BaseModel):
    """One proposed skill."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(description="app.area.verb-object in small letters")
    apps: list[str]
    title: str = Field(description="what a person would call it, imperative, without details")
    description: str = Field(description="what is done, and what is left to check in files afterwards")
    affinity: str = Field(pattern="^(gui|terminal|either)$")
    difficulty: int = Field(ge=1, le=3, description="1: one step; 2: several; 3: across places or applications")
    parameters: list[Parameter]


class Proposals(BaseModel):
    """What the model proposes, and candidates that it finds better split or merged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    skills: list[Proposal]


class Sameness(BaseModel):
    """Whether two descriptions mean the same ability."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    same: bool


@dataclass(frozen=True)
class Cell:
    """One cell of the coverage: an application's area by channel affinity, and how many skills there have a workflow."""

    app: str
    area: str
    affinity: str
    authored: int
    candidates: int


@dataclass(frozen=True)
class Expansion:
    """What came of it: new skills, and for each refused proposal why."""

    added: tuple[Skill, ...]
    refused: tuple[tuple[str, str], ...]


def coverage(skills: Iterable[Skill]) -> list[Cell]:
    """Every cell that has a skill, the thinnest first: few authored, many candidates."""
    authored, wanted = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for skill in skills:
        app, area = skill.id.split(".")[:2]
        (wanted if skill.state is SkillState.CANDIDATE else authored)[app, area, skill.affinity] += 1
    cells = [Cell(*key, authored[key], wanted[key]) for key in authored.keys() | wanted.keys()]
    return sorted(cells, key=lambda c: (c.authored, -c.candidates, c.app, c.area, c.affinity))


class Known:
    """Abilities that are there already, by the words that describe them."""

    def __init__(self, skills: Iterable[Skill]):
        from datasketch import MinHashLSH

        self._index: Any = MinHashLSH(threshold=max(0.1, DOUBTFUL - 0.1), num_perm=PERMUTATIONS)
        self._words: dict[str, frozenset[str]] = {}
        self._skills: dict[str, Skill] = {}
        for skill in skills:
            self.add(skill)

    def __contains__(self, skill_id: str) -> bool:
        return skill_id in self._skills

    def add(self, skill: Skill) -> None:
        """Remember a skill."""
        if skill.id not in self._skills and (words := words_of(skill)):
            self._skills[skill.id], self._words[skill.id] = skill, words
            self._index.insert(skill.id, _sketch(words))

    def nearest(self, skill: Skill) -> tuple[float, Skill] | None:
        """The most similar skill that shares an application, with its similarity; None when nothing comes near."""
        words = words_of(skill)
        if not words:
            return None
        found = [
            (len(words & self._words[name]) / len(words | self._words[name]), name)
            for name in self._index.query(_sketch(words))
            if set(self._skills[name].apps) & set(skill.apps)
        ]
        if not found:
            return None
        similarity, name = max(found, key=lambda pair: (pair[0], pair[1]))
        return similarity, self._skills[name]


def words_of(skill: Skill) -> frozenset[str]:
    """The words that say what an ability is: its title and the last part of its id, without particles."""
    text = f"{skill.title} {skill.id.split('.')[-1].replace('-', ' ')}".lower()
    return frozenset(_stem(w) for w in _WORDS.findall(text) if w not in _EMPTY)


async def expand(
    model: ChatModel, skills: Sequence[Skill], apps: Sequence[str], count: int, *, round: int, subject: str
) -> Expansion:
    """Have skills proposed where coverage is thin.

    Args:
        model: who proposes, and is asked in doubt.
        skills: all that are known, candidates too.
        apps: applications that have preparers; only these are proposed for.
        count: how many are wanted at most.
        round: the round that adds them.
        subject: for the ledger.

    Raises:
        ModelError: the endpoint failed, or its answers are no use.
    """
    cells = [c for c in coverage(skills) if c.app in apps][:60]
    known = Known(skills)
    authored = sorted(s.id for s in skills if s.state is SkillState.AUTHORED)
    question = PROMPTS.render(
        "expand", count=count, apps=apps, cells=cells, authored=authored, preparers=listing("preparers"),
        checks=listing("checks"),
    )  # fmt: skip
    answer = await model.typed(
        question.messages, Proposals, purpose="author", recurring=False, subject=subject, prompt=question.version
    )
    added: list[Skill] = []
    refused: list[tuple[str, str]] = []
    for proposal in answer.skills:
        if len(added) == count:
            refused.append((proposal.id, f"more than the {count} that were asked for"))
            continue
        why = _wrong(proposal, apps, known)
        skill = None if why else _skill(proposal, round)
        if skill is not None:
            why = await _twin(model, skill, known, subject)
        if why or skill is None:
            refused.append((proposal.id, why))
        else:
            known.add(skill)
            added.append(skill)
    return Expansion(tuple(added), tuple(refused))


def _wrong(proposal: Proposal, apps: Sequence[str], known: Known) -> str:
    strangers = sorted({*proposal.apps, proposal.id.split(".")[0]} - set(apps))
    if strangers:
        return f"there are no preparers for {', '.join(strangers)}"
    if proposal.id in known:
        return "there is a skill of this id"
    try:
        _skill(proposal, 0)
    except ValidationError as error:
        return f"no skill: {error.errors()[0]['msg']}"
    return ""


async def _twin(model: ChatModel, skill: Skill, known: Known, subject: str) -> str:
    """Why it is no new ability; empty when it is one."""
    near = known.nearest(skill)
    if near is None or near[0] < DOUBTFUL:
        return ""
    similarity, other = near
    if similarity < SAME:
        question = PROMPTS.render("same_skill", one=skill, other=other)
        said = await model.typed(
            question.messages, Sameness, purpose="judge", recurring=False, subject=subject, prompt=question.version
        )
        if not said.same:
            return ""
    return f"the same ability as {other.id}"


def _skill(proposal: Proposal, round: int) -> Skill:
    return Skill(
        id=proposal.id, apps=tuple(proposal.apps), title=proposal.title, description=proposal.description,
        affinity=proposal.affinity, parameters={p.name: f"{p.type}: {', '.join(p.values)}" for p in proposal.parameters},
        origin="expand", round=round, state=SkillState.CANDIDATE,
    )  # fmt: skip


def _stem(word: str) -> str:
    """A word without the commonest English endings, so that `rows` and `row` meet."""
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _sketch(words: frozenset[str]) -> Any:
    from datasketch import MinHash

    sketch = MinHash(num_perm=PERMUTATIONS)
    for word in sorted(words):
        sketch.update(word.encode())
    return sketch
