"""Writing, answering and sending mail in Thunderbird."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, move
from forge.harness.moves.general import FillArgs, fill
from forge.harness.moves.hands import Hands
from forge.harness.moves.thunderbird.folders import stamps
from forge.harness.moves.thunderbird.messages import MessageArgs, message, message_of


class WriteArgs(MoveArgs):
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    subject: str | None = None
    body: str | None = Field(None, description="typed where the cursor stands: at the top of a new message")
    attach: tuple[str, ...] = Field((), description="files: ~/Documents/data.csv")
    then: Literal["draft", "send"] = "draft"


@move("write", WriteArgs)
def write(hands: Hands, args: WriteArgs) -> Acts:
    """Write a new message and save it as a draft or send it."""
    yield hands.click(
        hands.find("New Message", "push button"), until=hands.showing("Subject", "entry", within="Write:*")
    )
    yield from _compose(hands, args)


class ReplyArgs(MessageArgs):
    body: str
    all: bool = False
    then: Literal["draft", "send"] = "draft"


@move("reply", ReplyArgs)
def reply(hands: Hands, args: ReplyArgs) -> Acts:
    """Open a message, reply to it, and save the reply as a draft or send it."""
    yield from message(hands, message_of(args))
    name = "Reply All" if args.all else "Reply"
    yield hands.click(hands.find(name, "push button"), until=hands.showing("Subject", "entry", within="Write:*"))
    # The cursor would stand below the quotation; the answer goes above it.
    yield from _compose(hands, WriteArgs(body=args.body.rstrip("\n") + "\n\n", then=args.then))


def _composer(hands: Hands) -> str | None:
    """The title of the window in which a message is being written."""
    window = hands.window("Write:*")
    return None if window is None else str(window.title)


def _compose(hands: Hands, args: WriteArgs) -> Acts:
    within = "Write:*"
    hands.wait(lambda: hands.look("Subject", "entry", within=within), "the window for writing does not open", 15)
    for name, people in (("To", args.to), ("Cc", args.cc), ("Bcc", args.bcc)):
        if not people:
            continue
        # The field is called "To", and "To with 2 addresses, ..." once there are some.
        field = hands.showing(f"{name}*", "entry", within=within)
        if not field():
            yield hands.click(hands.find(name, "push button", within=within), until=field)
        yield hands.click(hands.find(f"{name}*", "entry", within=within))
        for person in people:
            pill = hands.showing(f"*{_address(person)}*", "section", within=within)
            yield hands.type(person + ",", until=pill)
            hands.wait(pill, f"{person!r} does not become a recipient", 3.0)
    if args.subject is not None:
        yield from fill(hands, FillArgs(text=args.subject, field="Subject", within=within))
    if args.body is not None:
        yield hands.click(hands.find("Message body", "document web", within=within), fy=0.03)
        yield hands.key("ctrl+Home") + hands.type(args.body)
    for path in args.attach:
        yield from _attach(hands, path)
    yield from _finish(hands, args.then)


def _address(person: str) -> str:
    found = re.search(r"<([^>]+)>", person)
    return found[1] if found else person


def _attach(hands: Hands, path: str) -> Acts:
    title = "Attach File*"
    opened = partial(hands.window, title)
    yield hands.click(hands.find("Attach", "push button", within="Write:*"), fx=0.3, until=opened)
    hands.wait(opened, "the file chooser does not open")
    name = path.rsplit("/", 1)[-1]
    attached: Callable[[], bool] = lambda: hands.window(title) is None
    yield hands.type(f"/home/alex/{path[2:]}")
    yield hands.key("Return", until=attached)
    if not hands.becomes(attached, 1.0):
        yield hands.key("Return", until=attached)
    hands.wait(attached, f"the file chooser does not take {path}")
    hands.wait(
        lambda: hands.look(f"{name.rpartition('.')[0]}*", "list item", within="Write:*"), f"{path} is not attached"
    )


def _finish(hands: Hands, then: str) -> Acts:
    closed: Callable[[], bool] = lambda: _composer(hands) is None
    kept = "Unsent Messages" if then == "send" else "Drafts"
    before = stamps(hands, kept)
    written: Callable[[], bool] = lambda: stamps(hands, kept) != before
    if then == "send":
        yield hands.click(hands.find("Send Later", "push button", within="Write:*"), until=closed)
    else:
        yield hands.click(hands.find("Save", "push button", within="Write:*"), fx=0.3, until=written)
        yield hands.key("ctrl+w", until=closed)
    hands.wait(closed, "the window for writing stays open")
    hands.wait(written, f"nothing is written into the file {kept!r}")
