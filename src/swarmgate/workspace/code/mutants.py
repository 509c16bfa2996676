"""Creates mutants of Python code on chosen lines, with the operators of cosmic-ray.

Where a test can see no difference whatever it does, there is no mutant: in annotations, and in what only a script runs.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

PACKAGE = "cosmic_ray"
"""The library that knows how to mutate; it comes with `swarmgate[mutation]`."""
_SAME_PLACE = 2
"""As many mutants of one kind at one place: `a + b` becomes two other sums, not ten."""

_Item = TypeVar("_Item")
_Place = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Mutant:
    """One small change of a file: its `line` (from 1), what it does as a unified `diff`, and the `content` with it."""

    path: str
    line: int
    diff: str
    content: str


@dataclass(frozen=True)
class _Spot:
    operator: str
    occurrence: int
    place: _Place

    @property
    def family(self) -> tuple[str, _Place]:
        return self.operator.partition("_")[0], self.place


def available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def mutants(path: str, source: str, lines: Collection[int], *, most: int) -> tuple[int, tuple[Mutant, ...]]:
    """How many mutants of a file there are on these lines, and up to `most` of them, evenly taken, line by line.

    Args:
        path: the file's name, for diffs.
        source: its text; what is no Python has no mutants.
        lines: numbers of lines, from 1.
        most: how many are made.
    """
    try:
        blind = _blind(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        return 0, ()
    families: dict[tuple[str, _Place], list[_Spot]] = {}
    for spot in _spots(source):
        start = spot.place[0]
        if start[0] in lines and not any(begin <= start < end for begin, end in blind):
            families.setdefault(spot.family, []).append(spot)
    spots = sorted((spot for each in families.values() for spot in each[:_SAME_PLACE]), key=lambda spot: spot.place)
    taken = evenly(spots, most)
    found = (_mutant(path, source, spot) for spot in taken)
    return len(spots), tuple({mutant.content: mutant for mutant in found if mutant}.values())


def evenly(items: Sequence[_Item], most: int) -> list[_Item]:
    """Up to `most` of the items, from the beginning to the end at equal distances."""
    if len(items) <= most:
        return list(items)
    return [items[index * len(items) // most] for index in range(most)]


def _spots(source: str) -> Iterator[_Spot]:
    provider = _operators()
    nodes = list(import_module(f"{PACKAGE}.ast").ast_nodes(import_module("parso").parse(source)))
    for name in provider:
        if provider[name].arguments():
            continue
        operator = provider[name]()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        yield from (_Spot(name, occurrence, place) for occurrence, place in enumerate(places))


def _operators() -> Any:
    """The library's operators by name."""
    return import_module(f"{PACKAGE}.operators.provider").OperatorProvider()


def _mutant(path: str, source: str, spot: _Spot) -> Mutant | None:
    mutating = import_module(f"{PACKAGE}.mutating")
    content = mutating.mutate_code(source, _operators()[spot.operator](), spot.occurrence)
    if content is None or content == source:
        return None
    before, after = source.splitlines(keepends=True), content.splitlines(keepends=True)
    diff = "".join(difflib.unified_diff(before, after, path, path, n=1))
    return Mutant(path=path, line=spot.place[0][0], diff=diff, content=content)


def _blind(tree: ast.Module) -> list[_Place]:
    """Where no test can see a difference: annotations, and below `if __name__ == "__main__"`, `if TYPE_CHECKING`."""
    found: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith(("__name__ == '__main__'", "TYPE_CHECKING")):
            found.append(node)
    return [
        ((each.lineno, each.col_offset), (each.end_lineno or each.lineno, each.end_col_offset or 0))
        for each in found
        if isinstance(each, ast.expr | ast.stmt)
    ]
