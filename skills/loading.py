"""Finding and loading workflows. The library has one folder a skill, named by its id, with `workflow.yaml` in it."""

from __future__ import annotations

from pathlib import Path

from forge.records import InputError
from skills.language.located import nearest
from skills.language.reader import read_workflow
from skills.workflow import Workflow

FOLDER = Path(__file__).parent / "library"


def library() -> list[Path]:
    """The library's workflow files, sorted by skill id."""
    return sorted(FOLDER.glob("*/workflow.yaml"))


def load(where: str | Path) -> Workflow:
    """Read and check a workflow.

    Args:
        where: a workflow file, a folder that holds `workflow.yaml`, or the id of a skill of the library.

    Raises:
        WorkflowError: everything that is wrong with it, with file and line.
        InputError: there is no such file or skill.
    """
    path = Path(where)
    if path.is_dir():
        path = path / "workflow.yaml"
    if path.is_file():
        return read_workflow(path)
    if (FOLDER / str(where) / "workflow.yaml").is_file():
        return read_workflow(FOLDER / str(where) / "workflow.yaml")
    if path.suffix in (".yaml", ".yml") or "/" in str(where):
        raise InputError("there is no such file", file=path, mend="give a workflow file, its folder, or a skill id")
    known = [each.parent.name for each in library()]
    raise InputError(f"there is no skill {str(where)!r}", mend=nearest(str(where), known))
