"""Tests the labelled sets that are generated from the standard library."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from swarmgate.evaluation import generated_sets

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def small_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of a few modules of the real one: all of it takes seconds."""
    for name in ("bisect", "colorsys", "shlex", "textwrap", "fnmatch", "glob", "keyword", "sched"):
        source = generated_sets.LIBRARY / f"{name}.py"
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "lib2to3").mkdir()
    (tmp_path / "lib2to3/bad.py").write_text("print 'Python 2'\n")
    monkeypatch.setattr(generated_sets, "LIBRARY", tmp_path)


@pytest.mark.parametrize("name", sorted(generated_sets.SETS))
def test_a_set_is_the_same_every_time(name: str) -> None:
    first = list(islice(generated_sets.SETS[name].make(), 20))
    assert first
    assert first == list(islice(generated_sets.SETS[name].make(), 20))


def test_damaged_modules_are_damaged() -> None:
    for case in generated_sets.broken():
        with pytest.raises(SyntaxError):
            ast.parse(case.after[case.place])


@pytest.mark.parametrize("name", ["stubs", "contracts"])
def test_a_made_change_is_valid_python_and_changes_something(name: str) -> None:
    cases = list(generated_sets.SETS[name].make())
    assert {case.expected for case in cases} == {True, False}
    for case in cases:
        (after,), (before,) = case.after.values(), case.before.values()
        ast.parse(after)
        ast.parse(before)
        assert after != before


def test_files_that_are_broken_on_purpose_are_left_out() -> None:
    assert not any("lib2to3" in case.place for case in generated_sets.library())
