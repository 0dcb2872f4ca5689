"""A workflow being written: the author's files, and the rubric that somebody else wrote."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from forge.records import JSON, InputError, Skill, digest
from skills.language.located import load_located
from skills.language.problems import WorkflowError
from skills.language.wording import compile_names
from skills.loading import load
from skills.workflow import Workflow

MAX_BYTES = 200_000
"""All files of a draft together."""

_NAME = re.compile(r"(workflow|wording)\.yaml|[a-z][a-z0-9_]*\.py|banks/[a-z][a-z0-9-]*\.yaml")
_PLACEHOLDER = '[{must: files.exists, path: "~/placeholder", says: "%s"}]'


class CriterionText(BaseModel):
    """One criterion as the rubric's writer states it; `args` is a JSON object, its texts may hold ${...}."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    kind: str = Field(pattern="^(must|must_not)$", description="must earns points, must_not is damage that spoils all")
    check: str = Field(description="a check of the catalogue")
    args: str = Field(description='its arguments as a JSON object, e.g. {"file": "${book.path}"}')
    says: str = Field("", description="of a must: the name of the span of the instruction that it grades")
    weight: float = Field(1.0, gt=0, le=100)
    each: str = Field(
        "", description="a list as ${...}: one such criterion for each of its items; empty for a single one"
    )
    item: str = Field(
        "item", alias="as", pattern="^[A-Za-z][A-Za-z0-9_]*$", description="what an item of `each` is called"
    )
    when: str = Field(
        "", description="a condition as ${...}: only draws of which it holds have it; it may read the item"
    )

    def mapping(self) -> dict[str, JSON]:
        """As it stands in a workflow. Raises InputError when `args` is no JSON object."""
        try:
            args = json.loads(self.args or "{}")
        except ValueError as error:
            raise InputError(f"the arguments of {self.check} are no JSON: {error}") from None
        if not isinstance(args, dict):
            raise InputError(f"the arguments of {self.check} must be a JSON object, not {type(args).__name__}")
        says: dict[str, JSON] = {"says": self.says} if self.says else {}
        weight: dict[str, JSON] = {"weight": self.weight} if self.weight != 1.0 else {}
        found: dict[str, JSON] = {self.kind: self.check, **says, **weight, "with": args}
        if self.when:
            found = {"when": self.when, "do": [found]}
        return {"each": self.each, "as": self.item, "do": [found]} if self.each else found


@dataclass
class Draft:
    """The files of one workflow by name, and its rubric once there is one.

    Attributes:
        skill: what is authored; the workflow must be for this id.
        files: `workflow.yaml` (without `rubric`), `wording.yaml`, scripts, own banks.
        rubric: the criteria.
        basis: hash of what the rubric depends on, as it was when it was written; see `needs_rubric`.
        missing: what the rubric's writer found that the task needs a check for and the rubric cannot state.
        notes: what the author has said about its rubrics so far; every later writer is told all of it.
    """

    skill: Skill
    files: dict[str, str] = field(default_factory=dict)
    rubric: tuple[CriterionText, ...] = ()
    basis: str = ""
    missing: str = ""
    notes: list[str] = field(default_factory=list)

    def write(self, files: dict[str, str]) -> None:
        """Put files in, over older ones; an empty text removes a file. Raises InputError, and then nothing is changed."""
        for name in files:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"a workflow has no file {name!r}", mend="it has workflow.yaml, wording.yaml, x.py, banks/x.yaml"
                )
        new = {name: text for name, text in {**self.files, **files}.items() if text}
        if sum(len(text.encode()) for text in new.values()) > MAX_BYTES:
            raise InputError(f"a workflow's files have at most {MAX_BYTES} bytes together")
        self.files = new

    def load(self, *, graded: bool) -> Workflow:
        """Read and check the draft.

        Args:
            graded: with its rubric; otherwise with one that grades nothing, for a look at its draws.

        Raises:
            InputError: what is wrong, each fault with its file and line.
        """
        with tempfile.TemporaryDirectory(prefix="draft-") as folder:
            path = self.lay(Path(folder), graded=graded)
            try:
                workflow = load(path)
            except WorkflowError as error:
                raise InputError("\n".join(_shown(p, folder) for p in error.problems)) from None
            except InputError as error:
                raise InputError(_shown(error, folder)) from None
        if workflow.skill.id != self.skill.id:
            raise InputError(f"workflow.yaml is for {workflow.skill.id}", mend=f"write skill: {self.skill.id}")
        return workflow

    def lay(self, folder: Path, *, graded: bool) -> Path:
        """Write the files into a folder; the path of `workflow.yaml`. Raises InputError when that one is missing or odd."""
        text = self.files.get("workflow.yaml", "")
        if not text:
            raise InputError("there is no workflow.yaml yet", mend="write it with `write`")
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, "utf-8")
        path = folder / "workflow.yaml"
        try:
            root = load_located(path).mapping("a workflow")
        except InputError as error:
            raise InputError(_shown(error, str(folder))) from None
        if "rubric" in root:
            raise InputError("workflow.yaml has a `rubric`", mend="leave it out: the rubric's writer adds it")
        path.write_text(f"{text.rstrip()}\n\nrubric: {self._criteria(root, graded)}\n", "utf-8")
        return path

    def needs_rubric(self) -> bool:
        """Whether a rubric has to be written: there is none, it does not load, or what it depends on has changed."""
        if not self.rubric:
            return True
        try:
            return self.basis != self.current_basis()
        except InputError:
            return True

    def current_basis(self) -> str:
        """Hash of what the criteria depend on: spans, applications, start, and the names they read with all behind those.

        Wording, conditions, solutions, scripts, other values of a parameter and names that no criterion reads are no part
        of it: they change as a workflow is mended, and a rubric says the same of them.

        Raises:
            InputError: the draft does not load with its rubric.
        """
        workflow = self.load(graded=True)
        with tempfile.TemporaryDirectory(prefix="draft-") as folder:
            root = load_located(self.lay(Path(folder), graded=False)).plain()
        spans = {
            name: sorted(frozenset[str]().union(*map(compile_names, lines)))
            for name, lines in workflow.wording.spans.items()
        }
        read, pending = set[str](), set(workflow.rubric.names)
        while pending:
            name = pending.pop()
            if name in workflow.steps and name not in read:
                read.add(name)
                pending |= workflow.steps[name].names
        params, nodes = root.get("params", {}), root.get("nodes", {})
        behind = {name: nodes[name] if name in nodes else _kind(params[name]) for name in sorted(read)}
        return digest([spans, root["apps"], root.get("start"), behind])

    def to_json(self) -> dict[str, Any]:
        """For keeping; `from_json` reads it back."""
        rubric = [c.model_dump(by_alias=True) for c in self.rubric]
        said = {"basis": self.basis, "missing": self.missing, "notes": self.notes}
        return {"files": self.files, "rubric": rubric, **said}

    @classmethod
    def from_json(cls, skill: Skill, value: dict[str, Any]) -> Draft:
        """The draft that `to_json` kept."""
        rubric = tuple(CriterionText.model_validate(c) for c in value["rubric"])
        notes = list(value.get("notes", []))
        return cls(skill, dict(value["files"]), rubric, value["basis"], value.get("missing", ""), notes)

    def _criteria(self, root: dict[str, Any], graded: bool) -> str:
        if graded:
            if not self.rubric:
                raise InputError("there is no rubric yet")
            return "\n" + "\n".join(f"  - {json.dumps(c.mapping(), ensure_ascii=False)}" for c in self.rubric)
        instruction = root["instruction"].value if "instruction" in root else {}
        says = instruction.get("says") if isinstance(instruction, dict) else None
        spans = list(says.value) if says is not None and isinstance(says.value, dict) else ["..."]
        return _PLACEHOLDER % (spans[0] if spans else "...")


def _kind(spec: Any) -> Any:
    """What a parameter is, without the values that it is drawn from; all of it where these are read from elsewhere."""
    return spec if "${" in json.dumps(spec) else sorted(spec)


def _shown(error: InputError, folder: str) -> str:
    return f"{error.message.replace(folder + '/', '')}{'; ' + error.mend if error.mend else ''}"
