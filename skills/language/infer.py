"""Shapes of expressions, before there are values: finds fields, functions and operators that can never work."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from skills.language.functions import FUNCTIONS
from skills.language.located import nearest
from skills.language.shapes import ANY, BOOL, NUMBER, TEXT, Shape, attribute, join, list_of, shape_of

_CONSTANTS = {"true": BOOL, "false": BOOL, "null": ANY}


def infer(node: ast.expr, scope: Mapping[str, Shape]) -> Shape:
    """The shape of an expression's value, `any` where it is not known.

    Raises:
        ValueError: a name, field or function does not exist, or an operation can never work. The text is
            `what is wrong; how to mend it`.
    """
    match node:
        case ast.Constant(value=value):
            return shape_of(value)
        case ast.Name(id=name):
            return _name(name, scope)
        case ast.Attribute(value=of, attr=name):
            return attribute(infer(of, scope), name)
        case ast.Subscript(value=of, slice=place):
            return _item(infer(of, scope), place, scope)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name not in FUNCTIONS:
                raise ValueError(f"there is no function {name!r}; {nearest(name, FUNCTIONS.names())}")
            named = {k.arg or "": infer(k.value, scope) for k in keywords}
            return FUNCTIONS.get(name).shape([infer(arg, scope) for arg in args], named)
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, infer(left, scope), infer(right, scope))
        case ast.UnaryOp(op=op, operand=operand):
            infer(operand, scope)
            return BOOL if isinstance(op, ast.Not) else NUMBER
        case ast.BoolOp(values=values):
            return join([infer(value, scope) for value in values])
        case ast.Compare(left=left, comparators=others):
            for part in [left, *others]:
                infer(part, scope)
            return BOOL
        case ast.IfExp(test=test, body=body, orelse=other):
            infer(test, scope)
            return join([infer(body, scope), infer(other, scope)])
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return list_of(join([infer(item, scope) for item in items]))
        case ast.Dict(keys=keys, values=values):
            return _record(keys, [infer(value, scope) for value in values])
        case ast.ListComp(elt=item, generators=generators):
            return _comprehension(item, generators, scope)
    return ANY


def _name(name: str, scope: Mapping[str, Shape]) -> Shape:
    if name in scope:
        return scope[name]
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    hint = "; write it in quotes or call it with ( )" if name in FUNCTIONS else f"; {nearest(name, scope)}"
    raise ValueError(f"nothing is called {name!r}{hint}")


def _item(of: Shape, place: ast.expr, scope: Mapping[str, Shape]) -> Shape:
    if isinstance(place, ast.Slice):
        return of
    key = infer(place, scope)
    if of.kind == "record":
        if isinstance(place, ast.Constant) and isinstance(place.value, str):
            return attribute(of, place.value)
        return join(of.fields.values()) if of.fields and not of.open else ANY
    if of.kind == "list":
        if key.kind not in ("number", "any"):
            raise ValueError(f"an item of a list is chosen by a whole number, not by a {key}")
        return of.item or ANY
    if of.kind in ("number", "bool"):
        raise ValueError(f"a {of} has no items")
    return TEXT if of.kind == "text" else ANY


def _arithmetic(op: ast.operator, left: Shape, right: Shape) -> Shape:
    kinds = {left.kind, right.kind}
    if isinstance(op, ast.Add):
        if left.kind == right.kind and left.kind in ("text", "list"):
            return join([left, right])
        if kinds == {"any"}:
            return ANY
        if "text" in kinds and kinds - {"text", "any"}:
            raise ValueError(
                f"a {left} + a {right} has no meaning; join texts by writing them beside each other, outside the braces"
            )
        if kinds & {"text", "list"}:
            return left if left.kind != "any" else right
    elif bad := kinds - {"number", "any"}:
        raise ValueError(f"a {sorted(bad)[0]} cannot be reckoned with")
    return NUMBER


def _record(keys: list[ast.expr | None], values: list[Shape]) -> Shape:
    fields: dict[str, Shape] = {}
    sure = True
    for key, value in zip(keys, values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            fields[key.value] = value
        else:
            sure = False
    return Shape("record", fields=fields, open=not sure)


def _comprehension(item: ast.expr, generators: list[ast.comprehension], scope: Mapping[str, Shape]) -> Shape:
    inner = dict(scope)
    for generator in generators:
        source = infer(generator.iter, inner)
        if source.kind not in ("list", "any"):
            raise ValueError(f"`for` goes through a list, not a {source}")
        _bind(generator.target, source.item or ANY, inner)
        for condition in generator.ifs:
            infer(condition, inner)
    return list_of(infer(item, inner))


def _bind(target: ast.expr, value: Shape, scope: dict[str, Shape]) -> None:
    if isinstance(target, ast.Name):
        scope[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            _bind(part, value.item or ANY if value.kind == "list" else ANY, scope)
    else:
        raise ValueError("after `for` stands a name, or names with commas")
