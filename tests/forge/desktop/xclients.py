"""Programs of a guest's that do what they please to their display, as Python text: its X library by ctypes."""

OPEN = """
import ctypes, sys, time
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
failed = []
handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: failed.append(1) or 0)
x.XSetErrorHandler(handler)
display = ctypes.c_void_p(x.XOpenDisplay(None))
"""
"""`x` is the library, `display` a connection; what the server refuses is counted in `failed`."""

GRAB = (
    OPEN
    + """
x.XGrabServer(display)
x.XSync(display, 0)
open(sys.argv[1], "w").close()
time.sleep(600)
"""
)
"""Holds up everybody else; the file of its argument is there once it does."""
