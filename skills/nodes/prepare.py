"""`prepare`: files for the guest's home, made by a preparer, and the facts that hold of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from forge.records import JSON, InputError, PreparerError, digest, sha256_hex
from preparers.base import PREPARERS, Context, Preparer
from skills.language.located import Located, Place
from skills.language.models import check_fields, holds_expression
from skills.language.problems import Problems
from skills.language.shapes import Shape
from skills.language.template import Record, Template, compile_template
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind
from skills.nodes.facts import facts_of


class Prepare(Node):
    """A preparer with its parameters."""

    def __init__(
        self, name: str, place: Place, preparer: Preparer[Any], params: Record, more: Template | None, folder: Path
    ):
        super().__init__(name, place, params.names | {"guest"} | (more.names if more else frozenset()))
        self.preparer = preparer
        self.params = params
        self.more = more
        self.folder = folder

    @property
    def identity(self) -> JSON:
        return [self.preparer.name, self.preparer.version]

    @property
    def type(self) -> str:
        return self.preparer.name

    def key(self, inputs: JSON, station: Station) -> str:
        document = self._document(inputs)
        content = sha256_hex(document.read_bytes()) if document is not None and document.is_file() else None
        return digest([super().key(inputs, station), station.guest.to_json(), station.files, content])

    def keeps(self, station: Station) -> bool:
        return True

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        self.params.infer(scope)
        if self.more is not None and (found := self.more.infer(scope)).kind not in ("record", "any"):
            raise self.error(f"`with` takes a record of parameters, not a {found}")
        return facts_of(self.preparer)

    def render(self, scope: Mapping[str, Any]) -> JSON:
        more = {} if self.more is None else self.more.render(scope)
        if not isinstance(more, dict):
            raise self.error(f"`with` takes a record of parameters, not {more!r}")
        return {**more, **self.params.render(scope)}

    def run(self, inputs: JSON, station: Station) -> Outcome:
        context = Context(guest=station.guest, office=station.kitchen.office)
        try:
            document = self._document(inputs)
            params = self.preparer.validate(inputs if document is None else {**inputs, "source": str(document)})
            if not station.files:
                return Outcome(self.preparer.facts(params, context), preparer=self.preparer.name)
            made = self.preparer.prepare(params, context)
        except PreparerError as error:
            raise self.error(error.message, error.mend) from error
        return Outcome(made.facts, made.files, self.preparer.name)

    def _document(self, inputs: JSON) -> Path | None:
        """The person's own file that is taken over, where the preparer takes one: relative paths begin at the workflow."""
        source = inputs.get("source") if "source" in self.preparer.params.model_fields else None
        return self.folder / source if isinstance(source, str) else None


@node_kind
class PrepareKind(NodeKind):
    """Files by a preparer; its parameters stand beside: `{prepare: calc.workbook, path: ..., sheets: [...]}`.

    Its value are the facts that hold of the files, see the preparer in the catalogue: `${book.main.columns['Price'].below}`.
    A record of parameters (a drawn mailbox, a layout) is given by `with: "${box}"`; what stands beside wins. No two nodes
    make the same file, nor one below the `root` of another's `files.tree`; everything else in the guest's home is as new.
    """

    name = "prepare"
    keys: ClassVar[dict[str, str]] = {
        "prepare": "the preparer",
        "with": "a record of parameters",
        "...": "the preparer's parameters",
    }
    example = """\
tree: {prepare: files.tree, root: ~/Documents/Tea, items: [{kind: text, path: list.txt, text: "Assam\\nCeylon\\n"}]}
name: {compute: "${first(tree.files).name}"}
"""
    gives = '"list.txt"'

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        where = spec[self.name]
        called = where.text(f"{name}: prepare")
        try:
            preparer = PREPARERS.get(called)
        except InputError as error:
            raise where.error(f"{name}: {error.message}", error.mend) from None
        fields = {key: value for key, value in spec.items() if key != self.name}
        whole = fields.pop("with", None)
        own = Problems()
        check_fields(preparer.params, fields, place, f"{name}: {called}", own)
        reading.problems.found += (
            own.found if whole is None else [p for p in own.found if "is missing" not in p.message]
        )
        document = fields.get("source") if "source" in preparer.params.model_fields else None
        if document is not None and not holds_expression(document) and not Path(str(document.value)).is_absolute():
            reading.source.read(document.text("source"), document.place, "the document")
        params = Record({key: compile_template(value) for key, value in fields.items()}, place)
        more = None if whole is None else compile_template(whole)
        return Prepare(name, place, preparer, params, more, reading.source.folder)
