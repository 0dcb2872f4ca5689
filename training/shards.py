"""Shards: examples in Parquet files that any reader of Hugging Face data sets opens, with a manifest that vouches for them.

    FOLDER/manifest.json            what was asked for, by which code, and the hash of each file
    FOLDER/train-00000.parquet      columns messages, images, tools, metadata; one row a turn

or as JSON lines, `train-00000.jsonl`, with the pictures as files in `FOLDER/images` (see `training.jsonl`).

The folder appears whole or not at all. The same examples written by the same code give the same bytes, manifest
included. Splits go by workflow: all versions and all tasks of one skill's workflow lie in one split.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from forge.records import JSON, InputError, Record, digest, sha256_hex
from training.example import Example
from training.jsonl import from_jsonl, to_jsonl
from training.parquet import from_parquet, to_parquet

SPLITS = {"train": 90, "validation": 5, "test": 5}
"""Split to its share of workflows, in percent."""

KEY = ("task", "harness", "teacher", "attempt", "turn")
"""What makes an example unique."""

ROWS = 256
"""Rows of a shard."""


Format = Literal["parquet", "jsonl"]


class Shard(Record):
    """One file of examples."""

    file: str = Field(pattern=r"^[a-z]+-\d{5}\.(parquet|jsonl)$")
    split: str
    rows: int = Field(ge=1)
    bytes: int
    sha256: str


class Manifest(Record):
    """What a folder of shards holds and how it came about. It has no time stamp, so equal content is equal text."""

    format: str = "forge-shards-1"
    query: dict[str, JSON] = Field(default_factory=dict, description="the selection that the examples come from")
    code: str = Field(description="hash of the code that folded and wrote")
    versions: dict[str, str] = Field(description="of the distribution and of pyarrow")
    counts: dict[str, dict[str, int]] = Field(
        description="split to its examples, images, tasks, workflows, trajectories"
    )
    shards: tuple[Shard, ...]


def split_of(skill: str, salt: str = "forge") -> str:
    """The split that a workflow belongs to, by the skill it was authored for.

    A mended workflow has a new version but the same skill, so that no version of a training task is ever tested on.
    """
    place = int(digest([salt, skill])[:8], 16) % 100
    for split, share in SPLITS.items():
        if place < share:
            return split
        place -= share
    raise AssertionError("the shares of the splits sum to 100")


def code_version() -> str:
    """Hash of the sources that decide what an example looks like: this package and the harness's prompt builder."""
    hasher = hashlib.sha256()
    for package in ("forge.harness", "forge.harness.dialects", "training"):
        for source in sorted(resources.files(package).iterdir(), key=lambda item: item.name):
            if source.name.endswith((".py", ".jinja")):
                hasher.update(f"{package}/{source.name}\0".encode() + source.read_bytes())
    return hasher.hexdigest()


def write_shards(
    examples: Iterable[Example],
    folder: Path,
    *,
    query: dict[str, JSON] | None = None,
    format: Format = "parquet",
) -> Manifest:
    """Write examples, in the order given, into a new folder.

    Args:
        examples: may be lazy; only one shard a split is held in memory.
        folder: must not exist, or be what the same call has written before.
        query: what the examples were selected by, for the manifest.
        format: Parquet, or JSON lines with pictures beside them.

    Raises:
        InputError: there are no examples, one occurs twice, or the folder holds something else.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        manifest = _write(examples, work, query or {}, format)
        if folder.exists():
            if _is_written(folder, manifest):
                return manifest
            raise InputError(
                f"{folder} exists and holds something else", mend="choose a new folder, or remove that one"
            )
        work.chmod(0o755)
        work.rename(folder)
        _sync(folder.parent)
        return manifest
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder. Raises InputError when there is none or it cannot be read."""
    path = Path(folder) / "manifest.json"
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder} holds no shards: manifest.json is missing", mend="write_shards makes it") from None
    except (ValidationError, ValueError) as error:
        raise InputError(f"the manifest is corrupt: {error}", file=path, mend="write the shards again") from None


def read_shards(folder: Path, split: str | None = None) -> list[Example]:
    """Read examples back, in the order they were written.

    Args:
        split: only this split; None reads all.

    Raises:
        InputError: a file is missing or is not what the manifest says, or there is no example in the split.
    """
    folder = Path(folder)
    shards = [shard for shard in read_manifest(folder).shards if split in (None, shard.split)]
    if not shards:
        raise InputError(
            f"{folder} has no example in split {split!r}", mend="splits go by workflow; write more of them"
        )
    return [example for shard in shards for example in _examples(folder, shard)]


def _examples(folder: Path, shard: Shard) -> list[Example]:
    data = _bytes(folder, shard)
    if shard.file.endswith(".parquet"):
        return from_parquet(data)
    return from_jsonl(data, lambda name: _read(folder / name, "picture"))


def _bytes(folder: Path, shard: Shard) -> bytes:
    path = folder / shard.file
    data = _read(path, "shard")
    if sha256_hex(data) != shard.sha256:
        raise InputError(
            f"shard is corrupt: {len(data)} bytes with hash {sha256_hex(data)[:12]}, "
            f"the manifest says {shard.bytes} bytes with hash {shard.sha256[:12]}",
            file=path,
            mend="remove the folder and write the shards again",
        )
    return data


def _read(path: Path, noun: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{noun} cannot be read: {error.strerror}", file=path, mend="write the shards again") from None


def _write(examples: Iterable[Example], work: Path, query: dict[str, JSON], format: Format) -> Manifest:
    waiting: dict[str, list[Example]] = {split: [] for split in SPLITS}
    shards: list[Shard] = []
    seen: set[tuple[Any, ...]] = set()
    tally = _Tally()

    def flush(split: str) -> None:
        if waiting[split]:
            number = sum(shard.split == split for shard in shards)
            shards.append(_write_shard(work, f"{split}-{number:05d}.{format}", split, waiting[split]))
            waiting[split] = []

    for example in examples:
        key = tuple(example.metadata[name] for name in KEY)
        if key in seen:
            raise InputError(f"example occurs twice: {dict(zip(KEY, key, strict=True))}")
        seen.add(key)
        split = split_of(example.metadata["skill"])
        tally.add(split, example)
        waiting[split].append(example)
        if len(waiting[split]) == ROWS:
            flush(split)
    for split in SPLITS:
        flush(split)
    if not shards:
        raise InputError("the selection is empty: no examples to write", mend="loosen the query, or roll out first")
    shards.sort(key=lambda shard: (list(SPLITS).index(shard.split), shard.file))
    manifest = Manifest(
        query=query,
        code=code_version(),
        versions={"mage-cua-forge": version("mage-cua-forge"), "pyarrow": version("pyarrow")},
        counts=tally.counts(),
        shards=tuple(shards),
    )
    text = json.dumps(json.loads(manifest.canonical()), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    _put(work / "manifest.json", text.encode())
    _sync(work)
    return manifest


def _write_shard(work: Path, name: str, split: str, examples: list[Example]) -> Shard:
    if name.endswith(".parquet"):
        data = to_parquet(examples)
    else:
        data, pictures = to_jsonl(examples)
        (work / "images").mkdir(exist_ok=True)
        for picture, content in pictures.items():
            if not (work / picture).exists():  # an earlier shard shows it too
                _put(work / picture, content)
        _sync(work / "images")
    _put(work / name, data)
    return Shard(file=name, split=split, rows=len(examples), bytes=len(data), sha256=sha256_hex(data))


class _Tally:
    """Counts of examples, pictures, tasks, workflows and trajectories, split by split."""

    def __init__(self) -> None:
        self.numbers: dict[str, Counter[str]] = {}
        self.names: dict[str, dict[str, set[Any]]] = {}

    def add(self, split: str, example: Example) -> None:
        data = example.metadata
        self.numbers.setdefault(split, Counter()).update(examples=1, images=len(example.images))
        names = self.names.setdefault(split, {"tasks": set(), "workflows": set(), "trajectories": set()})
        names["tasks"].add(data["task"])
        names["workflows"].add(data["workflow"])
        names["trajectories"].add(tuple(data[name] for name in KEY[:-1]))

    def counts(self) -> dict[str, dict[str, int]]:
        return {
            split: {**numbers, **{name: len(found) for name, found in self.names[split].items()}}
            for split, numbers in self.numbers.items()
        }


def _is_written(folder: Path, manifest: Manifest) -> bool:
    try:
        return read_manifest(folder) == manifest and all(_examples(folder, shard) for shard in manifest.shards)
    except InputError:
        return False


def _put(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
