"""Describes an event of automation in one line, as `ledger.views.describe` does for the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from swarmgate.domain.events.automation import AUTOMATION_EVENTS, AutomationEvent, Happening


def describe(event: AutomationEvent) -> str:
    """One line."""
    return _WORDS[event.type](event)


def words_of(happening: Happening) -> str:
    """One line for an event as it stands in the file; empty where this version does not know it."""
    kind = AUTOMATION_EVENTS.get(happening.type)
    try:
        return _WORDS[happening.type](kind.model_validate(happening.data)) if kind else ""
    except ValidationError:
        return ""


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _times(seconds: float) -> str:
    return f" ({seconds:.1f} s)"


def _watch_started(event: Any) -> str:
    workers = ", ".join(event.workers) or "no workers"
    how = f"polling{_because(event.reason)}" if event.watching == "polling" else "by file events"
    return f"watching began in pid {event.pid} ({event.place}, mode {event.mode}): {workers}; {how}"


def _plan_synced(event: Any) -> str:
    parts = [
        f"{verb} {', '.join(paths)}"
        for verb, paths in (("amended by", event.amended), ("refused", event.refused), ("restored", event.restored))
        if paths
    ]
    if event.interrupted:
        parts.append(f"task {event.interrupted} interrupted")
    return f"plan synced: {'; '.join(parts) or 'nothing to do'}{_times(event.seconds)}"


def _preflight(event: Any) -> str:
    skipped = f"; skipped: {', '.join(event.skipped)}" if event.skipped else ""
    outcome = "passed" if event.passed else f"failed: {', '.join(event.failed)}"
    why = f" - {event.problem}; all of it: {event.report}" if event.problem else ""
    return f"preflight of phase {event.phase} {outcome}{skipped}{_times(event.seconds)}{why}"


def _doctor(event: Any) -> str:
    fixed = f"; mended {', '.join(event.fixed)}, the old text is in {event.backup}" if event.fixed else ""
    first = event.problems[0] if event.problems else "something is wrong"
    more = f" and {len(event.problems) - 1} more" if len(event.problems) > 1 else ""
    return f"doctor: {'all is well' if event.passed else f'{first}{more}'}{fixed}"


def _drift(event: Any) -> str:
    if not event.signals:
        return "no decision drifts"
    more = f" and {len(event.signals) - 1} more" if len(event.signals) > 1 else ""
    return f"decision drift: {event.signals[0]}{more}"


def _hook(event: Any) -> str:
    if event.problem:
        outcome = event.problem
    else:
        outcome = "ended at its time limit" if event.exit_code is None else f"exit code {event.exit_code}"
    return f"hook on {event.event}: {outcome}{_times(event.seconds)}"


_WORDS: dict[str, Callable[[Any], str]] = {
    "watch_started": _watch_started,
    "watch_stopped": lambda e: f"watching ended in pid {e.pid}{_because(e.reason)}",
    "watch_fell_back": lambda e: f"polling from now on: {e.reason}",
    "plan_synced": _plan_synced,
    "sync_deferred": lambda e: f"an edit of {', '.join(e.sources) or 'the plan'} waits: {e.reason}",
    "worker_failed": lambda e: f"{e.worker} failed{f' on {e.subject}' if e.subject else ''}: {e.error}",
    "breaker_changed": lambda e: f"breaker of {e.worker} is {e.state.replace('_', ' ')}{_because(e.reason)}",
    "trigger_fired": lambda e: f"{e.capability} starts on {e.subject}",
    "trigger_suppressed": lambda e: (
        f"{e.capability} does not start on {e.subject}: {e.count} times within {e.within_s:g} s"
    ),
    "preflight_ran": _preflight,
    "doctor_ran": _doctor,
    "drift_found": _drift,
    "evidence_summarised": lambda e: f"evidence of task {e.task} summed up: {e.reason}",
    "hook_ran": _hook,
    "dead_letter": lambda e: f"{e.subscriber} could not take {e.event or 'some events'}: {e.error}",
}
"""One entry an event; a test asserts that none is missing."""
