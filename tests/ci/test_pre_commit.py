"""pre-commit and prek hold a commit that the gates are against, by the hooks that we offer, and let a good one pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ci.runner import OFFLINE, ROOT
from tests.ci.test_actions import KEY, git, program

pytestmark = pytest.mark.slow

PARTS = (".pre-commit-hooks.yaml", ".swarm-template", "LICENSE", "README.md", "docs", "examples", "gates", "prompts",
         "pyproject.toml", "src")  # fmt: skip
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
PUBLISHED, LOCAL = (
    text for text in re.findall(r"^```yml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "hooks:" in text
)


def published(tmp_path: Path) -> tuple[Path, str]:
    """swarmgate as a repository that hooks are installed from, and its commit."""
    root = tmp_path / "swarmgate"
    root.mkdir()
    for part in PARTS:
        place = ROOT / part
        if place.is_dir():
            shutil.copytree(place, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, root / part)
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "All")
    return root, git(root, "rev-parse", "HEAD")


def committed(repo: Path, environ: dict[str, str], text: str) -> subprocess.CompletedProcess[str]:
    (repo / "part.py").write_text(text)
    git(repo, "add", "part.py")
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--message", "Part"]
    return subprocess.run(command, cwd=repo, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("name", "page"), [("pre-commit", PUBLISHED), ("prek", LOCAL)])
def test_a_bad_commit_is_held_and_a_good_one_passes(name: str, page: str, repo: Path, tmp_path: Path) -> None:
    there = program(name)
    environ = {
        **os.environ,
        **(OFFLINE if page is PUBLISHED else {}),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "PREK_HOME": str(tmp_path / "prek"),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    }
    if page is PUBLISHED:
        source, commit = published(tmp_path)
        page = page.replace("https://github.com/example/swarmgate", str(source)).replace("v0.1.0", commit)
    (repo / ".pre-commit-config.yaml").write_text(page)
    git(repo, "add", ".pre-commit-config.yaml")
    git(repo, "commit", "--quiet", "--message", "Hooks")
    subprocess.run([there, "install"], cwd=repo, env=environ, check=True, capture_output=True)
    head = git(repo, "rev-parse", "HEAD")

    held = committed(repo, environ, f'"""A part."""\n\nKEY = "{KEY}"\n')
    assert held.returncode == 1, held.stderr
    assert "secret_scan" in held.stdout + held.stderr
    assert git(repo, "rev-parse", "HEAD") == head

    passed = committed(repo, environ, '"""A part."""\n\nVALUE = 1\n')
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert git(repo, "rev-parse", "HEAD") != head
