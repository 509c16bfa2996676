"""Measures how long `swarm mcp` takes to answer `initialize`, and to list its tools, from the start of its process.

    python benchmarks/mcp_startup.py

Target: `initialize` within 600 ms. The list waits for the package of the protocol and the forms of all answers. The
seconds of the processor tell what a machine would take on which nothing else is at work.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 9
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
GREETING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}
LISTING = (
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def main() -> None:
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        for _ in range(RUNS):
            for what, seconds in _once(folder).items():
                taken.setdefault(what, []).append(seconds)
    for what, times in taken.items():
        print(f"{what:<36}{statistics.median(times) * 1000:>6.0f} ms, best {min(times) * 1000:>5.0f} ms")
    print(f"load of the machine, a processor: {os.getloadavg()[0] / (os.cpu_count() or 1):.1f}")


def _once(folder: str) -> dict[str, float]:
    began = time.perf_counter()
    command = [sys.executable, "-m", "swarmgate", "mcp"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        greeted = _asked(process, GREETING) - began
        listed = _asked(process, *LISTING) - began
    before = _processor()
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=True)
    return {
        "initialize is answered": greeted,
        "tools are listed": listed,
        "of the processor until it can answer": _processor() - before,
    }


def _asked(process: subprocess.Popen[bytes], *messages: object) -> float:
    """When the answer to the last of some messages is there."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
    process.stdin.flush()
    assert "result" in json.loads(process.stdout.readline())
    return time.perf_counter()


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
