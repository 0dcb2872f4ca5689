"""Moves: how things are done in windows, by name in `MOVES`; the oracle plays them as canonical actions."""

from forge.harness.moves import calc as _calc  # noqa: F401  (registers)
from forge.harness.moves import choosers as _choosers  # noqa: F401
from forge.harness.moves import chromium as _chromium  # noqa: F401
from forge.harness.moves import chromium_profile as _chromium_profile  # noqa: F401
from forge.harness.moves import documents as _documents  # noqa: F401
from forge.harness.moves import editor as _editor  # noqa: F401
from forge.harness.moves import files as _files  # noqa: F401
from forge.harness.moves import files_items as _files_items  # noqa: F401
from forge.harness.moves import general as _general  # noqa: F401
from forge.harness.moves import gimp as _gimp  # noqa: F401
from forge.harness.moves import impress as _impress  # noqa: F401
from forge.harness.moves import lists as _lists  # noqa: F401
from forge.harness.moves import switching as _switching  # noqa: F401
from forge.harness.moves import terminal as _terminal  # noqa: F401
from forge.harness.moves import thunderbird as _thunderbird  # noqa: F401
from forge.harness.moves import values as _values  # noqa: F401
from forge.harness.moves import vlc as _vlc  # noqa: F401
from forge.harness.moves import waiting as _waiting  # noqa: F401
from forge.harness.moves import writer as _writer  # noqa: F401
from forge.harness.moves.base import MOVES, Act, Acts, Move, MoveArgs, MoveError, move

__all__ = ["MOVES", "Act", "Acts", "Move", "MoveArgs", "MoveError", "move"]
