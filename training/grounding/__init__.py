"""Grounding data for other programs: export in the forms of two benchmarks, whole applications held out, and metrics."""

from training.grounding.export import FORMS, export_pairs
from training.grounding.files import read_predictions, read_rows
from training.grounding.metrics import Score, score

__all__ = ["FORMS", "Score", "export_pairs", "read_predictions", "read_rows", "score"]
