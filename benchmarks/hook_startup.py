"""Measures what `swarm hook post-tool-use` takes: its start as a ratio to a bare Python, and an answer when warm.

    python benchmarks/hook_startup.py

Targets: at most 1.5 times a Python that imports what the hook needs of the standard library; findings of an edit within
0.3 s when warm. Medians of interleaved runs. It ends with exit code 1 where one is missed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
FLOOR = "import contextlib, copy, datetime, functools, hashlib, json, os, re, shlex, socket, sys, time, typing"
BAD = "import os\n\n\ndef number_{}():\n    return {}\n"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sg-", ignore_cleanup_errors=True) as name:
        folder, state = Path(name) / "repo", Path(name) / "state"
        (folder / "src").mkdir(parents=True)
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"XDG_STATE_HOME": str(state)}
        for words in (
            ("init", "-q"),
            ("-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "-q", "--allow-empty", "-m", "0"),
        ):
            subprocess.run(["git", *words], cwd=folder, check=True)
        place = folder / "src/a.py"
        outside, edit = _edit(folder, Path(name) / "elsewhere.py"), _edit(folder, place)
        hook = [sys.executable, "-m", "swarmgate", "hook", "post-tool-use"]
        _taken(hook, edit, environ)
        time.sleep(3.0)  # everything is loaded then, and one edit was looked at
        taken: dict[str, list[float]] = {"floor": [], "start": [], "edit, warm": []}
        late = 0
        for number in range(RUNS):
            place.write_text(BAD.format(number, number))
            taken["floor"].append(_taken([sys.executable, "-c", FLOOR], b"", environ)[0])
            taken["start"].append(_taken(hook, outside, environ)[0])
            seconds, code = _taken(hook, edit, environ)
            taken["edit, warm"].append(seconds)
            late += code != 2
        _end(next(state.glob("swarmgate/agent-hooks/*.sock")))
    floor_s, start_s, edit_s = (statistics.median(times) for times in taken.values())
    print(f"{'a bare Python':<32}{floor_s * 1000:>7.0f} ms")
    print(f"{'start':<32}{start_s * 1000:>7.0f} ms{start_s / floor_s:>7.2f} times, target 1.5")
    print(f"{'post-tool-use of an edit, warm':<32}{edit_s * 1000:>7.0f} ms, target 300")
    print(f"{late} of {RUNS} answers came without the finding, which then comes late")
    sys.exit(start_s > 1.5 * floor_s or edit_s > 0.3)


def _edit(folder: Path, place: Path) -> bytes:
    request = {"session_id": "s", "cwd": str(folder), "hook_event_name": "PostToolUse", "tool_name": "Write"}
    return json.dumps({**request, "tool_input": {"file_path": str(place)}}).encode()


def _taken(command: list[str], given: bytes, environ: dict[str, str]) -> tuple[float, int]:
    started = time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, check=False, env=environ)
    return time.perf_counter() - started, done.returncode


def _end(place: Path) -> None:
    """Ends the process that listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(place))
        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    main()
