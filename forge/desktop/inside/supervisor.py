"""The supervisor: process 1 of a slot's box. Run by /usr/bin/python3, with the modules beside it.

It owns the box's session bus and accessibility bus, starts applications, reads the accessibility tree, and runs the
persistent shell. It is reached over two inherited socket pairs only (arguments: their numbers), one for the desktop and
one for the shell, so that a long command holds nothing up. A frame is a 4-byte big-endian length and a JSON object:

    request   {"do": "tree", ...}        response  {"ok": ...} or {"error": "..."}

Being process 1 it cannot be killed from inside; it is not dumpable, so no process of the guest can look into it or take
its descriptors. Positions are given as the toolkits report them; the host corrects LibreOffice's (see
`forge.desktop.accessibility`).
"""

import contextlib
import ctypes
import fcntl
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

from access import Sheets, applications, details, tree
from processes import F_ADD_SEALS, Processes, children_of, stat_of
from shell import Shell
from wire import NO_AUTO_START, Bus, BusError

BUS_CONFIG = "/opt/forge/session.xml"
LOCK = '<deny own="org.a11y.Bus"/>'  # in it: nobody may take the name; left out until its owner has it
F_SEAL_ALL = 15
PR_SET_DUMPABLE = 4
BUS_PATIENCE = 2  # seconds that a bus has for each step of letting us in
WARM_REST = 0.3  # seconds without using the processor after which a LibreOffice that starts has started


class Desktop:
    """What the host may ask of the desktop."""

    def __init__(self, processes, shell):
        self.processes = processes
        self.shell = shell
        self.sheets = Sheets()
        self.apps = {}
        self.terminal = False  # whether a terminal window was ever seen
        self.buses = {}
        self.addresses = {}

    def start_buses(self):
        with open(BUS_CONFIG) as file:
            config = file.read()
        settled = os.memfd_create("session.conf", os.MFD_ALLOW_SEALING)
        os.write(settled, config.replace(LOCK, "").encode())
        ready, told = os.pipe()
        argv = ["dbus-daemon", "--nofork", "--nopidfile", f"--config-file=/proc/self/fd/{settled}"]
        daemon = self.processes.start([*argv, f"--print-address={told}"], pass_fds=(told, settled))
        self.buses["session bus"] = daemon
        os.close(told)
        with open(ready) as pipe:
            address = pipe.readline().strip()
        if not address:
            raise RuntimeError("no session bus: " + self.processes.said(self.buses["session bus"]))
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = self.addresses["session bus"] = address
        launcher = ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately", "--a11y=1"]
        self.buses["accessibility bus"] = self.processes.start(launcher)
        bus = Bus(address)
        deadline = time.monotonic() + 10
        while True:
            try:
                # never activated by the call itself: a second launcher would take the name, and ours would end
                found = bus.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", flags=NO_AUTO_START)
                self.addresses["accessibility bus"] = found[0]
                break
            except BusError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        # the name is taken: from now on nobody may take it away, and the daemon's configuration is what it is
        os.ftruncate(settled, 0)
        os.pwrite(settled, config.encode(), 0)
        fcntl.fcntl(settled, F_ADD_SEALS, F_SEAL_ALL)
        os.close(settled)
        os.kill(daemon, signal.SIGHUP)
        # these connections are kept: the sockets' places belong to the guest, who may remove them or put others there
        self.links = {name: Bus(address, BUS_PATIENCE) for name, address in self.addresses.items()}
        bus.close()
        if not all(map(answers, self.links.values())):
            raise RuntimeError("a bus of the slot does not answer")
        applications()  # starts the registry, which the first application would wait for otherwise

    def handle(self, request):
        what = request.pop("do")
        return getattr(self, "do_" + what)(**request)

    def do_ping(self):
        """Of buses that are not well: what is the matter, by name; empty when all is well."""
        found = {}
        for name, pid in self.buses.items():
            if self.processes.code(pid) is not None:
                found[name] = "died"
            elif not answers(self.links[name]):
                found[name] = "does not answer"
        return found

    def do_foreign(self):
        """Whether programs of the agent's own may run: what its shell has started, and from a terminal window that is open or
        was when this was asked before.
        """
        self.terminal = (
            self.terminal
            or any("terminal" in os.path.basename(program) for program in self.apps.values())
            or any(terminal_of(pid) for pid in living_others())
        )
        # below the shell's process: the namespace's first process, the shell
        return {"shell": len(children_of(self.shell.pid)) > 2, "terminal": self.terminal}

    def do_start(self, argv, env=None):
        pid = self.processes.start(argv, env, cwd=os.environ["HOME"])
        self.apps[pid] = argv[0]
        return pid

    def do_apps(self):
        """Of every application started: pid, program, exit code (None while it runs), and the end of what it wrote."""
        return [
            {"pid": pid, "program": program, "code": self.processes.code(pid), "said": self.processes.said(pid)}
            for pid, program in self.apps.items()
        ]

    def do_buses(self):
        """Of each bus: its exit code, negative for a signal; whether a process of it is stopped; whether it answers.

        The second ends when the first does, and says nothing then.
        """
        found = []
        for name, pid in self.buses.items():
            code = self.end_of(pid)
            stopped = any(state_of(each) == "T" for each in (pid, *children_of(pid)))
            found.append({"code": code, "stopped": stopped, "answers": code is not None or answers(self.links[name])})
            if code is not None:
                break
        return found

    def end_of(self, bus):
        """A bus that ended by itself was told to, with SIGTERM; or its launcher says what killed the daemon."""
        code = self.processes.code(bus)
        if code is None or code < 0:
            return code
        killed = re.search(r"Bus killed by signal (\d+)", self.processes.said(bus))
        return -int(killed[1]) if killed else -signal.SIGTERM

    def do_warm(self, argv, env=None):
        """Keep a LibreOffice warm, started but without a window; returns its pid once it waits."""
        pid = self.do_start([*argv, "--nodefault"], env)
        self.warm_socket = None
        rested, worked = time.monotonic(), -1
        while self.warm_socket is None or time.monotonic() - rested < WARM_REST:
            if self.processes.code(pid) is not None:
                raise RuntimeError(f"LibreOffice ended with exit code {self.processes.code(pid)}")
            self.warm_socket = next((name for name in os.listdir("/tmp") if "_SingleOfficeIPC_" in name), None)
            now = sum(map(int, stat_of(pid)[11:13]))
            if now != worked:
                rested, worked = time.monotonic(), now
            time.sleep(0.02)
        return pid

    def do_open_warm(self, pid, arguments):
        """Hand a command line to the warm LibreOffice as a second one would; False when it has died.

        The protocol is LibreOffice's own (desktop/source/app/officeipcthread.cxx): the working directory and the
        arguments in one message that ends with a zero byte.
        """
        folder = f"file://{os.environ['HOME']}"
        text = "InternalIPC::Arguments1" + escape(folder) + "".join("," + escape(each) for each in arguments)
        try:
            with socket.socket(socket.AF_UNIX) as pipe:
                pipe.settimeout(10)
                pipe.connect(f"/tmp/{self.warm_socket}")
                until_zero(pipe)  # "InternalIPC::SendArguments"
                pipe.sendall(text.encode() + b"\0")
                # it answers when the document is loaded; that is seen by its window
            return True
        except OSError:  # it has ended: one without a window does so after it converted a file for the shell
            self.do_stop(pid)
            return False

    def do_stop(self, pid):
        """Kill an application and its session, and forget it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        self.processes.wait(pid, 5)
        self.apps.pop(pid, None)
        return True

    def do_stop_all(self, farewell=()):
        """Kill every process of the box but this one, and see that none is left.

        Of `farewell`, programs that write down what was done only after a while, those that run are asked to end first.
        """
        asked = [pid for pid, program in self.apps.items() if program in farewell and self.processes.code(pid) is None]
        for pid in asked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in asked:
            self.processes.wait(pid, 5)
        deadline = time.monotonic() + 10
        while alive := living_others():
            # all at once: one that forks and forks again would slip through a list of them
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise RuntimeError(f"processes {alive[:5]} do not end")
            time.sleep(0.003)
        self.apps.clear()
        self.buses.clear()
        return True

    def do_tree(self, match=None, menus=True, at=None, text=True, under=()):
        return tree(match, menus, at, text, under)

    def do_details(self, match, paths):
        return details(match, paths)

    def do_cell(self, match, row, column, titles):
        return self.sheets.cell(match, row, column, titles)

    def do_cells(self, match, titles):
        return self.sheets.visible(match, titles)

    def do_cell_at(self, match, x, y, titles):
        return self.sheets.at(match, x, y, titles)


def living_others():
    """Processes of the box but this one that have not ended."""
    alive = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError, IndexError):
                if stat_of(name)[0] not in "ZX":
                    alive.append(int(name))
    return alive


def answers(bus):
    """Whether a bus answers in time. One that is stopped does not, nor one that is kept busy."""
    bus.begin(BUS_PATIENCE)
    try:
        bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    except (BusError, OSError):
        return False
    return True


def state_of(pid):
    """The letter of a process's state, see proc(5); empty when it has ended."""
    with contextlib.suppress(OSError, IndexError):
        return stat_of(pid)[0]
    return ""


def terminal_of(pid):
    """The number of the terminal that a process is run from; 0 for none."""
    with contextlib.suppress(OSError, IndexError):
        return int(stat_of(pid)[4])
    return 0


def escape(argument):
    return argument.replace("\\", "\\\\").replace("\0", "\\0").replace(",", "\\,")


def until_zero(pipe):
    data = b""
    while not data.endswith(b"\0"):
        piece = pipe.recv(256)
        if not piece:
            raise ConnectionError(f"LibreOffice hung up after {data!r}")
        data += piece
    return data


def receive(channel):
    def exactly(size):
        data = bytearray()
        while len(data) < size:
            piece = channel.recv(size - len(data))
            if not piece:
                os._exit(0)  # the host is gone
            data += piece
        return bytes(data)

    (size,) = struct.unpack(">I", exactly(4))
    return json.loads(exactly(size))


def respond(channel, function, request):
    try:
        answer = {"ok": function(request)}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:1000]}
    text = json.dumps(answer).encode()
    channel.sendall(struct.pack(">I", len(text)) + text)


def serve_shell(channel, shell):
    def handle(request):
        if request["do"] == "restart":
            return shell.restart()
        return shell.run(request["command"], request["seconds"], request["limit"])

    while True:
        respond(channel, handle, receive(channel))


def main():
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # a job in the background of a script ignores interrupts, and so would the shell, for good, if it inherited that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    channels = [socket.socket(fileno=int(number)) for number in sys.argv[1:3]]
    for channel in channels:
        os.set_inheritable(channel.fileno(), False)
    processes = Processes()
    shell = Shell(processes, os.environ["HOME"])
    desktop = Desktop(processes, shell)
    desktop.start_buses()
    threading.Thread(target=serve_shell, args=(channels[1], shell), daemon=True).start()

    respond(channels[0], lambda _request: "ready", None)
    while True:
        respond(channels[0], desktop.handle, receive(channels[0]))


if __name__ == "__main__":
    main()
