"""Renders a decision: its files, its lines for a terminal, and progress messages.

For people: what came of it, who stood where and said what, who did not count and why, what is open; in lines for a
terminal, and as markdown, in which words of models stay words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.decision.model import (
    VOTING,
    Contribution,
    Decision,
    DecisionOutcome,
    DecisionRecord,
    DecisionRound,
    DecisionSummary,
    Prepared,
    Spoke,
    Strategy,
)
from swarmgate.council.decision.state import CONTRIBUTE, FACILITATE, PREPARE, State, Step, outcome_of
from swarmgate.council.participants.answer_prose import shortened, text_under
from swarmgate.council.records.lifecycle import Completed, Standing, Stopped
from swarmgate.council.views import markdown, stream
from swarmgate.council.views.formatting import cost, indented
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.markdown import line
from swarmgate.domain.usage import Usage

_ENDS = {
    "consensus": "there is a consensus",
    "convergence": "nothing moved any more",
    "rounds": "the last round was over",
    "timeout": "the time was up",
    "waiting": "somebody is waited for",
}

PAGE, RESULT = "artifacts/outcome.md", "result.json"

_GIST = 300
"""Characters of a contribution that are told as it comes."""

_MOST_LENGTH = 1_000
"""Characters of a contribution that a terminal shows; the page has all of it."""


_RULES = {
    Strategy.UNANIMOUS: "Everybody has to agree, each with a level of at least {bar:.2f}.",
    Strategy.MAJORITY: "More than half have to agree; who abstains is counted as present.",
    Strategy.SUPERMAJORITY: "{bar:.1%} have to agree; who abstains is counted as present.",
    Strategy.WEIGHTED: "The mean of the levels, by the weights of the participants, has to reach {bar:.2f}.",
    Strategy.FACILITATOR: "{facilitator} decides, after having heard everybody.",
    Strategy.APPROVAL: "The option that most approve of wins, where more than half do.",
    Strategy.RANKED: "An instant run-off over the rankings: more than half of all have to rank an option first.",
}


class _Form(NamedTuple):
    """How words that are not ours are written: part of a line, a proposal, what somebody said."""

    line: Callable[[str], str]
    block: Callable[[str], Iterable[str]]
    prose: Callable[[str], Iterable[str]]


def views(standing: Standing[State]) -> dict[str, str]:
    """The outcome for people and, of a decision that is over, for programs; nothing before there is one."""
    outcome, state = outcome_of(standing), standing.own
    if outcome is None:
        return {}
    page = (*_head(state.decision, _PAGE), *_result(outcome, _PAGE), *_rounds(state.decision, state.rounds, _PAGE), "")
    found = {PAGE: "\n".join(page)}
    return {**found, RESULT: outcome.model_dump_json(indent=1) + "\n"} if standing.over else found


def record_of(standing: Standing[State]) -> DecisionRecord:
    """All of it, for programs."""
    state = standing.own
    return DecisionRecord(
        decision=state.decision,
        status=standing.status,
        why="; ".join(filter(None, (standing.why, _waits_for(standing)))),
        part_of=standing.part_of,
        rounds=state.rounds,
        outcome=outcome_of(standing),
    )


def _waits_for(standing: Standing[State]) -> str:
    """Whom a paused decision waits for, and the command that answers; empty where it waits for nobody."""
    people = standing.own.people_missing
    if standing.status != "paused" or not people:
        return ""
    flag = "--option TEXT" if standing.own.decision.strategy in VOTING else "--stand STAND"
    return f"it waits for {', '.join(people)}: swarm decide answer {standing.id} --as {people[0]} {flag}"


def summary_of(standing: Standing[State]) -> DecisionSummary:
    """The line of a list."""
    outcome = outcome_of(standing) if standing.over else None
    ended = "consensus" if outcome and outcome.consensus else "none"
    decision = standing.own.decision
    return DecisionSummary(
        id=standing.id,
        began=standing.created_at,
        status=ended if standing.over else standing.status,
        strategy=decision.strategy,
        question=decision.question,
    )


def summary(standing: Standing[State]) -> str:
    """Whether there is a consensus, or why there is none."""
    outcome = outcome_of(standing)
    if outcome is None:
        return ""
    return "consensus" if outcome.consensus else f"no consensus ({outcome.ended_by})"


# --- lines ---


def rule_of(decision: Decision) -> str:
    """How this decision is made, in a sentence."""
    return _RULES[decision.strategy].format(bar=decision.bar, facilitator=decision.facilitator)


def stand_of(decision: Decision, contribution: Contribution) -> str:
    """Where a contribution stands, in a few words: `agrees, 0.80`; `approves of Postgres, SQLite`."""
    if contribution.excluded:
        return "excluded"
    if decision.strategy is Strategy.APPROVAL:
        return f"approves of {', '.join(contribution.approves)}" if contribution.approves else "approves of none"
    if decision.strategy is Strategy.RANKED:
        return f"ranks {' > '.join(contribution.ranking)}" if contribution.ranking else "ranks none"
    return f"{contribution.stand}s, {contribution.agreement:.2f}" if contribution.stand else "says nothing"


def record_lines(record: DecisionRecord) -> list[str]:
    """A record as `swarm decide show` prints it, finished or not."""
    told = [*_result(record.outcome, _TERMINAL)] if record.outcome else [f"Status: {record.status}"]
    why = [f"Why: {record.why}"] if record.why else []
    return [*_head(record.decision, _TERMINAL), *told, *why, *_rounds(record.decision, record.rounds, _TERMINAL)]


def outcome_lines(record: DecisionRecord) -> list[str]:
    """How a decision ended, who stood where in its last round, and why somebody did not count; last what it took."""
    told = [*_result(record.outcome, _TERMINAL)] if record.outcome else []
    last = record.rounds[-1].contributions if record.rounds else ()
    return [*told[:1], *(_stand(record.decision, each, _TERMINAL) for each in last), *told[1:]]


def ballot_lines(decision: Decision, rounds: Sequence[DecisionRound]) -> list[str]:
    """What a person is shown who speaks in the round after these: what is decided, and what was said of it."""
    from swarmgate.council.decision.answers import lettered  # noqa: PLC0415 - late: 20 ms that a list need not pay

    options = lettered(decision.options).splitlines() if decision.options else []
    newest = tuple(rounds[-1:])
    return ["", *_head(decision, _TERMINAL), *options, *_rounds(decision, newest, _TERMINAL), ""]


def _head(decision: Decision, form: _Form) -> Iterator[str]:
    yield f"# {form.line(one_line(decision.question))}"
    yield ""
    yield f"Decision {decision.id}, by {decision.strategy}: {rule_of(decision)}"
    yield ""


def _result(outcome: DecisionOutcome, form: _Form) -> Iterator[str]:
    waits = outcome.ended_by == "waiting"
    found = "CONSENSUS" if outcome.consensus else "WAITING" if waits else "NO CONSENSUS"
    many = "1 round" if outcome.rounds == 1 else f"{outcome.rounds} rounds"
    yield f"{found}  ({many}; {'paused' if waits else 'ended'} because {_ENDS[outcome.ended_by]})"
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
            yield from form.prose(shortened(text_under(each.text))[0])
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


# --- what is told as it goes on ---


def progress_of_steps(steps: Sequence[Step], state: State) -> Iterator[stream.PatternEvent]:
    """A round, and who is asked: those that prepare first, too."""
    told = {"pattern": "decision", "id": state.decision.id, "number": state.number}
    if state.quiet:
        yield stream.RoundStarted(**told, most=state.decision.rounds)
    if steps[0].kind == FACILITATE:
        if not state.silent:
            yield stream.StepStarted(**told, step=FACILITATE, who=(steps[0].who,))
        return
    if state.quiet:
        yield stream.StepStarted(**told, step=CONTRIBUTE, who=tuple(each.who for each in steps))
    for each in steps:
        if each.kind == PREPARE:
            yield stream.StepStarted(**told, step=PREPARE, who=(each.who,))


def progress_of_event(event: Frozen, before: Standing[State], after: Standing[State]) -> Iterator[stream.PatternEvent]:
    """Progress events: contributions, complete rounds, convergence, and the outcome so far where the time was up."""
    state, told = after.own, {"pattern": "decision", "id": after.id}
    match event:
        case Spoke():
            yield _contributed(state, event.participant, event.usage)
        case Prepared(failed=failed) if failed:
            yield _contributed(state, event.participant, Usage())  # what it prepared was told as it was used
        case Completed():
            yield from _converged(state)
        case Stopped(status="paused") if state.late:
            outcome = outcome_of(after)
            data = outcome.model_dump(mode="json") if outcome else {}
            spent = {"usage": after.usage, "seconds": after.seconds}
            yield stream.Completed(**told, what=summary(after), outcome=data, **spent)
    if len(state.rounds) > len(before.own.rounds):
        yield from _whole(after.id, state.rounds[-1])


def _contributed(state: State, participant: str, usage: Usage) -> stream.Contributed:
    contribution = state.contributions[participant]
    return stream.Contributed(
        pattern="decision",
        id=state.decision.id,
        number=contribution.round,
        step=CONTRIBUTE,
        message=contribution.id,
        who=contribution.participant,
        what=stand_of(state.decision, contribution),
        text=cut(contribution.text, _GIST, "..."),
        failed=contribution.excluded,
        usage=usage,
    )


def _whole(name: str, held: DecisionRound) -> Iterator[stream.PatternEvent]:
    """What the facilitator made of a round, and what it came to."""
    if made := held.synthesis:
        yield stream.Contributed(
            pattern="decision",
            id=name,
            number=held.number,
            step=FACILITATE,
            who=made.author,
            text=cut(made.text, _GIST, "..."),
            failed=made.failed,
            usage=made.usage,
        )
    yield stream.RoundCompleted(
        pattern="decision", id=name, number=held.number, what=held.count.why, score=held.count.score
    )


def _converged(state: State) -> Iterator[stream.PatternEvent]:
    if state.ended in ("consensus", "convergence"):
        count = state.rounds[-1].count
        why = count.why if count.consensus else "no stand changed since the round before"
        yield stream.Converged(pattern="decision", id=state.decision.id, number=len(state.rounds), why=why)


# --- forms ---


def _short(text: str) -> Iterator[str]:
    cut = text.strip()
    cut = cut if len(cut) <= _MOST_LENGTH else f"{cut[:_MOST_LENGTH].rstrip()} ... ({len(cut):,} characters)"
    return (f"  > {line}".rstrip() for line in cut.splitlines())


def _quoted(text: str) -> Iterator[str]:
    """A quotation, and the empty line that ends it."""
    yield from (f"  {each}" for each in markdown.quote(text.strip()).splitlines())
    yield ""


_TERMINAL = _Form(line=str, block=lambda text: indented(text, 2), prose=_short)
_PAGE = _Form(line=line, block=_quoted, prose=_quoted)
