"""Moves for the documents of LibreOffice's programs: saving under another name or form, exporting."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file
from forge.harness.moves.general import MenuArgs, PickArgs, PressArgs, menu, pick, press
from forge.harness.moves.hands import Hands

KINDS = {
    ".odt": "ODF Text Document (.odt)",
    ".fodt": "Flat XML ODF Text Document (.fodt)",
    ".ott": "ODF Text Document Template (.ott)",
    ".docx": "Word 2007*365 (.docx)",
    ".doc": "Word 97*2003 (.doc)",
    ".rtf": "Rich Text (.rtf)",
    ".txt": "Text (.txt)",
    ".ods": "ODF Spreadsheet (.ods)",
    ".xlsx": "Excel 2007*365 (.xlsx)",
    ".xls": "Excel 97*2003 (.xls)",
    ".odp": "ODF Presentation (.odp)",
    ".otp": "ODF Presentation Template (.otp)",
    ".pptx": "PowerPoint 2007*365 (.pptx)",
    ".ppt": "PowerPoint 97*2003 (.ppt)",
}
"""Suffix to what the list of forms calls it; only what is saved without a further question."""


class SaveAsArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="the new file; its suffix says its form: ~/Documents/report.odt")


@move("save_as", SaveAsArgs)
def save_as(hands: Hands, args: SaveAsArgs) -> Acts:
    """Save a LibreOffice document under another name or in another form."""
    suffix = Path(args.path).suffix.lower()
    if suffix not in KINDS:
        raise MoveError(f"{args.path!r} has a form that cannot be chosen", mend=f"forms are {', '.join(KINDS)}")
    dialog = "Save as"
    document = next((w.title for w in hands.slot.windows() if w.active), "")
    opened = partial(hands.window, dialog)
    yield hands.key("ctrl+shift+s", until=opened)
    if not hands.becomes(opened, 3.0):
        yield from menu(hands, MenuArgs(path=("File", "Save As..."), opens=dialog))
    if suffix not in document.lower().partition(" - ")[0]:
        yield from pick(hands, PickArgs(choice=KINDS[suffix], field="File type", within=dialog))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog, writes=True))


class ExportPdfArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/.*\.pdf$", description="the file: ~/Documents/report.pdf")


@move("export_pdf", ExportPdfArgs)
def export_pdf(hands: Hands, args: ExportPdfArgs) -> Acts:
    """Export a LibreOffice document as PDF through the menu File > Export As, with the options as they stand."""
    options, dialog = "PDF Options", "Export"
    yield from menu(hands, MenuArgs(path=("File", "Export As", "Export as PDF..."), opens=options))
    yield from press(hands, PressArgs(button="Export", dialog=options))
    hands.wait(partial(hands.window, dialog), f"no window {dialog!r} appeared")
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog, writes=True))
