"""`benchmarks/council_sessions.py`: two recordings of one tree are alike, and what is changed in one is told."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks/council_sessions.py"
SESSION = "decide-killed-file-resumed"


def told(*argv: str | Path, exits: int) -> str:
    done = subprocess.run([sys.executable, SCRIPT, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_two_recordings_are_alike_and_every_change_is_told(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert "1 sessions, " in told("record", old, SESSION, exits=0)
    told("record", new, SESSION, exits=0)
    assert told("compare", old, new, exits=0) == "0 differences\n"
    assert (old / SESSION / "plain/01-decide/exit").read_text() == "-9\n"

    shown = new / SESSION / "plain/04-decide-show/stdout"
    shown.write_text(shown.read_text().replace("agrees", "concurs"))
    found = told("compare", old, new, exits=1)
    assert "$ swarm decide show from-a-file\n" in found
    assert "(weight 0.5): concurs, 0.90" in found
    shutil.copy(old / SESSION / "plain/04-decide-show/stdout", shown)
    record = new / SESSION / "json/files/discussions/from-a-file/journal.jsonl"
    record.write_text(record.read_text().replace("weighted", "other"))
    assert "journal.jsonl" in told("compare", old, new, exits=1)
    told("compare", old, new, "--ignore-records", exits=0)
    told("compare", old, new, "debate-", exits=0)
    shutil.rmtree(new / SESSION / "plain")
    assert f"{SESSION}/plain: only in {old}" in told("compare", old, new, exits=1)
