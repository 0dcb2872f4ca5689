"""`mail.filter_rule`: a message filter by what it does, not by how it is written down."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from forge.harness.layers.mail.python import mailkit
from preparers.thunderbird.params import Attribute
from preparers.thunderbird.reading import ReadProfile
from preparers.thunderbird.rules import Rule
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.mail.profile import MailArgs, Words, kit, opened, tag_keys

_NEW_MAIL = 0x1
_TEXT = ("subject", "from", "to", "cc", "to or cc", "body")


class Condition(Args):
    """One condition; several operators mean that any of them will do."""

    field: Attribute
    op: Words = ("contains",)
    value: str


class Action(Args):
    """One action, in the preparer's words: move, copy (a folder), tag (key or name), star, mark-read, delete, ..."""

    kind: str
    value: str = ""


class FilterRule(MailArgs):
    """A filter that must be there."""

    name: str = Field("", description="what it is called; empty: the name does not matter")
    conditions: tuple[Condition, ...] = Field(min_length=1)
    actions: tuple[Action, ...] = Field(min_length=1)
    match: Literal["all", "any"] = Field("all", description="matters with two conditions or more")
    enabled: bool = True
    new_mail: bool = Field(True, description="it must run on new mail, not only by hand")
    account: str = Field("", description="label of its account; empty: the first one")


@check("mail.filter_rule", FilterRule)
def filter_rule(case: Case, args: FilterRule) -> Finding:
    """There is a filter with these conditions and actions, in any order, on or off as asked."""
    after = opened(case.after, args, "filters")
    account = args.account or after.accounts[0].label
    own = [rule for rule in after.filters if rule.account == account]
    named = [rule for rule in own if not args.name or _same(rule.name, args.name)]
    faults = [(_faults(rule, args, after), rule) for rule in named]
    if any(not wrong for wrong, _ in faults):
        return Finding(1.0, "the filter is there: " + shown(next(rule for wrong, rule in faults if not wrong)))
    if not faults:
        called = f" called {args.name!r}" if args.name else ""
        return Finding(0.0, f"no filter{called} in {account}; there are {', '.join(r.name for r in own) or 'none'}")
    wrong, nearest = min(faults, key=lambda item: len(item[0]))
    return Finding(0.0, f"nearest is {shown(nearest)}; but {'; '.join(wrong)}")


@mutants("mail.filter_rule")
def other_rules(case: Case, args: FilterRule, rng: random.Random) -> Iterator[Mutant]:
    """The filter off, with another condition or action, or not there."""
    after = opened(case.after, args, "filters", "folder_files")
    account = args.account or after.accounts[0].label
    own = [r for r in after.filters if r.account == account and not _faults(r, args, after)]
    rule = next(rule for rule in own if not args.name or _same(rule.name, args.name))

    def become(changed: Rule) -> Callable[[Path], None]:
        return lambda home: _put(kit(home, args), rule, changed)

    yield Mutant("removed", lambda home: kit(home, args).remove_filter(rule.name, account))
    yield Mutant("switched", become(replace(rule, enabled=not rule.enabled)), note="off instead of on, or the reverse")
    at = rng.randrange(len(rule.conditions))
    name, op, value = rule.conditions[at]
    if name in _TEXT or value.isdigit():
        wrong = str(int(value) + 1) if value.isdigit() else _misspelt(value, rng)
        yield Mutant("other-value", become(_with(rule, at, (name, op, wrong))), note=f"{value!r} became {wrong!r}")
    if name in _TEXT:
        other = "to" if name != "to" else "from"
        yield Mutant("other-field", become(_with(rule, at, (other, op, value))), note=f"{name} became {other}")
        asked = next((c.op for c in args.conditions if c.field == name), ("contains",))
        opposite = next(o for o in ("doesn't contain", "isn't") if o not in asked)
        yield Mutant("other-operator", become(_with(rule, at, (name, opposite, value))), audit=True)
    if len(rule.conditions) > 1:
        yield Mutant("other-match", become(replace(rule, match="any" if rule.match == "all" else "all")))
        fewer = rule.conditions[:at] + rule.conditions[at + 1 :]
        yield Mutant("condition-missing", become(replace(rule, conditions=fewer)), audit=True)
    yield from _other_actions(rule, after, become, rng)
    if args.new_mail:
        yield Mutant("by-hand-only", become(replace(rule, type=16)), audit=True)


def shown(rule: Rule) -> str:
    """A filter for people."""
    conditions = f" {rule.match} of " + ", ".join(" ".join(c) for c in rule.conditions) if rule.conditions else " all"
    actions = ", ".join(f"{kind} {value}".strip() for kind, value in rule.actions)
    return f"{rule.name!r} ({'on' if rule.enabled else 'off'}):{conditions} -> {actions}"


def _faults(rule: Rule, args: FilterRule, profile: ReadProfile) -> list[str]:
    """What the filter lacks, in words."""
    wrong = []
    left = list(rule.conditions)
    for asked in args.conditions:
        hit = next((c for c in left if c[0] == asked.field and c[1] in asked.op and _same(c[2], asked.value)), None)
        if hit is None:
            wrong.append(f"no condition {asked.field} {' or '.join(asked.op)} {asked.value!r}")
        else:
            left.remove(hit)
    wrong += [f"a condition too many: {' '.join(c)}" for c in left]
    if len(args.conditions) > 1 and rule.match != args.match:
        wrong.append(f"it matches {rule.match} of the conditions, not {args.match}")
    have = {(kind, _value(kind, value, profile)) for kind, value in rule.actions}
    want = {(action.kind, _value(action.kind, action.value, profile)) for action in args.actions}
    wrong += [f"no action {' '.join(item).strip()}" for item in sorted(want - have)]
    wrong += [f"an action too many: {' '.join(item).strip()}" for item in sorted(have - want)]
    if rule.enabled != args.enabled:
        wrong.append(f"it is {'on' if rule.enabled else 'off'}")
    if args.new_mail and not rule.type & _NEW_MAIL:
        wrong.append("it does not run on new mail")
    return wrong


def _value(kind: str, value: str, profile: ReadProfile) -> str:
    return next(iter(tag_keys(profile, [value]))) if kind == "tag" else value


def _same(one: str, other: str) -> bool:
    """Equal but for case and spaces, as Thunderbird itself compares."""
    return re.sub(r"\s+", " ", one).strip().casefold() == re.sub(r"\s+", " ", other).strip().casefold()


def _with(rule: Rule, at: int, condition: tuple[str, str, str]) -> Rule:
    return replace(rule, conditions=(*rule.conditions[:at], condition, *rule.conditions[at + 1 :]))


def _misspelt(value: str, rng: random.Random) -> str:
    at = rng.randrange(len(value))
    other = "x" if value[at] != "x" else "y"
    return value[:at] + other + value[at + 1 :]


def _other_actions(
    rule: Rule, after: ReadProfile, become: Callable[[Rule], Callable[[Path], None]], rng: random.Random
) -> Iterator[Mutant]:
    kind, value = rule.actions[0]
    if kind in ("move", "copy"):
        folder = rng.choice([f for f in after.folder_files if f != value])
        yield Mutant("other-folder", become(replace(rule, actions=((kind, folder), *rule.actions[1:]))), note=folder)
        swapped = "copy" if kind == "move" else "move"
        yield Mutant("copy-for-move", become(replace(rule, actions=((swapped, value), *rule.actions[1:]))), audit=True)
    elif kind == "tag":
        tag = rng.choice([key for key in mailkit.TAGS.values() if key != value])
        yield Mutant("other-tag", become(replace(rule, actions=((kind, tag), *rule.actions[1:]))), note=tag)
    else:
        other = "delete" if kind != "delete" else "star"
        yield Mutant("other-action", become(replace(rule, actions=((other, ""), *rule.actions[1:]))), note=other)


def _put(profile: mailkit.Profile, old: Rule, new: Rule) -> None:
    profile.remove_filter(old.name, old.account)
    profile.add_filter(
        new.name,
        new.conditions,
        new.actions,
        match=new.match,
        enabled=new.enabled,
        account=new.account,
        type=new.type,
    )
