"""Tests what an agent left behind is found, and that the same names are left alone where they belong."""

from __future__ import annotations

import pytest

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.gates.contracts.leftovers import found


def _left(*paths: str, before: tuple[str, ...] = (), announced: str | None = "") -> list[str]:
    files = tuple(ChangedFile(path=path, kind=ChangeKind.ADDED, new_mode="100644", new_id="1" * 40) for path in paths)
    return [each.path for each in found(ChangeSet(base="b", tree="t", files=files), before, announced)]


@pytest.mark.parametrize(
    "path",
    ["reproduce.py", "reproduce_bug.py", "debug_parser.py", "test_fix_1234.py", "FIX_SUMMARY.md", "fix.patch",
     "src/app.py.orig", "src/app.py.rej", "IMPLEMENTATION_SUMMARY.md"],
)  # fmt: skip
def test_what_nobody_hands_in_is_found(path: str) -> None:
    assert _left(path) == [path]


@pytest.mark.parametrize(
    "path", ["src/debug_toolbar.py", "tests/test_fix_1234.py", "debugger.py", "README.md", "SECURITY.md", "setup.py"]
)
def test_what_belongs_is_left_alone(path: str) -> None:
    assert _left(path) == []


def test_a_kind_that_lay_there_before_and_a_file_that_the_task_names_are_left_alone() -> None:
    assert _left("debug_b.py", before=("debug_a.py",)) == []
    assert _left("reproduce.py", announced="Write reproduce.py, which shows the bug.") == []
    assert _left("reproduce.py", before=("debug/a.py",), announced=None) == ["reproduce.py"]
