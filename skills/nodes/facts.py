"""What is known of the facts of our preparers before they run, so that a misspelt `${book.mian}` is found on reading.

A preparer of another distribution may say the same of itself by a class attribute `gives`. A record with `...` may hold
more than is named, or has keys that only the parameters know.
"""

from __future__ import annotations

from typing import Any

from preparers.base import Preparer
from skills.language.shapes import Shape, shape

_COLUMN = {
    "letter": "text", "header": "text", "type": "text", "decimals": "number", "symbol": "text", "range": "text",
    "absolute": "text", "qualified": "text", "first": "text", "last": "text", "below": "text", "formula": "bool",
}  # fmt: skip
_TABLE = {
    "range": "text", "header": "text", "data": "text", "first": "number", "last": "number", "rows": "number",
    "left": "text", "right": "text", "after": "text", "below": "number", "total_row": "any",
}  # fmt: skip
_SHEET = {
    "name": "text", "index": "number", "prefix": "text", "hidden": "bool", "used": "any", "next_row": "number",
    "freeze": ["number"], "filter": "text", "notes": {"...": "any"}, "merged": ["text"], "conditional": "number",
    "validation": "number", "pictures": "number", "hidden_rows": ["number"], "hidden_columns": ["text"], "content": "text",
    "table": "any", "columns": {"...": "any"}, "order": ["text"], "totals": {"...": "any"}, "formulas": {"...": "any"},
}  # fmt: skip
_MESSAGE = {
    "id": "text", "folder": "text", "from": "text", "from_name": "text", "from_address": "text", "to": ["text"],
    "cc": ["text"], "subject": "text", "date": "text", "answers": "text", "read": "bool", "starred": "bool",
    "replied": "bool", "forwarded": "bool", "tags": ["text"], "body": "text",
    "attachments": [{"name": "text", "size": "number", "sha256": "text", "type": "text"}],
}  # fmt: skip
_FILE = {
    "path": "text", "name": "text", "stem": "text", "suffix": "text", "folder": "text", "mode": "text", "kind": "text",
    "size": "number", "...": "any",
}  # fmt: skip

FACTS: dict[str, Any] = {
    "calc.workbook": {
        "path": "text", "name": "text", "stem": "text", "suffix": "text", "sheet_names": ["text"], "sheets": [_SHEET],
        "main": _SHEET, "charts": [{"sheet": "text", "kind": "text", "title": "text", "at": "text", "series": "number"}],
        "chart_count": "number", "names": {"...": "any"},
    },
    "thunderbird.profile": {
        "profile": "text", "account": "text", "address": "text", "name": "text",
        "accounts": [{"label": "text", "address": "text", "name": "text"}],
        "folders": [{"path": "text", "count": "number", "unread": "number"}], "messages": [_MESSAGE],
        "contacts": [{"name": "text", "email": "text", "...": "any"}],
        "lists": [{"name": "text", "nickname": "text", "description": "text", "members": ["text"]}],
        "filters": [{
            "name": "text", "enabled": "bool", "match": "text", "conditions": [["text"]], "actions": [["text"]],
            "account": "text",
        }],
        "tags": [{"key": "text", "name": "text", "color": "text"}],
    },
    "files.tree": {
        "root": "text", "files": [_FILE], "folders": ["text"], "empty_folders": ["text"], "suffixes": {"...": "any"},
        "count": "number",
    },
    "files.document": {
        "path": "text", "name": "text", "suffix": "text", "mode": "text", "sha256": "text", "kind": "text",
        "size": "number", "...": "any",
    },
}  # fmt: skip
"""Preparer to the shape of its facts, in the notation of `skills.language.shapes`."""

PARTS: dict[str, dict[str, Any]] = {
    "calc.workbook": {
        "sheets[].columns['NAME']": _COLUMN,
        "sheets[].table": _TABLE,
        "sheets[].totals['NAME']": {"cell": "text", "formula": "text", "value": "any"},
        "sheets[].formulas['B7']": {"formula": "text", "value": "any"},
    },
    "files.tree": {
        "files[] of kind text": {"lines": "number", "words": "number", "sha256": "text"},
        "of kind csv": {"header": ["text"], "rows": [["text"]], "columns": "number", "delimiter": "text"},
        "of kind json": {"value": "any"},
        "of kind ini": {"sections": {"...": "any"}},
        "of kind image": {"width": "number", "height": "number", "format": "text"},
        "of kind docx": {"paragraphs": [{"text": "text", "style": "text"}], "table": [["text"]]},
        "of kind pptx": {"slides": [{"title": "text", "bullets": ["text"]}]},
        "of kind archive": {"format": "text", "members": {"...": "any"}},
        "of kind binary": {"sha256": "text"},
    },
}
"""Preparer to records inside its facts whose place or presence only the parameters know; for the catalogue."""


def facts_of(preparer: Preparer[Any]) -> Shape:
    """The shape of a preparer's facts, `any` where nothing is known."""
    return shape(getattr(preparer, "gives", None) or FACTS.get(preparer.name, "any"))
