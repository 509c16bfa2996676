"""Checks before each step that the branch, the attempt's base commit and all completed commits are in place."""

from __future__ import annotations

from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import Step
from swarmgate.domain.state import completed_commits
from swarmgate.domain.state.state import State
from swarmgate.engine.branch_history import require_on_branch, standing_at
from swarmgate.engine.context import Context
from swarmgate.errors import HeadMoved
from swarmgate.ledger.recovery.interruption import head_moved, own_commit
from swarmgate.workspace.git import history

_ELSEWHERE = frozenset({Step.PLAN, Step.REVISE, Step.REVIEW_PLAN, Step.START_WORK})
"""Steps that do not build on the branch of the work."""


class History:
    """The git history that a run builds on, checked before each step.

    Args:
        ctx: the context of the run.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._held: tuple[str, ...] = ()

    def check(self, state: State, step: Step) -> list[Event]:
        """Returns the events due before a step: an attempt that ends, commits that moved; usually none.

        Raises:
            CommitLost: the work of a completed task is gone.
            WorkspaceError: another branch is checked out.
        """
        repository = self._ctx.repository
        if not state.branch or step in _ELSEWHERE:
            return []
        here = history.position(repository)
        require_on_branch(state, repository, here.branch)
        attempt = state.task(state.open).running
        if (
            attempt is not None
            and not repository.stands(attempt.base, here.commit)
            and own_commit(state, attempt, repository) is None
        ):
            try:
                self._ctx.keep_head(attempt)
            except HeadMoved:
                return head_moved(state, self._ctx.folder, repository)
            here = history.position(repository)
        known = (here.commit, *(each.commit for each in completed_commits.landed(state)))
        moved = [] if known == self._held else list(standing_at(state, repository, here.commit))
        self._held = () if moved else known
        return [*moved]
