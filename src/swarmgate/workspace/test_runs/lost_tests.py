"""Compares two test runs by the names of their tests: which tests that passed are missing or skipped now."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.domain.review.evidence import TestRun

_CASE = re.compile(r"[\[({].*", re.DOTALL)
"""What follows the name of a function: the case of a parametrised test."""


def lost(before: TestRun, after: TestRun) -> tuple[str, ...]:
    """The tests that passed in `before` and that `after` did not run, each with what became of it; canaries are tests.

    Compared are functions: a parametrised test is there while one of its cases is. One that moved is there too: a
    function of the same name runs in a place where none was. Where a runner names no tests, their number must not fall.
    """
    return (*_canaries(before, after), *_tests(before, after))


def _canaries(before: TestRun, after: TestRun) -> tuple[str, ...]:
    """What kept swarmgate's own tests from running, and did not before; a run of their own is a matter of chance."""
    if before.canary is None or before.canary.missing or after.canary is None or after.canary.apart:
        return ()
    why = after.canary.missing
    return (f"swarmgate's own, which show that the runner tells the truth ({why})",) if why else ()


def _tests(before: TestRun, after: TestRun) -> tuple[str, ...]:
    if before.names and (after.names or after.skips):
        return _named(before, after)
    passed, missing = before.passed or 0, (before.passed or 0) - after.ran
    if missing <= 0:
        return ()
    return (f"{missing} of {passed} tests that passed before the task (the runner does not name them)",)


def _named(before: TestRun, after: TestRun) -> tuple[str, ...]:
    known = set(map(_function, before.names))
    passed = dict.fromkeys(map(_function, _less(before.names, before.failures)))
    ran, skipped = set(map(_function, after.names)), set(map(_function, after.skips))
    moved = Counter(_last(name) for name in ran - known)
    found = []
    for name in passed:
        if name in ran:
            continue
        if name in skipped:
            found.append(f"{name} is skipped")
        elif moved[_last(name)] > 0:
            moved[_last(name)] -= 1
        else:
            found.append(f"{name} is not run")
    return tuple(found)


def _less(names: Iterable[str], without: Iterable[str]) -> list[str]:
    out = set(without)
    return [name for name in names if name not in out]


def _function(name: str) -> str:
    """`tests/test_a.py::TestX::test_b` of `tests/test_a.py::TestX::test_b[1-2]`."""
    return _CASE.sub("", name).strip() or name


def _last(name: str) -> str:
    return name.rpartition("::")[2]
