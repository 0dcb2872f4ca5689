"""What all mail checks share: the profile of a case, read before and after, and the kit that spoils it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from forge.harness.layers.mail.python import mailkit
from preparers.thunderbird.layout import PROFILE
from preparers.thunderbird.reading import ReadMail, ReadProfile
from verifiers.base import Args, Tree


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One word or several; a single string stands for itself."""


class MailArgs(Args):
    """Base of the mail checks' arguments. Folders are written `Inbox`, `Projects/Apollo`, `Local Folders/Notes`."""

    profile: str = PROFILE


def opened(tree: Tree, args: MailArgs, *parts: str) -> ReadProfile:
    """The profile in `tree` with these parts of it read: folders, contacts, filters, ... (see `ReadProfile`).

    Raises:
        AgentFault, PreparerError: a part cannot be read, by whose tree it is.
    """
    with tree.reading(args.profile) as root:
        profile = ReadProfile(root, args.profile)
        _ = profile.accounts
        for part in parts:
            getattr(profile, part)
        return profile


def kit(home: Path, args: MailArgs) -> mailkit.Profile:
    """The profile below `home`, to be changed."""
    return mailkit.Profile(home / args.profile.removeprefix("~/"))


def by_id(mails: Sequence[ReadMail], wanted: str) -> list[ReadMail]:
    """The copies of a message among `mails`."""
    return [mail for mail in mails if mail.id == wanted.strip("<>")]


def named(profile: ReadProfile, wanted: str) -> str:
    """A message for people: its subject, or its id where it is not in the profile."""
    found = by_id(profile.messages, wanted)
    return repr(found[0].subject) if found else f"message <{wanted}>"


def tag_keys(profile: ReadProfile, tags: Sequence[str]) -> set[str]:
    """Keys of tags given by key or by the name that Thunderbird shows."""
    names = mailkit.TAGS | {name: key for key, (name, _) in profile.own_tags.items()}
    return {names.get(tag, tag) for tag in tags}
