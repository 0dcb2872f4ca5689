"""Starting points: a small, commented workflow for an application that validates and draws as it is."""

from __future__ import annotations

import re
from pathlib import Path

from forge.desktop.apps import APPS
from forge.records import InputError
from forge.records.skill import SKILL_ID
from skills.language.located import nearest

FOLDER = Path(__file__).with_name("starters")

_LIKE = "files"
"""The starting point of applications that have none of their own, with the app's name put in."""

_SHOWS = '{app: APP, open: "${tree.root}"}'
_OPENS = '{app: APP}                        # with a document of its own that is made above: open: "${book.path}"'
"""What is open when the agent begins, in an application that shows folders and in one that does not."""


def new(skill_id: str, folder: Path) -> Path:
    """Write a starting point for a skill.

    Args:
        skill_id: app.area.verb-object; the app chooses the starting point. Where it has none of its own, one that works on
            files is taken, with the app open.
        folder: where to; the files go into a folder of it that is named by the id.

    Returns:
        The path of `workflow.yaml`.

    Raises:
        InputError: no skill id, no such app, or there is one of that name already.
    """
    if not re.match(SKILL_ID, skill_id):
        raise InputError(
            f"{skill_id!r} is no skill id", mend="it reads app.area.verb-object: calc.format.mark-negatives"
        )
    app = skill_id.split(".")[0]
    known = {path.name.split(".")[0]: path for path in FOLDER.iterdir()}
    if app not in APPS:
        raise InputError(f"there is no starting point for the app {app!r}", mend=nearest(app, APPS))
    source = known.get(app, known[_LIKE])
    start = _SHOWS if app in ("files", "terminal") else _OPENS
    target = Path(folder) / skill_id
    if target.exists():
        raise InputError("is there already", file=target, mend="choose another id or folder")
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.is_file():
            text = path.read_text("utf-8").replace(_SHOWS, start)
            text = text.replace("SKILL-ID", skill_id).replace("[APP]", f"[{app}]")
            (target / path.name).write_text(re.sub(r"\bAPP\b", app, text), "utf-8")
    return target / "workflow.yaml"
