"""Where the patterns of an orchestration are on record: under its own id, a dot, and the name of the step.

`nightly.verdict` is that of the step `verdict`, `nightly.risks.007` of the seventh item of the map `risks`, and
`nightly.risks.reduce` of what their outputs came to.
"""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.council.orchestration.model import Leaf, MapStep, Orchestration, ParallelStep, Step

PATTERN = "orchestration"
"""What an orchestration is called among the patterns."""

REDUCE = "reduce"

_PATTERNS = {"discuss": "discussion", "decide": "decision", "ask": "dispatch"}
"""Of kinds of steps that are called otherwise."""


def place(orchestration: str, step: str, part: int | str = "") -> str:
    """The id of the record of a step; `part`: the number of an item, or `REDUCE`."""
    ending = f".{part:03d}" if isinstance(part, int) else f".{part}" if part else ""
    return f"{orchestration}.{step}{ending}"


def places(orchestration: Orchestration) -> Iterator[tuple[str, str]]:
    """Pattern and id of every record that the steps of an orchestration may have."""
    for step in orchestration.steps:
        yield from _of(orchestration.id, step)


def _of(name: str, step: Step) -> Iterator[tuple[str, str]]:
    match step:
        case ParallelStep():
            yield from ((_pattern(each), place(name, each.id)) for each in step.steps)
        case MapStep():
            yield from ((_pattern(step.step), place(name, step.id, at)) for at in range(1, len(step.items) + 1))
            if step.reduce:
                yield _pattern(step.reduce), place(name, step.id, REDUCE)
        case _:
            yield _pattern(step), place(name, step.id)
    yield from ((_pattern(each), place(name, each.id)) for each in step.otherwise)


def _pattern(step: Leaf) -> str:
    return _PATTERNS.get(step.kind, step.kind)
