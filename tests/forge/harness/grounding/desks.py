"""Sights made by hand: a window with menus, buttons, a list, a dialog over it."""

from __future__ import annotations

from typing import Any

from forge.harness.grounding.sight import Detail, Sight, Surface
from forge.records import Element

Box = tuple[int, int, int, int]


def element(path: tuple[int, ...], role: str, name: str, box: Box, *states: str, text: str | None = None) -> Element:
    """An element of the application `desk`."""
    return Element(app="desk", path=path, role=role, name=name, box=box, states=states, text=text)


def sight(*elements: Element, surfaces: tuple[Surface, ...] | None = None, **more: Any) -> Sight:
    """A sight of 800x600; by default one window, Main, over the whole screen."""
    whole = Surface(x=0, y=0, width=800, height=600, title="Main")
    return Sight(
        app="desk", window=more.pop("window", "Main"), width=800, height=600,
        elements=(element((), "application", "desk", (0, 0, 0, 0)), *elements), surfaces=surfaces or (whole,), **more,
    )  # fmt: skip


def popup(x: int, y: int, width: int, height: int) -> Surface:
    """A menu or list over the window."""
    return Surface(x=x, y=y, width=width, height=height)


WINDOW = (
    element((0,), "frame", "Main", (0, 0, 800, 600)),
    element((0, 0), "menu bar", "", (0, 20, 800, 24)),
    element((0, 0, 0), "menu", "File", (0, 20, 40, 24)),
    element((0, 0, 1), "menu", "Edit", (40, 20, 40, 24)),
    element((0, 1), "tool bar", "Standard", (0, 44, 800, 40)),
    element((0, 1, 0), "push button", "Bold", (4, 48, 32, 32)),
    element((0, 1, 1), "push button", "Italic", (36, 48, 32, 32)),
    element((0, 1, 2), "push button", "Sort Ascending", (68, 48, 32, 32)),
)

FILE_MENU = (
    element((0, 0, 0, 0), "menu item", "Open...", (0, 44, 160, 24)),
    element((0, 0, 0, 1), "menu item", "Save", (0, 68, 160, 24)),
    element((0, 0, 0, 2), "menu", "Export", (0, 92, 160, 24)),
)

DIALOG = (
    element((1,), "dialog", "Sort", (200, 150, 400, 300)),
    element((1, 0), "check box", "Match case", (220, 200, 160, 24), "checked"),
    element((1, 1), "push button", "Cancel", (400, 410, 80, 30)),
    element((1, 2), "push button", "OK", (500, 410, 80, 30)),
)
OVER = (
    Surface(x=0, y=0, width=800, height=600, title="Main"),
    Surface(x=200, y=130, width=400, height=320, title="Sort"),
)

__all__ = ["DIALOG", "FILE_MENU", "OVER", "WINDOW", "Detail", "Surface", "element", "popup", "sight"]
