"""Tests how many git processes a run of all gates starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

MOST = 18
"""Two for the repository, ten for two snapshots, one for the difference, and what reads trees and contents."""


@pytest.mark.slow  # a whole run
def test_git_is_asked_few_times(project: Any, tmp_path: Path) -> None:
    git = shutil.which("git")
    log, folder = tmp_path / "asked", tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {git} "$@"\n')
    (folder / "git").chmod(0o755)
    text = "import os\n\n\ndef load(path):\n    return os.stat(path)\n"
    users = {f"pkg/user_{number}.py": "from pkg.lib import load\n\nload('a')\n" for number in range(5)}
    project.commit_files(
        {"pyproject.toml": "[project]\nname = 'pkg'\n", "pkg/__init__.py": "", "pkg/lib.py": text} | users
    )
    project.write("pkg/lib.py", text.replace("load(path)", "load(path, mode)"))
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    argv = [sys.executable, "-m", "swarmgate", "gates", "run", "--no-cache", "--no-fix"]
    done = subprocess.run(argv, cwd=project.root, env=env, capture_output=True, text=True, check=False)
    assert "contract-user-broken" in done.stdout, done.stdout + done.stderr
    asked = log.read_text().splitlines()
    assert len(asked) <= MOST, "\n".join(asked)
    assert sum(each.endswith("cat-file --batch") for each in asked) <= 3, "contents are read in few calls"
