"""An author, a rubric's writer and blind readers that are a recording: what they say follows from the question alone.

They author a workflow of the library again, from its own files: the rubric is taken out of them and written by the rubric's
writer. For tests and benches that need a whole authoring run over a real endpoint.
"""

from __future__ import annotations

import json
from typing import Any

import skills
from skills.language.located import load_located
from tests.endpoint import Called

SKILL = "files.archive.unpack-chosen-members"
"""Small, and done in a terminal: the run waits for boxes and one episode, not for windows."""


class Recording:
    """Answers the requests of one authoring run; see `tests.endpoint.Answer`.

    Args:
        skill: a workflow of the library.
        tries: draws that the author tries before it submits.
    """

    def __init__(self, skill: str = SKILL, tries: int = 2):
        source = dict(skills.load(skill).source)
        root = load_located(skills.load(skill).path).plain()
        source["workflow.yaml"] = source["workflow.yaml"].partition("\nrubric:")[0] + "\n"
        files = [{"name": name, "text": text} for name, text in source.items()]
        self.skill = skill
        self.criteria = [_criterion(each) for each in root["rubric"]]
        self.turns: list[Called] = [
            [("list", {"kind": "checks"}), ("describe", {"kind": "preparers", "names": ["files.tree"]})],
            [("write", {"files": files})],
            [("draw", {"count": 2}), ("try", {"count": tries})],
            [("lesson", {"text": "Archives are packed by the preparer, so that their members are known."})],
            [("submit", {})],
        ]

    def __call__(self, body: dict[str, Any]) -> str | Called:
        """The answer to a request: by the schema that it asks for, or else by how far the author is."""
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        if form is not None:
            return json.dumps(self.typed(form))
        done = sum(bool(message.get("tool_calls")) for message in body["messages"])
        return self.turns[min(done, len(self.turns) - 1)]

    def typed(self, form: str) -> dict[str, Any]:
        """What a reader or the rubric's writer says."""
        return {
            "RubricText": {"criteria": self.criteria, "missing": ""},
            "Reading": {"must": ["The members lie in the new folder."], "stays": [], "unclear": ""},
            "Reconstruction": {"instruction": "Unpack these members into the folder."},
            "Comparison": {"ungraded": [], "unasked": [], "ambiguous": []},
        }[form]


def _criterion(entry: dict[str, Any]) -> dict[str, Any]:
    """A criterion of a workflow as the rubric's writer would state it."""
    kind = next(key for key in ("must", "must_not") if key in entry)
    rest = {key: value for key, value in entry.items() if key not in (kind, "says", "weight", "with")}
    found = {"kind": kind, "check": entry[kind], "args": json.dumps({**rest, **entry.get("with", {})})}
    return {**found, "says": entry.get("says", ""), "weight": entry.get("weight", 1.0)}
