"""An environment over a virtual machine that speaks OSWorld's guest protocol: our harnesses and teachers play there."""

from __future__ import annotations

from collections.abc import Callable

from forge.desktop.acting import OUTPUT_LIMIT
from forge.desktop.osworld.client import OSWorldSlot
from forge.harness.environment import SlotEnvironment
from forge.records import Guest


class OSWorldEnvironment(SlotEnvironment):
    """The environment of one machine; `close` hangs up, the machine goes on.

    Args:
        url: of its guest server, "http://host:5000".
        put_blob: stores a screenshot's PNG and returns its SHA-256.
        home: the home's path there.
        guest: its clock, zone and locale, for the record.
        output_limit: bytes of a command's output that are kept in the trajectory.

    Raises:
        DesktopError: nothing that speaks the protocol answers there.
    """

    slot: OSWorldSlot

    def __init__(
        self,
        url: str,
        put_blob: Callable[[bytes], str],
        *,
        home: str = "/home/user",
        guest: Guest | None = None,
        output_limit: int = OUTPUT_LIMIT,
    ):
        super().__init__(OSWorldSlot(url, home=home, guest=guest), put_blob, output_limit=output_limit)

    def close(self) -> None:
        super().close()
        self.slot.close()
