from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swarmgate.workspace.process.detached import Foreign, start

PROGRAM = """
import json, os, sys, time
given = sys.stdin.read()
if os.fork():
    os._exit(0)
print(json.dumps({"pid": os.getpid(), "given": given, "session": os.getsid(0)}), flush=True)
time.sleep(30)
"""


def _start(tmp_path: Path, program: str, within_s: float = 10) -> bytes:
    argv = [sys.executable, "-c", program]
    return start(argv, cwd=tmp_path, environ=os.environ, given=b"hello", errors=tmp_path / "log", within_s=within_s)


def test_it_goes_on_in_a_session_of_its_own(tmp_path: Path) -> None:
    told = json.loads(_start(tmp_path, PROGRAM))
    assert told["given"] == "hello"
    assert told["session"] != os.getsid(0)
    with Foreign(told["pid"]) as process:
        process.send(signal.SIGKILL)


def test_one_that_ends_or_hangs_without_a_word_gives_none(tmp_path: Path) -> None:
    assert _start(tmp_path, "import sys; print('why', file=sys.stderr)") == b""
    assert (tmp_path / "log").read_text() == "why\n"
    began = time.monotonic()
    quiet = "import os, time; os.fork() and os._exit(0); time.sleep(30)"
    assert _start(tmp_path, quiet, within_s=0.2) == b""
    assert time.monotonic() - began < 20


def test_a_signal_never_reaches_a_process_that_took_over_the_number() -> None:
    program = [sys.executable, "-c", "import time; time.sleep(30)"]
    with subprocess.Popen(program) as process, Foreign(process.pid) as known:
        known.send(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
        with pytest.raises(ProcessLookupError):
            known.send(signal.SIGTERM)
    with pytest.raises(ProcessLookupError):
        Foreign(process.pid).send(signal.SIGTERM)
