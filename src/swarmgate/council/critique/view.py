"""Renders a critique: the full record as a model, and lines of text with the scores of each iteration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.council.critique.model import CritiqueRecord, Iteration, Score
from swarmgate.council.critique.scoring import missed
from swarmgate.council.views.formatting import cost
from swarmgate.domain.usage import Usage


def text_lines(record: CritiqueRecord) -> list[str]:
    """All of it: the task, a table of the scores, reasons and suggestions, the best version and what it took."""
    critique, outcome = record.critique, record.outcome
    lines = [f"Critique {critique.id}{f' ({critique.name})' if critique.name else ''}: {critique.task}", ""]
    lines += [*score_lines(record), ""]
    for each in record.iterations:
        lines += [*_iteration_lines(record, each), ""]
    if outcome:
        lines += [f"The best version, that of iteration {outcome.best}:", "", *outcome.version.split("\n"), ""]
    used = outcome.usage if outcome else sum((each.usage for each in record.iterations), Usage())
    seconds = outcome.seconds if outcome else sum(each.seconds for each in record.iterations)
    return [*lines, f"Cost: {cost(used, seconds)}"]


def score_lines(record: CritiqueRecord) -> list[str]:
    """The table of every iteration's scores, and a line on how it ended."""
    critique = record.critique
    head = ["criterion", "weight", "threshold", *(str(each.number) for each in record.iterations)]
    rows = [
        [each.name, _weight(record, each.name, each.weight), f"{each.threshold:.2f}", *_scores(record, each.name)]
        for each in critique.criteria
    ]
    means = [f"{each.evaluation.mean:.2f}" if each.evaluation else "-" for each in record.iterations]
    rows.append(["weighted mean", "", f"{critique.stop:.2f}", *means])
    lines = _table([head, *rows])
    if critique.learnt_from:
        runs = "1 past run" if critique.learnt_from == 1 else f"{critique.learnt_from} past runs"
        lines.append(f"Weights were learnt from {runs} of {critique.name}.")
    if any(score.clamped is not None for each in record.iterations for score in _scores_of(each)):
        lines.append("* clamped: what was given lay outside of 0 to 1.")
    return [*lines, _ended(record)]


def _weight(record: CritiqueRecord, name: str, weight: float) -> str:
    before = record.critique.given_weights.get(name, weight)
    change = f"{before:.2f} -> {weight:.2f}"
    return f"{weight:.2f}" if round(before, 2) == round(weight, 2) else change


def _scores_of(iteration: Iteration) -> tuple[Score, ...]:
    return iteration.evaluation.scores if iteration.evaluation else ()


def _scores(record: CritiqueRecord, name: str) -> Iterable[str]:
    for each in record.iterations:
        found = {score.criterion: score for score in _scores_of(each)}
        yield f"{found[name].score:.2f}{'' if found[name].clamped is None else '*'}" if name in found else "-"


def _ended(record: CritiqueRecord) -> str:
    outcome = record.outcome
    if outcome is None:
        reasons = {"failed": f"It failed: {record.why}", "paused": f"No version was judged yet: {record.why}."}
        return reasons.get(record.status, "It is not over yet.")
    verdict = "good enough" if outcome.passed else "not good enough"
    ends = {
        "passed": "nothing is left to improve",
        "iterations": "it had all of its iterations",
        "timeout": "its time was over",
        "unchanged": "nothing changed any more",
    }
    gained = round(outcome.improvement, 2) + 0.0  # no -0.00
    best = f"Best: iteration {outcome.best} of {outcome.iterations}, mean {outcome.mean:.2f} ({gained:+.2f})"
    goes_on = f" It can go on: swarm critique resume {outcome.id}" if outcome.ended_by == "timeout" else ""
    return f"{best}; {verdict}; {ends[outcome.ended_by]}.{goes_on}"


def _iteration_lines(record: CritiqueRecord, iteration: Iteration) -> Iterable[str]:
    """What one iteration brought."""
    built = f", built on {iteration.built_on}" if iteration.built_on else ""
    by = f", by {iteration.model}" if iteration.model else ""
    yield f"Iteration {iteration.number}{built}{by}"
    if iteration.failed:
        yield f"  failed: {iteration.failed}"
    if iteration.same_as:
        yield f"  the very text of iteration {iteration.same_as}: its evaluation holds"
    if iteration.evaluation and not iteration.same_as:
        short = missed(record.critique.criteria, iteration.evaluation)
        for each in iteration.evaluation.scores:
            below = ", below its threshold" if each.criterion in short else ""
            noted = "" if each.clamped is None else f", clamped from {each.clamped:g}"
            yield f"  {each.criterion}: {each.score:.2f}{noted}{below}"
            yield from (f"    {line}" for line in each.reason.split("\n") if line)
        yield from (f"  - {' '.join(each.split())}" for each in iteration.evaluation.suggestions)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, numbers to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
