"""The taxonomy: which abilities there are, by application and area; authored ones have a workflow, candidates do not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forge.records import Settings, Skill, SkillState
from skills.language.located import Located, load_located
from skills.language.problems import Problems
from skills.loading import library, load

FILE = Path(__file__).with_name("taxonomy.yaml")


@dataclass(frozen=True)
class Area:
    """A part of an application: `calc.formula`."""

    app: str
    name: str
    about: str

    @property
    def id(self) -> str:
        """`app.area`."""
        return f"{self.app}.{self.name}"


@dataclass(frozen=True)
class Taxonomy:
    """Areas, and the skills that are wanted but not authored."""

    areas: tuple[Area, ...]
    candidates: tuple[Skill, ...]


@lru_cache(maxsize=1)
def taxonomy() -> Taxonomy:
    """The committed taxonomy. Raises WorkflowError with file and line when it is broken."""
    return read_taxonomy(FILE)


def read_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy file. Raises WorkflowError with file and line."""
    problems = Problems()
    areas: list[Area] = []
    candidates: list[Skill] = []
    for app, parts in load_located(path).mapping("a taxonomy").items():
        with problems.noting():
            for name, area in parts.mapping(f"the areas of {app}").items():
                with problems.noting():
                    if "about" not in area.mapping("an area"):
                        raise area.error(f"{app}.{name} lacks `about`", "say in a sentence what belongs there")
                    areas.append(Area(app, name, area.value["about"].text("about")))
                    candidates += _candidates(app, name, area, problems)
    problems.raise_any()
    return Taxonomy(tuple(areas), tuple(candidates))


def harvest_file() -> Path:
    """Where `forge skills harvest` writes: FORGE_HOME/taxonomy/harvest.csv. It need not exist."""
    return Settings().home / "taxonomy" / "harvest.csv"


def candidates() -> list[Skill]:
    """All candidates: the committed taxonomy's, and those of the harvest that are not among them."""
    from skills.harvest import read, skill_of

    path = harvest_file()
    harvested = [skill_of(row) for row in read(path)] if path.is_file() else []
    known = {skill.id for skill in taxonomy().candidates}
    return [*taxonomy().candidates, *(skill for skill in harvested if skill.id not in known)]


def all_skills() -> list[Skill]:
    """All skills, authored ones first, each group sorted by id."""
    authored = [load(path).skill for path in library()]
    known = {skill.id for skill in authored}
    wanted = [skill for skill in candidates() if skill.id not in known]
    return [*sorted(authored, key=lambda s: s.id), *sorted(wanted, key=lambda s: s.id)]


def listing(*, candidates: bool = False) -> list[dict[str, Any]]:
    """One object a skill, ready for JSON.

    Args:
        candidates: list the skills without a workflow too.

    Returns:
        Objects with id, apps, area, title, description, affinity, state, parameters, and of the workflow: channels,
        version, path, skeletons and remarks (null or empty for candidates).
    """
    rows = []
    for path in library():
        workflow = load(path)
        rows.append(
            {
                **_row(workflow.skill),
                "channels": list(workflow.channels),
                "workflow": workflow.version,
                "path": str(workflow.path),
                "skeletons": len(workflow.wording.skeletons),
                "remarks": list(workflow.remarks),
            }
        )
    if candidates:
        known = {row["id"] for row in rows}
        nothing: dict[str, Any] = {"channels": [], "workflow": None, "path": None, "skeletons": 0, "remarks": []}
        rows += [{**_row(skill), **nothing} for skill in all_skills() if skill.id not in known]
    return rows


def _row(skill: Skill) -> dict[str, Any]:
    whole = skill.to_json()
    area = ".".join(skill.id.split(".")[:2])
    return {
        "area": area,
        **{k: whole[k] for k in ("id", "apps", "title", "description", "affinity", "state", "parameters")},
    }


def _candidates(app: str, area: str, value: Located, problems: Problems) -> list[Skill]:
    found = []
    fields = value.value
    for key in fields:
        if key not in ("about", "candidates"):
            problems.add(value.key_place(key), f"an area has no {key!r}", "it has about and candidates")
    for name, title in fields["candidates"].mapping("candidates").items() if "candidates" in fields else ():
        try:
            text = title.text("a title")
            found.append(Skill(id=f"{app}.{area}.{name}", apps=(app,), title=text, state=SkillState.CANDIDATE))
        except ValidationError:
            problems.add(title.place, f"{app}.{area}.{name!r} is no skill id", "a name reads verb-object")
    return found
