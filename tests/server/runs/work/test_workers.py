"""A script that serves is imported by each worker: one that serves whenever it is imported is told so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import asyncio
from pathlib import Path
from swarmgate.config import Telemetry
from swarmgate.server.runs.work.worker import Setup
from swarmgate.server.runs.work.workers import Workers

def serve():
    home = Path(__file__).parent
    workers = Workers(Setup(home, {}, (), (), Telemetry()))
    asyncio.run(workers.start("goal", "g-000000000000", home / "lock").ended())
    print("served")

serve()
"""


def test_a_script_without_a_guard_is_told_what_to_write(tmp_path: Path) -> None:
    script = tmp_path / "serving.py"
    script.write_text(SCRIPT)
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert 'Put what starts the server below: if __name__ == "__main__":' in told.stderr
    assert told.stdout == "served\n"
