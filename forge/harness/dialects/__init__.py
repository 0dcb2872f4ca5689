"""Dialects: the wire forms that models speak, one file each, by name in `DIALECTS`."""

from forge.harness.dialects import forge as _forge  # noqa: F401  (registers)
from forge.harness.dialects.base import COMPUTER_ACTIONS, DIALECTS, Call, CallError, Dialect, dialect

__all__ = ["COMPUTER_ACTIONS", "DIALECTS", "Call", "CallError", "Dialect", "dialect"]
