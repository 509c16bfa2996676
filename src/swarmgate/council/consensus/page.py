"""A decision for people: what came of it, who stood where and said what, who did not count and why, what is open.

In lines for a terminal, and as markdown, in which words of models stay words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from swarmgate.agents.brief import one_line
from swarmgate.council.consensus.brief import rule_of, stand_of
from swarmgate.council.discussion import markdown
from swarmgate.council.discussion.values import said_in, shortened
from swarmgate.council.discussion.words import cost
from swarmgate.domain.consensus import Contribution, Decision, DecisionOutcome, DecisionRecord, DecisionRound
from swarmgate.domain.markdown import line

_ENDS = {
    "consensus": "there is a consensus",
    "convergence": "nothing moved any more",
    "rounds": "the last round was over",
    "timeout": "the time was up",
}


_SHOWN = 1_000
"""Characters of a contribution that a terminal shows; the page has all of it."""


class _Form(NamedTuple):
    """How words that are not ours are written: part of a line, a proposal, what somebody said."""

    line: Callable[[str], str]
    block: Callable[[str], Iterable[str]]
    prose: Callable[[str], Iterable[str]]


def outcome_page(decision: Decision, rounds: tuple[DecisionRound, ...], outcome: DecisionOutcome) -> str:
    """The whole page, artifacts/outcome.md."""
    return "\n".join((*_head(decision, _PAGE), *_result(outcome, _PAGE), *_rounds(decision, rounds, _PAGE), ""))


def record_lines(record: DecisionRecord) -> list[str]:
    """A record as `swarm decide show` prints it, finished or not."""
    told = result_lines(record.outcome) if record.outcome else [f"Status: {record.status}"]
    why = [f"Why: {record.why}"] if record.why else []
    return [*_head(record.decision, _TERMINAL), *told, *why, *_rounds(record.decision, record.rounds, _TERMINAL)]


def result_lines(outcome: DecisionOutcome) -> list[str]:
    """How it ended, what was decided and what is open; last what it took."""
    return list(_result(outcome, _TERMINAL))


def last_lines(decision: Decision, held: DecisionRound) -> list[str]:
    """Who stood where in a round, and why somebody was excluded."""
    return [_stand(decision, each, _TERMINAL) for each in held.contributions]


def _head(decision: Decision, form: _Form) -> Iterator[str]:
    yield f"# {form.line(one_line(decision.question))}"
    yield ""
    yield f"Decision {decision.id}, by {decision.strategy}: {rule_of(decision)}"
    yield ""


def _result(outcome: DecisionOutcome, form: _Form) -> Iterator[str]:
    found = "CONSENSUS" if outcome.consensus else "NO CONSENSUS"
    many = "1 round" if outcome.rounds == 1 else f"{outcome.rounds} rounds"
    yield f"{found}  ({many}; ended because {_ENDS[outcome.ended_by]})"
    if outcome.count:
        yield f"  {form.line(outcome.count.why)}"
    if outcome.choice:
        yield f"Chosen: {form.line(outcome.choice)}"
    text = outcome.decided if outcome.consensus else outcome.proposed
    if text:
        yield "Decided:" if outcome.consensus else "Proposed last, and not decided:"
        yield from form.block(text)
    if outcome.open_points:
        yield "Open:"
        yield from (f"  - {form.line(each)}" for each in outcome.open_points)
    yield from ("",) if form is _PAGE and outcome.open_points else ()
    yield f"Cost: {cost(outcome.usage, outcome.seconds)}"


def _rounds(decision: Decision, rounds: tuple[DecisionRound, ...], form: _Form) -> Iterator[str]:
    for held in rounds:
        yield ""
        yield f"## Round {held.number}"
        if held.proposal != decision.question:
            yield "On the proposal:"
            yield from form.block(held.proposal)
        for each in held.contributions:
            yield _stand(decision, each, form)
            yield from (f"  model {form.line(each.model)}",) if each.model else ()
            yield from form.prose(shortened(said_in(each.text))[0])
        yield f"Count: {form.line(held.count.why)}{'; nothing moved' if held.converged else ''}"
        if held.synthesis and held.synthesis.failed:
            author, failed = held.synthesis.author, form.line(held.synthesis.failed)
            yield f"{author} made no proposal, the earlier one stays: {failed}"
        elif held.synthesis:
            yield f"{held.synthesis.author} made of it:"
            yield from form.block(held.synthesis.text)
            yield from (f"  - open: {form.line(each)}" for each in held.synthesis.open_points)


def _stand(decision: Decision, each: Contribution, form: _Form) -> str:
    weights = {seat.id: seat.weight for seat in decision.participants}
    weight = f" (weight {weights[each.participant]:g})" if decision.strategy == "weighted" else ""
    prepared = f", from {each.prepared}" if each.prepared else ""
    why = f": {form.line(each.excluded)}" if each.excluded else ""
    return f"- {each.participant}{weight}: {form.line(stand_of(decision, each))}{prepared}{why}"


# --- forms ---


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in text.splitlines())


def _short(text: str) -> Iterator[str]:
    cut = text.strip()
    cut = cut if len(cut) <= _SHOWN else f"{cut[:_SHOWN].rstrip()} ... ({len(cut):,} characters)"
    return (f"  > {line}".rstrip() for line in cut.splitlines())


def _quoted(text: str) -> Iterator[str]:
    """A quotation, and the empty line that ends it."""
    yield from (f"  {each}" for each in markdown.quote(text.strip()).splitlines())
    yield ""


_TERMINAL = _Form(line=str, block=_indented, prose=_short)
_PAGE = _Form(line=line, block=_quoted, prose=_quoted)
