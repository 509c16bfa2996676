"""Builds the seccomp filter that refuses system calls to a confined command (seccomp(2), bpf).

Numbers are those of the kernel's headers (audit.h, seccomp.h, socket.h) and of its system call tables.
"""

from __future__ import annotations

import struct
from functools import lru_cache

UNIX, IPV4, IPV6, NETLINK = 1, 2, 10, 16
"""Families of sockets."""

_MACHINES = {
    "x86_64": (0xC000003E, 41, 53, {"io_uring": (425,), "keys": (248, 249, 250), "ipc": (29, 64, 68, 240)}),
    "aarch64": (0xC00000B7, 198, 199, {"io_uring": (425,), "keys": (217, 218, 219), "ipc": (194, 190, 186, 180)}),
}
"""By machine: its audit number, `socket`, `socketpair`, and what else is refused: `io_uring_setup`; `add_key`,
`request_key`, `keyctl`; `shmget`, `semget`, `msgget`, `mq_open`."""

_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Where in `struct seccomp_data` a call's number, architecture and arguments stand."""
_ALLOW, _REFUSE = (_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, 0x00050000 | 13)
"""Let it happen, or answer EACCES."""
_X32 = 0x40000000
_STREAM, _PACKETS, _KIND = 1, 5, 0xF

_Step = tuple[int, int, int, int]


@lru_cache(8)
def program(machine: str, families: tuple[int, ...], *, apart: bool) -> bytes:
    """A filter for a machine, as `uname -m` calls it; empty where its numbers are not known.

    Refused are calls of foreign architectures; sockets but of these families; io_uring, which would make them unseen;
    and the kernel's keys, which no namespace holds.

    Args:
        machine: such as `x86_64`.
        families: of sockets that may be made.
        apart: whether the command has a namespace of its own for System V's memory, semaphores and queues, and for
            Unix sockets' names. Where not, those objects, which outlive the command and whose memory nobody counts,
            are refused, and so are pairs of datagram sockets: those can be sent elsewhere.
    """
    known = _MACHINES.get(machine)
    if known is None:
        return b""
    audit, socket, pair, others = known
    refused = [number for kind, numbers in others.items() if kind != "ipc" or not apart for number in numbers]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, audit),
        _REFUSE,
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _REFUSE,
        *(step for number in refused for step in ((_EQUAL, 0, 1, number), _REFUSE)),
        *_only(socket, [(_LOAD, 0, 0, _FIRST)], families),
        *(
            _only(pair, [(_LOAD, 0, 0, _FIRST)], families)
            if apart
            else _only(pair, [(_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _KIND)], (_STREAM, _PACKETS))
        ),
        _ALLOW,
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _only(number: int, load: list[_Step], allowed: tuple[int, ...]) -> list[_Step]:
    """Of one call, only with these values; any other call goes on behind."""
    inside = [*load, *(step for value in allowed for step in ((_EQUAL, 0, 1, value), _ALLOW)), _REFUSE]
    return [(_EQUAL, 0, len(inside), number), *inside]
