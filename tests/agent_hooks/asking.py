"""Hands a hook what a program would, and reads what it says."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

BAD = "import os\n\n\ndef two():\n    return 2\n"
"""A file that the quick gates block: an import that nobody uses."""
GOOD = "def two():\n    return 2\n"


def request(event: str, repo: Path, **fields: Any) -> bytes:
    """What Claude Code hands over."""
    return json.dumps({"hook_event_name": event, "session_id": "s-1", "cwd": str(repo), **fields}).encode()


def tool(event: str, repo: Path, name: str, **arguments: Any) -> bytes:
    return request(event, repo, tool_name=name, tool_input=arguments)


def hook(event: str, data: bytes, *, cwd: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """A process of its own: what a program sees."""
    return subprocess.run(
        [sys.executable, "-m", "swarmgate", "hook", event],
        input=data,
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
        timeout=300,
    )


def end_warm(state: Path) -> int:
    """Ends the warm processes whose sockets lie in a state folder; returns how many there were."""
    ended = 0
    for place in state.glob("swarmgate/agent-hooks/*.sock"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:  # it ended by itself
            connection.connect(str(place))
            pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            os.kill(pid, signal.SIGTERM)
            ended += 1
    return ended
