"""Where a profile's folders lie: the account labels and folder paths of the parameters as files and URIs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from forge.harness.layers.mail.python.mailkit.formats import folder_uri
from preparers.thunderbird.params import LOCAL, ProfileParams

PROFILE = "~/.thunderbird/alex.default"
"""The profile's folder in the guest."""

OWN_FOLDERS = ("Inbox", "Drafts", "Templates", "Sent", "Archives", "Junk", "Trash")
"""The folders that every mail account has."""

LOCAL_FOLDERS = ("Trash", "Unsent Messages")
"""The folders that `Local Folders` has; the outbox is `Unsent Messages`."""


@dataclass(frozen=True)
class Store:
    """An account's store: its label, its folder below the profile, and the prefix of its folders' URIs."""

    label: str
    directory: str
    host: str
    user: str

    @property
    def uri(self) -> str:
        return f"mailbox://{quote(self.user, safe='')}@{quote(self.host, safe='')}"


def stores(params: ProfileParams) -> list[Store]:
    """The accounts' stores in the order of the folder pane; `Local Folders` is last."""
    found: list[Store] = []
    for account in params.accounts:
        host = "pop." + account.address.partition("@")[2].lower()
        taken = [s.host for s in found]
        directory = host if host not in taken else f"{host}-{taken.count(host)}"
        found.append(Store(account.title, f"Mail/{directory}", host, account.address))
    return [*found, Store(LOCAL, f"Mail/{LOCAL}", LOCAL, "nobody")]


def split_path(path: str, known: list[Store]) -> tuple[int, list[str]]:
    """(index of the account, names from the top) of a folder path; the first account where no label stands before."""
    head, _, rest = path.partition("/")
    for index, store in enumerate(known):
        if rest and store.label == head:
            return index, rest.split("/")
    return 0, path.split("/")


def join_path(index: int, parts: list[str], known: list[Store]) -> str:
    """The inverse of `split_path`."""
    return "/".join(parts if index == 0 else [known[index].label, *parts])


def folder_path(path: str, known: list[Store]) -> str:
    """The mbox file of a folder, relative to the profile: `Mail/pop.example.com/Projects.sbd/Apollo`."""
    index, parts = split_path(path, known)
    return str(PurePosixPath(known[index].directory, *(part + ".sbd" for part in parts[:-1]), parts[-1]))


def uri(path: str, known: list[Store]) -> str:
    """The URI of a folder: `mailbox://alex%40example.com@pop.example.com/Projects/Apollo`."""
    index, parts = split_path(path, known)
    return folder_uri(known[index].uri, parts)


def all_folders(params: ProfileParams) -> list[str]:
    """Every folder of the profile, parents included, in canonical order: account by account, sorted by name."""
    known = stores(params)
    found: set[tuple[int, tuple[str, ...]]] = set()
    for index in range(len(params.accounts)):
        found |= {(index, (name,)) for name in OWN_FOLDERS}
    found |= {(len(params.accounts), (name,)) for name in LOCAL_FOLDERS}
    for path in [folder.path for folder in params.folders] + [params.open]:
        index, parts = split_path(path, known)
        found |= {(index, tuple(parts[: n + 1])) for n in range(len(parts))}
    return [join_path(index, list(parts), known) for index, parts in sorted(found)]
