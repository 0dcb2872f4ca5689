"""Pairs of many screens of one application: each target at most five times, every instruction with one right answer."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forge.harness.grounding.phrases import by_function, by_name, pick
from forge.harness.grounding.places import by_place
from forge.harness.grounding.sight import Sight
from forge.harness.grounding.visible import Thing, clean, things
from forge.records import GroundingPair, GroundingTarget, Style

PER_TARGET = 5
"""How often a target is used."""
REFUSAL_TRIES = 60
REFUSAL_ROLES = ("menu entry", "button", "check box", "submenu", "tab", "radio button", "link", "icon")
_GENERIC = {
    "close", "minimize", "maximize", "restore", "back", "cancel", "help", "search", "find", "menu", "more", "open", "save",
    "file", "edit", "view", "settings",
}  # fmt: skip


@dataclass(frozen=True)
class Screen:
    """A sight under its key in the harvest, with the blob of its picture."""

    key: str
    screenshot: str
    sight: Sight


def pairs_of(screens: Sequence[Screen]) -> list[GroundingPair]:
    """All pairs that screens of one application give; the same for the same screens, in whatever order they come."""
    offers: dict[GroundingTarget, list[tuple[Screen, dict[Style, str], Thing]]] = {}
    names: dict[str, str] = {}
    shown: dict[str, tuple[Screen, set[str]]] = {}
    for screen in sorted(screens, key=lambda s: s.key):
        found = things(screen.sight)
        shown[screen.key] = (screen, _texts(screen.sight))
        for thing, said in instructions(screen.sight, found):
            target = GroundingTarget(
                app=screen.sight.app, context=thing.context, role=thing.element.role, name=thing.name
            )
            offers.setdefault(target, []).append((screen, said, thing))
            if thing.word in REFUSAL_ROLES and _is_telling(thing.name):
                names.setdefault(thing.name, thing.word)
    pairs = [pair for target, uses in offers.items() for pair in _uses(target, uses)]
    used = {pair.screen for pair in pairs}
    return pairs + _refusals([shown[key] for key in sorted(used)], names)


def instructions(sight: Sight, found: Sequence[Thing]) -> Iterable[tuple[Thing, dict[Style, str]]]:
    """Each named thing of a sight with the instructions that mean it and nothing else there."""
    named = [thing for thing in found if thing.named and not _is_of_every_window(thing)]
    names = Counter(thing.name.lower() for thing in named)
    kinds = Counter((thing.word, thing.name.lower()) for thing in named)
    homes = Counter((thing.word, thing.name.lower(), thing.home) for thing in named)
    unique = {thing.name for thing in named if names[thing.name.lower()] == 1}
    seed = sight.window
    drafts: list[tuple[Thing, dict[Style, str]]] = []
    for thing in named:
        said: dict[Style, str] = {}
        key = (thing.word, thing.name.lower())
        if kinds[key] == 1 or homes[(*key, thing.home)] == 1:
            with_home = kinds[key] > 1
            with_word = names[thing.name.lower()] > 1 or pick([True, False], thing.context, thing.name)
            said[Style.NAME] = by_name(thing, with_word=with_word or with_home, with_home=with_home, seed=seed)
            function = by_function(thing, seed)
            if function and names[thing.name.lower()] == 1:
                said[Style.FUNCTION] = function
        place = by_place(sight, thing, found, unique, seed)
        if place:
            said[Style.POSITION] = place
        drafts.append((thing, said))
    counts = Counter(text.lower() for _, said in drafts for text in said.values())
    for thing, said in drafts:
        kept = {style: text for style, text in said.items() if counts[text.lower()] == 1}
        if kept:
            yield thing, kept


def _is_of_every_window(thing: Thing) -> bool:
    """Whether the frame around the window has a button of this name too."""
    return thing.name.lower() in ("close", "minimize", "maximize", "restore") and not thing.context.startswith(
        ("dialog ", "menu ")
    )


def _uses(target: GroundingTarget, uses: list[tuple[Screen, dict[Style, str], Thing]]) -> Iterable[GroundingPair]:
    """At most five pairs of a target: one screen with every style, then others, no picture and style twice."""
    ordered = sorted(uses, key=lambda use: (-len(use[1]), _order(target.digest(), use[0].key)))
    given: set[tuple[str, Style]] = set()
    said_before: set[tuple[Style, str, str]] = set()
    count = 0
    for round_ in range(len(ordered)):
        screen, said, thing = ordered[round_]
        for style, text in said.items():
            key, content = (screen.screenshot, style), (style, text, str(thing.box))
            if count >= PER_TARGET or key in given or content in said_before:
                continue
            given.add(key)
            said_before.add(content)
            count += 1
            yield GroundingPair(
                target=target, style=style, instruction=text, screen=screen.key, screenshot=screen.screenshot,
                width=screen.sight.width, height=screen.sight.height, box=thing.box,
            )  # fmt: skip
        if count >= PER_TARGET:
            return


def _refusals(screens: list[tuple[Screen, set[str]]], names: dict[str, str]) -> list[GroundingPair]:
    """One question for each picture about something that this application has elsewhere, and that is not there."""
    bank = sorted(names)
    counts: Counter[GroundingTarget] = Counter()
    pairs = []
    for screen, texts in screens:
        words = [set(_words(text)) for text in texts]
        for attempt in range(REFUSAL_TRIES if bank else 0):
            name = pick(bank, screen.key, str(attempt))
            wanted = set(_words(name))
            if any(_is_near(wanted, other) for other in words):
                continue
            target = GroundingTarget(
                app=screen.sight.app, context=f"not on {screen.sight.window}", role="none", name=name
            )
            if counts[target] >= PER_TARGET:
                continue
            counts[target] += 1
            word = names[name]
            text = pick([f'Click the {word} "{name}"', f'Click "{name}"', f'Point at the "{name}" {word}'], screen.key)
            pairs.append(
                GroundingPair(
                    target=target, style=Style.REFUSAL, instruction=text, screen=screen.key,
                    screenshot=screen.screenshot, width=screen.sight.width, height=screen.sight.height,
                )
            )  # fmt: skip
            break
    return pairs


def _texts(sight: Sight) -> set[str]:
    """Every word that the tree has for the screen, visible or not."""
    found = {sight.window}
    for element in sight.elements:
        found |= {element.name, element.text or ""}
    for detail in sight.details.values():
        found |= {detail.description, detail.label}
    return {text for text in found if text}


def _is_telling(name: str) -> bool:
    """Whether a name says enough for its absence to be sure: two words or a long one, and not what windows have anyway."""
    words = _words(name)
    return bool(words) and not set(words) <= _GENERIC and (len(words) >= 2 or len(name) >= 8) and bool(clean(name))


def _is_near(wanted: set[str], other: set[str]) -> bool:
    """Whether a text on the screen might be taken for the wanted one: half of its words are there."""
    return len(wanted & other) * 2 >= len(wanted)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if len(word) > 2]


def _order(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
