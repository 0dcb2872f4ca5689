"""`compute`: a value made by an expression, or a mapping or list of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from forge.records import JSON
from skills.language.located import Located, Place
from skills.language.shapes import Shape
from skills.language.template import Template, compile_template
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind, only_keys


class Compute(Node):
    """A template; its value is the rendered template."""

    def __init__(self, name: str, place: Place, template: Template):
        super().__init__(name, place, template.names)
        self.template = template

    @property
    def identity(self) -> JSON:
        return "compute"

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        return self.template.infer(scope)

    def render(self, scope: Mapping[str, Any]) -> JSON:
        return self.template.render(scope)

    def run(self, inputs: JSON, station: Station) -> Outcome:
        return Outcome(inputs)


@node_kind
class ComputeKind(NodeKind):
    """An expression, or a mapping or list of them: `{compute: "${below(book.range)}"}`.

    Its value is that of the expression, or a record or list of their values. It makes no file and runs no script; what
    expressions cannot do (loops over several steps, records with computed keys, decimal sums) is work for a `python` node.
    """

    name = "compute"
    keys: ClassVar[dict[str, str]] = {
        "compute": "an expression `${...}`, a text with some, or a mapping or list of such"
    }
    example = """\
area: {compute: C2:C26}
total: {compute: {cell: "${below(area)}", formula: "=SUM(${area})", label: "${column_of(area)} in all"}}
"""
    gives = '{"cell": "C27", "formula": "=SUM(C2:C26)", "label": "C in all"}'

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        only_keys(spec, (self.name,), f"{name}: compute", reading.problems)
        value = spec[self.name]
        if isinstance(value.value, str) and value.value.endswith(".py"):
            raise value.error(f"{name}: compute takes expressions", f"for a script write {{python: {value.value}}}")
        return Compute(name, place, compile_template(value))
