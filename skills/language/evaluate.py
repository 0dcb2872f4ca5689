"""The evaluator: walks an expression's tree over JSON values, within limits on steps, sizes and numbers."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from skills.language.functions import FUNCTIONS, MAX_ITEMS, MAX_TEXT
from skills.language.located import nearest

MAX_STEPS = 200_000
"""Most steps (parts evaluated) of one evaluation."""
MAX_NUMBER = 2**63
"""Whole numbers stay below this, so that every reader of JSON can hold them."""

_CONSTANTS = {"true": True, "false": False, "null": None}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, holder: item in holder,
    ast.NotIn: lambda item, holder: item not in holder,
}


class Evaluator:
    """One evaluation over a scope of JSON values. Complaints are ValueErrors, `what is wrong; how to mend it`."""

    def __init__(self, scope: Mapping[str, Any]):
        self._scope = scope
        self._steps = 0
        self._weights: dict[int, int] = {}

    def run(self, body: ast.expr) -> Any:
        """The value of the expression's body."""
        value = self._value(body, {})
        if _weight(value, {}) > 10 * MAX_ITEMS:
            raise ValueError(f"the value has more than {10 * MAX_ITEMS} parts")
        return value

    def _value(self, node: ast.expr, local: dict[str, Any]) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ValueError(f"it takes more than {MAX_STEPS} steps; use a python node")
        value = self._dispatch(node, local)
        return _within_limits(value)

    def _dispatch(self, node: ast.expr, local: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, local)
            case ast.Attribute(value=of, attr=name):
                return _field(self._value(of, local), name)
            case ast.Subscript(value=of, slice=place):
                return self._item(self._value(of, local), place, local)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self._call(name, args, keywords, local)
            case ast.BinOp(left=left, op=op, right=right):
                return _arithmetic(op, self._value(left, local), self._value(right, local))
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand, local)
                return (not value) if isinstance(op, ast.Not) else _signed(op, value)
            case ast.BoolOp(op=op, values=values):
                return self._either(isinstance(op, ast.Or), values, local)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compare(left, ops, others, local)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._value(body if self._value(test, local) else other, local)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, local) for item in items]
            case ast.Dict(keys=keys, values=values):
                return self._record(keys, values, local)
            case ast.ListComp(elt=item, generators=generators):
                found: list[Any] = []
                self._comprehend(item, generators, local, found)
                return found
        raise ValueError(f"the language has no {type(node).__name__}")

    def _name(self, name: str, local: dict[str, Any]) -> Any:
        if name in local:
            return local[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name not in self._scope:
            raise ValueError(f"nothing is called {name!r}; {nearest(name, self._scope)}")
        return self._scope[name]

    def _item(self, of: Any, place: ast.expr, local: dict[str, Any]) -> Any:
        if isinstance(place, ast.Slice):
            if not isinstance(of, str | list | tuple):
                raise ValueError("only a list or a text has slices")
            bounds = [None if p is None else self._value(p, local) for p in (place.lower, place.upper, place.step)]
            if any(isinstance(b, bool) or not isinstance(b, int | None) for b in bounds) or bounds[2] == 0:
                raise ValueError("a slice has whole numbers")
            return of[slice(*bounds)]
        key = self._value(place, local)
        if isinstance(of, dict):
            return _field(of, key)
        if not isinstance(of, str | list | tuple):
            raise ValueError(f"{_kind(of)} has no items")
        if isinstance(key, bool) or not isinstance(key, int):
            raise ValueError(f"an item of {_kind(of)} is chosen by a whole number, not by {key!r}")
        if not -len(of) <= key < len(of):
            raise ValueError(f"there is no item {key}; there are {len(of)}, counted from 0")
        return of[key]

    def _call(self, name: str, args: list[ast.expr], keywords: list[ast.keyword], local: dict[str, Any]) -> Any:
        if name not in FUNCTIONS:
            raise ValueError(f"there is no function {name!r}; {nearest(name, FUNCTIONS.names())}")
        values = [self._value(arg, local) for arg in args]
        return FUNCTIONS.get(name)(values, {k.arg or "": self._value(k.value, local) for k in keywords})

    def _either(self, is_or: bool, values: list[ast.expr], local: dict[str, Any]) -> Any:
        value: Any = None
        for part in values:
            value = self._value(part, local)
            if bool(value) == is_or:
                break
        return value

    def _compare(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], local: dict[str, Any]) -> bool:
        value = self._value(left, local)
        for op, part in zip(ops, others, strict=True):
            other = self._value(part, local)
            try:
                holds = _COMPARISONS[type(op)](value, other)
            except TypeError:
                raise ValueError(f"{_kind(value)} and {_kind(other)} cannot be compared so") from None
            if not holds:
                return False
            value = other
        return True

    def _record(self, keys: list[ast.expr | None], values: list[ast.expr], local: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, part in zip(keys, values, strict=True):
            if key is None:
                raise ValueError("the language has no **; use merge(a, b)")
            name = self._value(key, local)
            if not isinstance(name, str):
                raise ValueError(f"a record's key is a text, not {_kind(name)}")
            made[name] = self._value(part, local)
        return made

    def _comprehend(
        self, item: ast.expr, generators: list[ast.comprehension], local: dict[str, Any], found: list[Any]
    ) -> None:
        if not generators:
            found.append(self._value(item, local))
            return
        generator, *rest = generators
        source = self._value(generator.iter, local)
        if not isinstance(source, list | tuple):
            raise ValueError(f"`for` goes through a list, not {_kind(source)}")
        for value in source:
            inner = {**local, **_bind(generator.target, value)}
            if all(self._value(condition, inner) for condition in generator.ifs):
                self._comprehend(item, rest, inner, found)


def _bind(target: ast.expr, value: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if not isinstance(value, list | tuple) or len(value) != len(parts) or not parts:
        raise ValueError(f"the names after `for` do not match {_kind(value)}")
    bound: dict[str, Any] = {}
    for part, inner in zip(parts, value, strict=True):
        bound.update(_bind(part, inner))
    return bound


def _field(of: Any, name: Any) -> Any:
    if not isinstance(of, dict):
        raise ValueError(f"{_kind(of)} has no field {name!r}")
    if not isinstance(name, str):
        raise ValueError(f"a field is named by a text, not by {name!r}")
    if name not in of:
        raise ValueError(f"there is no field {name!r}; {nearest(name, of)}")
    return of[name]


def _arithmetic(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(op, ast.Add) and isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return [*left, *right]
    sign = _SIGNS[type(op)]
    if not (_is_number(left) and _is_number(right)):
        hint = "; join texts by writing them beside each other, outside the braces" if isinstance(op, ast.Add) else ""
        raise ValueError(f"{_kind(left)} {sign} {_kind(right)} has no meaning{hint}")
    try:
        if isinstance(op, ast.Pow):
            return _power(left, right)
        return left + right if isinstance(op, ast.Add) else _ARITHMETIC[type(op)](left, right)
    except ZeroDivisionError:
        raise ValueError("division by zero") from None
    except OverflowError:
        raise ValueError("the number is too large") from None


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > 64 or (isinstance(base, int) and isinstance(exponent, int) and _too_large(base, exponent)):
        raise ValueError("the number is too large")
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("a root of a negative number is no number here")
    return value


def _too_large(base: int, exponent: int) -> bool:
    return exponent > 0 and abs(base).bit_length() * exponent > 256


def _signed(op: ast.unaryop, value: Any) -> Any:
    if not _is_number(value):
        raise ValueError(f"{_kind(value)} has no sign")
    return -value if isinstance(op, ast.USub) else value


def _within_limits(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"the text is longer than {MAX_TEXT} characters")
    if isinstance(value, list | tuple) and len(value) > MAX_ITEMS:
        raise ValueError(f"the list has more than {MAX_ITEMS} items")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_NUMBER:
        raise ValueError("the number is too large")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("the number is too large")
    return value


def _weight(value: Any, known: dict[int, int]) -> int:
    """How many parts the value has when it is written out; shared parts count each time (they are walked once)."""
    if not isinstance(value, list | tuple | dict):
        return 1
    if id(value) not in known:
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_weight(part, known) for part in parts)
    return known[id(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, dict):
        return "a record"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list | tuple) else "a number"
