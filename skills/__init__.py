"""Skills: the taxonomy, the workflow language and the engine that draws tasks from workflows.

    workflow = skills.load("calc.formula.total-below-column")
    draw = skills.draw(workflow, seed=7, kitchen=skills.Kitchen(office=office))
    draw.task.instruction, draw.task.rubric, draw.files

A draw needs no model and no network: values come from committed banks. See docs/workflow-language.md.
"""

from skills.changing import neighbours
from skills.drawing import Draw, draw
from skills.kitchen import Kitchen
from skills.language.problems import WorkflowError
from skills.loading import library, load
from skills.many import Batch, Dropped, draw_many
from skills.workflow import Workflow

__all__ = [
    "Batch",
    "Draw",
    "Dropped",
    "Kitchen",
    "Workflow",
    "WorkflowError",
    "draw",
    "draw_many",
    "library",
    "load",
    "neighbours",
]
