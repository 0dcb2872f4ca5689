"""`llm`: values that a model invents, or that the committed bank holds where there is no model.

Models fill values only; what is asked, set up, solved and graded is rendered from the resolved object. A model's values
must have the bank's fields; its failure is a ModelError, never a silent draw from the bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.records import JSON, ModelError
from skills.banks.bank import Bank, find_bank
from skills.language.located import Located, Place
from skills.language.shapes import Shape, list_of, mismatch
from skills.language.template import Fixed, Record, Template, compile_template
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind, only_keys


class Llm(Node):
    """Values from a bank or a model."""

    def __init__(self, name: str, place: Place, bank: Bank, args: Record, several: bool):
        super().__init__(name, place, args.names)
        self.bank = bank
        self.args = args
        self.several = several

    @property
    def identity(self) -> JSON:
        return ["llm", self.bank.name]

    def keeps(self, station: Station) -> bool:
        return station.kitchen.llm is not None  # drawing from a bank is cheaper than looking a draw up

    def key(self, inputs: JSON, station: Station) -> str:
        return super().key([inputs, station.seed(self.name)], station)  # another draw, other values

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        self.args.infer(scope)
        return list_of(self.bank.shape) if self.several else self.bank.shape

    def render(self, scope: Mapping[str, Any]) -> JSON:
        return self.args.render(scope)

    def run(self, inputs: JSON, station: Station) -> Outcome:
        about, count = inputs["about"], inputs["count"]
        if not isinstance(about, str):
            raise self.error(f"`about` must be a text, not {about!r}")
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= 1000):
            raise self.error(f"`count` must be a whole number from 0 to 1000, not {count!r}")
        if station.kitchen.llm is not None and self.bank.prompt and self.bank.fields:
            return Outcome(self._invented(about, count, station))
        try:
            return Outcome(self.bank.draw(about, count, *station.parts, self.name))
        except ValueError as error:
            message, _, mend = str(error).partition("; ")
            raise self.error(message, mend or None) from None

    def _invented(self, about: str, count: int | None, station: Station) -> JSON:
        assert station.kitchen.llm is not None
        fields = list(self.bank.fields)
        wanted = 1 if count is None else count
        found = station.kitchen.llm.values(self.bank.prompt, about, fields, wanted, station.seed(self.name))
        problem = mismatch(found, list_of(self.bank.shape), "its answer")
        if problem or len(found) != wanted:
            raise ModelError(
                f"{self.place.file}:{self.place.line}: {self.name}: {problem or f'{len(found)} values, not {wanted}'}"
            )
        return found if self.several else found[0]


@node_kind
class LlmKind(NodeKind):
    """Values from a bank, or from a model: `{llm: office-names, about: "${topic}", fields: [file, sheet]}`."""

    name = "llm"

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        only_keys(spec, (self.name, "about", "count", "fields"), f"{name}: llm", reading.problems)
        bank = find_bank(spec[self.name].text(f"{name}: llm"), spec[self.name].place, reading.source.folder)
        if "fields" in spec:
            wanted = [field.text("a field") for field in spec["fields"].list(f"{name}: fields")]
            try:
                bank = bank.only(wanted)
            except ValueError as error:
                message, _, mend = str(error).partition("; ")
                raise spec["fields"].error(f"{name}: {message}", mend) from None
        about: Template = compile_template(spec["about"]) if "about" in spec else Fixed("*", place)
        if isinstance(about, Fixed):
            if not isinstance(about.value, str):
                raise spec["about"].error(f"{name}: about must be a text, not {spec['about'].kind}")
            try:
                bank.check(about.value)
            except ValueError as error:
                message, _, mend = str(error).partition("; ")
                raise spec.get("about", spec[self.name]).error(f"{name}: {message}", mend) from None
        count: Template = compile_template(spec["count"]) if "count" in spec else Fixed(None, place)
        return Llm(name, place, bank, Record({"about": about, "count": count}, place), "count" in spec)
