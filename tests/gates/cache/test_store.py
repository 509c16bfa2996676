"""Tests the cache store: damaged entries, concurrent processes and the size limit."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.gates.cache.store import ENTRY_BYTES, Cache, key_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = key_of(("a", "question"))
VALUE = {"findings": [{"path": "a b.py", "line": 3}], "notes": ["ü", "\udcff"]}


def test_what_was_put_is_there_for_everyone(tmp_path: Path) -> None:
    assert Cache(tmp_path / "new" / "folder").get(KEY) is None
    Cache(tmp_path).put(KEY, VALUE)
    assert Cache(tmp_path).get(KEY) == VALUE
    assert Cache(tmp_path).get(key_of(("another",))) is None


def test_the_users_cache_folder_is_the_default_and_private(isolated: Path) -> None:
    Cache().put(KEY, VALUE)
    folder = Cache().folder
    assert folder.is_relative_to(isolated)
    assert folder.parts[-2:] == ("swarmgate", "gates")
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b" ",
        lambda data: data.replace(b"a b.py", b"a c.py"),
        lambda _: b"",
        lambda _: b"{}\n{}",
        lambda _: os.urandom(500),
    ],
)
def test_a_damaged_entry_is_a_miss_and_is_mended_by_the_next_run(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, VALUE)
    place = next(tmp_path.glob(f"{KEY}*"))
    place.write_bytes(damage(place.read_bytes()))
    assert cache.get(KEY) is None
    cache.put(KEY, VALUE)
    assert cache.get(KEY) == VALUE


def test_an_entry_under_another_name_is_a_miss(tmp_path: Path) -> None:
    cache, other = Cache(tmp_path), key_of(("other",))
    cache.put(KEY, VALUE)
    place = next(tmp_path.glob(f"{KEY}*"))
    place.rename(place.with_name(place.name.replace(KEY, other)))
    assert cache.get(other) is None


def test_what_stands_in_the_way_of_an_entry_is_no_error(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.json").mkdir()
    Cache(tmp_path).put(KEY, VALUE)
    assert Cache(tmp_path).get(KEY) is None
    (tmp_path / "file").write_text("")
    Cache(tmp_path / "file").put(KEY, VALUE)
    assert Cache(tmp_path / "file").get(KEY) is None


def test_a_very_long_entry_is_not_kept(tmp_path: Path) -> None:
    Cache(tmp_path).put(KEY, "x" * ENTRY_BYTES)
    assert not list(tmp_path.glob("*.json"))


def test_the_least_used_entries_go_first_when_the_limit_is_reached(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=100_000, check_every_s=0)
    keys = [key_of((number,)) for number in range(10)]
    for age, key in enumerate(keys):
        cache.put(key, "x" * 8_000)
        os.utime(tmp_path / f"{key}.json", (1_000_000 + age, 1_000_000 + age))
    assert cache.get(keys[0]) is not None  # used: now the youngest
    cache.put(key_of(("more",)), "x" * 30_000)
    left = {key for key in keys if cache.get(key) is not None}
    assert keys[0] in left
    assert keys[1] not in left
    assert left == {keys[0], *keys[-len(left) + 1 :]}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 100_000


def test_the_size_is_looked_at_once_in_a_while_only(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=10_000)
    for number in range(5):
        cache.put(key_of((number,)), "x" * 8_000)
    assert len(list(tmp_path.glob("*.json"))) == 5
    os.utime(tmp_path / "last-check", (1, 1))
    cache.put(key_of(("more",)), "x")
    assert len(list(tmp_path.glob("*.json"))) < 5


_AT_ONCE = """
import sys
from pathlib import Path
from swarmgate.gates.cache.store import Cache, key_of
cache = Cache(Path(sys.argv[1]), limit=40_000, check_every_s=0)
for number in range(150):
    key = key_of((number % 7,))
    said = cache.get(key)
    assert said is None or said == {"number": number % 7, "filler": "x" * 9_000}, said
    cache.put(key, {"number": number % 7, "filler": "x" * 9_000})
"""


def test_processes_that_write_read_and_prune_at_once_see_whole_entries_only(tmp_path: Path) -> None:
    runs = [subprocess.Popen([sys.executable, "-c", _AT_ONCE, str(tmp_path)]) for _ in range(3)]
    assert [run.wait(30) for run in runs] == [0, 0, 0]
    assert not list(tmp_path.glob(".swarmgate-*"))


@given(st.lists(st.text()), st.lists(st.text()))
def test_no_two_lists_of_parts_share_a_key(one: list[str], other: list[str]) -> None:
    assert (key_of(one) == key_of(other)) == (one == other)
