"""Checks of what a Thunderbird profile holds: where messages are, how they are marked, filters, contacts, drafts."""

from verifiers.mail import contacts, elsewhere, filters, messages, writing

__all__ = ["contacts", "elsewhere", "filters", "messages", "writing"]
