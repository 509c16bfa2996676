"""Tests that a build tool's incremental cache is dropped where it could hide a changed file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.gates.builds import cache as build_cache

if TYPE_CHECKING:
    from pathlib import Path


def test_a_cache_is_dropped_where_a_changed_file_is_as_young_as_the_last_run(tmp_path: Path) -> None:
    cache, file = tmp_path / "cache", tmp_path / "a.py"
    file.write_text("x = 1\n")
    with build_cache.fresh(cache, tmp_path, ["a.py"]):
        (cache / "deep").mkdir(parents=True)
    file.write_text("x = 2\n")
    with build_cache.fresh(cache, tmp_path, ["a.py"]):
        assert not (cache / "deep").exists()


def test_a_cache_stays_warm_for_files_that_are_older_or_younger(tmp_path: Path) -> None:
    cache, old, young = tmp_path / "cache", tmp_path / "old.py", tmp_path / "young.py"
    for file, moment in ((old, 1_000_000_000), (young, 4_000_000_000)):
        file.write_text("x = 1\n")
        os.utime(file, (moment, moment))
    with build_cache.fresh(cache, tmp_path, []):
        (cache / "deep").mkdir(parents=True)
    with build_cache.fresh(cache, tmp_path, ["old.py", "young.py", "deleted.py"]):
        assert (cache / "deep").exists()


def test_a_cache_that_does_not_say_when_it_was_used_is_dropped(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "deep").mkdir(parents=True)
    with build_cache.fresh(cache, tmp_path, []):
        assert not (cache / "deep").exists()


def test_the_time_of_a_checked_out_file_follows_from_its_content(tmp_path: Path) -> None:
    times = []
    for name, content in (("a", b"one"), ("b", b"two"), ("c", b"one")):
        (tmp_path / name).write_bytes(content)
        build_cache.date(tmp_path / name, content)
        times.append(int((tmp_path / name).stat().st_mtime))
    assert times[0] == times[2] != times[1]
