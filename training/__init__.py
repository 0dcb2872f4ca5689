"""Training: trajectories folded into turn examples, Parquet shards, and gradient steps. See docs/training.md.

Importing this package is cheap; torch and transformers are loaded at the first use of `train` or `compare`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Example": "training.example",
    "Manifest": "training.shards",
    "TrainReport": "training.sft",
    "compare": "training.sft",
    "export_turns": "training.export",
    "fold": "training.folding",
    "read_manifest": "training.shards",
    "read_shards": "training.shards",
    "split_of": "training.shards",
    "train": "training.sft",
    "write_shards": "training.shards",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'training' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
