"""Everything that waits for a person that an account may decide, most urgent first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from swarmgate.domain.next_step import Waiting
from swarmgate.domain.text.cleaning import plain
from swarmgate.errors import BudgetExhausted, SwarmError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Ended, Goal
from swarmgate.server.services.decisions.approvals import Approvals
from swarmgate.server.services.decisions.questions import Questions
from swarmgate.server.services.goals.goals import Goals
from swarmgate.server.services.goals.summary import Known
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.views.decision import ApprovalSummary, NeedKind, NeedView, QuestionView, Way
from swarmgate.server.services.views.goal import GoalView
from swarmgate.server.services.views.view import Page

_URGENT: dict[NeedKind, int] = {
    "question": 0,
    "blocked_task": 1,
    "phase_rejected": 1,
    "approval": 2,
    "planning_failed": 3,
    "failed_run": 4,
    "budget": 5,
    "council": 6,
    "limit": 7,
}
"""What holds work up in the middle comes first; what goes on by itself comes last."""

_DECIDES: dict[NeedKind, Role] = {"question": Role.APPROVER, "approval": Role.APPROVER}
"""Who can decide a kind, where it is not an operator."""

_TASK_WAYS = (
    Way(do="retry", text="have it tried again, with a hint"),
    Way(do="revise", text="have the plan changed"),
    Way(do="override", text="overrule the last rejection, with a reason"),
    Way(do="skip", text="give the task up, with a reason"),
)
_RUN = Way(do="run", text="have the work go on")
_REVISE = Way(do="revise", text="have the plan changed")


@dataclass(frozen=True)
class Needs:
    """What needs somebody on a server.

    Attributes:
        access: who may see what.
        goals: as services know them.
        approvals: what waits for approval.
        questions: what is asked.
    """

    access: Access
    goals: Goals
    approvals: Approvals
    questions: Questions

    async def list(self, who: Principal, *, repo: str = "", after: str = "", limit: int = 100) -> Page[NeedView]:
        """What waits for a person, as far as this account may decide it.

        Args:
            who: asks.
            repo: only of this repository.
            after: the id of the last one of the part before.
            limit: as many at most.
        """
        found = await asyncio.gather(*map(self.of, self.access.goals(who, repo)))
        rows = [
            each for several in found for each in several if who.may(_DECIDES.get(each.kind, Role.OPERATOR), each.repo)
        ]
        rows.sort(key=lambda need: (_URGENT[need.kind], need.since))
        return page(rows, after=after, limit=limit, key=lambda row: row.id)

    async def of(self, goal: Goal) -> tuple[NeedView, ...]:
        """What a goal needs of anybody."""
        view = await self.goals.view(goal)
        approval, questions = await asyncio.gather(self.approvals.due(goal), self.questions.of(goal))
        try:
            found = await self.goals.known(goal)
        except SwarmError:
            found = None
        if view.state in ("working", "stopping", "queued") and not (view.state == "queued" and _limited(goal)):
            return ()
        return tuple(_needs(goal, view, found, approval, [each for each in questions if each.open]))


def _limited(goal: Goal) -> bool:
    """Whether it waits for the end of a limit."""
    return goal.wanted is not None and bool(goal.wanted.not_before)


def _needs(
    goal: Goal,
    view: GoalView,
    found: Known | None,
    approval: ApprovalSummary | None,
    questions: list[QuestionView],
) -> Iterator[NeedView]:
    if _limited(goal) and goal.wanted:
        text, now = "it waits for the end of a model's limit", Way(do="resume", text="try again now")
        yield _need(view, "limit", text, until=goal.wanted.not_before, ways=(now,))
        return
    if approval:
        yield _approval(view, approval)
    for each in questions:
        yield _question(view, each)
    if found and not approval and not questions:
        yield from _stuck(view, found)
    if view.state == "failed" and goal.ended:
        yield _failed(view, goal.ended)


def _failed(view: GoalView, ended: Ended) -> NeedView:
    """A run that ended in an error, and what helps: more budget where that is used up, else another run."""
    hint, budget = plain(ended.hint), ended.exit_code == BudgetExhausted.exit_code
    settings = (Way(do="settings", text=hint or "raise the budget"),) if budget else ()
    return _need(
        view,
        "budget" if budget else "failed_run",
        plain(ended.message),
        detail=(hint,) if hint else (),
        ways=(*settings, _RUN),
        since=ended.time,
    )


def _stuck(view: GoalView, found: Known) -> Iterator[NeedView]:
    """What only a decision about the plan, a phase or a task gets going again."""
    status = found.status
    match found.waiting:
        case Waiting.BLOCKED_TASK:
            blocked = next((line for line in status.actions if line.startswith("swarm retry ")), "").split()
            task = blocked[2] if len(blocked) > 2 else ""  # noqa: PLR2004 - `swarm retry TASK`
            yield _need(
                view, "blocked_task", f"task {task} is blocked", task=task, detail=status.actions, ways=_TASK_WAYS
            )
        case Waiting.PHASE_REJECTED:
            phase = next((each for each in status.phases if each.status == "rejected"), None)
            number = phase.number if phase else 0
            ways = (
                _REVISE,
                Way(do="retry", text="have the phase judged anew"),
                Way(do="override", text="go on in spite of it, with a reason"),
            )
            detail = phase.verdicts if phase else ()
            yield _need(view, "phase_rejected", f"phase {number} was rejected", phase=number, detail=detail, ways=ways)
        case Waiting.PLANNING_FAILED:
            yield _need(
                view, "planning_failed", "there is no plan that can be used", detail=status.actions, ways=(_REVISE,)
            )


def _approval(view: GoalView, approval: ApprovalSummary) -> NeedView:
    what = f"phase {approval.phase} waits for approval" if approval.phase else "the plan waits for approval"
    ways = (Way(do="approve", text="approve it"), _REVISE)
    return _need(view, "approval", what, id=approval.id, phase=approval.phase, since=approval.since, ways=ways)


def _question(view: GoalView, question: QuestionView) -> NeedView:
    detail = (*question.options, *([question.why] if question.why else []))
    ways = (Way(do="answer", text="answer it, or leave it to who asks"),)
    return _need(view, "question", question.text, id=question.id, task=question.task, detail=detail, ways=ways)


def _need(
    view: GoalView,
    kind: NeedKind,
    text: str,
    *,
    ways: tuple[Way, ...],
    id: str = "",  # noqa: A002 - the field's name
    since: str = "",
    until: str = "",
    task: str = "",
    phase: int = 0,
    detail: tuple[str, ...] = (),
) -> NeedView:
    return NeedView(
        id=id or f"{view.id}-{kind}-{view.seq}",
        kind=kind,
        goal=view.id,
        repo=view.repo,
        title=view.title or view.text,
        text=text,
        detail=detail,
        task=task,
        phase=phase,
        since=since or view.updated or view.created,
        until=until,
        seq=view.seq,
        ways=ways,
    )
