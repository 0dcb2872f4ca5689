"""Child processes inside the box, for the supervisor, which as process 1 must also reap every orphan."""

import contextlib
import ctypes
import fcntl
import os
import queue
import subprocess
import threading
import time

LOG_KEPT = 2000
LOG_LIMIT = 4 << 20  # bytes of a child's output, after which it cannot write more
FILTER = "/opt/forge/filter"
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
F_ADD_SEALS, F_SEAL_SHRINK, F_SEAL_GROW = 1033, 2, 4
EXPENDABLE = 300  # of 1000: applications go before the supervisor when memory runs out


class Processes:
    """Children by pid; reaps them and every orphan of the box."""

    def __init__(self):
        self.lock = threading.Lock()
        self.known = {}
        self.changed = threading.Condition(self.lock)
        self.starter = None
        threading.Thread(target=self._reap, daemon=True).start()

    def start(self, argv, env=None, pass_fds=(), stdin=subprocess.DEVNULL, output=None, cwd=None, filtered=True):
        """Start a child of its own session; its output goes to `output` or to a memory file that `said` reads.

        Unless it is not `filtered`, it may make only the system calls of any program in a box (`forge.desktop.seccomp`).
        """
        log = limited_file() if output is None else -1
        with self.lock:  # a child that ends at once must be known before it is reaped
            try:
                process = self._starter(filtered)(
                    argv,
                    env={**os.environ, **(env or {})},
                    stdin=stdin,
                    stdout=output if output is not None else log,
                    stderr=subprocess.STDOUT,
                    pass_fds=pass_fds,
                    start_new_session=True,
                    cwd=cwd,
                )
            except OSError:
                if log >= 0:
                    os.close(log)
                raise
            process.returncode = 0  # its end is seen by the reaper, never by the Popen object
            self.known[process.pid] = {"argv": argv, "log": log, "code": None}
        if filtered:
            with contextlib.suppress(OSError):  # it has ended
                with open(f"/proc/{process.pid}/oom_score_adj", "w") as file:
                    file.write(str(EXPENDABLE))
        return process.pid

    def _starter(self, filtered):
        if not filtered:
            return subprocess.Popen
        if self.starter is None:
            self.starter = Starter(FILTER)
        return self.starter.popen

    def code(self, pid):
        """None while it runs, else its exit code, negative for a signal."""
        with self.lock:
            return self.known[pid]["code"]

    def wait(self, pid, timeout):
        deadline = time.monotonic() + timeout
        with self.changed:
            while self.known[pid]["code"] is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(left)
        return True

    def said(self, pid):
        """The end of what a child wrote."""
        log = self.known[pid]["log"]
        if log < 0:
            return ""
        end = os.lseek(log, 0, os.SEEK_CUR)  # the child writes through the same file description
        return os.pread(log, min(end, LOG_KEPT), max(0, end - LOG_KEPT)).decode("utf-8", "replace")

    def _reap(self):
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                time.sleep(0.02)  # no child at all: only before the buses are up
                continue
            with self.changed:
                _, status = os.waitpid(found.si_pid, 0)
                if found.si_pid in self.known:
                    self.known[found.si_pid]["code"] = os.waitstatus_to_exitcode(status)
                    self.changed.notify_all()


class Starter:
    """Starts children from a thread that is under a filter of system calls, which they inherit.

    The supervisor itself must not be under it, and nothing of Python may run between fork and exec of a child, as there
    are other threads.
    """

    def __init__(self, path):
        with open(path, "rb") as file:
            self.filter = file.read()
        self.jobs = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    def popen(self, *arguments, **more):
        answer = queue.SimpleQueue()
        self.jobs.put((arguments, more, answer))
        process, error = answer.get()
        if error is not None:
            raise error
        return process

    def _serve(self):
        failure = None
        try:
            filter_this_thread(self.filter)
        except OSError as error:
            failure = error
        while True:
            arguments, more, answer = self.jobs.get()
            try:
                if failure is not None:
                    raise failure
                answer.put((subprocess.Popen(*arguments, **more), None))
            except Exception as error:
                answer.put((None, error))


class SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_this_thread(code):
    """Put the calling thread, and all that it will start, under a filter of system calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = SockFprog(len(code) // 8, code)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls could be set")


def limited_file():
    """A file in memory that cannot grow above LOG_LIMIT; as yet it takes none."""
    file = os.memfd_create("log", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(file, LOG_LIMIT)
    fcntl.fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)
    return file


def children_of(pid):
    """All living descendants of a process, parents before children."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child, *children_of(child)]
    except OSError:
        pass
    return found


def stat_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()
