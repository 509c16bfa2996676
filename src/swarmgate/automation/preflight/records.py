"""The preflight check of records: plan files match the ledger, the hash chain is intact, named evidence exists."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.ledger.audit.audit import audit
from swarmgate.ledger.reconcile import edits

_AUDITED = ("chain", "evidence", "commits")
"""Of the audit's checks: its one of the plan files is `plan` here, which takes stale files for no problem."""


def inspect_plan(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`plan`: no hand edit waits to be taken in. A run has just settled that; nothing is looked at twice."""
    seq = context.state.seq
    if context.ours:
        return {"plan": CheckResult(f"settled by this run at line {seq}")}
    pending, stale, busy = edits(context.ledger)
    if busy:
        names = " and ".join(busy)
        return {"plan": CheckResult(names, f"somebody is writing {names} right now", "Look again in a moment.")}
    if not pending:
        detail = f"in step at line {seq}"
        return {"plan": CheckResult(f"{detail}; {' and '.join(stale)} will be written again" if stale else detail)}
    names = " and ".join(edit.source for edit in pending)
    problems = [problem for edit in pending for problem in edit.problems]
    message = f"a hand edit of {names} waits to be taken in"
    return {
        "plan": CheckResult(
            names, " ".join([f"{message}.", *problems]) if problems else message, "Settle it: swarm sync"
        )
    }


def inspect_evidence(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`evidence`: the chain, the files that prove the phases before, and the commits that they led to."""
    checks = [check for check in audit(context.folder, context.fresh()) if check.name in _AUDITED]
    problems = [problem for check in checks for problem in check.problems]
    message = ", ".join(f"{check.name}: {check.looked_at}" for check in checks)
    if problems:
        return {"evidence": CheckResult(message, few(problems, 3), "See all of it: swarm verify")}
    return {"evidence": CheckResult(message)}
