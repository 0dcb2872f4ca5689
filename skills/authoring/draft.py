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
from skills.loading import load
from skills.workflow import Workflow

MAX_BYTES = 200_000
"""All files of a draft together."""

_NAME = re.compile(r"(workflow|wording)\.yaml|[a-z][a-z0-9_]*\.py|banks/[a-z][a-z0-9-]*\.yaml")
_PLACEHOLDER = '[{must: files.exists, path: "~/placeholder", says: "%s"}]'


class CriterionText(BaseModel):
    """One criterion as the rubric's writer states it; `args` is a JSON object, its texts may hold ${...}."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(pattern="^(must|must_not)$", description="must earns points, must_not is damage that spoils all")
    check: str = Field(description="a check of the catalogue")
    args: str = Field(description='its arguments as a JSON object, e.g. {"file": "${book.path}"}')
    says: str = Field("", description="of a must: the name of the span of the instruction that it grades")
    weight: float = Field(1.0, gt=0, le=100)

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
        return {self.kind: self.check, **says, **weight, "with": args}


@dataclass
class Draft:
    """The files of one workflow by name, and its rubric once there is one.

    Attributes:
        skill: what is authored; the workflow must be for this id.
        files: `workflow.yaml` (without `rubric`), `wording.yaml`, scripts, own banks.
        rubric: the criteria.
        basis: hash of what the rubric was written from; see `needs_rubric`.
    """

    skill: Skill
    files: dict[str, str] = field(default_factory=dict)
    rubric: tuple[CriterionText, ...] = ()
    basis: str = ""

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
        """Whether what a rubric is written from (all but solutions) has changed since it was, or there is none."""
        return not self.rubric or self.basis != self.current_basis()

    def current_basis(self) -> str:
        """Hash of everything that a rubric depends on: the solutions and their scripts are no part of it."""
        with tempfile.TemporaryDirectory(prefix="draft-") as folder:
            root = load_located(self.lay(Path(folder), graded=False)).plain()
        return digest(
            [{k: v for k, v in root.items() if k not in ("solution", "rubric")}, self.files.get("wording.yaml")]
        )

    def to_json(self) -> dict[str, Any]:
        """For keeping; `from_json` reads it back."""
        return {"files": self.files, "rubric": [c.model_dump() for c in self.rubric], "basis": self.basis}

    @classmethod
    def from_json(cls, skill: Skill, value: dict[str, Any]) -> Draft:
        """The draft that `to_json` kept."""
        rubric = tuple(CriterionText.model_validate(c) for c in value["rubric"])
        return cls(skill, dict(value["files"]), rubric, value["basis"])

    def _criteria(self, root: dict[str, Any], graded: bool) -> str:
        if graded:
            if not self.rubric:
                raise InputError("there is no rubric yet")
            return "\n" + "\n".join(f"  - {json.dumps(c.mapping(), ensure_ascii=False)}" for c in self.rubric)
        instruction = root["instruction"].value if "instruction" in root else {}
        says = instruction.get("says") if isinstance(instruction, dict) else None
        spans = list(says.value) if says is not None and isinstance(says.value, dict) else ["..."]
        return _PLACEHOLDER % (spans[0] if spans else "...")


def _shown(error: InputError, folder: str) -> str:
    where = f"{(error.file or '').replace(folder, '').lstrip('/')}:{error.line}: " if error.file else ""
    return f"{where}{error.message.replace(folder + '/', '')}{'; ' + error.mend if error.mend else ''}"
