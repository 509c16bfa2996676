"""Transitions of debate events: participants are counted, and a verdict has to follow from its debate."""

from __future__ import annotations

from swarmgate.domain.events import event as ev
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import Planning, State, replace
from swarmgate.domain.task.debate_rules import settled
from swarmgate.domain.transitions.task import out_of_turn, running, updated
from swarmgate.errors import IllegalMove


def debate_weighed(state: State, event: ev.DebateWeighed, _: ev.Entry) -> State:
    _require_due(state, event.task, event.attempt)
    counted = replace(state, debates=state.debates.with_(event))
    return updated(counted, event.task, debate=event) if event.task else replace(counted, plan_debate=event)


def debate_kept(state: State, event: ev.DebateKept, _: ev.Entry) -> State:
    _require_due(state, event.task, event.attempt)
    return replace(state, debate_heads=state.debate_heads.set(event.debate, event.sha256))


def _require_due(state: State, task: str, number: int) -> None:
    """Whether a review, or that of the plan, waits for its verdict, and no debate of it was weighed before.

    Raises:
        IllegalMove: it does not, or one was: what a debate decided, no second one takes back.
    """
    if not task:
        if state.planning is not Planning.SAVED:
            raise IllegalMove("There is no plan that waits for the critic, or for a debate.")
        if state.plan_debate is not None:
            raise IllegalMove("The criticism of this plan was weighed already, and is not debated again.")
        return
    attempt = running(state, task, number)
    if attempt.state is not TaskState.PRE_CHECK_PASSED or attempt.review is not None:
        raise out_of_turn(task, attempt, "have its review debated")
    if attempt.debate is not None:
        raise IllegalMove(f"The review of task {task}, attempt {number}, was weighed already.")


def require_borne(debate: ev.DebateWeighed | None, review: Review, undecided: Verdict | None = None) -> None:
    """Whether a verdict is that of the debate which was held about it, if there was one.

    Args:
        debate: how the review was weighed.
        review: the verdict.
        undecided: what a debate bears that decided nothing; None: no verdict at all.

    Raises:
        IllegalMove: it is not, or nothing came of that debate.
    """
    if debate is None or not debate.held:
        return
    borne = None
    if debate.verdict is not None and debate.tally is not None and debate.decided_by is not None:
        borne = settled(debate.verdict, debate.tally, debate.decided_by)
    borne = borne or undecided
    if borne is not review.verdict:
        what = f"ended in {borne}" if borne else "decided nothing"
        raise IllegalMove(f"Debate {debate.debate} {what}: it does not bear the verdict {review.verdict}.")
