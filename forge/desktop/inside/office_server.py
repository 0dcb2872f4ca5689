"""The office server: runs inside a box, keeps headless LibreOffice processes, and answers requests on a Unix socket.

Stand-alone, run by /usr/bin/python3 (uno bindings come with the system). One request a connection. A frame is a 4-byte
big-endian length, a JSON header of that length, and `size` bytes of body:

    request   {"op": "values|recalculate|convert|ping", "suffix": ".xlsx", "target": ".csv", "clock": "...", "size": n}
    response  {"ok": true, "size": n} or {"error": "document|crash|timeout|request", "message": "..."}

LibreOffice is started at the first document, killed when a document takes too long, and replaced when it died or has
served MAX_DOCUMENTS. Each of its processes has a clock of its own (see guestclock.c), set for every document.
"""

import datetime
import json
import os
import queue
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile

import uno
import unohelper
from com.sun.star.beans import PropertyValue
from com.sun.star.lang import DisposedException
from com.sun.star.task import XInteractionHandler

SOFFICE = "/usr/lib/libreoffice/program/soffice.bin"
MAX_DOCUMENTS = 400
START_TIMEOUT = 60.0
UNPACKED_LIMIT = 400 << 20
CELL_LIMIT = 2_000_000

# suffix -> (load filter and options, store filter and options)
CSV_LOAD = "44,34,76,1,,1033,false,true"
CSV_STORE = "44,34,76,1,,0,false,true,false"
TSV_LOAD = "9,34,76,1,,1033,false,true"
TSV_STORE = "9,34,76,1,,0,false,true,false"
FILTERS = {
    ".xlsx": ("Calc MS Excel 2007 XML", "", "Calc MS Excel 2007 XML", ""),
    ".xlsm": ("Calc MS Excel 2007 VBA XML", "", "Calc MS Excel 2007 VBA XML", ""),
    ".xls": ("MS Excel 97", "", "MS Excel 97", ""),
    ".ods": ("calc8", "", "calc8", ""),
    ".fods": ("OpenDocument Spreadsheet Flat XML", "", "OpenDocument Spreadsheet Flat XML", ""),
    ".csv": ("Text - txt - csv (StarCalc)", CSV_LOAD, "Text - txt - csv (StarCalc)", CSV_STORE),
    ".tsv": ("Text - txt - csv (StarCalc)", TSV_LOAD, "Text - txt - csv (StarCalc)", TSV_STORE),
    ".html": ("calc_HTML_WebQuery", "", "HTML (StarCalc)", ""),
    ".pdf": (None, None, "calc_pdf_Export", ""),
}
ZIPPED = (".xlsx", ".xlsm", ".ods")

VALUE, DATETIME, STRING, FORMULA = 1, 2, 4, 16  # com.sun.star.sheet.CellFlags
ERROR_RESULT = 4  # com.sun.star.sheet.FormulaResult.ERROR
LOGICAL = 1024  # com.sun.star.util.NumberFormat.LOGICAL


class DocumentError(Exception):
    """The document is at fault."""


class Refuser(unohelper.Base, XInteractionHandler):
    """Answers every question of LibreOffice with "abort" and remembers what was asked."""

    def __init__(self):
        self.said = []

    def handle(self, request):
        asked = request.getRequest()
        name = getattr(asked, "typeName", None) or type(asked).__name__
        detail = getattr(asked, "Message", "") or getattr(asked, "ErrCode", "") or getattr(asked, "aErrCode", "")
        self.said.append(f"{name.rsplit('.', 1)[-1]} {detail}".strip())
        for option in request.getContinuations():
            abort = option.queryInterface(uno.getTypeByName("com.sun.star.task.XInteractionAbort"))
            if abort is not None:
                abort.select()
                return


def prop(name, value):
    result = PropertyValue()
    result.Name, result.Value = name, value
    return result


class Worker:
    """One LibreOffice process with a profile and a clock of its own."""

    def __init__(self, number, profile):
        self.number = number
        self.template = profile
        self.process = None
        self.served = 0

    def ensure(self):
        if self.process is not None and self.process.poll() is None and self.served < MAX_DOCUMENTS:
            return
        self.stop()
        self.folder = f"/tmp/office-{self.number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder + "/profile")
        self.clock = self.folder + "/clock"
        with open(self.clock, "wb") as file:
            file.write(bytes(16))
        pipe = f"forge{self.number}"
        for name in os.listdir("/tmp"):
            if name.startswith("OSL_PIPE_") and name.endswith(pipe):
                os.unlink("/tmp/" + name)
        self.process = subprocess.Popen(
            [
                SOFFICE,
                f"-env:UserInstallation=file://{self.folder}/profile",
                "--headless",
                "--norestore",
                "--nologo",
                "--nodefault",
                f"--accept=pipe,name={pipe};urp;",
            ],
            env={**os.environ, "FORGE_CLOCK": self.clock},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        context = uno.getComponentContext()
        resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                break
            except Exception:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise RuntimeError("LibreOffice did not start") from None
                time.sleep(0.01)
        self.desktop = remote.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", remote)
        self.served = 0

    def stop(self):
        if self.process is not None:
            try:
                os.killpg(self.process.pid, 9)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None

    def serve(self, header, body):
        source = f"{self.folder}/in{header['suffix']}"
        with open(source, "wb") as file:
            file.write(body)
        # the clock stands still at the asked moment while the document is open
        moment = datetime.datetime.fromisoformat(header["clock"]).timestamp()
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("qq", 0, int(moment * 1e9)))
        self.served += 1
        try:
            document = self.load(source, header["suffix"])
        finally:
            os.unlink(source)  # the next document is a stranger's
        try:
            if header["op"] in ("values", "recalculate"):
                document.calculateAll()
            if header["op"] == "values":
                return json.dumps(values(document)).encode()
            return self.store(document, header.get("target") or header["suffix"])
        finally:
            try:
                document.close(True)
            except Exception:
                self.stop()

    def is_gone(self, error):
        """Whether a call failed because LibreOffice died and not because of the document."""
        return isinstance(error, DisposedException) or "URP bridge" in str(error) or self.process.poll() is not None

    def load(self, source, suffix):
        if suffix in ZIPPED:
            check_zip(source)
        name, options, _, _ = FILTERS[suffix]
        refuser = Refuser()
        arguments = [
            prop("Hidden", True),
            prop("FilterName", name),
            prop("InteractionHandler", refuser),
            prop("MacroExecutionMode", 0),
            prop("UpdateDocMode", 0),
        ]
        if options:
            arguments.append(prop("FilterOptions", options))
        try:
            document = self.desktop.loadComponentFromURL(f"file://{source}", "_blank", 0, tuple(arguments))
        except Exception as error:
            if self.is_gone(error):
                raise
            said = "; ".join([*refuser.said, str(getattr(error, "Message", error))[:200]])
            raise DocumentError(f"LibreOffice could not load it: {said}") from None
        if document is None:
            raise DocumentError(f"LibreOffice could not load it: {'; '.join(refuser.said) or 'no reason given'}")
        if not document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
            document.close(True)
            raise DocumentError("LibreOffice does not see a spreadsheet in it")
        return document

    def store(self, document, target):
        _, _, name, options = FILTERS[target]
        path = f"{self.folder}/out{target}"
        arguments = [prop("FilterName", name), prop("Overwrite", True)]
        if options:
            arguments.append(prop("FilterOptions", options))
        try:
            document.storeToURL(f"file://{path}", tuple(arguments))
        except Exception as error:
            if self.is_gone(error):
                raise
            raise DocumentError(f"LibreOffice could not store it as {target}: {error}") from None
        with open(path, "rb") as file:
            data = file.read()
        os.unlink(path)
        return data


def check_zip(path):
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(item.file_size for item in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise DocumentError(f"no readable zip container: {error}") from None
    if total > UNPACKED_LIMIT:
        raise DocumentError(f"it unpacks to {total >> 20} MiB, more than the {UNPACKED_LIMIT >> 20} MiB allowed")


def letters(column):
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def values(document):
    """Sheet name -> {"B7": value} of the cells that are not empty."""
    result = {}
    total = 0
    sheets = document.Sheets
    formats = document.NumberFormats
    for index in range(sheets.Count):
        sheet = sheets.getByIndex(index)
        ranges = sheet.queryContentCells(VALUE | DATETIME | STRING | FORMULA).RangeAddresses
        formulas = sheet.queryContentCells(FORMULA).RangeAddresses
        cells = {}
        if ranges:
            left, top = min(r.StartColumn for r in ranges), min(r.StartRow for r in ranges)
            right, bottom = max(r.EndColumn for r in ranges), max(r.EndRow for r in ranges)
            area = (right - left + 1) * (bottom - top + 1)
            filled = sum((r.EndColumn - r.StartColumn + 1) * (r.EndRow - r.StartRow + 1) for r in ranges)
            total += filled
            if total > CELL_LIMIT:
                raise DocumentError(f"it has more than {CELL_LIMIT} cells")
            # one array call for the used area, unless it is mostly holes
            blocks = [(left, top, right, bottom)]
            if area > 4 * filled + 10_000:
                blocks = [(r.StartColumn, r.StartRow, r.EndColumn, r.EndRow) for r in ranges]
            for block in blocks:
                names = [letters(c) for c in range(block[0], block[2] + 1)]
                for offset, row in enumerate(sheet.getCellRangeByPosition(*block).getDataArray()):
                    number = block[1] + offset + 1
                    for name, value in zip(names, row):  # noqa: B905
                        if value != "" and value is not None:
                            cells[f"{name}{number}"] = value
            for r in formulas:
                for row in range(r.StartRow, r.EndRow + 1):
                    for column in range(r.StartColumn, r.EndColumn + 1):
                        # a formula whose result is "" is a cell with an empty text, not an empty cell
                        cells.setdefault(f"{letters(column)}{row + 1}", "")
            logical(sheet, formats, cells, formulas, ranges)
            for r in (
                sheet.getCellRangeByPosition(left, top, right, bottom).queryFormulaCells(ERROR_RESULT).RangeAddresses
            ):
                for row in range(r.StartRow, r.EndRow + 1):
                    for column in range(r.StartColumn, r.EndColumn + 1):
                        shown = sheet.getCellByPosition(column, row).getString()
                        cells[f"{letters(column)}{row + 1}"] = {"error": shown}
        result[sheet.Name] = cells
    return result


def logical(sheet, formats, cells, formulas, ranges):
    """Turn 0 and 1 into False and True where the cell's number format, or its formula's, is logical."""
    kinds = {}

    def is_logical(key):
        if key not in kinds:
            kinds[key] = bool(formats.getByKey(key).Type & LOGICAL)
        return kinds[key]

    inside_formula = set()
    for r in formulas:
        for row in range(r.StartRow, r.EndRow + 1):
            for column in range(r.StartColumn, r.EndColumn + 1):
                name = f"{letters(column)}{row + 1}"
                inside_formula.add(name)
                # the format that a formula's result brings with it is known only cell by cell
                if cells.get(name) in (0.0, 1.0) and is_logical(sheet.getCellByPosition(column, row).NumberFormat):
                    cells[name] = bool(cells[name])

    def visit(left, top, right, bottom):
        key = sheet.getCellRangeByPosition(left, top, right, bottom).getPropertyValue("NumberFormat")
        if key is None:  # several formats in the range: halve it
            if right > left:
                middle = (left + right) // 2
                visit(left, top, middle, bottom)
                visit(middle + 1, top, right, bottom)
            elif bottom > top:
                middle = (top + bottom) // 2
                visit(left, top, right, middle)
                visit(left, middle + 1, right, bottom)
            return
        if is_logical(key):
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    name = f"{letters(column)}{row + 1}"
                    if name not in inside_formula and cells.get(name) in (0.0, 1.0):
                        cells[name] = bool(cells[name])

    if any(value in (0.0, 1.0) for name, value in cells.items() if name not in inside_formula):
        for r in ranges:
            visit(r.StartColumn, r.StartRow, r.EndColumn, r.EndRow)


def receive(connection, size):
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(1 << 20, size - len(data)))
        if not piece:
            raise ConnectionError("the client hung up")
        data += piece
    return bytes(data)


def reply(connection, header, body=b""):
    text = json.dumps({**header, "size": len(body)}).encode()
    connection.sendall(struct.pack(">I", len(text)) + text + body)


def answer(connection, workers, timeout):
    with connection:
        try:
            (size,) = struct.unpack(">I", receive(connection, 4))
            header = json.loads(receive(connection, min(size, 1 << 20)))
            body = receive(connection, header["size"])
        except (ConnectionError, ValueError, KeyError):
            return
        if header["op"] == "ping":
            reply(connection, {"ok": True})
            return
        if header["suffix"] not in FILTERS or (header.get("target") or header["suffix"]) not in FILTERS:
            reply(
                connection, {"error": "request", "message": f"no filter for {header['suffix']} {header.get('target')}"}
            )
            return
        worker = workers.get()
        expired = threading.Event()
        try:
            worker.ensure()
            seconds = min(timeout, header.get("timeout") or timeout)

            def expire():
                expired.set()
                os.killpg(process.pid, 9)

            process = worker.process
            timer = threading.Timer(seconds, expire)
            timer.start()
            try:
                result = worker.serve(header, body)
            finally:
                timer.cancel()
            response = ({"ok": True}, result)
        except DocumentError as error:
            response = ({"error": "document", "message": str(error)}, b"")
        except Exception as error:
            # also a crash on the document's account is a crash: only what LibreOffice itself refuses is its fault
            if expired.is_set():
                response = ({"error": "timeout", "message": f"LibreOffice took longer than {seconds:g} s"}, b"")
            else:
                response = ({"error": "crash", "message": f"{type(error).__name__}: {str(error)[:300]}"}, b"")
            worker.stop()
        finally:
            workers.put(worker)
        try:
            reply(connection, *response)
        except OSError:
            pass  # the client went away; the next one must not suffer


def main():
    path, count, timeout, profile = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    workers = queue.LifoQueue()  # the one used last is warm
    for number in reversed(range(count)):
        workers.put(Worker(number, profile))
    server = socket.socket(socket.AF_UNIX)
    server.bind(path + ".new")
    server.listen(64)
    os.rename(path + ".new", path)  # whoever sees the socket can connect to it
    while True:
        connection, _ = server.accept()
        threading.Thread(target=answer, args=(connection, workers, timeout), daemon=True).start()


if __name__ == "__main__":
    main()
