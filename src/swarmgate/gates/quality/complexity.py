"""Measures how much the complexity of each function grew against the base.

A function's cost is what its complexity grew by, and never more than the branches that the change wrote into it: what
it moved, renamed or took out of another function was there before. A new function is new work, and being simple is
free: it costs what it has beyond `ALLOWANCE`. With the default budget of 5, a new function may therefore have up to 10,
McCabe's own limit (T. J. McCabe, "A Complexity Measure", IEEE TSE 1976; NIST SP 500-235, 2.5).
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from swarmgate.gates.quality.functions import Code, Function

ALLOWANCE = 5
"""The complexity up to which a new function costs nothing."""

SIMPLE = 10
"""McCabe's own limit."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A changed function, its old version (None: it is new), and its added lines.

    `lines` counts the lines that are new, `branches` the decisions on them.
    """

    function: Function
    old: Function | None
    lines: int
    branches: int

    @property
    def cost(self) -> int:
        """How much more complex the change made it; 0 when it did not."""
        if self.old is not None:
            return max(min(self.function.complexity - self.old.complexity, self.branches), 0)
        return max(min(self.function.complexity, self.branches + 1) - ALLOWANCE, 0)

    @property
    def was_complex(self) -> bool:
        """Whether the function was beyond McCabe's limit before the change."""
        return self.old is not None and self.old.complexity > SIMPLE

    @property
    def longer(self) -> int:
        """How many lines longer the change made it; 0 when it did not."""
        return max(min(self.function.length - (self.old.length if self.old else 0), self.lines), 0)

    @property
    def story(self) -> str:
        """`parse (complexity 4 -> 12)`."""
        was = f"{self.old.complexity} -> " if self.old else "new, "
        return f"{self.function.name} (complexity {was}{self.function.complexity})"


def points(codes: Mapping[str, Code], before: Callable[[str], Code]) -> dict[str, int]:
    """How many decisions each file has more than in the base, over all its functions; fewer count against it.

    A file that lizard cannot read on one of the sides is left out.
    """
    pairs = {path: (code, before(path)) for path, code in codes.items()}
    return {
        path: sum(each.complexity - 1 for each in now.functions) - sum(each.complexity - 1 for each in was.functions)
        for path, (now, was) in pairs.items()
        if not now.broken and not was.broken
    }


def compare(codes: Mapping[str, Code], before: Mapping[str, Code], fresh: Mapping[str, frozenset[int]]) -> list[Grown]:
    """Pair the functions that the change touched with those of the base.

    Args:
        codes: the changed files by path.
        before: the same files in the base, under the paths that they have now.
        fresh: the lines that the change brought in, by path, without those that it moved.
    """
    grown = []
    for path, code in codes.items():
        new = fresh.get(path, frozenset())
        old = _namesakes(code.functions, before[path].functions if path in before else ())
        for function, namesake in zip(code.functions, old, strict=True):
            own = [line for line in range(function.line, function.end + 1) if line in new]
            if own:
                branches = sum(code.branches.get(line, 0) for line in own)
                grown.append(Grown(function, namesake, len(own), branches))
    return grown


def _namesakes(after: Sequence[Function], before: Iterable[Function]) -> list[Function | None]:
    """For each function its namesake. Of several with one name (anonymous ones) the equal ones, then by order."""
    equal: defaultdict[tuple[str, tuple[str, ...]], deque[Function]] = defaultdict(deque)
    for function in before:
        equal[function.name, function.text].append(function)
    pairs = [old.popleft() if (old := equal[each.name, each.text]) else None for each in after]
    left: defaultdict[str, deque[Function]] = defaultdict(deque)
    for function in sorted((each for rest in equal.values() for each in rest), key=lambda each: each.line):
        left[function.name].append(function)
    for index, function in enumerate(after):
        if pairs[index] is None and left[function.name]:
            pairs[index] = left[function.name].popleft()
    return pairs
