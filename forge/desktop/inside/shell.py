"""The persistent shell inside the box."""

import contextlib
import os
import re
import select
import shlex
import signal
import time

from processes import EXPENDABLE, FILTER, children_of, stat_of

KILLED = "[the shell had to be killed; a new one was started, its variables and directory are new]"


class Shell:
    """A persistent bash in a process namespace of its own: it sees no application and not the supervisor.

    A command is evaluated in the shell itself, so that directory, variables and functions stay. Its end is told on a
    pipe of its own, so that a child left in the background, which keeps the output open, holds nothing up.
    """

    def __init__(self, processes, home):
        self.processes = processes
        self.home = home
        self.pid = None

    def start(self):
        command_out, self.commands = os.pipe()
        self.output, output_in = os.pipe()
        self.status, status_in = os.pipe()
        argv = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
        argv += ["--unshare-user", "--unshare-pid", "--uid", str(os.getuid()), "--gid", str(os.getgid())]
        system_calls = os.open(FILTER, os.O_RDONLY)
        argv += ["--disable-userns", "--cap-drop", "ALL", "--seccomp", str(system_calls), "--chdir", "/", "--"]
        argv += ["choom", "-n", str(EXPENDABLE * 2), "--"]  # what it runs goes first when memory runs out
        argv += ["bash", "--noprofile", "--norc", "--noediting", "-i"]
        env = {"PS1": "", "PS2": "", "PAGER": "cat", "GIT_PAGER": "cat"}
        try:
            self.pid = self.processes.start(
                argv, env, (status_in, system_calls), command_out, output_in, filtered=False
            )
        finally:
            for fd in (command_out, output_in, status_in, system_calls):
                os.close(fd)
        self.status_fd = status_in  # its number inside
        for fd in (self.output, self.status, self.commands):
            os.set_blocking(fd, False)
        # home only now: also where the agent has closed it to itself there has to be a shell, in which it can mend that
        begin = f"cd {shlex.quote(self.home)}; set +o history +H +m; unset PS1 PS2 HISTFILE OLDPWD; export OLDPWD"
        first = self.evaluate(begin, 10, 1000, starting=True)
        if first["note"]:
            raise RuntimeError(f"no shell can be started: {first['output'].strip()[-300:]}")

    def stop(self):
        if self.pid is None:
            return
        for pid in children_of(self.pid)[:1]:  # the first process of the namespace; all others end with it
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not self.processes.wait(self.pid, 2):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.processes.wait(self.pid, 2)
        for fd in (self.output, self.status, self.commands):
            os.close(fd)
        self.pid = None

    def restart(self):
        self.stop()
        self.start()
        return True

    def run(self, command, timeout, limit):
        if self.pid is None:
            self.start()
        return self.evaluate(command.replace("\0", ""), timeout, limit)

    def evaluate(self, command, timeout, limit, starting=False):
        started = time.monotonic()
        ticks = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        mark = os.urandom(8).hex()
        # two lines: an interactive shell drops the rest of a line that was interrupted, and goes on with the next
        text = f"eval {shlex.quote(command)} </dev/null {self.status_fd}>&-\n"
        text += f"printf '%s %s\\n' {mark} $? >&{self.status_fd}\n"
        todo = text.encode("utf-8", "surrogateescape")
        kept = Kept(limit)
        said = b""
        stage = 0
        deadline = started + timeout
        timed_out = False
        code = None
        note = ""
        while True:
            reads = [self.output, self.status]
            ready, writable = wait_for(reads, [self.commands] if todo else [], deadline - time.monotonic())
            if writable:
                try:
                    todo = todo[os.write(self.commands, todo[:65536]) :]
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    todo = b""
            if self.output in ready:
                kept.add(read(self.output))
            if self.status in ready:
                piece = read(self.status)
                said += piece or b""
                line = next((item for item in said.split(b"\n")[:-1] if item.startswith(mark.encode())), None)
                if line is not None:
                    told = re.fullmatch(rb"[0-9a-f]+ ([0-9]{1,3})", line)
                    if told:
                        code = int(told[1])
                    else:  # a function of the command's own took the place of printf
                        note = KILLED
                    break
                if piece == b"":  # the shell ended: the command said `exit`, or the shell crashed
                    self.processes.wait(self.pid, 2)
                    code = self.processes.code(self.pid)
                    note = "[the shell ended; a new one was started, its variables and directory are new]"
                    break
            if time.monotonic() >= deadline:
                timed_out = True
                todo = b""
                if stage == 2:
                    note = KILLED
                    break
                self.interrupt(ticks, signal.SIGINT if stage == 0 else signal.SIGKILL)
                stage += 1
                deadline = time.monotonic() + 0.7
        # what the command wrote is in the pipe already; what a background child writes later belongs to nobody
        while True:
            piece = read(self.output)
            if not piece:
                break
            kept.add(piece)
        if note:
            self.stop()
            if not starting:
                self.start()
        output = kept.text()
        if note:
            output = output.removesuffix("exit\n")  # said by an interactive shell at its end
        if timed_out:
            output = "".join(line for line in output.splitlines(True) if " tcsetattr: " not in line).rstrip("\n")
        return {
            "output": output,
            "code": None if timed_out else code,
            "timed_out": timed_out,
            "truncated": kept.dropped > 0,
            "note": note,
        }

    def interrupt(self, since, number):
        """Signal what the command started; with SIGINT the shell first, which then gives the command up.

        The order matters: bash takes an interrupt for its own only if it comes before its child has ended by one.
        """
        shell = next((pid for pid in children_of(self.pid) if self.is_shell(pid)), None)
        if shell is None:
            return
        started = []
        for pid in children_of(shell):
            with contextlib.suppress(OSError, ValueError, IndexError):
                if int(stat_of(pid)[19]) >= since - 1:
                    started.append(pid)
        for pid in [shell, *started] if number == signal.SIGINT else started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def is_shell(self, pid):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return file.read().startswith(b"bash\0--noprofile\0--norc\0")
        return False


class Kept:
    """The first and the last part of a long output."""

    def __init__(self, limit):
        self.head_limit = limit - limit // 2
        self.tail_limit = limit // 2
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0

    def add(self, data):
        if not data:
            return
        room = self.head_limit - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        over = len(self.tail) - self.tail_limit
        if over > 0:
            self.dropped += over
            del self.tail[:over]

    def text(self):
        head = self.head.decode("utf-8", "replace" if not self.dropped else "ignore")
        tail = self.tail.decode("utf-8", "ignore" if self.dropped else "replace")
        if not self.dropped:
            return (bytes(self.head) + bytes(self.tail)).decode("utf-8", "replace")
        return f"{head}\n[... {self.dropped} bytes left out ...]\n{tail}"


def wait_for(reads, writes, seconds):
    poll = select.poll()
    for fd in reads:
        poll.register(fd, select.POLLIN | select.POLLHUP)
    for fd in writes:
        poll.register(fd, select.POLLOUT)
    found = poll.poll(max(0, seconds) * 1000)
    return [fd for fd, _ in found if fd in reads], [fd for fd, _ in found if fd in writes]


def read(fd):
    """What is there to read: None for nothing yet, b"" at the end."""
    try:
        return os.read(fd, 1 << 16)
    except BlockingIOError:
        return None
