"""Runs all checks of `swarm verify`: chain, transitions, projections, evidence, commits, anchors.

Nothing is changed. Each check says what it looked at; the first line that does not fit is named.
"""

from __future__ import annotations

from swarmgate.errors import LedgerCorrupt
from swarmgate.ledger.audit.anchors import anchors
from swarmgate.ledger.audit.commits import commits
from swarmgate.ledger.audit.evidence import evidence
from swarmgate.ledger.check import Check
from swarmgate.ledger.councils.record_heads import records
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits
from swarmgate.ledger.views.describe import counted
from swarmgate.workspace.git.repository import Repository


def audit(folder: SwarmFolder, repository: Repository) -> tuple[Check, ...]:
    """All checks. When the chain does not hold, nothing that follows from it can be checked."""
    try:
        ledger = Ledger.read(folder)
        entries = tuple(ledger.entries())
    except LedgerCorrupt as error:
        return (Check("chain", f"{folder.relative(folder.ledger)} up to line {error.line}", (error.message,)),)
    torn = (f"ledger.jsonl ends in {len(ledger.torn)} bytes of a line that was cut short.",) if ledger.torn else ()
    return (
        Check("chain", counted(len(entries), "line"), torn),
        _projections(ledger),
        evidence(folder, ledger.state, [entry for entry, _ in entries]),
        records(folder, (entry for entry, _ in entries)),
        commits(repository, ledger.state, entries),
        anchors(ledger, entries),
    )


def _projections(ledger: Ledger) -> Check:
    if ledger.state.plan is None:
        return Check("projections", "no plan yet")
    found, missing, _ = edits(ledger)
    problems = [problem for edit in found for problem in edit.problems or (f"{edit.source} was edited by hand.",)]
    problems += [f"{name} is missing or out of date; it comes back with: swarm run" for name in missing]
    return Check("projections", "plan.md, plan.json", tuple(problems))
