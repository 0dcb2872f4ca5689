"""Opening a workbook's bytes: what the suffix promises must be in them, and nothing may unpack without bound."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from forge.records import PreparerError

UNPACKED_LIMIT = 256 * 2**20
"""Bytes that all parts of a file may have together when unpacked."""

ENTRIES_LIMIT = 5_000
RATIO_LIMIT = 300
"""How much larger than packed a whole file of more than 8 MiB may be; office XML stays below 50."""


class Parts:
    """The parts of an office file (a zip of XML files), parsed on demand.

    Raises PreparerError naming the file and what is wrong with it: no zip, cut short, too large, a part missing or
    broken. All parts are unpacked once, so that damage is found wherever it is.
    """

    def __init__(self, data: bytes, name: str):
        self.name = name
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            what = "is empty" if not data else "is cut short" if data.startswith(b"PK\x03\x04") else "is no zip file"
            raise PreparerError(f"{name} {what} and no workbook: {error}") from None
        infos = self._archive.infolist()
        size = sum(info.file_size for info in infos)
        if size > UNPACKED_LIMIT or (size > 8 * 2**20 and size > RATIO_LIMIT * len(data)) or len(infos) > ENTRIES_LIMIT:
            raise PreparerError(
                f"{name} unpacks from {len(data)} to {size} bytes in {len(infos)} parts: no honest workbook"
            )
        self._infos = {info.filename: info for info in infos}
        for part in self._infos:
            self.read(part)

    def __contains__(self, part: str) -> bool:
        return part in self._infos

    @property
    def names(self) -> list[str]:
        """The names of all parts."""
        return list(self._infos)

    def read(self, part: str) -> bytes:
        """The bytes of a part."""
        if part not in self._infos:
            raise PreparerError(f"{self.name} has no part {part}: cut short, or no workbook of its suffix")
        try:
            return self._archive.read(self._infos[part])
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
            ValueError,
        ) as error:
            raise PreparerError(f"{self.name}: part {part} is damaged: {error}") from None

    def xml(self, part: str) -> Any:
        """The root element of an XML part (lxml)."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
        try:
            return etree.fromstring(self.read(part), parser)
        except etree.XMLSyntaxError as error:
            raise PreparerError(f"{self.name}: part {part} is broken XML: {error}") from None
