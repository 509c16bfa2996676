"""What differs between operating systems, under one name each: flags of files, signals, the host, the user.

Nothing else imports a module, or reads an attribute at import, that only POSIX has. Windows has no sandbox, no process
groups and no supervisor: what starts programs of agents or gates refuses there and names WSL (docs/windows.md).
"""

from __future__ import annotations

import os
import signal
import sys

from swarmgate.errors import MissingRequirement

CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
"""No child inherits the file; on Windows, no line end in it is translated either."""
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Refuses a symbolic link; 0 on Windows, where only who has a right of its own makes one."""
NONBLOCK = getattr(os, "O_NONBLOCK", 0)

KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)
"""Ends a process at once; on Windows SIGTERM does so."""

IS_WINDOWS = sys.platform == "win32"

WSL = "Install WSL (wsl --install) and run swarm there, with the repository inside of it: swarm docs windows"
"""What to do where Windows cannot do it."""


def host() -> str:
    """The name of this machine in its network."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform  # noqa: PLC0415 - late: Windows alone needs it

    return platform.node()


def user_id() -> str:
    """What tells this user from the others of the machine: the number, on Windows the name."""
    if hasattr(os, "getuid"):
        return str(os.getuid())
    import getpass  # noqa: PLC0415 - late: Windows alone needs it

    return getpass.getuser()


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """At most so many bytes of a file from there on; where it stands in the file need not stay."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, offset: int) -> int:
    """Writes to a file from there on, and gives how many bytes; where it stands in the file need not stay."""
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, data, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


def owns(found: os.stat_result) -> bool:
    """Whether a file is this user's; on Windows, which tells nobody's number, every one is."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def process_lives(pid: int) -> bool:
    """Whether there is a process of that number, whoever's it is.

    Where the system lists none this is all that can be asked. On Windows `os.kill` would end it, so it is opened there.
    """
    if sys.platform == "win32":
        return _opens(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _opens(pid: int) -> bool:
    """Whether Windows opens a process, and it has not ended. Numbers are those of winnt.h and winbase.h."""
    if sys.platform != "win32":
        return False
    import ctypes  # noqa: PLC0415 - late: Windows alone needs it

    synchronize, running = 0x0010_0000, 0x102
    kernel = ctypes.windll.kernel32
    handle = kernel.OpenProcess(synchronize, 0, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == running)
    finally:
        kernel.CloseHandle(handle)


def is_root() -> bool:
    """Whether this process has the rights of root; never on Windows."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def require_posix(what: str) -> None:
    """Refuses what Windows cannot do.

    Raises:
        MissingRequirement: this is Windows; the hint names WSL.
    """
    if not hasattr(os, "fork"):
        raise MissingRequirement(f"{what} does not work on Windows itself.", hint=WSL)
