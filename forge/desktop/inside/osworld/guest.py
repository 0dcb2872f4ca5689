"""Does inside the box what OSWorld's guest server is asked: run, start, read, write, list. Run by /usr/bin/python3.

It connects to the host (argument: a socket's path) once, before any program of the guest runs. It is not dumpable, so none
of them can look into it or take its descriptors; they can kill it. A frame is two 4-byte big-endian lengths, a JSON object
and a payload:

    host to us    {"id", "do", ...} and what to write     {"input"} and the answer to a program
    us to host    {"id", "ok", "more"} or {"id", "error", "kind"}, and at most PIECE bytes; "more": ask `part` for the rest
                  {"input"} and what a program asks

Requests run side by side. Programs that use pyautogui connect to PROGRAMS and send and receive a line each.
"""

import ctypes
import io
import itertools
import json
import os
import queue
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

LIMIT = 8 << 20  # bytes of a command's output that are kept
PIECE = 1 << 20
LISTED = 8 << 20  # bytes of a folder's list
DEPTH = 64  # folders in each other that are listed
PROGRAMS = os.path.expanduser("~/.cache/forge/osworld.sock")
PROGRAMS_AT_ONCE = 64
LENGTHS = struct.Struct(">II")
PR_SET_DUMPABLE = 4

numbers = itertools.count(1)
kept = {}  # open files by number: what is not read or written to its end


def expand(path):
    return os.path.expandvars(os.path.expanduser(path))


def argv_of(command, shell):
    if shell:
        return command if isinstance(command, str) else " ".join(command)
    parts = shlex.split(command) if isinstance(command, str) else list(command)
    return [os.path.expanduser(part) if part.startswith("~/") else part for part in parts]


def run(command, shell=False, timeout=120, cwd=None):
    with subprocess.Popen(
        argv_of(command, shell),
        shell=shell,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"Command timed out after {timeout} seconds") from None
    out, err = (text[-LIMIT:].encode()[-LIMIT:] for text in (out, err))
    return {"code": process.returncode, "out": len(out)}, io.BytesIO(out + err)


def start(command, shell=False):
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        argv_of(command, shell), shell=shell, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid, None


def keep(file):
    number = next(numbers)
    kept[number] = file
    return number


def read(path):
    # a pipe that nobody writes to is empty
    return None, open(expand(path), "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def part(file):
    return None, kept.pop(file)


def drop(file):
    kept.pop(file).close()
    return True, None


def write(data, path=None, file=None, more=False):
    """Write a file's first or next piece; its number when there is `more` to come."""
    if file is None:
        path = expand(path)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        opened = open(path, "wb")  # noqa: SIM115
    else:
        opened = kept.pop(file)
    try:
        opened.write(data)
    except OSError:
        opened.close()
        raise
    if more:
        return keep(opened), None
    opened.close()
    return None, None


def copy(path, to):
    to = expand(to)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copyfile(expand(path), to)
    return True, None


def what(path):
    path = expand(path)
    kind = "directory" if os.path.isdir(path) else "file" if os.path.exists(path) else None
    return {"kind": kind, "path": os.path.realpath(path)}, None


def tree(path):
    path = expand(path)
    if not os.path.isdir(path):
        raise NotADirectoryError("The provided path is not a directory")
    return None, io.BytesIO(json.dumps(_tree(path, os.path.basename(path), 0, [LISTED])).encode())


def _tree(folder, name, depth, left):
    """What is below a folder; links are not followed. `left` are the bytes that may still be listed."""
    found = {"type": "directory", "name": name, "children": []}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left[0] -= len(json.dumps(entry.name)) + 60
                if left[0] < 0:
                    found["truncated"] = True
                    break
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and depth < DEPTH:
                    child = _tree(entry.path, entry.name, depth + 1, left)
                elif is_folder:
                    child = {"type": "directory", "name": entry.name, "children": [], "truncated": True}
                elif entry.is_dir():
                    child = {"type": "directory", "name": entry.name, "children": []}
                else:
                    child = {"type": "file", "name": entry.name}
                found["children"].append(child)
    except OSError as error:
        return {"error": str(error)}
    return found


DO = {
    "run": run,
    "start": start,
    "read": read,
    "part": part,
    "drop": drop,
    "write": write,
    "copy": copy,
    "what": what,
    "tree": tree,
}


class Link:
    """The connection to the host."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lock = threading.Lock()
        self.asked = {}

    def send(self, head, body=b""):
        text = json.dumps(head).encode()
        with self.lock:
            self.socket.sendall(LENGTHS.pack(len(text), len(body)) + text + body)

    def receive(self):
        head, body = LENGTHS.unpack(self._exactly(LENGTHS.size))
        return json.loads(self._exactly(head)), self._exactly(body)

    def _exactly(self, size):
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(min(size - len(data), PIECE))
            if not piece:
                os._exit(0)  # the host is gone
            data += piece
        return bytes(data)

    def answer(self, request, body):
        number = request.pop("id")
        try:
            if request["do"] == "write":
                request["data"] = body
            value, file = DO[request.pop("do")](**request)
            head = {"id": number, "ok": value}
            piece = (file.read(PIECE) or b"") if file is not None else b""
            if len(piece) == PIECE:
                head["more"] = keep(file)
            elif file is not None:
                file.close()
        except Exception as error:
            head, piece = {"id": number, "error": str(error)[:1000], "kind": type(error).__name__}, b""
        self.send(head, piece)

    def ask(self, line):
        """Have the host do what a program wants; its answer."""
        number, answer = next(numbers), queue.SimpleQueue()
        self.asked[number] = answer
        self.send({"input": number}, line)
        return answer.get()

    def serve(self):
        while True:
            head, body = self.receive()
            if "input" in head:
                self.asked.pop(head["input"]).put(body)
            else:
                threading.Thread(target=self.answer, args=(head, body), daemon=True).start()


def listen():
    os.makedirs(os.path.dirname(PROGRAMS), 0o700, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(PROGRAMS)
    listener.listen(16)
    return listener


def accept(listener, link):
    places = threading.BoundedSemaphore(PROGRAMS_AT_ONCE)

    def serve(connection):
        try:
            with connection, connection.makefile("rb") as lines:
                while line := lines.readline(PIECE + 1):
                    whole = len(line) <= PIECE
                    connection.sendall((link.ask(line) if whole else b'{"error": "too long for one call"}') + b"\n")
                    if not whole:
                        return
        except OSError:
            pass  # it has ended
        finally:
            places.release()

    while True:
        connection, _ = listener.accept()
        if places.acquire(blocking=False):
            threading.Thread(target=serve, args=(connection,), daemon=True).start()
        else:
            connection.close()


def main():
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    listener = listen()
    link = Link(sys.argv[1])
    threading.Thread(target=accept, args=(listener, link), daemon=True).start()
    link.serve()


if __name__ == "__main__":
    main()
