"""`.ci/pages`: the documentation as a site, in which no link and no anchor is dead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def built(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [root / ".ci/pages", site], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


def test_the_pages_are_built(tmp_path: Path) -> None:
    done = built(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    site = {path.relative_to(tmp_path).with_suffix(".md").as_posix() for path in tmp_path.rglob("docs/**/*.html")}
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if path.stem != "README"} < site


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """As few pages as the script takes."""
    root = tmp_path / "project"
    shutil.copytree(ROOT / ".ci", root / ".ci")
    for name in ("docs", "examples", "benchmarks"):
        (root / name).mkdir()
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs/README.md"):
        (root / name).write_text("# Title\n\n## A part\n")
    return root


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("docs/README.md#a-part", ""),
        ("LICENSE", ""),
        ("https://pipx.pypa.io", ""),
        ("docs/gone.md", "docs/gone.md"),
        ("docs/README.md#a-part-that-is-gone", "#a-part-that-is-gone"),
        ("#gone", "#gone"),
        ("/docs/README.md", "/docs/README.md"),
    ],
)
def test_a_dead_link_or_anchor_ends_it(small: Path, tmp_path: Path, link: str, said: str) -> None:
    (small / "README.md").write_text(f"# Title\n\n[link]({link})\n")
    done = built(small, tmp_path / "site")
    assert (done.returncode != 0) is bool(said), done.stderr
    assert said in done.stderr
