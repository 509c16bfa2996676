"""Ends a goal before its work is done: what is not committed is kept, and the branch stays."""

from __future__ import annotations

from swarmgate.domain.events.event import GoalAbandoned
from swarmgate.domain.transitions.planning import require_goal
from swarmgate.engine.steps.recovery import put_away
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.repository import Repository


def abandon(ledger: Ledger, repository: Repository, reason: str, *, actor: str) -> GoalAbandoned:
    """Ends the goal; the contract is `Swarm.abandon`'s."""
    state = ledger.state
    require_goal(state)
    kept = put_away(ledger, repository, "the user abandoned the goal", actor=actor)
    event = GoalAbandoned(reason=reason, branch=state.branch, kept=kept)
    ledger.append([event], expect=ledger.state.seq, actor=actor)
    EvidenceStore(ledger.folder).archive_plan(state.goals)
    return event
