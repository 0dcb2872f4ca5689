"""Gates: properties that a task must have before anything is run on it. Pure; nothing is stored here.

`GATES` holds those that look at one task alone; `determinism` compares two draws, `NearDuplicates` a task with all before
it. What they cannot see: whether an instruction is understood (a model reads it for that), and whether two instructions
in other words mean the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forge.records import JSON, InputError, Role, Settings, Task, canonical_json
from forge.records.guest import USER
from preparers.base import PreparedFile
from verifiers.base import CHECKS
from verifiers.literals import Facts, task_literals
from verifiers.prose import slips

if TYPE_CHECKING:
    from datasketch import MinHash, MinHashLSH

SHIPPED = Path(__file__).parent / "benchmarks"
"""Instructions that no task may be like; see the README there."""

LEAKAGE_THRESHOLD = 0.6
"""Share of a benchmark instruction's word 4-grams (or of the task's, if those are fewer) that may not be reached."""

DUPLICATE_THRESHOLD = 0.85
"""Jaccard similarity of two tasks' features at which the later one is a near-duplicate."""

PERMUTATIONS = 128

SHORT_LIST = 8
"""A list of the resolved object with more items is data (a table, a mailbox), not a choice that tells tasks apart."""


@dataclass(frozen=True)
class GateResult:
    """Whether a task has a property, and what was seen."""

    passed: bool
    evidence: str


def spans(task: Task) -> GateResult:
    """Every span that a criterion says it grades occurs in the instruction, word for word."""
    instruction = _one_space(task.instruction)
    said = [(c.id, c.says) for c in task.rubric.criteria if c.says]
    lost = [f"{name}: {says!r}" for name, says in said if _one_space(says) not in instruction]
    if lost:
        return GateResult(False, f"not in the instruction: {'; '.join(lost)}")
    return GateResult(True, f"{len(said)} spans are in the instruction")


def facts(task: Task) -> GateResult:
    """Every literal of instruction, start, solutions and rubric comes from the resolved object."""
    guest = task.guest
    more = (guest.clock, guest.timezone, USER, *(artifact.path for artifact in task.artifacts))
    known = Facts(task.resolved, guest.locale, more)
    found = task_literals(task)
    wrong = [one for one in found if not known.holds(one)]
    if not wrong:
        return GateResult(True, f"{len(found)} literals come from the resolved object")
    named = []
    for one in wrong[:5]:
        near = known.nearest(one)
        named.append(f"{one.place}: the {one.kind} {one.text!r}" + (f" (near it is {near!r})" if near else ""))
    more_text = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    return GateResult(False, f"not from the resolved object: {'; '.join(named)}{more_text}")


def rubric(task: Task) -> GateResult:
    """Every must says what it grades, what edits files forbids damage, every check can be spoiled, and none stands twice."""
    wrong = []
    criteria = task.rubric.criteria
    gold = any(artifact.role == Role.GOLD for artifact in task.artifacts)
    seen: dict[str, str] = {}
    for criterion in criteria:
        if criterion.kind == "must" and not criterion.says.strip():
            wrong.append(f"{criterion.id} does not say which words of the instruction it grades")
        if criterion.kind == "judge":
            continue
        try:
            check = CHECKS.get(criterion.check)
            check.validate(criterion.args)
        except InputError as error:
            wrong.append(f"{criterion.id}: {error.message}")
            continue
        if check.mutants is None:
            wrong.append(f"{criterion.id}: nobody knows how to spoil {check.name}")
        if not gold and _wants_gold(criterion.args):
            wrong.append(f"{criterion.id} compares with gold artifacts, and there are none")
        first = seen.setdefault(f"{criterion.check} {canonical_json(criterion.args)}", criterion.id)
        if first != criterion.id:
            wrong.append(f"{criterion.id} is the same check of the same thing as {first}")
    edits = any(c.kind == "must" and not c.check.startswith("answer.") for c in criteria)
    if edits and not any(c.kind == "must_not" for c in criteria):
        wrong.append("files are edited and there is no must_not against damage elsewhere")
    if wrong:
        return GateResult(False, "; ".join(wrong))
    return GateResult(True, f"{len(criteria)} criteria, each with its words and a way to spoil it")


def wording(task: Task) -> GateResult:
    """The instruction reads as a person writes: no doubled marks or spaces, no quote left open, no slot unfilled."""
    wrong = slips(task.instruction)
    if not wrong:
        return GateResult(True, "no slips")
    drawn = task.resolved.get("wording")
    skeleton = drawn.get("skeleton") if isinstance(drawn, dict) else None
    return GateResult(False, "; ".join(wrong[:5]) + (f"; the skeleton is {skeleton!r}" if skeleton else ""))


def leakage(task: Task, benchmarks: Benchmarks | None = None) -> GateResult:
    """The instruction is unlike every instruction of the listed benchmarks."""
    benchmarks = benchmarks or _default_benchmarks(str(Settings().home))
    share, near = benchmarks.nearest(task.instruction)
    evidence = f"nearest of {len(benchmarks.instructions)} benchmark instructions ({share:.0%}): {near[:200]!r}"
    return GateResult(share < LEAKAGE_THRESHOLD, evidence)


GATES: dict[str, Callable[[Task], GateResult]] = {
    "spans": spans, "facts": facts, "rubric": rubric, "leakage": leakage, "wording": wording,
}  # fmt: skip
"""The gates that need nothing but the task, by name; the first line of each one's docstring says what it expects."""

COMPARING = ("determinism", "near-duplicate")
"""The gates that compare: two draws of one task, and a task with all before it. `rounds.materialize` runs them."""


def determinism(first: Sequence[PreparedFile], second: Sequence[PreparedFile]) -> GateResult:
    """The same draw makes the same files, byte for byte."""
    one, two = ({file.path: file for file in files} for files in (first, second))
    differing = sorted(path for path in one.keys() | two.keys() if one.get(path) != two.get(path))
    if differing:
        return GateResult(False, f"differ between two draws: {', '.join(differing[:5])}")
    return GateResult(True, f"{len(one)} files, twice the same bytes")


class Benchmarks:
    """Instructions of benchmarks, searched by word 4-grams.

    Args:
        instructions: one a benchmark task.
    """

    def __init__(self, instructions: Iterable[str]):
        self.instructions = tuple(instructions)
        self._grams = [_grams(text, 4) for text in self.instructions]
        self._where: dict[str, set[int]] = {}
        for index, grams in enumerate(self._grams):
            for gram in grams:
                self._where.setdefault(gram, set()).add(index)

    @classmethod
    def load(cls, *folders: Path) -> Benchmarks:
        """Read all `.txt` files of some folders: one instruction a line, `#` begins a comment line.

        Raises:
            InputError: a file is no UTF-8 text.
        """
        lines: list[str] = []
        for folder in folders:
            for path in sorted(folder.glob("*.txt")):
                try:
                    text = path.read_text("utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(f"no UTF-8 text: {error}", file=path) from None
                lines += [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        return cls(dict.fromkeys(lines))

    def nearest(self, instruction: str) -> tuple[float, str]:
        """(share of common 4-grams, the instruction that has it); (0, "") when none has anything in common."""
        grams = _grams(instruction, 4)
        candidates = {index for gram in grams for index in self._where.get(gram, ())}
        shares = [(len(grams & self._grams[i]) / max(1, min(len(grams), len(self._grams[i]))), -i) for i in candidates]
        if not shares:
            return 0.0, ""
        share, index = max(shares)
        return share, self.instructions[-index]


class NearDuplicates:
    """Tasks seen so far, to find those that are nearly the same again.

    Two tasks are compared by what their instruction says (word 3-grams), by what their rubric grades, and by the choices of
    their resolved object; not by bulk data, so that the same request about other numbers is a duplicate. The search is
    MinHash with locality-sensitive hashing, the decision exact. The same tasks in the same order give the same answers.
    """

    def __init__(self, threshold: float = DUPLICATE_THRESHOLD):
        from datasketch import MinHashLSH

        self._threshold = threshold
        # A candidate's estimate scatters by about 0.04: search a little lower, then decide exactly.
        self._index: MinHashLSH = MinHashLSH(threshold=max(0.1, threshold - 0.1), num_perm=PERMUTATIONS)
        self._seen: dict[str, tuple[int, frozenset[str]]] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, task: Task) -> str | None:
        """The id of an earlier task that this one nearly repeats; else None, and it is remembered.

        A task that was added before is no duplicate of itself.
        """
        name = task.id
        if name in self._seen:
            return None
        features = task_features(task)
        sketch = _sketch(features)
        near: list[tuple[float, int, str]] = []
        for known in self._index.query(sketch):
            place, other = self._seen[known]
            similarity = len(features & other) / len(features | other)
            if similarity >= self._threshold:
                near.append((-similarity, place, known))
        if near:
            return min(near)[2]
        self._index.insert(name, sketch)
        self._seen[name] = (len(self._seen), features)
        return None


def task_features(task: Task) -> frozenset[str]:
    """What a task is compared by: word 3-grams of its instruction, and its choices as `path=value`."""
    found = _grams(task.instruction, 3)
    for criterion in task.rubric.criteria:
        found |= {f"{criterion.check} {choice}" for choice in _choices(criterion.args, "")}
    resolved = {key: value for key, value in task.resolved.items() if key not in ("wording", "guest", "@banks")}
    return frozenset(found | set(_choices(resolved, "")))


def _wants_gold(args: dict[str, JSON]) -> bool:
    return args.get("gold") is not None or "gold" in (args.get("side"), args.get("against"))


def _choices(value: JSON, path: str, depth: int = 0) -> Iterator[str]:
    """The leaves of small values; long lists and deep structures are data."""
    if isinstance(value, dict):
        if depth < 3:
            for key, item in value.items():
                yield from _choices(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        if len(value) <= SHORT_LIST and depth < 3:
            for item in value:
                yield from _choices(item, f"{path}[]", depth + 1)
    elif not (isinstance(value, str) and len(value) > 200):
        yield f"{path}={canonical_json(value)}"


def _sketch(features: frozenset[str]) -> MinHash:
    from datasketch import MinHash

    sketch = MinHash(num_perm=PERMUTATIONS, seed=1)
    sketch.update_batch([feature.encode() for feature in sorted(features)])
    return sketch


def _grams(text: str, length: int) -> set[str]:
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    if len(words) < length:
        return {" ".join(words)} if words else set()
    return {" ".join(words[i : i + length]) for i in range(len(words) - length + 1)}


def _one_space(text: str) -> str:
    return " ".join(text.split())


@cache
def _default_benchmarks(home: str) -> Benchmarks:
    return Benchmarks.load(SHIPPED, Path(home) / "benchmarks")
