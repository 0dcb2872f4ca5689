"""Out of the network namespace: the host's servers and sockets."""

from __future__ import annotations

import socket

from tests.forge.desktop.escape.attack import HIT, Attack, Ground
from tests.forge.desktop.escape.weaken import with_folder, without, without_filter

CONNECT = """
import socket, sys
kind, address = sys.argv[1:]
if kind == "tcp":
    client = socket.create_connection(("127.0.0.1", int(address)), 5)
else:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(5)
    client.connect("\\0" + address if kind == "abstract" else address)
print(client.recv(4096).decode())
"""
SEND = """
import socket, sys
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(sys.argv[2].encode(), ("127.0.0.1", int(sys.argv[1])))
"""
VIRTUAL_MACHINE = """
import socket
socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
print("HIT")
"""
SNIFF = """
import ctypes, os, socket
flags = 0x10000000 | 0x40000000  # CLONE_NEWUSER, CLONE_NEWNET: in there it has every capability
if ctypes.CDLL(None).unshare(flags) == 0:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300)
    print("HIT")
"""


def _tcp(ground: Ground) -> bool:
    return ground.hits(CONNECT, "tcp", str(ground.serve(socket.AF_INET, ("127.0.0.1", 0)).port))


def _udp(ground: Ground) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.5)
        ground.box(SEND, str(server.getsockname()[1]), ground.token)
        try:
            return server.recv(100) == ground.token.encode()
        except TimeoutError:
            return False


def _abstract(ground: Ground) -> bool:
    name = f"forge-escape-{ground.token}"
    ground.serve(socket.AF_UNIX, f"\0{name}")
    return ground.hits(CONNECT, "abstract", name)


def _path(ground: Ground) -> bool:
    path = str(ground.hidden / "socket")
    ground.serve(socket.AF_UNIX, path)
    return ground.hits(CONNECT, "path", path)


ATTACKS = [
    Attack(
        "reach a server of the host (TCP)", "network", "box", "a network of its own", _tcp, without("--unshare-net")
    ),
    Attack("send out of the box (UDP)", "network", "box", "a network of its own", _udp, without("--unshare-net")),
    Attack(
        "reach an abstract socket of the host",
        "network",
        "box",
        "a network of its own",
        _abstract,
        without("--unshare-net"),
    ),
    Attack(
        "reach a socket of the host by its path",
        "network",
        "box",
        "only chosen folders are in the box",
        _path,
        with_folder(writable=True),
    ),
    Attack(
        "open a socket to the machine below (vsock)",
        "network",
        "box",
        "system calls are filtered",
        lambda ground: ground.hits(VIRTUAL_MACHINE),
        without_filter(),
    ),
    Attack(
        "raw packets in a namespace of one's own",
        "network",
        "terminal",
        "system calls are filtered",
        lambda ground: HIT in ground.terminal(SNIFF),
        without_filter(),
    ),
]
