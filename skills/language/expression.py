"""`${...}` expressions: a small, safe language over JSON values, in Python's spelling.

The text is parsed by Python's own parser and walked by the evaluator below; nothing is ever compiled or given to `eval`.
Allowed are constants, names, fields (`table.rows`), items (`rows[0]`, `rows[1:3]`), calls of the registered functions,
`+ - * / // % **`, comparisons, `in`, `and or not`, `a if c else b`, lists, records `{"a": 1}` and list comprehensions.
A field is always a key of a record: no attribute of a Python object can be reached. Limits: see the constants below.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any

import skills.language.pure  # noqa: F401 - registers the functions
from forge.records import InputError
from skills.language.evaluate import Evaluator
from skills.language.infer import infer
from skills.language.located import Place
from skills.language.shapes import Shape

MAX_SOURCE = 2000
"""Longest expression, in characters."""
MAX_DEPTH = 60
"""Deepest nesting of an expression."""

CONSTANTS = {"true": True, "false": False, "null": None}
"""JSON's spellings, beside Python's True, False and None."""

_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Call,
    ast.keyword, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UnaryOp, ast.UAdd,
    ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.In, ast.NotIn, ast.IfExp, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.comprehension,
)  # fmt: skip
_WORDS = {
    "Lambda": "a lambda", "JoinedStr": "an f-string", "GeneratorExp": "a generator", "SetComp": "a set",
    "DictComp": "a record comprehension", "Set": "a set", "NamedExpr": ":=", "Starred": "a star",
}  # fmt: skip
_INSTEAD = {
    "GeneratorExp": "write a list, in [ ]", "JoinedStr": "write the text outside the braces", "Is": "write ==",
    "IsNot": "write !=", "BitAnd": "write `and`", "BitOr": "write `or`", "BitXor": "write **", "Set": "write a list",
    "SetComp": "write unique([...])",
}  # fmt: skip


class Expression:
    """One parsed expression.

    Args:
        source: the text between `${` and `}`.
        place: where it stands.

    Raises:
        InputError: it is no expression of the language.
    """

    def __init__(self, source: str, place: Place):
        self.source = source
        self.place = place
        self._body = self._parse()
        self.names = frozenset(_free_names(self._body))
        """The names it reads: parameters and nodes."""

    def evaluate(self, scope: Mapping[str, Any]) -> Any:
        """Its value, JSON. Raises InputError at its place, naming what is wrong."""
        try:
            return Evaluator(scope).run(self._body)
        except ValueError as error:
            raise self._error(str(error)) from None
        except RecursionError:
            raise self._error("it is nested too deep") from None

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        """The shape of its value, from the shapes of the names. Raises InputError for what can never work."""
        try:
            return infer(self._body, scope)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _error(self, message: str) -> InputError:
        message, _, mend = message.partition("; ")
        shown = self.source if len(self.source) <= 80 else self.source[:77] + "..."
        return self.place.error(f"${{{shown}}}: {message}", mend or None)

    def _parse(self) -> ast.expr:
        source = self.source.strip()
        if not source:
            raise self._error("the braces are empty; write a name or an expression between them")
        if len(source) > MAX_SOURCE:
            raise self._error(f"it has {len(source)} characters, more than {MAX_SOURCE}; use a python node")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                tree = ast.parse(" ".join(source.split("\n")), mode="eval")
        except (SyntaxError, SyntaxWarning, DeprecationWarning, ValueError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise self._error(f"no expression ({reason})") from None
        except (RecursionError, MemoryError):
            raise self._error("it is nested too deep") from None
        self._refuse(tree)
        return tree.body

    def _refuse(self, tree: ast.AST) -> None:
        level = [(tree, 0)]
        while level:
            node, depth = level.pop()
            if depth > MAX_DEPTH:
                raise self._error(f"it is nested more than {MAX_DEPTH} deep; split it into nodes")
            if not isinstance(node, _ALLOWED):
                name = type(node).__name__
                instead = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
                raise self._error(f"{_WORDS.get(name, name)} is not part of the language{instead}")
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                raise self._error(f"a field cannot begin with an underscore: .{node.attr}")
            if isinstance(node, ast.Name) and node.id.startswith("_"):
                raise self._error(f"a name cannot begin with an underscore: {node.id}")
            if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float | bool | None):
                raise self._error(f"{node.value!r} is no JSON value")
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
                raise self._error("only functions can be called, by their name; values have no methods")
            if isinstance(node, ast.comprehension) and node.is_async:
                raise self._error("the language has no async")
            level.extend((child, depth + 1) for child in ast.iter_child_nodes(node))


def _free_names(node: ast.expr) -> set[str]:
    """Names that are read and are neither constants nor bound by a comprehension inside."""
    free: set[str] = set()

    def visit(part: ast.AST, bound: frozenset[str]) -> None:
        if isinstance(part, ast.ListComp):
            inner = bound
            for generator in part.generators:
                visit(generator.iter, inner)
                inner = inner | {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
                for condition in generator.ifs:
                    visit(condition, inner)
            visit(part.elt, inner)
        elif isinstance(part, ast.Call):
            for child in [*part.args, *part.keywords]:
                visit(child, bound)
        elif isinstance(part, ast.Name):
            if part.id not in bound and part.id not in CONSTANTS:
                free.add(part.id)
        else:
            for child in ast.iter_child_nodes(part):
                visit(child, bound)

    visit(node, frozenset())
    return free
