"""A decision for people, as markdown: what came of it, who stood where, who did not count and why, what is open."""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.agents.brief import one_line
from swarmgate.council.consensus.brief import rule_of, stand_of
from swarmgate.domain.consensus import Decision, DecisionOutcome, DecisionRecord, DecisionRound
from swarmgate.domain.usage import Usage

_ENDS = {
    "consensus": "there is a consensus",
    "convergence": "nothing moved any more",
    "rounds": "the last round was over",
    "timeout": "the time was up",
}


def outcome_page(decision: Decision, rounds: tuple[DecisionRound, ...], outcome: DecisionOutcome) -> str:
    """The whole page, artifacts/outcome.md."""
    return "\n".join((*_head(decision), *result_lines(outcome), *_rounds(decision, rounds), ""))


def record_lines(record: DecisionRecord) -> list[str]:
    """A record as `swarm decide show` prints it, finished or not."""
    told = result_lines(record.outcome) if record.outcome else [f"Status: {record.status}"]
    why = [f"Why: {record.why}"] if record.why else []
    return [*_head(record.decision), *told, *why, *_rounds(record.decision, record.rounds)]


def result_lines(outcome: DecisionOutcome) -> list[str]:
    """How it ended, what was decided and what is open, what it took."""
    return list(_result(outcome))


def last_lines(decision: Decision, held: DecisionRound) -> list[str]:
    """Who stood where in a round, and why somebody was excluded."""
    return list(_stands(decision, held))


def _head(decision: Decision) -> Iterator[str]:
    yield f"# {one_line(decision.question)}"
    yield ""
    yield f"Decision {decision.id}, by {decision.strategy}: {rule_of(decision)}"
    yield ""


def _result(outcome: DecisionOutcome) -> Iterator[str]:
    found = "CONSENSUS" if outcome.consensus else "NO CONSENSUS"
    many = "1 round" if outcome.rounds == 1 else f"{outcome.rounds} rounds"
    yield f"{found}  ({many}; ended because {_ENDS[outcome.ended_by]})"
    if outcome.count:
        yield f"  {outcome.count.why}"
    if outcome.choice:
        yield f"Chosen: {outcome.choice}"
    text = outcome.decided if outcome.consensus else outcome.proposed
    if text:
        yield "Decided:" if outcome.consensus else "Proposed last, and not decided:"
        yield from (f"  {line}".rstrip() for line in text.splitlines())
    if outcome.open_points:
        yield "Open:"
        yield from (f"  - {each}" for each in outcome.open_points)
    yield f"Cost: {_cost(outcome.usage)}"


def _rounds(decision: Decision, rounds: tuple[DecisionRound, ...]) -> Iterator[str]:
    for held in rounds:
        yield ""
        yield f"## Round {held.number}"
        if held.proposal != decision.question:
            yield "On the proposal:"
            yield from (f"  {line}".rstrip() for line in held.proposal.splitlines())
        yield from _stands(decision, held)
        yield f"Count: {held.count.why}{'; nothing moved' if held.converged else ''}"
        if held.synthesis and held.synthesis.failed:
            yield f"{held.synthesis.author} made no proposal, the earlier one stays: {held.synthesis.failed}"
        elif held.synthesis:
            yield f"{held.synthesis.author} made of it:"
            yield from (f"  {line}".rstrip() for line in held.synthesis.text.splitlines())
            yield from (f"  - open: {each}" for each in held.synthesis.open_points)


def _stands(decision: Decision, held: DecisionRound) -> Iterator[str]:
    weights = {each.id: each.weight for each in decision.participants}
    for each in held.contributions:
        weight = f" (weight {weights[each.participant]:g})" if decision.strategy == "weighted" else ""
        prepared = f", from {each.prepared}" if each.prepared else ""
        why = f": {each.excluded}" if each.excluded else ""
        yield f"- {each.participant}{weight}: {stand_of(decision, each)}{prepared}{why}"


def _cost(usage: Usage) -> str:
    usd = "price unknown" if usage.usd is None else f"${usage.usd:.4f}"
    calls = "1 call" if usage.calls == 1 else f"{usage.calls} calls"
    return f"{calls}, {usage.tokens:,} tokens, {usd}"
