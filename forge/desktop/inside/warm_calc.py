"""Opens a document, when told, in a LibreOffice that waits inside a box. Run by /usr/bin/python3.

    warm_calc.py PIPE     prints "warm" when ready; reads one line: a JSON list [url, filter, options]; opens it; ends.

LibreOffice was started without a window. A spreadsheet window is opened and closed again, so that libraries, icons, fonts
and configuration are loaded. The socket for control is removed as soon as we are connected: nothing else in the box can
control LibreOffice through it.
"""

import json
import os
import sys
import time

import uno
from com.sun.star.beans import PropertyValue

TIMEOUT = 40.0


def prop(name, value):
    result = PropertyValue()
    result.Name, result.Value = name, value
    return result


def connect(pipe):
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            break
        except Exception:
            if time.monotonic() > deadline:
                sys.exit("no connection")
            time.sleep(0.01)
    for name in os.listdir("/tmp"):
        if name.endswith(pipe):
            os.unlink(f"/tmp/{name}")
    return remote


def main():
    remote = connect(sys.argv[1])
    create = remote.ServiceManager.createInstanceWithContext
    desktop = create("com.sun.star.frame.Desktop", remote)
    blank = desktop.loadComponentFromURL("private:factory/scalc", "_blank", 0, ())
    create("com.sun.star.awt.Toolkit", remote).processEventsToIdle()
    blank.close(True)
    print("warm", flush=True)
    line = sys.stdin.readline()
    if not line:
        return
    url, name, options = json.loads(line)
    arguments = [
        prop("InteractionHandler", create("com.sun.star.task.InteractionHandler", remote)),
        prop("MacroExecutionMode", 4),  # as configured, like a document that a person opens
        prop("UpdateDocMode", 3),
    ]
    if name:
        arguments += [prop("FilterName", name), prop("FilterOptions", options)]
    desktop.loadComponentFromURL(url, "_default", 0, tuple(arguments))


main()
