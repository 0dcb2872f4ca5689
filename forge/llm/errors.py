"""What can be wrong with an answer, told apart because the mends differ."""

from __future__ import annotations

from forge.records import ModelError


class RefusedError(ModelError):
    """The model, or a filter before it, refused to answer. Asking again is no use."""


class TruncatedError(ModelError):
    """The answer ended at the token limit before it was complete. A higher limit helps."""


class UnusableReplyError(ModelError):
    """The model answered, but not in the form that was asked for, also after being shown what was wrong."""


class EndpointDownError(ModelError):
    """The endpoint cannot be used now: it does not answer, refuses the key, or its quota is used up. Work can go on later."""
