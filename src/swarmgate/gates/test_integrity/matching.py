"""Matches each old test to the same test after the change: in place, moved, or renamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from swarmgate.gates.test_integrity.suites.model import Case, Suite
    from swarmgate.gates.test_integrity.suites.tokens import Tokens

_ALIKE = 0.6
"""From this share of common tokens on, a test of another name is the same one, renamed and edited."""


@dataclass
class Matching:
    """`pairs`: old tests with their new form. `removed`: tests without a new form. `fresh`: new tests."""

    pairs: list[tuple[Case, Case]] = field(default_factory=list)
    removed: list[Case] = field(default_factory=list)
    fresh: list[Case] = field(default_factory=list)


def match(old: Iterable[Suite], new: Iterable[Suite], moved: Mapping[str, str]) -> Matching:
    """Match the old tests with the new ones.

    Args:
        old: the changed files of tests as they were.
        new: the same as they are.
        moved: where a file is now, by where it was.
    """
    left = [case for suite in old for case in suite.cases.values()]
    right = {(suite.path, case.name): case for suite in new for case in suite.cases.values()}
    result = Matching()
    left = _in_place(left, right, result, moved)
    left = _unique(left, right, result, lambda case: (_file(case), case.name))
    left = _unique(left, right, result, lambda case: case.name)
    left = _unique(left, right, result, lambda case: case.text if len(case.text) > _SHORT else None)
    left = _unique(left, right, result, lambda case: case.short)
    left = _similar(left, right, result, moved)
    result.removed, result.fresh = left, list(right.values())
    return result


_SHORT = 12
"""Tokens below which equal bodies say nothing."""

_Place = tuple[str, str]
_Right = dict[_Place, "Case"]


def _file(case: Case) -> str:
    return case.path.rpartition("/")[2]


def _in_place(left: Sequence[Case], right: _Right, result: Matching, moved: Mapping[str, str]) -> list[Case]:
    rest = []
    for case in left:
        found = right.pop((moved.get(case.path, case.path), case.name), None)
        if found is None:
            rest.append(case)
        else:
            result.pairs.append((case, found))
    return rest


def _unique(left: Sequence[Case], right: _Right, result: Matching, key: Callable[[Case], object]) -> list[Case]:
    """Pairs by a key that exactly one test has on either side."""
    places = defaultdict[object, list[_Place]](list)
    for place, case in right.items():
        places[key(case)].append(place)
    counts = Counter(key(case) for case in left)
    rest = []
    for case in left:
        found = places.get(key(case), [])
        if (
            key(case) is not None
            and counts[key(case)] == 1
            and len(found) == 1
            and right[found[0]].helper == case.helper
        ):
            result.pairs.append((case, right.pop(found[0])))
        else:
            rest.append(case)
    return rest


def _similar(left: Sequence[Case], right: _Right, result: Matching, moved: Mapping[str, str]) -> list[Case]:
    rest = []
    for case in left:
        here = moved.get(case.path, case.path)
        near = [(_share(case.bag, each.bag), place) for place, each in right.items() if place[0] == here]
        share, place = max(near, default=(0.0, ("", "")))
        if share >= _ALIKE:
            result.pairs.append((case, right.pop(place)))
        else:
            rest.append(case)
    return rest


def alike(one: Tokens, other: Tokens) -> float:
    """The share of tokens that two texts have in common."""
    return _share(Counter(one), Counter(other))


def _share(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total() or 1)
