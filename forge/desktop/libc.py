"""The C library of this process, for calls that Python lacks."""

from __future__ import annotations

import ctypes
import functools


@functools.cache
def libc() -> ctypes.CDLL:
    """Loaded at its first use; `ctypes.get_errno()` says what a call that failed met."""
    return ctypes.CDLL(None, use_errno=True)
