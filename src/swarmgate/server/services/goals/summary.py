"""Makes the views of a goal: what `swarm status` says of it, and what the server does with it."""

from __future__ import annotations

from collections import Counter

from swarmgate.domain.next_step import Waiting, blocked_task, waiting_for
from swarmgate.domain.text.cleaning import cleaned, plain
from swarmgate.engine.reports.status import StatusReport
from swarmgate.errors import Stopped, SwarmError, WaitingForUser
from swarmgate.ledger.files.live_progress import LiveRun
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.readings import Reading
from swarmgate.server.services.views.goal import GoalSummary, GoalView
from swarmgate.server.services.views.run import RunState, WantedView
from swarmgate.server.services.views.view import View

_NO_FAILURE = (Stopped.exit_code, WaitingForUser.exit_code)


class Known(View):
    """What the ledger and the files of a goal say; the same for everybody who may see it."""

    status: StatusReport
    waiting: str
    stopping: bool
    time: str
    blocked: str = ""
    """The task that waits for a decision."""
    reason: str = ""
    """Why it is blocked."""


def known(reading: Reading) -> Known:
    """What is known of a goal."""
    status = cleaned(reading.swarm.status(reading.ledger), reading.clean)
    waiting = "" if status.working else waiting_for(reading.state) or ""
    stopping = bool(status.working) and reading.swarm.folder.stop_request.exists()
    blocked = blocked_task(reading.state) if waiting is Waiting.BLOCKED_TASK else None
    return Known(
        status=status,
        waiting=waiting,
        stopping=stopping,
        time=reading.state.time,
        blocked=blocked.id if blocked else "",
        reason=reading.clean(reading.state.task(blocked.id).reason) if blocked else "",
    )


def run_state(goal: Goal, found: Known | None, *, starting: bool = False) -> RunState:
    """How the work on a goal goes.

    Args:
        goal: with what is wanted of it.
        found: what is known of it; None: nothing yet.
        starting: whether a worker of the server is at it, which need not have taken the ledger's lock yet.
    """
    if found and found.status.working:
        return "stopping" if found.stopping else "working"
    if goal.wanted:
        if goal.wanted.paused:
            return "paused"
        return "working" if starting else "queued"
    failed = goal.ended is not None and goal.ended.code and goal.ended.exit_code not in _NO_FAILURE
    return "failed" if failed else "idle"


def wanted_view(goal: Goal) -> WantedView | None:
    """What is wanted of a goal, without its arguments."""
    if (wanted := goal.wanted) is None:
        return None
    return WantedView(verb=wanted.verb, by=wanted.by, asked=wanted.asked, paused=wanted.paused)


def summary(goal: Goal, found: Known | None, owner: str, *, problem: SwarmError | None = None) -> GoalSummary:
    """A goal in a list.

    Args:
        goal: as the server has it.
        found: what is known of it.
        owner: the name of its owner.
        problem: why nothing is known of it.
    """
    told = f"{problem.message} {problem.hint}".strip() if problem else ""
    base = {
        "id": goal.id,
        "repo": goal.repo,
        "kind": goal.kind,
        "owner": owner,
        "created": goal.created,
        "text": plain(goal.text),
        "state": run_state(goal, found),
        "problem": plain(told or (goal.ended.message if goal.ended and run_state(goal, found) == "failed" else "")),
    }
    if found is None:
        return GoalSummary(**base, title="", seq=0, waiting="")
    status = found.status
    counts = Counter[str]()
    for phase in status.phases:
        counts.update({each.value: count for each, count in phase.tasks.items()})
    base["text"] = base["text"] or status.goal
    return GoalSummary(
        **base,
        title=status.title,
        seq=status.seq,
        waiting=found.waiting,
        branch=status.branch,
        tasks=dict(counts),
        usage=status.usage,
        updated=found.time,
    )


def goal_view(short: GoalSummary, goal: Goal, found: Known | None, live: LiveRun | None) -> GoalView:
    """One goal, from its line in a list."""
    fields = {name: getattr(short, name) for name in GoalSummary.model_fields}
    return GoalView(**fields, status=found.status if found else None, wanted=wanted_view(goal), live=live)
