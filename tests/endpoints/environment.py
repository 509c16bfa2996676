"""Environments of their own for real programs that are no part of swarmgate: made once, kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

_ENVIRON = dict(os.environ)
"""The developer's own, before a test takes its home away: pip reads its settings there."""

CACHE = Path(_ENVIRON.get("SWARMGATE_TEST_CACHE") or platformdirs.user_cache_path("swarmgate-tests"))
"""Where environments and weights are kept."""


def environment(name: str, *packages: str) -> Path:
    """The Python of an environment that has these packages; the test is skipped where they cannot be had."""
    root = CACHE / name
    python, made = root / "bin/python", root / "made"
    wanted = "\n".join(packages)
    if made.exists() and made.read_text() == wanted:
        return python
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", str(root)], [str(python), "-m", "pip", "install", "-q", *packages]):
        try:
            done = subprocess.run(command, env=_ENVIRON, capture_output=True, text=True, timeout=900, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"{', '.join(packages)}: not installed within 15 minutes")
        if done.returncode:
            said = (done.stderr.strip() or "no reason given").splitlines()[-1]
            pytest.skip(f"{', '.join(packages)} cannot be installed here: {said}")
    made.write_text(wanted)
    return python
