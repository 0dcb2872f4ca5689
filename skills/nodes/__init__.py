"""Kinds of nodes. Importing this package registers all of them in `skills.nodes.base.NODE_KINDS`."""

from skills.nodes import compute, llm, prepare, python, sample
from skills.nodes.base import NODE_KINDS, Node, NodeKind, Outcome, Source, Station, node_kind

__all__ = [
    "NODE_KINDS", "Node", "NodeKind", "Outcome", "Source", "Station", "compute", "llm", "node_kind", "prepare", "python",
    "sample",
]  # fmt: skip
