"""Ends a goal before its work is done: what is not committed is kept, and the branch stays."""

from __future__ import annotations

from swarmgate.domain.events.event import GoalAbandoned
from swarmgate.domain.transitions.planning import require_goal
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.recovery.interruption import ended, require_recorded
from swarmgate.project import Project
from swarmgate.workspace.git.repository import Repository


def abandon(project: Project, ledger: Ledger, repository: Repository, reason: str) -> GoalAbandoned:
    """Ends the goal; the contract is `Swarm.abandon`'s."""
    state, folder = ledger.state, project.folder
    require_goal(state)
    kept = ""
    if state.open:
        require_recorded(state, repository)
        interrupted = ended(state, folder, repository, "the user abandoned the goal")
        state = ledger.append(interrupted, expect=state.seq, actor="user")
    if repository.branch() == state.branch:  # elsewhere nothing lies in the tree that could be told from the user's
        left = quarantine_leftovers(state, folder, repository)
        kept = "".join(event.kept for event in left if event.type == "tree_restored")
        state = ledger.append(left, expect=state.seq)
    event = GoalAbandoned(reason=reason, branch=state.branch, kept=kept)
    ledger.append([event], expect=state.seq, actor="user")
    EvidenceStore(folder).archive_plan(state.goals)
    return event
