"""The Parquet form of examples: four columns that any reader of Hugging Face data sets understands.

`messages` is a list of structs and the last one is the turn to learn, `images` holds PNG bytes (shown as pictures by
`datasets`), `tools` is JSON text because tools differ in shape, `metadata` is a struct to filter by.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forge.records import InputError, sha256_hex
from training.example import Example, Message

METADATA = {
    "task": pa.string(),
    "skill": pa.string(),
    "workflow": pa.string(),
    "harness": pa.string(),
    "channel": pa.string(),
    "teacher": pa.string(),
    "provenance": pa.string(),
    "attempt": pa.int32(),
    "turn": pa.int32(),
    "turns": pa.int32(),
    "reward": pa.float64(),
}
"""Columns of `metadata`: digests name task, workflow version and harness; `turn` counts from 0 within `turns`."""

_FUNCTION = pa.struct({"name": pa.string(), "arguments": pa.string()})
_CALL = pa.struct({"id": pa.string(), "type": pa.string(), "function": _FUNCTION})
_PART = pa.struct({"type": pa.string(), "text": pa.string()})
_MESSAGE = pa.struct(
    {
        "role": pa.string(),
        "content": pa.list_(_PART),
        "tool_calls": pa.list_(_CALL),
        "tool_call_id": pa.string(),
    }
)
_IMAGE = pa.struct({"bytes": pa.binary(), "path": pa.string()})
SCHEMA = pa.schema(
    {"messages": pa.list_(_MESSAGE), "images": pa.list_(_IMAGE), "tools": pa.string(), "metadata": pa.struct(METADATA)}
)
"""One row a turn. `tools` is JSON text, since tools differ in shape; the last message is the one to train."""


def to_parquet(examples: list[Example]) -> bytes:
    """A Parquet file of examples; equal examples give equal bytes with the same pyarrow."""
    hint = json.dumps({"info": {"features": {field.name: _feature(field.type) for field in SCHEMA}}}, sort_keys=True)
    table = pa.Table.from_pylist([_row(e) for e in examples], schema=SCHEMA.with_metadata({"huggingface": hint}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=64)
    return bytes(sink.getvalue().to_pybytes())


def from_parquet(data: bytes) -> list[Example]:
    """The examples of a Parquet file, equal to those that were written."""
    return [_example(row) for row in pq.read_table(pa.BufferReader(data)).to_pylist()]


def _row(example: Example) -> dict[str, Any]:
    return {
        "messages": [_checked(message) for message in example.messages],
        "images": [{"bytes": data, "path": f"{sha256_hex(data)}.png"} for data in example.images],
        "tools": json.dumps(example.tools, ensure_ascii=False),
        "metadata": example.metadata,
    }


def _example(row: dict[str, Any]) -> Example:
    return Example(
        messages=[_without_nulls(message) for message in row["messages"]],
        images=tuple(image["bytes"] for image in row["images"]),
        tools=json.loads(row["tools"]),
        metadata=row["metadata"],
    )


def _checked(message: Message) -> Message:
    """Refuse what the columns would drop without a word."""
    known = {field.name for field in _MESSAGE}
    if unknown := message.keys() - known:
        raise InputError(f"a message has {', '.join(sorted(unknown))}, which shards have no column for")
    return message


def _without_nulls(value: Any) -> Any:
    """A struct as it was before Parquet filled the absent keys with nulls."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """A column's type as the `datasets` library writes it; a struct of bytes and path is a picture."""
    if kind == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return {"dtype": {"double": "float64"}.get(str(kind), str(kind)), "_type": "Value"}
