"""`llm`: values that a model writes, or that the committed bank holds where there is no model.

Three modes. `bank`: the committed values. `topup`, the default: the committed values and those that a model wrote for the bank
beforehand, many in one call (see `skills.topup`); without an endpoint there are none, and it is `bank`. `live`: the model
writes them while the task is drawn. Models fill values only; what is asked, set up, solved and graded is rendered from the
resolved object. A model's values must have the bank's fields; its failure is a ModelError, never a silent draw from the bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

from forge.records import JSON, ModelError
from skills.banks.bank import Bank, find_bank
from skills.language.located import Located, Place, nearest
from skills.language.shapes import Shape, list_of, mismatch
from skills.language.template import Fixed, Record, Template, compile_template
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind, only_keys

Mode = Literal["bank", "topup", "live"]
MODES: tuple[Mode, ...] = get_args(Mode)


class Llm(Node):
    """Values from a bank or a model."""

    def __init__(self, name: str, place: Place, bank: Bank, args: Record, several: bool, mode: Mode = "topup"):
        super().__init__(name, place, args.names)
        self.bank = bank
        self.args = args
        self.several = several
        self.mode = mode

    @property
    def identity(self) -> JSON:
        return ["llm", self.bank.name] if self.mode == "topup" else ["llm", self.bank.name, self.mode]

    def keeps(self, station: Station) -> bool:
        return self._is_live(station)  # drawing from a bank is cheaper than looking a draw up

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
        if self._is_live(station):
            return Outcome(self._invented(about, count, station))
        try:
            written = (
                station.pins.values(station.kitchen.pool, self.bank.pool, about)
                if self.mode == "topup" and self.bank.fields
                else []
            )
            return Outcome(self.bank.grown(about, written).draw(about, count, *station.parts, self.name))
        except ValueError as error:
            message, _, mend = str(error).partition("; ")
            raise self.error(message, mend or None) from None

    def _is_live(self, station: Station) -> bool:
        return self.mode == "live" and station.kitchen.llm is not None

    def _invented(self, about: str, count: int | None, station: Station) -> JSON:
        assert station.kitchen.llm is not None
        wanted = 1 if count is None else count
        found = station.kitchen.llm.values(self.bank, about, wanted, station.seed(self.name))
        problem = mismatch(found, list_of(self.bank.shape), "its answer")
        problem = problem or next((p for value in found if (p := self.bank.problem(value))), None)
        if problem or len(found) != wanted:
            raise ModelError(
                f"{self.place.file}:{self.place.line}: {self.name}: {problem or f'{len(found)} values, not {wanted}'}"
            )
        return found if self.several else found[0]


@node_kind
class LlmKind(NodeKind):
    """Values from a bank that a model tops up: `{llm: office-names, about: "${topic}", fields: [file, sheet]}`.

    Its value is a record with the bank's fields, or with `count` a list of different ones. Values only: names of files and
    sheets, people, reasons. A bank of your own is a file `banks/NAME.yaml` of the draft: `about` (a sentence), `prompt` (what
    a model is asked for), `fields` (name to a list of values, or to groups of such lists; `*` is the group of all others).
    """

    name = "llm"
    keys: ClassVar[dict[str, str]] = {
        "llm": "the bank, see `banks` in the catalogue",
        "about": "the group of values; all unless given",
        "count": "a list of so many different values",
        "fields": "only these",
        "mode": "`topup` (usual): committed values, and those that a model wrote for the bank; `bank`: committed ones alone; "
        "`live`: a model writes values for each task",
    }
    example = """\
names: {llm: office-names, about: expenses, fields: [file, owner], mode: bank}
"""
    gives = '{"file": "...", "owner": "..."}'

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        only_keys(spec, tuple(self.keys), f"{name}: llm", reading.problems)
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
        mode = spec["mode"].text(f"{name}: mode") if "mode" in spec else "topup"
        if mode not in MODES:
            raise spec["mode"].error(f"{name}: there is no mode {mode!r}", nearest(mode, MODES))
        if mode == "live" and not (bank.prompt and bank.fields):
            raise spec["mode"].error(f"{name}: the bank {bank.name} has no prompt or no fields to ask a model for")
        args = Record({"about": about, "count": count}, place)
        return Llm(name, place, bank, args, "count" in spec, mode)
