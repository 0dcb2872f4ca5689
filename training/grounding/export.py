"""Export of grounding pairs in the forms of ScreenSpot-v2 and OSWorld-G.

ScreenSpot-v2: `screenspot_desktop_v2.json`, a list of {img_filename, bbox: [x, y, width, height] in pixels, instruction,
data_type: text or icon, data_source}; it knows no refusals, so they are left out. (ScreenSpot's first version had
fractions and two corners.) OSWorld-G: `OSWorld-G.json`, a list of {id, image_path, image_size: [width, height],
instruction, box_type: bbox or refusal, box_coordinates, GUI_types}; of a refusal the box is [-1, -1, -1, -1].

Whole applications are held out: their pairs go to `test/`, all others to `train/`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from forge.records import GroundingPair, InputError, Style

FORMS = ("screenspot", "osworld-g")
FILES = {"screenspot": "screenspot_desktop_v2.json", "osworld-g": "OSWorld-G.json"}
REFUSED = [-1, -1, -1, -1]

_ICONS = ("push button", "toggle button", "button", "icon", "image", "graphic", "slider")
_TYPES = {
    "menu": "Menu", "menu item": "Menu", "check menu item": "Menu", "radio menu item": "Menu", "page tab": "Tab",
    "check box": "Checkbox", "radio button": "Radio Button", "combo box": "Dropdown", "text": "Input", "entry": "Input",
    "password text": "Input", "spin button": "Stepper", "slider": "Slider", "link": "Link", "table cell": "Table",
    "tree item": "List", "list item": "List", "table row": "List", "tree table row": "List", "icon": "Icon",
    "column header": "Table", "table column header": "Table", "row header": "Table", "none": "Refusal",
}  # fmt: skip


def export_pairs(
    pairs: Sequence[GroundingPair],
    get_blob: Callable[[str], bytes],
    folder: Path,
    *,
    form: str,
    held_out: Sequence[str],
) -> dict[str, Any]:
    """Write pairs into an empty folder.

    Args:
        pairs: all of them.
        get_blob: a screenshot's PNG by its hash.
        folder: must be empty or absent; gets `train/` and `test/`, each with one JSON file and `images/`, and a manifest.
        form: one of `FORMS`.
        held_out: applications whose pairs are in `test/` only.

    Returns:
        The manifest: form, held-out applications, and rows by part and application.

    Raises:
        InputError: the folder is not empty, or the form or an application is unknown.
    """
    if form not in FORMS:
        raise InputError(f"{form!r} is no form", mend=f"known are {', '.join(FORMS)}")
    apps = sorted({pair.target.app for pair in pairs})
    unknown = sorted(set(held_out) - set(apps))
    if unknown:
        raise InputError(f"there are no pairs of {unknown[0]!r} to hold out", mend=f"there are {', '.join(apps)}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", mend="name another folder")
    counts: dict[str, Counter[str]] = {"train": Counter(), "test": Counter()}
    rows: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
    for pair in pairs:
        if form == "screenspot" and pair.style is Style.REFUSAL:
            continue
        part = "test" if pair.target.app in held_out else "train"
        rows[part].append(_screenspot(pair) if form == "screenspot" else _osworld(pair))
        counts[part][pair.target.app] += 1
        _write_image(folder / part / "images" / f"{pair.screenshot}.png", pair.screenshot, get_blob)
    for part, found in rows.items():
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / FILES[form]).write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    manifest = {
        "form": form,
        "held_out": sorted(held_out),
        "rows": sum(map(len, rows.values())),
        "parts": {part: dict(sorted(found.items())) for part, found in counts.items()},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    return manifest


def _screenspot(pair: GroundingPair) -> dict[str, Any]:
    return {
        "img_filename": f"{pair.screenshot}.png",
        "bbox": list(pair.box or ()),
        "instruction": pair.instruction,
        "data_type": "icon" if pair.target.role in _ICONS else "text",
        "data_source": pair.target.app,
        "style": pair.style.value,
    }


def _osworld(pair: GroundingPair) -> dict[str, Any]:
    return {
        "id": f"{pair.target.digest()[:16]}-{pair.style.value}-{pair.screenshot[:8]}",
        "image_path": f"{pair.screenshot}.png",
        "image_size": [pair.width, pair.height],
        "instruction": pair.instruction,
        "box_type": "refusal" if pair.box is None else "bbox",
        "box_coordinates": REFUSED if pair.box is None else list(pair.box),
        "GUI_types": [_TYPES.get(pair.target.role, "Button")],
        "application": pair.target.app,
        "style": pair.style.value,
    }


def _write_image(path: Path, blob: str, get_blob: Callable[[str], bytes]) -> None:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(get_blob(blob))
