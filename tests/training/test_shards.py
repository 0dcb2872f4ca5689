"""Shards: Parquet that others can read, a manifest that vouches for it, and nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.records import InputError, sha256_hex
from training import fold, read_manifest, read_shards, split_of, write_shards
from training.example import Example
from training.jsonl import from_jsonl, name_of, to_jsonl
from training.lights import HARNESS, Blobs, episode
from training.parquet import METADATA, from_parquet, to_parquet
from training.shards import SPLITS


def plain(value: Any) -> Any:
    """What pandas gives as dicts, lists and values, without the nulls of absent keys."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_what_pandas_reads_is_what_was_folded(shards: Path, examples: list[Example]) -> None:
    frame = pd.concat([pd.read_parquet(path) for path in sorted(shards.glob("*.parquet"))])
    assert list(frame.columns) == ["messages", "images", "tools", "metadata"]
    assert [plain(row) for row in frame["messages"]] == [e.messages for e in examples]
    assert [tuple(image["bytes"] for image in row) for row in frame["images"]] == [e.images for e in examples]
    assert [image["path"] for image in frame["images"].iloc[0]] == [f"{sha256_hex(examples[0].images[0])}.png"]
    assert [json.loads(text) for text in frame["tools"]] == [e.tools for e in examples]
    assert [plain(row) for row in frame["metadata"]] == [e.metadata for e in examples]


def test_reading_gives_equal_examples(shards: Path, examples: list[Example]) -> None:
    assert read_shards(shards) == examples
    assert read_shards(shards, "train") == examples


def test_the_datasets_library_is_told_that_images_are_pictures(shards: Path) -> None:
    features = json.loads(pq.read_schema(shards / "train-00000.parquet").metadata[b"huggingface"])["info"]["features"]
    assert features["images"] == {"_type": "List", "feature": {"_type": "Image"}}
    assert features["metadata"]["reward"] == {"_type": "Value", "dtype": "float64"}
    assert features["messages"]["feature"]["role"] == {"_type": "Value", "dtype": "string"}


def test_the_manifest_counts_and_hashes(shards: Path) -> None:
    manifest = read_manifest(shards)
    (shard,) = manifest.shards
    data = (shards / shard.file).read_bytes()
    assert (shard.file, shard.split, shard.rows) == ("train-00000.parquet", "train", 48)
    assert (shard.bytes, shard.sha256) == (len(data), sha256_hex(data))
    assert manifest.query == {"skill": "lights"}
    assert manifest.counts == {"train": {"examples": 48, "images": 72, "tasks": 24, "trajectories": 24, "workflows": 1}}


def test_equal_examples_give_equal_bytes(shards: Path, examples: list[Example], tmp_path: Path) -> None:
    write_shards(iter(examples), tmp_path / "again", query={"skill": "lights"})
    names = sorted(path.name for path in shards.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    assert all((shards / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in names)


def test_writing_again_changes_nothing_and_other_content_is_refused(examples: list[Example], tmp_path: Path) -> None:
    first = write_shards(examples[:4], tmp_path / "shards")
    assert write_shards(examples[:4], tmp_path / "shards") == first
    with pytest.raises(InputError, match="exists and holds something else"):
        write_shards(examples[:5], tmp_path / "shards")
    assert read_shards(tmp_path / "shards") == examples[:4]
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]


def test_a_fault_while_writing_leaves_nothing(examples: list[Example], tmp_path: Path) -> None:
    def failing() -> Iterator[Example]:
        yield from examples[:3]
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_shards(failing(), tmp_path / "shards")
    assert list(tmp_path.iterdir()) == []


def test_a_selection_is_cut_into_several_shards(
    examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.shards.ROWS", 20)
    manifest = write_shards(examples, tmp_path / "shards")
    assert [(shard.file, shard.rows) for shard in manifest.shards] == [
        ("train-00000.parquet", 20), ("train-00001.parquet", 20), ("train-00002.parquet", 8),
    ]  # fmt: skip
    assert read_shards(tmp_path / "shards") == examples


def test_a_workflow_lies_in_one_split_whatever_its_version(blobs: Blobs, tmp_path: Path) -> None:
    skills = {
        split: next(s for n in range(999) if split_of(s := f"lights.click.follow-{n}") == split) for split in SPLITS
    }
    played = [episode(number, blobs, skill=skill) for skill in skills.values() for number in range(3)]
    made = [e for trajectory, task in played for e in fold(trajectory, task, HARNESS, blobs.__getitem__)]
    mended = [Example(e.messages, e.images, e.tools, {**e.metadata, "workflow": "f" * 64, "task": "x" + e.metadata["task"][1:]})
              for e in made]  # fmt: skip
    write_shards([*made, *mended], tmp_path / "shards")
    for split, skill in skills.items():
        rows = read_shards(tmp_path / "shards", split)
        assert {e.metadata["skill"] for e in rows} == {skill}
        assert len(rows) == 12


def test_splits_are_fixed_for_ever_and_have_their_shares() -> None:
    skills = [f"calc.area.verb-object{number}" for number in range(4000)]
    found = [split_of(skill) for skill in skills]
    assert {split: found.index(split) for split in SPLITS} == {"train": 0, "validation": 45, "test": 21}
    assert {split: round(100 * found.count(split) / 4000) for split in SPLITS} == pytest.approx(SPLITS, abs=1)


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: data[:500] + bytes([data[500] ^ 1]) + data[501:], lambda data: b""]
)
def test_a_corrupt_shard_is_named(shards: Path, tmp_path: Path, spoil: Any) -> None:
    for path in shards.iterdir():
        data = path.read_bytes()
        (tmp_path / path.name).write_bytes(spoil(data) if path.suffix == ".parquet" else data)
    with pytest.raises(InputError, match=r"train-00000\.parquet: shard is corrupt: \d+ bytes with hash"):
        read_shards(tmp_path)


def test_a_missing_shard_and_a_corrupt_manifest_are_named(shards: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no shards: manifest\.json is missing"):
        read_shards(tmp_path)
    (tmp_path / "manifest.json").write_bytes((shards / "manifest.json").read_bytes())
    with pytest.raises(InputError, match=r"train-00000\.parquet: shard cannot be read: No such file"):
        read_shards(tmp_path)
    (tmp_path / "manifest.json").write_text('{"code": 3}')
    with pytest.raises(InputError, match=r"manifest\.json: the manifest is corrupt"):
        read_shards(tmp_path)


def test_a_manifest_cannot_lead_out_of_its_folder(shards: Path, tmp_path: Path) -> None:
    text = (shards / "manifest.json").read_text().replace("train-00000.parquet", "../train-00000.parquet")
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="the manifest is corrupt"):
        read_shards(tmp_path)


def test_a_picture_that_is_not_the_one_written_is_named(examples: list[Example], tmp_path: Path) -> None:
    write_shards(examples[:2], tmp_path / "shards", format="jsonl")
    picture = tmp_path / "shards" / name_of(examples[0].images[0])
    data = picture.read_bytes()
    picture.write_bytes(data[:-1])
    with pytest.raises(InputError, match=f"{picture.name}: the picture is corrupt"):
        read_shards(tmp_path / "shards")
    picture.unlink()
    with pytest.raises(InputError, match=f"{picture.name}: picture cannot be read: No such file"):
        read_shards(tmp_path / "shards")
    lines, _ = to_jsonl(examples[:1])
    with pytest.raises(InputError, match="is no picture of a shard"):
        from_jsonl(lines.replace(b"images/", b"images/../"), lambda name: data)


def test_an_empty_selection_is_refused(tmp_path: Path, shards: Path) -> None:
    with pytest.raises(InputError, match="the selection is empty"):
        write_shards([], tmp_path / "shards")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="has no example in split 'test'"):
        read_shards(shards, "test")


def test_an_example_that_occurs_twice_is_refused(examples: list[Example], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"example occurs twice: .*'turn': 0"):
        write_shards([*examples, examples[0]], tmp_path / "shards")


def test_a_message_field_without_a_column_is_refused(examples: list[Example]) -> None:
    odd = Example([{**examples[0].messages[0], "name": "x"}], (), [], examples[0].metadata)
    with pytest.raises(InputError, match="a message has name"):
        to_parquet([odd])


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
parts = st.lists(
    st.one_of(st.builds(lambda t: {"type": "text", "text": t}, text), st.just({"type": "image"})), max_size=3
)
calls = st.lists(
    st.builds(lambda i, n, a: {"id": i, "type": "function", "function": {"name": n, "arguments": a}}, text, text, text),
    min_size=1, max_size=2,
)  # fmt: skip
messages = st.one_of(
    st.builds(lambda r, c: {"role": r, "content": c}, st.sampled_from(["system", "user"]), parts),
    st.builds(lambda c, t: {"role": "assistant", "content": c, "tool_calls": t}, parts, calls),
    st.builds(lambda i, c: {"role": "tool", "tool_call_id": i, "content": c}, text, parts),
)
metadata = st.just(dict.fromkeys(METADATA, None) | {"task": "t", "turn": 0, "reward": 0.5})


@settings(max_examples=40, deadline=None)
@given(st.builds(Example, st.lists(messages, max_size=4), st.lists(st.binary(max_size=9)).map(tuple),
                 st.lists(st.dictionaries(text, text, max_size=2), max_size=2), metadata))  # fmt: skip
def test_any_example_survives_both_forms(example: Example) -> None:
    assert from_parquet(to_parquet([example])) == [example]
    lines, pictures = to_jsonl([example])
    assert from_jsonl(lines, pictures.__getitem__) == [example]
