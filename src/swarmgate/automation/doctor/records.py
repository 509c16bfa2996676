"""The doctor's check of the ledger and its projections: pending hand edits, outdated files, truncated records."""

from __future__ import annotations

from swarmgate.automation.doctor.problem import Problem
from swarmgate.errors import LedgerError, SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits

NAME = "plan files"


def inspect(folder: SwarmFolder) -> tuple[Problem, ...]:
    """Edits and drift of plan.md and plan.json. The check `ledger` reports a damaged ledger."""
    try:
        ledger = Ledger.read(folder)
    except LedgerError:
        return ()
    found = []
    if ledger.torn:
        message = f"its last line was cut short ({len(ledger.torn)} bytes); it is put aside when work goes on"
        found.append(Problem(NAME, message, folder.relative(folder.ledger)))
    try:
        found_edits = edits(ledger)
    except SwarmError as error:
        return (*found, Problem(NAME, error.message, hint=error.hint))
    for edit in found_edits.found:
        path = f".swarm/{edit.source}"
        refusal = "the next command that writes refuses the edit and keeps it"
        found += [Problem(NAME, problem, path, hint=refusal) for problem in edit.problems]
        if not edit.problems:
            found.append(Problem(NAME, "was edited by hand; the edit is not in the plan yet", path, hint="swarm sync"))
    found += [
        Problem(NAME, "is missing or out of date", f".swarm/{name}", hint="it comes back with: swarm sync")
        for name in found_edits.missing
    ]
    return tuple(found)
