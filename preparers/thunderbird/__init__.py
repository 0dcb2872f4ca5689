"""Thunderbird profiles: written from parameters, read back from their files, and drawn with plausible people and mails."""

from preparers.thunderbird import profile

__all__ = ["profile"]
