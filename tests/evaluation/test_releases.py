"""Tests the run of all gates on releases of other projects."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import UsageError
from swarmgate.evaluation import releases

if TYPE_CHECKING:
    from pathlib import Path


def _sdist(folder: Path, release: str, files: dict[str, str]) -> None:
    with tarfile.open(folder / f"{release}.tar.gz", "w:gz") as packed:
        for path, content in files.items():
            member = tarfile.TarInfo(f"{release}/{path}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content.encode()))


@pytest.mark.slow
def test_each_file_is_judged_alone_and_a_block_is_told_with_its_finding(tmp_path: Path) -> None:
    _sdist(tmp_path, "demo-1.9", {"a.py": "x = 1\n", "b.py": "y = 1\n", "same.py": "z = 1\n", "gone.py": "w = 1\n"})
    _sdist(tmp_path, "demo-1.10", {"a.py": "x = 2\n", "b.py": "y = (1\n", "same.py": "z = 1\n", "PKG-INFO": "n\n"})
    judged = {change.path: blocks for change, blocks in releases.judge(tmp_path, sample=10, seed=0)}
    assert set(judged) == {"a.py", "b.py", "gone.py"}
    assert not judged["a.py"]
    assert not judged["gone.py"]
    assert "syntax_check" in {block.gate for block in judged["b.py"]}
    block = next(block for block in judged["b.py"] if block.gate == "syntax_check")
    assert block.change.releases == "demo-1.9.tar.gz -> demo-1.10.tar.gz"
    assert block.findings[0].startswith("b.py:1")


@pytest.mark.parametrize("path", ["../../outside.py", "/outside.py", "a/../../outside.py"])
def test_an_archive_writes_nothing_outside(tmp_path: Path, path: str) -> None:
    _sdist(tmp_path, "demo-1", {"a.py": "x = 1\n", path: "x = 1\n"})
    _sdist(tmp_path, "demo-2", {"a.py": "x = 2\n"})
    with pytest.raises(UsageError, match="stays below its folder"):
        list(releases.judge(tmp_path, sample=5, seed=0))


def test_a_sample_is_no_larger_than_asked_for(tmp_path: Path) -> None:
    for release, value in (("demo-1", 1), ("demo-2", 2)):
        _sdist(tmp_path, release, {f"m{n}.txt": f"{value}\n" for n in range(6)})
    assert len(list(releases.judge(tmp_path, sample=2, seed=0))) == 2


def test_a_folder_without_two_releases_is_refused(tmp_path: Path) -> None:
    _sdist(tmp_path, "demo-1", {"a.py": ""})
    _sdist(tmp_path, "other-2", {"a.py": ""})
    with pytest.raises(UsageError, match="no two releases of one package"):
        list(releases.judge(tmp_path, sample=1, seed=0))
