"""pyautogui's names of keys, as xdotool's."""

from __future__ import annotations

from forge.records.errors import InputError

_NAMED = {
    "\t": "Tab", "\n": "Return", "\r": "Return", " ": "space", "space": "space", "add": "KP_Add",
    "alt": "Alt_L", "altleft": "Alt_L",
    "altright": "Alt_R", "apps": "Menu", "backspace": "BackSpace", "capslock": "Caps_Lock", "clear": "Clear",
    "command": "Super_L", "ctrl": "Control_L", "ctrlleft": "Control_L", "ctrlright": "Control_R", "decimal": "KP_Decimal",
    "del": "Delete", "delete": "Delete", "divide": "KP_Divide", "down": "Down", "end": "End", "enter": "Return",
    "esc": "Escape", "escape": "Escape", "execute": "Execute", "help": "Help", "home": "Home", "insert": "Insert",
    "left": "Left", "meta": "Super_L", "multiply": "KP_Multiply", "numlock": "Num_Lock", "option": "Alt_L",
    "optionleft": "Alt_L", "optionright": "Alt_R", "pagedown": "Page_Down", "pageup": "Page_Up", "pause": "Pause",
    "pgdn": "Page_Down", "pgup": "Page_Up", "print": "Print", "printscreen": "Print", "prntscrn": "Print",
    "prtsc": "Print", "prtscr": "Print", "return": "Return", "right": "Right", "scrolllock": "Scroll_Lock",
    "select": "Select", "separator": "KP_Separator", "shift": "Shift_L", "shiftleft": "Shift_L", "shiftright": "Shift_R",
    "subtract": "KP_Subtract", "super": "Super_L", "tab": "Tab", "up": "Up", "win": "Super_L", "winleft": "Super_L",
    "winright": "Super_R", "command_l": "Super_L", "cmd": "Super_L", "control": "Control_L",
}  # fmt: skip
_NUMBERED = {f"f{n}": f"F{n}" for n in range(1, 25)} | {f"num{n}": f"KP_{n}" for n in range(10)}
KEYS = {**_NAMED, **_NUMBERED}
"""Name of pyautogui to name of xdotool, without the characters, which are their own names."""


def xdotool_key(name: str) -> str:
    """The key that pyautogui calls `name`. Raises InputError when there is none."""
    if name in KEYS:
        return KEYS[name]
    if len(name) == 1:
        return "plus" if name == "+" else name
    if name.lower() in KEYS:
        return KEYS[name.lower()]
    raise InputError(f"pyautogui knows no key {name!r}")


def pyautogui_keys(chord: str) -> list[str]:
    """A chord of xdotool's ("ctrl+s", "Page_Down") as pyautogui's keys. Raises InputError for keys that it lacks."""
    found = []
    back = {theirs.lower(): ours for ours, theirs in KEYS.items() if len(ours) > 1}
    parts = (
        ["+" if part == "" else part for part in chord.replace("++", "+plus").split("+")] if chord != "+" else ["plus"]
    )
    for part in parts:
        name = part.strip()
        if name.lower() == "plus":
            found.append("+")
        elif name.lower() in KEYS or len(name) == 1:
            found.append(name.lower() if len(name) > 1 else name)
        elif name.lower() in back:
            found.append(back[name.lower()])
        else:
            raise InputError(f"pyautogui has no key for {name!r}")
    return found
