"""`swarm metrics`: shows measurements of the council's patterns in this project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.errors import UsageError
from swarmgate.terminal.columns import columns
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.metrics import PatternMetrics

_HEAD = (
    "pattern",
    "runs",
    "complete",
    "failed",
    "open",
    "damaged",
    "converged",
    "mean rounds",
    "mean score",
    "mean improvement",
    "mean seconds",
    "tokens",
    "cost",
)


def command(
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern",
            metavar="P",
            callback=filled,
            help="Of one pattern only: debate, dispatch, chat ...; its verb will do.",
        ),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show what councils came to: rounds, convergence, tokens, cost.

    It has, pattern by pattern: executions, convergence rate, mean rounds, scores, duration, tokens and cost.

    All is computed from the records of the project. What was a step of an orchestration, or spoke in a decision, is
    counted in its own line too; the total counts everything once.

    Example: swarm metrics --pattern decision
    """
    with boundary(json) as terminal:
        from swarmgate.config import nearest
        from swarmgate.council import patterns
        from swarmgate.domain.metrics import PATTERNS
        from swarmgate.engine.swarm import Swarm

        pattern = next((noun for noun, each in patterns.PATTERNS.items() if each.verb == pattern), pattern)
        if pattern is not None and pattern not in PATTERNS:
            close = nearest(pattern, PATTERNS)
            hint = f"Did you mean {close}?" if close else f"They are: {', '.join(PATTERNS)}"
            raise UsageError(f"there is no pattern {pattern[:60]!r}", hint=hint)
        council = Swarm(repo).council
        if note := council.elsewhere():
            terminal.note(note)
        found = [each for each in council.metrics() if pattern in (None, each.pattern)]
        rows = [each.model_dump(mode="json") for each in found]
        nothing = f"No {pattern} is on record yet." if pattern else "Nothing is on record yet."
        terminal.result(rows, _lines(found) if found else [nothing])


def _lines(found: list[PatternMetrics]) -> list[str]:
    """The table, and what is damaged below it."""
    table = columns([_HEAD, *(_row(each) for each in found)])
    parts = {each.pattern: each.parts for each in found if each.parts and each.pattern != "total"}
    parts_line = ", ".join(f"{count} {name}" for name, count in parts.items())
    lines = [*table, *([f"Parts of others, whose cost is in that of their whole: {parts_line}"] if parts_line else [])]
    return lines + [f"Damaged: {each}" for one in found if one.pattern != "total" for each in one.damaged]


def _row(each: PatternMetrics) -> tuple[str, ...]:
    from swarmgate.domain.usage import cost_in_words

    usage = each.usage
    rate = "-" if each.convergence_rate is None else f"{each.convergence_rate:.0%}"
    means = (_number(value) for value in (each.rounds, each.score, each.improvement, each.seconds))
    counts = (each.executions, each.complete, each.failed, each.open, len(each.damaged))
    return (
        each.pattern,
        *map(str, counts),
        rate,
        *means,
        f"{usage.tokens:,}",
        cost_in_words(usage),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
