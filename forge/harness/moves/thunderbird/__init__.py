"""Moves for Thunderbird."""

from forge.harness.moves.thunderbird import attachments, contacts, filters, folders, messages, writing  # noqa: F401
