"""pyautogui's face for programs in a slot: every call is carried out by the host, as real input.

What it does NOT cover: message boxes, finding pictures on the screen, windows (`getActiveWindow` and so on). Easing functions
exist and change nothing: the pointer moves at once.
"""

import base64
import io
import json
import os
import socket
import time
from collections import namedtuple
from contextlib import contextmanager

FAILSAFE = True
PAUSE = 0.1
MINIMUM_DURATION = 0.1
LEFT, MIDDLE, RIGHT, PRIMARY, SECONDARY = "left", "middle", "right", "primary", "secondary"
SOCKET = os.path.expanduser("~/.cache/forge/osworld.sock")
Point = namedtuple("Point", "x y")
Size = namedtuple("Size", "width height")
_BUTTONS = {"left": 1, "primary": 1, "middle": 2, "right": 3, "secondary": 3, 1: 1, 2: 2, 3: 3}
_link = None


class PyAutoGUIException(Exception):
    pass


class FailSafeException(PyAutoGUIException):
    pass


class ImageNotFoundException(PyAutoGUIException):
    pass


def _ask(what, **arguments):
    global _link
    if _link is None:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(SOCKET)
        _link = connection.makefile("rwb")
    _link.write(json.dumps({"do": what, **arguments}).encode() + b"\n")
    _link.flush()
    answer = json.loads(_link.readline() or b'{"error": "the host hung up"}')
    if "error" in answer:
        raise PyAutoGUIException(answer["error"])
    return answer["ok"]


def _done(_pause=True):
    if _pause and PAUSE:
        time.sleep(PAUSE)


def _place(x, y):
    if isinstance(x, tuple | list):
        x, y = x
    now = None if x is not None and y is not None else position()
    return round(now.x if x is None else x), round(now.y if y is None else y)


def _button(button):
    if button not in _BUTTONS:
        raise PyAutoGUIException(f"button argument must be one of {sorted(map(str, _BUTTONS))}")
    return _BUTTONS[button]


def position(x=None, y=None):
    here = _ask("position")
    return Point(here[0] if x is None else int(x), here[1] if y is None else int(y))


def size():
    return Size(*_ask("size"))


resolution = size


def onScreen(x, y=None):
    x, y = x if y is None else (x, y)
    width, height = size()
    return 0 <= x < width and 0 <= y < height


def moveTo(x=None, y=None, duration=0.0, tween=None, logScreenshot=False, _pause=True):
    x, y = _place(x, y)
    if duration > MINIMUM_DURATION:
        time.sleep(min(duration, 2.0))
    _ask("move", x=x, y=y)
    _done(_pause)


def moveRel(xOffset=None, yOffset=None, duration=0.0, tween=None, logScreenshot=False, _pause=True):
    if isinstance(xOffset, tuple | list):
        xOffset, yOffset = xOffset
    here = position()
    moveTo(here.x + (xOffset or 0), here.y + (yOffset or 0), duration, _pause=_pause)


move = moveRel


def click(
    x=None, y=None, clicks=1, interval=0.0, button=PRIMARY, duration=0.0, tween=None, logScreenshot=None, _pause=True
):
    x, y = _place(x, y)
    if interval and clicks > 1:
        for _ in range(clicks):
            _ask("click", x=x, y=y, button=_button(button), count=1)
            time.sleep(interval)
    elif clicks > 0:
        _ask("click", x=x, y=y, button=_button(button), count=clicks)
    _done(_pause)


def leftClick(x=None, y=None, interval=0.0, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    click(x, y, 1, interval, LEFT, _pause=_pause)


def rightClick(x=None, y=None, interval=0.0, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    click(x, y, 1, interval, RIGHT, _pause=_pause)


def middleClick(x=None, y=None, interval=0.0, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    click(x, y, 1, interval, MIDDLE, _pause=_pause)


def doubleClick(x=None, y=None, interval=0.0, button=LEFT, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    click(x, y, 2, interval, button, _pause=_pause)


def tripleClick(x=None, y=None, interval=0.0, button=LEFT, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    click(x, y, 3, interval, button, _pause=_pause)


def mouseDown(x=None, y=None, button=PRIMARY, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    if x is not None or y is not None:
        moveTo(x, y, _pause=False)
    _ask("press", button=_button(button))
    _done(_pause)


def mouseUp(x=None, y=None, button=PRIMARY, duration=0.0, tween=None, logScreenshot=None, _pause=True):
    if x is not None or y is not None:
        moveTo(x, y, _pause=False)
    _ask("release", button=_button(button))
    _done(_pause)


def dragTo(x=None, y=None, duration=0.0, tween=None, button=PRIMARY, logScreenshot=None, _pause=True, mouseDownUp=True):
    x, y = _place(x, y)
    if mouseDownUp:
        here = position()
        _ask("drag", x0=here.x, y0=here.y, x1=x, y1=y, button=_button(button))
    else:
        _ask("move", x=x, y=y)
    _done(_pause)


def dragRel(
    xOffset=0, yOffset=0, duration=0.0, tween=None, button=PRIMARY, logScreenshot=None, _pause=True, mouseDownUp=True
):
    if isinstance(xOffset, tuple | list):
        xOffset, yOffset = xOffset
    here = position()
    dragTo(here.x + xOffset, here.y + yOffset, duration, tween, button, None, _pause, mouseDownUp)


drag = dragRel


def scroll(clicks, x=None, y=None, logScreenshot=None, _pause=True):
    x, y = _place(x, y)
    _ask("scroll", x=x, y=y, dx=0, dy=-int(clicks))
    _done(_pause)


vscroll = scroll


def hscroll(clicks, x=None, y=None, logScreenshot=None, _pause=True):
    x, y = _place(x, y)
    _ask("scroll", x=x, y=y, dx=int(clicks), dy=0)
    _done(_pause)


def typewrite(message, interval=0.0, logScreenshot=None, _pause=True):
    if not isinstance(message, str):
        for key in message:
            press(key, _pause=False)
            time.sleep(interval)
    elif interval:
        for character in message:
            _ask("type", text=character)
            time.sleep(interval)
    else:
        _ask("type", text=message)
    _done(_pause)


write = typewrite


def press(keys, presses=1, interval=0.0, logScreenshot=None, _pause=True):
    keys = [keys] if isinstance(keys, str) else list(keys)
    for _ in range(presses):
        for key in keys:
            _ask("key", keys=[key])
            time.sleep(interval)
    _done(_pause)


def keyDown(key, logScreenshot=None, _pause=True):
    _ask("down", key=key)
    _done(_pause)


def keyUp(key, logScreenshot=None, _pause=True):
    _ask("up", key=key)
    _done(_pause)


@contextmanager
def hold(keys, logScreenshot=None, _pause=True):
    keys = [keys] if isinstance(keys, str) else list(keys)
    for key in keys:
        keyDown(key, _pause=False)
    try:
        yield
    finally:
        for key in reversed(keys):
            keyUp(key, _pause=False)
        _done(_pause)


def hotkey(*args, interval=0.0, logScreenshot=None, _pause=True):
    keys = list(args[0]) if len(args) == 1 and isinstance(args[0], tuple | list) else list(args)
    _ask("key", keys=keys)
    _done(_pause)


def screenshot(imageFilename=None, region=None):
    data = base64.b64decode(_ask("screenshot"))
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    if region is not None:
        left, top, width, height = region
        image = image.crop((left, top, left + width, top + height))
    if imageFilename is not None:
        image.save(imageFilename)
    return image


def sleep(seconds):
    time.sleep(seconds)


def isValidKey(key):
    return bool(_ask("is_key", key=key))


def _tween(n):
    return n


def __getattr__(name):
    if name == "linear" or name.startswith("ease"):
        return _tween
    if name in ("KEYBOARD_KEYS", "KEY_NAMES"):
        return _ask("keys")
    raise AttributeError(f"pyautogui in a slot has no {name!r}")
