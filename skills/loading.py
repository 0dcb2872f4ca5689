"""Finding and loading workflows. A library has one folder a skill, named by its id, with `workflow.yaml` in it.

There are two: the one that comes with Forge, and FORGE_HOME/library, where authored workflows are promoted; there a skill
takes the place of one of the same id.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from pathlib import Path

from forge.records import InputError, Settings
from skills.language.located import nearest
from skills.language.reader import read_workflow
from skills.workflow import Workflow

FOLDER = Path(__file__).parent / "library"


def own_folder() -> Path:
    """The library of the machine's own workflows: FORGE_HOME/library. It need not exist."""
    return Settings().home / "library"


def library() -> list[Path]:
    """The workflow files of both libraries, sorted by skill id."""
    found = {path.parent.name: path for folder in (FOLDER, own_folder()) for path in folder.glob("[!.]*/workflow.yaml")}
    return [found[name] for name in sorted(found)]


def require_known(patterns: Sequence[str]) -> None:
    """Find each shell pattern's skill in a library, without loading any workflow.

    Raises:
        InputError: a pattern matches none; the mend names near ids, and says where one's own workflows belong.
    """
    known = [path.parent.name for path in library()]
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            near = difflib.get_close_matches(pattern, known, n=3, cutoff=0.5)
            guess = f"did you mean {' or '.join(near)}? " if near else ""
            raise InputError(
                f"no skill matches {pattern!r}",
                mend=f"{guess}`forge skills list` lists them; the folder of one of your own, named by its id, belongs "
                f"into {own_folder()}",
            )


def workflows_in(where: str | Path) -> list[str | Path]:
    """What `load` takes: the workflow files of a folder that holds skills' folders, sorted by name; else `where` itself."""
    folder = Path(where)
    if (folder / "workflow.yaml").exists():
        return [where]
    return [*sorted(folder.glob("[!.]*/workflow.yaml"))] or [where]


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
    known = {each.parent.name: each for each in library()}
    if str(where) in known:
        return read_workflow(known[str(where)])
    if path.suffix in (".yaml", ".yml") or "/" in str(where):
        raise InputError("there is no such file", file=path, mend="give a workflow file, its folder, or a skill id")
    raise InputError(f"there is no skill {str(where)!r}", mend=nearest(str(where), known))
