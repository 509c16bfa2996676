"""Mutants: small faults on the lines that were asked for, and nowhere that no test could see."""

from __future__ import annotations

import ast

from swarmgate.workspace.code.mutants import available, evenly, mutants

SOURCE = '''"""A module."""

from __future__ import annotations


def total(a: int | None, b: int) -> int | None:
    """Sum."""
    if a is None or a < b:
        return a + b
    return a * 2


if __name__ == "__main__":
    print(1 + 2)
'''
EVERY = range(1, 100)


def made(lines: range, *, most: int = 1000) -> list[tuple[int, str]]:
    _, found = mutants("a.py", SOURCE, lines, most=most)
    for mutant in found:
        assert ast.dump(ast.parse(mutant.content)) != ast.dump(ast.parse(SOURCE))
    return [(each.line, each.diff) for each in found]


def test_the_library_is_here() -> None:
    assert available()


def test_only_the_asked_lines_are_mutated() -> None:
    assert {line for line, _ in made(range(9, 10))} == {9}
    assert "+        return a - b" in made(range(9, 10))[0][1]
    assert made(range(1, 6)) == []


def test_annotations_and_scripts_are_left_alone() -> None:
    assert {line for line, _ in made(EVERY)} == {8, 9, 10}


def test_one_place_has_few_mutants_of_a_kind() -> None:
    count, found = mutants("a.py", "X = A + B\n", EVERY, most=1000)
    assert (count, len(found)) == (2, 2)


def test_more_than_wanted_are_sampled_and_counted() -> None:
    count, found = mutants("a.py", SOURCE, EVERY, most=3)
    assert count > 3
    assert len(found) == 3


def test_what_is_no_python_has_none() -> None:
    assert mutants("a.py", "def (:\n", EVERY, most=10) == (0, ())


def test_evenly() -> None:
    assert evenly(list(range(10)), 3) == [0, 3, 6]
    assert evenly([1, 2], 3) == [1, 2]
