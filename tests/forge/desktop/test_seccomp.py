"""Filters of system calls: what each profile says to which call, by the kernel's own rules for such programs."""

from __future__ import annotations

import errno
import struct

import pytest

from forge.desktop.seccomp import Profile, program
from forge.records import DesktopError

ALLOW = 0x7FFF0000
X86, ARM = 0xC000003E, 0xC00000B7


def run(code: bytes, number: int, *arguments: int, architecture: int = X86) -> int:
    """What the program returns: 0 for allowed, else the errno."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("=HBBI", code))
    accumulator = place = 0
    while True:
        kind, true, false, value = instructions[place]
        place += 1
        if kind == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif kind == 0x06:
            return 0 if value == ALLOW else value & 0xFFFF
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[kind]
            place += true if holds else false


@pytest.mark.parametrize(
    ("call", "arguments", "outer", "strict"),
    [
        ((0, 63), (), 0, 0),  # read
        ((101, 117), (), errno.EPERM, errno.EPERM),  # ptrace
        ((425, 425), (), errno.EPERM, errno.EPERM),  # io_uring_setup
        ((206, 0), (8,), errno.ENOSYS, errno.ENOSYS),  # io_setup
        ((165, 40), (), 0, errno.EPERM),  # mount
        ((161, 51), (), 0, errno.EPERM),  # chroot
        ((435, 435), (), 0, errno.ENOSYS),  # clone3
        ((56, 220), (0x11,), 0, 0),  # clone: a process
        ((56, 220), (0x3D0F00,), 0, 0),  # clone: a thread
        ((56, 220), (0x10000011,), 0, errno.EPERM),  # clone: a user namespace
        ((272, 97), (0x40000000,), 0, errno.EPERM),  # unshare: a network namespace
        ((272, 97), (0x20000,), 0, errno.EPERM),  # unshare: a mount namespace
        ((272, 97), (0x400,), 0, 0),  # unshare: descriptors
        ((41, 198), (1, 1, 0), 0, 0),  # socket: AF_UNIX
        ((41, 198), (2, 1, 6), 0, 0),  # TCP
        ((41, 198), (10, 2, 17), 0, 0),  # UDP over IPv6
        ((41, 198), (2, 1, 132), *[errno.EPROTONOSUPPORT] * 2),  # SCTP
        ((41, 198), (16, 3, 0), 0, 0),  # which interfaces there are
        ((41, 198), (16, 3, 12), *[errno.EPROTONOSUPPORT] * 2),  # the packet filter
        ((41, 198), (40, 1, 0), *[errno.EAFNOSUPPORT] * 2),  # AF_VSOCK
        ((16, 29), (0, 0x5401), 0, 0),  # ioctl: TCGETS
        ((16, 29), (0, 0x5412), *[errno.EPERM] * 2),  # TIOCSTI
        ((16, 29), (0, 0xFFFFFFFF00005412), *[errno.EPERM] * 2),  # the same, with what the kernel cuts off
    ],
)
def test_what_is_said_to_a_call(call: tuple[int, int], arguments: tuple[int, ...], outer: int, strict: int) -> None:
    said: dict[Profile, int] = {"outer": outer, "strict": strict}
    for profile, expected in said.items():
        assert run(program(profile, "x86_64"), call[0], *arguments) == expected
        assert run(program(profile, "aarch64"), call[1], *arguments, architecture=ARM) == expected


@pytest.mark.parametrize(
    ("call", "arguments", "reader"),
    [
        ((0, 63), (), 0),  # read
        ((257, 56), (), 0),  # openat
        ((59, 221), (), errno.EPERM),  # execve
        ((322, 281), (), errno.EPERM),  # execveat
        ((56, 220), (0x11,), errno.EPERM),  # clone: a process
        ((56, 220), (0x3D0F00,), 0),  # clone: a thread
        ((56, 220), (0x103D0F00,), errno.EPERM),  # clone: a thread in a namespace
        ((435, 435), (), errno.ENOSYS),  # clone3
        ((41, 198), (1, 1, 0), errno.EPERM),  # socket
        ((53, 199), (1, 1, 0), errno.EPERM),  # socketpair
        ((165, 40), (), errno.EPERM),  # mount
        ((304, 265), (), errno.EPERM),  # open_by_handle_at
    ],
)
def test_a_reader_starts_nothing_and_reaches_nobody(
    call: tuple[int, int], arguments: tuple[int, ...], reader: int
) -> None:
    assert run(program("reader", "x86_64"), call[0], *arguments) == reader
    assert run(program("reader", "aarch64"), call[1], *arguments, architecture=ARM) == reader


def test_other_calling_conventions_are_refused() -> None:
    assert run(program("outer", "x86_64"), 0, architecture=0x40000003) == errno.ENOSYS  # 32 bits
    assert run(program("outer", "x86_64"), 0x40000000) == errno.ENOSYS  # x32
    assert run(program("outer", "aarch64"), 63) == errno.ENOSYS


def test_a_processor_without_a_table_is_named() -> None:
    with pytest.raises(DesktopError, match="riscv64"):
        program("strict", "riscv64")
