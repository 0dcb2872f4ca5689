"""Which system calls a box may make: seccomp filters, assembled here as classic BPF (seccomp(2), linux/filter.h).

A filter says no to what desktop programs do not need and what past escapes from containers went through: tracing other
processes, loading code into the kernel, its newer interfaces (bpf, io_uring, userfaultfd, perf), keyrings, mounts and new
namespaces, odd socket families, pushing characters into a terminal, and what the kernel counts for the whole host
(asynchronous files). All else is allowed.

Three profiles, each denying more than the one before:

- `outer`: for a slot's supervisor, which nests further boxes and so needs mounts and namespaces.
- `strict`: for all else: neither mounts nor namespaces.
- `reader`: for our own code while it reads what strangers left: no program, no process, no socket either.

What it does NOT cover: it is a list of denials, so a system call that a future kernel adds is allowed; arguments that
lie in memory cannot be looked at (`clone3` is therefore said to be missing, and libraries fall back on `clone`). What a
program can do without is said to be missing too (`io_setup`).
"""

from __future__ import annotations

import errno
import functools
import platform
import struct
from typing import Literal

from forge.records.errors import DesktopError

Profile = Literal["outer", "strict", "reader"]

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*, linux/audit.h
_COLUMNS = {"x86_64": 0, "aarch64": 1}

_DENIED: dict[str, tuple[int | None, int | None]] = {
    # name: number on x86_64, on aarch64
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
_MOUNTS: dict[str, tuple[int | None, int | None]] = {
    "chroot": (161, 51),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "umount2": (166, 39),
}
_PROCESSES: dict[str, tuple[int | None, int | None]] = {
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "vfork": (58, None),
}
_ASYNCHRONOUS = (206, 0)  # io_setup: it takes from aio-max-nr, which all of the host share
_CLONE, _CLONE3, _UNSHARE = (56, 220), (435, 435), (272, 97)
_SOCKET, _IOCTL = (41, 198), (16, 29)

_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_THREAD = 0x10000  # CLONE_THREAD
_UNIX, _INET, _NETLINK, _INET6 = 1, 2, 16, 10
_PROTOCOLS = (0, 1, 6, 17, 58)  # any, ICMP, TCP, UDP, ICMPv6: others would load their kernel module
_ROUTE = 0  # NETLINK_ROUTE: which interfaces there are
_TERMINAL = (0x5412, 0x541C, 0x5423)  # TIOCSTI, TIOCLINUX, TIOCSETD

_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000  # with an errno in the lower half
_NUMBER, _ARCHITECTURE = 0, 4  # offsets into struct seccomp_data
_X32 = 0x40000000


@functools.cache
def program(profile: Profile, machine: str | None = None) -> bytes:
    """A filter as bubblewrap's `--seccomp` and prctl(PR_SET_SECCOMP) take it: an array of struct sock_filter.

    Args:
        profile: see the module.
        machine: "x86_64" or "aarch64"; this host's if None.

    Raises:
        DesktopError: there is no table for the machine.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise DesktopError(
            f"no system-call filter is known for {machine} processors",
            mend=f"use a host with {' or '.join(_ARCHITECTURES)}",
        )
    column = _COLUMNS[machine]
    code = [
        _load(_ARCHITECTURE),
        _equal(_ARCHITECTURES[machine], 1, 0),
        _refuse(errno.ENOSYS),  # another calling convention, with other numbers
        _load(_NUMBER),
    ]
    if machine == "x86_64":
        code += [_at_least(_X32, 0, 1), _refuse(errno.ENOSYS)]
    denied = dict(_DENIED)
    if profile != "outer":
        denied.update(_MOUNTS)
    if profile == "reader":
        denied.update(_PROCESSES)
    for numbers in denied.values():
        number = numbers[column]
        if number is not None:
            code += [_equal(number, 0, 1), _refuse(errno.EPERM)]
    code += [_equal(_ASYNCHRONOUS[column], 0, 1), _refuse(errno.ENOSYS)]
    code += _for(_SOCKET[column], _sockets())
    code += _for(_IOCTL[column], _ioctls())
    if profile != "outer":
        flags = [_argument(0), _any_bit(_NAMESPACES, 0, 1), _refuse(errno.EPERM), _allow()]
        code += [_equal(_CLONE3[column], 0, 1), _refuse(errno.ENOSYS)]
        threads = [_argument(0), _any_bit(_THREAD, 1, 0), _refuse(errno.EPERM)] if profile == "reader" else []
        code += _for(_CLONE[column], [*threads, *flags])
        code += _for(_UNSHARE[column], flags)
    return b"".join([*code, _allow()])


def _sockets() -> list[bytes]:
    """Of socket(2): the families and protocols that a desktop needs."""
    inet = [_argument(2)]
    for left, protocol in zip(range(len(_PROTOCOLS), 0, -1), _PROTOCOLS, strict=True):
        inet.append(_equal(protocol, left, 0))
    inet += [_refuse(errno.EPROTONOSUPPORT), _allow()]
    route = [_argument(2), _equal(_ROUTE, 1, 0), _refuse(errno.EPROTONOSUPPORT), _allow()]
    return [
        _argument(0),
        _equal(_UNIX, 0, 1),
        _allow(),
        _equal(_NETLINK, 0, len(route)),
        *route,
        _equal(_INET, 2, 0),
        _equal(_INET6, 1, 0),
        _refuse(errno.EAFNOSUPPORT),
        *inet,
    ]


def _ioctls() -> list[bytes]:
    code = [_argument(1)]
    for request in _TERMINAL:
        code += [_equal(request, 0, 1), _refuse(errno.EPERM)]
    return [*code, _allow()]


def _for(number: int, block: list[bytes]) -> list[bytes]:
    """`block`, which returns on every path, for one system call only."""
    return [_equal(number, 0, len(block)), *block]


def _instruction(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def _load(offset: int) -> bytes:
    return _instruction(0x20, 0, 0, offset)  # BPF_LD | BPF_W | BPF_ABS


def _argument(index: int) -> bytes:
    return _load(16 + 8 * index)  # the lower half, on these little-endian machines


def _equal(value: int, true: int, false: int) -> bytes:
    return _instruction(0x15, true, false, value)  # BPF_JMP | BPF_JEQ | BPF_K


def _at_least(value: int, true: int, false: int) -> bytes:
    return _instruction(0x35, true, false, value)  # BPF_JMP | BPF_JGE | BPF_K


def _any_bit(mask: int, true: int, false: int) -> bytes:
    return _instruction(0x45, true, false, mask)  # BPF_JMP | BPF_JSET | BPF_K


def _refuse(number: int) -> bytes:
    return _instruction(0x06, 0, 0, _REFUSE | number)  # BPF_RET | BPF_K


def _allow() -> bytes:
    return _instruction(0x06, 0, 0, _ALLOW)
