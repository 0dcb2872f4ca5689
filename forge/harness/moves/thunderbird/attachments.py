"""Attachments in Thunderbird: saving them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from forge.harness.moves.base import Acts, move
from forge.harness.moves.general import context_menu_on
from forge.harness.moves.hands import Hands
from forge.harness.moves.thunderbird.messages import MessageArgs, message, message_of
from forge.records import Element


class SaveAttachmentArgs(MessageArgs):
    name: str = Field(description="the attachment's file name")
    to: str = Field(pattern=r"^~/", description="where it goes: ~/Documents/data.csv")


@move("save_attachment", SaveAttachmentArgs)
def save_attachment(hands: Hands, args: SaveAttachmentArgs) -> Acts:
    """Open a message and save one of its attachments into a file."""
    yield from message(hands, message_of(args))
    stem, _, suffix = args.name.rpartition(".")
    pattern = re.compile(re.escape(stem) + r"\s*\." + re.escape(suffix) + r"\b.*")

    def attachment() -> Element | None:
        return next((e for e in hands.scene().select(None, "list item") if pattern.match(e.name)), None)

    if not hands.becomes(attachment, 0.5):
        label = hands.find("*attachment*", "label")
        bar = hands.find(None, "toggle button", where=lambda e: abs(_centre(e) - _centre(label)) < 14 and not e.name)
        yield hands.click(bar, until=attachment)
    hands.wait(attachment, f"the message has no attachment {args.name!r}")
    yield from context_menu_on(
        hands, lambda: hands.wait(attachment, "the attachment is gone"), ("Save As...",), opens="Save Attachment*"
    )
    yield from save_as(hands, args.to, "Save Attachment*")


def _centre(element: Element) -> float:
    return element.box[1] + element.box[3] / 2


def save_as(hands: Hands, path: str, title: str) -> Acts:
    """Give the file chooser `title` a place and press Save; waits for the file."""
    file = Path(hands.slot.home) / path[2:]
    yield hands.key("ctrl+a") + hands.type(f"/home/alex/{path[2:]}")
    saved: Callable[[], bool] = lambda: hands.window(title) is None and file.exists()
    yield hands.click(hands.find("Save", "push button", within=title), until=saved)
    hands.wait(saved, f"{path} does not appear")
