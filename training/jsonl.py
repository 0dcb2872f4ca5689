"""The JSON-lines form of examples: one object a line, pictures as files beside it.

The objects have the columns of the Parquet form; `images` names files `images/SHA256.png` below the shards' folder, each picture
once however many turns show it, and `tools` is a list and no text. The file is ASCII, so that no character of a text ends a
line. Most trainers take such a file as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from forge.records import InputError, sha256_hex
from training.example import Example

_PICTURE = re.compile(r"images/([0-9a-f]{64})\.png")


def to_jsonl(examples: list[Example]) -> tuple[bytes, dict[str, bytes]]:
    """The lines of examples, and the pictures that they name by file name; equal examples give equal bytes."""
    pictures = {name_of(data): data for example in examples for data in example.images}
    rows = (
        {
            "messages": e.messages, "images": [name_of(data) for data in e.images], "tools": e.tools,
            "metadata": e.metadata,
        }
        for e in examples
    )  # fmt: skip
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    return text.encode("ascii"), pictures


def from_jsonl(data: bytes, picture: Callable[[str], bytes]) -> list[Example]:
    """The examples of a file, equal to those that were written.

    Args:
        data: the file.
        picture: gives a picture's bytes by its file name.

    Raises:
        InputError: a picture is not the one that was written, or its name leads elsewhere.
    """
    rows = [json.loads(line) for line in data.splitlines()]
    return [
        Example(
            row["messages"], tuple(_checked(name, picture) for name in row["images"]), row["tools"], row["metadata"]
        )
        for row in rows
    ]


def name_of(picture: bytes) -> str:
    """The file name of a picture."""
    return f"images/{sha256_hex(picture)}.png"


def _checked(name: Any, picture: Callable[[str], bytes]) -> bytes:
    if not (isinstance(name, str) and _PICTURE.fullmatch(name)):
        raise InputError(f"{name!r} is no picture of a shard", mend="write the shards again")
    data = picture(name)
    if name_of(data) != name:
        raise InputError("the picture is corrupt", file=name, mend="remove the folder and write the shards again")
    return data
