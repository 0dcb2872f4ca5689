"""Starting points: a small, commented workflow for an application that validates and draws as it is."""

from __future__ import annotations

import re
from pathlib import Path

from forge.records import InputError
from forge.records.skill import SKILL_ID
from skills.language.located import nearest

FOLDER = Path(__file__).with_name("starters")

_LIKE = {"terminal": "files"}
"""Applications whose starting point is another one's, with the app's name put in."""


def new(skill_id: str, folder: Path) -> Path:
    """Write a starting point for a skill.

    Args:
        skill_id: app.area.verb-object; the app chooses the starting point.
        folder: where to; the files go into a folder of it that is named by the id.

    Returns:
        The path of `workflow.yaml`.

    Raises:
        InputError: no skill id, no starting point for that app, or there is one of that name already.
    """
    if not re.match(SKILL_ID, skill_id):
        raise InputError(
            f"{skill_id!r} is no skill id", mend="it reads app.area.verb-object: calc.format.mark-negatives"
        )
    app = skill_id.split(".")[0]
    known = {path.name.split(".")[0]: path for path in FOLDER.iterdir()}
    if _LIKE.get(app, app) not in known:
        raise InputError(f"there is no starting point for the app {app!r}", mend=nearest(app, [*known, *_LIKE]))
    source = known[_LIKE.get(app, app)]
    target = Path(folder) / skill_id
    if target.exists():
        raise InputError("is there already", file=target, mend="choose another id or folder")
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.is_file():
            text = path.read_text("utf-8").replace("SKILL-ID", skill_id).replace("[APP]", f"[{app}]")
            (target / path.name).write_text(re.sub(r"\bAPP\b", app, text), "utf-8")
    return target / "workflow.yaml"
