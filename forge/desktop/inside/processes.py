"""Child processes inside the box, for the supervisor, which as process 1 must also reap every orphan."""

import os
import subprocess
import threading
import time

LOG_KEPT = 2000


class Processes:
    """Children by pid; reaps them and every orphan of the box."""

    def __init__(self):
        self.lock = threading.Lock()
        self.known = {}
        self.changed = threading.Condition(self.lock)
        threading.Thread(target=self._reap, daemon=True).start()

    def start(self, argv, env=None, pass_fds=(), stdin=subprocess.DEVNULL, output=None, cwd=None):
        """Start a child of its own session; its output goes to `output` or to a memory file that `said` reads."""
        log = os.memfd_create("log") if output is None else -1
        with self.lock:  # a child that ends at once must be known before it is reaped
            try:
                process = subprocess.Popen(
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
        return process.pid

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
        size = os.fstat(log).st_size
        return os.pread(log, LOG_KEPT, max(0, size - LOG_KEPT)).decode("utf-8", "replace")

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
