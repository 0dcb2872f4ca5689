"""Calc's functions, from its own function catalogue (com.sun.star.sheet.FunctionDescriptions), asked in a box."""

from __future__ import annotations

import json
from collections.abc import Iterator

from forge.desktop import libreoffice
from forge.records import DesktopError
from skills.harvest.boxed import Boxed
from skills.harvest.candidate import Candidate, slug

CATEGORIES = {
    1: "database", 2: "date-time", 3: "financial", 4: "information", 5: "logical", 6: "mathematical", 7: "array",
    8: "statistical", 9: "spreadsheet", 10: "text", 11: "add-in",
}  # fmt: skip
"""com.sun.star.sheet.FunctionCategory, 11 for functions of add-ins."""

_PROGRAM = """
import json, subprocess, sys, time, uno
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
start = [sys.argv[1], "--headless", "--norestore", "--nologo", "--accept=pipe,name=harvest;urp;"]
office = subprocess.Popen(start, **quiet)
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
for _ in range(1200):
    try:
        context = resolver.resolve("uno:pipe,name=harvest;urp;StarOffice.ComponentContext")
        break
    except Exception:
        if office.poll() == 81:  # it has just made its profile and asks to be started again
            office = subprocess.Popen(start, **quiet)
        time.sleep(0.05)
described = context.ServiceManager.createInstance("com.sun.star.sheet.FunctionDescriptions")
found = []
for number in range(described.Count):
    each = {p.Name: p.Value for p in described.getByIndex(number)}
    names = [a.Name for a in each["Arguments"] or ()]
    found.append([each["Name"], each["Category"], each["Description"], names])
json.dump(found, sys.stdout)
sys.stdout.flush()
office.kill()
"""


def harvest(boxed: Boxed) -> Iterator[Candidate]:
    """Every function; its effect is what the cell shows. Raises DesktopError when LibreOffice does not answer."""
    output = boxed(["/usr/bin/python3", "-c", _PROGRAM, libreoffice.SOFFICE], 90)
    try:
        found = json.loads(output)
    except ValueError:
        raise DesktopError("LibreOffice did not list its functions", mend="run `forge doctor`") from None
    for name, category, about, arguments in found:
        area = f"function-{CATEGORIES.get(category, slug(str(category)))}"
        call = f"{name}({'; '.join(arguments)})"
        yield Candidate("calc", area, "compute", name, call, f"function {name}", "document", about)
