"""Confines itself by Landlock and seccomp, then becomes the command. Run as a script, by `landlock.Landlock`.

    python -I -S launcher.py FILTER NETWORK MEMORY PROCESSES FILE READ WRITE PATH ... PROGRAM [ARGUMENT ...]

FILTER is a program of `seccomp.py` in hexadecimal digits, NETWORK is 0 or 1, MEMORY and FILE count bytes; READ and
WRITE say how many paths to read, then to write, follow, those to write resolved.
Numbers are those of the kernel's headers (landlock.h, prctl.h, seccomp.h, capability.h) and of its system call tables.
Standard library only, and as little of it as can be: json alone would cost 10 ms of every command.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE_FILE, _TRUNCATE, _IOCTL = 1 << 1, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_FS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_FS_SINCE_5 = (1 << 16) - 1
_TCP, _SINCE_PORTS = 0b11, 4
_SCOPES, _SINCE_SCOPES = 0b11, 6
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_BOUNDING_DROP, _CAPABILITY_VERSION = 24, 0x20080522

_LIBC = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    return max(0, int(_LIBC.syscall(CREATE, None, 0, 1)))


def main(arguments: list[str]) -> None:
    """Confine this process and replace it; any failure ends it with exit code 126 and a reason, unconfined never."""
    try:
        refused, *arguments = arguments
        network, memory, processes, file, reads, writes = map(int, arguments[:6])
        read, write = arguments[6 : 6 + reads], arguments[6 + reads : 6 + reads + writes]
        command = arguments[6 + reads + writes :]
        _limit(resource.RLIMIT_DATA, memory)
        _limit(resource.RLIMIT_FSIZE, file)
        _limit(resource.RLIMIT_NPROC, processes)
        _check(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
        _drop_capabilities()
        _landlock(read, write, network=bool(network))
        _filter(bytes.fromhex(refused))
        program = command[0]
    except (OSError, IndexError, ValueError) as error:
        sys.stderr.write(f"the sandbox cannot be set up: {error}\n")
        os._exit(126)
    try:
        os.execvp(program, command)  # noqa: S606 - replacing itself by the command is what it is for
    except FileNotFoundError:
        sys.stderr.write(f"{program}: not found\n")
        os._exit(127)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{program}: {error}\n")
        os._exit(126)


def _landlock(read: list[str], write: list[str], *, network: bool) -> None:
    version = abi()
    handled = _FS_BY_ABI.get(version, _FS_SINCE_5)
    ports, scoped = version >= _SINCE_PORTS, version >= _SINCE_SCOPES
    numbers = [handled, *([0 if network else _TCP] if ports else []), *([_SCOPES] if scoped else [])]
    attributes, size = struct.pack(f"{len(numbers)}Q", *numbers), 8 * len(numbers)
    ruleset = _check(_LIBC.syscall(CREATE, attributes, size, 0), "landlock_create_ruleset")
    for paths, access, follow in ((read, _READ, 0), (write, handled, os.O_NOFOLLOW)):
        for path in paths:
            _allow(ruleset, path, access & handled, follow)
    _check(_LIBC.syscall(RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int, follow: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | follow)
    except FileNotFoundError:
        return
    if os.readlink(f"/proc/self/fd/{place}") != path and follow:  # noqa: PTH115 - pathlib costs 8 ms of every command
        os.close(place)
        raise OSError(f"{path} leads elsewhere")
    if not os.path.isdir(f"/proc/self/fd/{place}"):  # noqa: PTH112 - pathlib costs 8 ms of every command
        access &= _OF_FILES
    rule = struct.pack("=Qi", access, place)
    _check(_LIBC.syscall(ADD_RULE, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
    os.close(place)


def _drop_capabilities() -> None:
    """Give up what root could do: some of it (PERFMON) reads other processes' variables in spite of Landlock."""
    number = 0
    while _LIBC.prctl(_BOUNDING_DROP, number, 0, 0, 0) == 0:
        number += 1
    header, empty = struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24)
    _check(_LIBC.capset(header, empty), "capset")


def _filter(program: bytes) -> None:
    """Have the kernel refuse system calls, as `seccomp.program` says."""
    if not program:
        raise OSError(f"no filter of system calls is known for {os.uname().machine}")
    buffer = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check(_LIBC.prctl(_SET_SECCOMP, _FILTER, filters, 0, 0), "seccomp")


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, most))


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


if __name__ == "__main__":
    main(sys.argv[1:])
