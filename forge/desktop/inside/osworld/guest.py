"""Does inside the box what OSWorld's guest server is asked: run, start, read, write, list. Run by /usr/bin/python3.

It connects to the host's socket (argument: its path) and is sent one JSON object a line, {"id", "do", ...}; it answers
{"id", "ok"} or {"id", "error"}. Requests run side by side.
"""

import base64
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading

LIMIT = 8 << 20  # characters of a command's output that are kept


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
    return {"out": out[-LIMIT:], "err": err[-LIMIT:], "code": process.returncode}


def start(command, shell=False):
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        argv_of(command, shell), shell=shell, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid


def read(path):
    with open(expand(path), "rb") as file:
        return base64.b64encode(file.read()).decode()


def write(path, data):
    path = expand(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(base64.b64decode(data))
    return True


def what(path):
    path = expand(path)
    kind = "directory" if os.path.isdir(path) else "file" if os.path.exists(path) else None
    return {"kind": kind, "path": os.path.realpath(path)}


def tree(path):
    path = expand(path)
    if not os.path.isdir(path):
        raise NotADirectoryError("The provided path is not a directory")
    return _tree(path, set())


def _tree(folder, seen):
    here = os.path.realpath(folder)
    if here in seen:
        return {"error": "a link leads back here"}
    found = []
    try:
        for name in os.listdir(folder):
            inner = os.path.join(folder, name)
            is_folder = os.path.isdir(inner)
            found.append(_tree(inner, seen | {here}) if is_folder else {"type": "file", "name": name})
    except OSError as error:
        return {"error": str(error)}
    return {"type": "directory", "name": os.path.basename(folder), "children": found}


DO = {"run": run, "start": start, "read": read, "write": write, "what": what, "tree": tree}


def main():
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[1])
    lock = threading.Lock()

    def send(message):
        with lock:
            link.sendall(json.dumps(message).encode() + b"\n")

    def answer(request):
        number = request.pop("id")
        try:
            send({"id": number, "ok": DO[request.pop("do")](**request)})
        except Exception as error:
            send({"id": number, "error": str(error), "kind": type(error).__name__})

    send({"role": "worker"})
    with link.makefile("rb") as lines:
        for line in lines:
            threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    main()
