from __future__ import annotations

import re

import pytest

from swarmgate import errors
from swarmgate.errors import DirtyTree, LedgerCorrupt, PlanError, SwarmError

DRAWN = re.compile(r"^    (?P<branch>[│├└─ ]*)(?P<name>\w+)(?: {2,}(?P<code>\d+) {2,}\S.*|  .*|)$")


def _drawn() -> dict[str, tuple[str, int | None]]:
    """Each class in the docstring's tree with the name above it and the exit code that stands beside it."""
    tree: dict[str, tuple[str, int | None]] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if "──" not in line and not line.startswith("    SwarmError"):
            continue
        found = DRAWN.match(line)
        assert found, line
        depth = len(found["branch"]) // 4
        path = [*path[:depth], found["name"]]
        tree[found["name"]] = (path[-2] if depth else "Exception", int(found["code"]) if found["code"] else None)
    return tree


def _classes(root: type[SwarmError]) -> list[type[SwarmError]]:
    below = [each for each in root.__subclasses__() if each.__module__ == errors.__name__]
    return [root, *(each for child in below for each in _classes(child))]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    assert {name: above for name, (above, _) in _drawn().items()} == {
        each.__name__: each.__bases__[0].__name__ for each in _classes(SwarmError)
    }


def test_the_exit_codes_in_the_docstring_are_those_of_the_classes() -> None:
    drawn = {name: code for name, (_, code) in _drawn().items() if code is not None}
    classes = {each.__name__: each.exit_code for each in _classes(SwarmError)}
    assert len(drawn) == len(classes) - 2  # the root is no error of its own, and one line is too long for a number
    assert drawn == {name: classes[name] for name in drawn}


@pytest.mark.parametrize("error", _classes(SwarmError), ids=lambda each: each.__name__)
def test_each_error_has_a_code_of_its_own_and_says_what_it_is_for(error: type[SwarmError]) -> None:
    assert [each.code for each in _classes(SwarmError)].count(error.code) == 1
    assert re.fullmatch(r"[A-Z_]+", error.code)
    assert error.__doc__


def test_an_error_carries_its_message_and_the_next_step() -> None:
    error = SwarmError("no disk", hint="buy one")
    assert (str(error), error.message, error.hint) == ("no disk", "no disk", "buy one")
    assert DirtyTree("x", paths=("a",)).paths == ("a",)
    assert PlanError("x", problems=("p",)).problems == ("p",)
    assert LedgerCorrupt("x", line=3).line == 3
