"""Describes each event in one line of text, for progress messages and for `swarm history`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmgate.domain.events.event import DebateWeighed, Event, PhaseReviewed
from swarmgate.domain.review.evidence import Review
from swarmgate.domain.review.votes import in_words

_WIDTH = 120
"""Longest line of somebody's text that is shown, in characters."""


def describe(event: Event) -> str:
    """One line, empty for an event that is bookkeeping only."""
    return _WORDS[event.type](event)


def first_line(text: str) -> str:
    """The first line of a text, cut to a width that fits a terminal."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 task`, `2 tasks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _plan_saved(event: Any) -> str:
    tasks = sum(len(phase.tasks) for phase in event.plan.phases)
    return f"plan saved: {event.plan.title} ({counted(len(event.plan.phases), 'phase')}, {counted(tasks, 'task')})"


def _tree_restored(event: Any) -> str:
    stored = f"; what differed is kept in {event.kept}" if event.kept else ""
    return f"{counted(len(event.paths), 'file')} brought back{stored}" if event.paths else ""


def _tests_run(event: Any) -> str:
    outcome = f"{event.run.passed} passed" if event.run.green else event.run.reason
    what = "related tests" if event.run.related else "tests"
    of = f" of {', '.join(event.run.suites)}" if event.run.suites else ""
    return f"task {event.task}: {what}{of}: {outcome} ({event.run.seconds:.1f} s)"


def _phase_estimated(event: Any) -> str:
    if not event.basis:
        return ""
    usd = "cost unknown" if event.usd is None else f"${event.usd:.2f}"
    tasks = f"{counted(event.tasks, 'task')}, by {counted(event.basis, 'task')} before"
    minutes = round(event.seconds / 60)
    takes = f"{minutes} min" if minutes else "less than a minute"
    return f"phase {event.phase} is expected to use {event.tokens:,} tokens, {usd}, {takes} ({tasks})"


def _debate_weighed(event: Any) -> str:
    words = debate_in_words(event)
    if event.deferred:
        return words
    held = "debate " if event.held else ""
    return f"{f'task {event.task}' if event.task else 'plan'}: {held}{words}"


def debate_in_words(event: DebateWeighed) -> str:
    """How a review was weighed, without whose it was: what the first look said, and what came of a debate."""
    if event.deferred:
        return first_line(event.why)
    look = f"; the first look: {event.look.vote} ({event.look.confidence:.0%} sure)" if event.look else ""
    if event.look_failed and event.look_failed not in event.why:
        look = f"; the first look failed: {first_line(event.look_failed)}"
    if not event.held:
        spared = f"; about {event.saved:,} tokens saved" if event.saved else ""
        return f"not debated: {first_line(event.why)}{look}{spared}"
    ended = "nothing was decided"
    if event.verdict and event.tally:
        ended = f"{event.verdict} by {event.decided_by}, {in_words(event.tally)}"
    return f"{event.debate} ({first_line(event.why)}{look}): {ended}; {event.debated:,} tokens"


def verdict_in_words(event: PhaseReviewed) -> str:
    """One reviewer's verdict on a phase: `validation 1.2 of 3: REJECTED - nothing calls it`."""
    word = "no verdict" if event.failed else event.review.verdict
    return f"{event.stage} {event.round}.{event.number} of {event.of}: {word} - {first_line(event.review.summary)}"


def finding_lines(review: Review) -> list[str]:
    """The findings of a verdict, a line each: `high: src/cart.py:3 nothing calls total()`."""
    places = ((each, f"{each.file}{f':{each.line}' if each.line else ''}") for each in review.findings)
    return [" ".join(filter(None, (f"{each.severity}:", at, first_line(each.message)))) for each, at in places]


def _task_undone(event: Any) -> str:
    why = f": {first_line(event.reason)}" if event.reason else ""
    if not event.commit:
        kept = f"; its unfinished change is kept in {event.kept}" if event.kept else ""
        return f"task {event.task} undone{why}{kept}"
    if not event.revert:
        return f"task {event.task} undone{why}; nothing of {event.commit[:12]} was left"
    whose = "your commit" if event.by_hand else "commit"
    return f"task {event.task} undone{why}; {whose} {event.revert[:12]} takes {event.commit[:12]} back"


def _verdict(event: Any) -> str:
    if event.passed and not event.review.approved:
        return "overruled by the user, not asked again"
    return f"{event.review.verdict} - {first_line(event.review.summary)}"


def _unattended(by: str) -> str:
    return f" without a person, by {by}" if by else ""


_WORDS: dict[str, Callable[[Any], str]] = {
    "project_initialised": lambda e: f"project initialised on branch {e.branch}",
    "goal_set": lambda e: f"goal: {first_line(e.goal)}",
    "goal_abandoned": lambda e: (
        f"goal abandoned: {first_line(e.reason)}{f'; branch {e.branch} stays' if e.branch else ''}"
        f"{f'; what was not committed is kept in {e.kept}' if e.kept else ''}"
    ),
    "questions_asked": lambda e: f"the architect asks {counted(len(e.questions), 'question')}",
    "question_answered": lambda e: (
        f"question {e.number} declined" if e.declined else f"question {e.number} answered: {first_line(e.answer)}"
    ),
    "plan_saved": _plan_saved,
    "planning_failed": lambda e: f"planning failed: {first_line(e.problems[0])}",
    "plan_reviewed": lambda e: (
        f"{'plan review' if e.review.debate else 'critic'}: {e.review.verdict} - {first_line(e.review.summary)}"
    ),
    "plan_approved": lambda e: f"plan approved{_unattended(e.by)}",
    "revision_requested": lambda e: f"revision requested: {first_line(e.text)}",
    "plan_amended": lambda e: f"plan amended by hand in {e.source}",
    "edit_refused": lambda e: f"edit of {e.source} refused, kept at {e.kept}: {e.problems[0]}",
    "work_started": lambda e: f"work begins on branch {e.branch}",
    "run_started": lambda _: "",
    "run_paused": lambda e: f"paused ({e.reason}): {first_line(e.detail)}",
    "tree_restored": _tree_restored,
    "task_delegated": lambda e: (
        f"task {e.task}, attempt {e.attempt} ({e.kind}): {counted(len(e.scope), 'file')} in scope"
    ),
    "task_question_asked": lambda e: f"task {e.task}: the {e.role} asks: {first_line(e.question)}",
    "change_captured": lambda e: f"task {e.task}: {counted(len(e.files), 'file')} changed (+{e.added} -{e.removed})",
    "gates_run": lambda e: f"task {e.task}: gates {'passed' if e.passed else 'failed'}",
    "review_given": lambda e: f"task {e.task}: reviewer {_verdict(e)}",
    "security_review_given": lambda e: f"task {e.task}: security review {_verdict(e)}",
    "tests_written": lambda e: f"task {e.task}: test engineer {e.review.verdict}, {counted(len(e.tests), 'test file')}",
    "adversarial_tests_written": lambda e: (
        f"task {e.task}: adversarial tests: {counted(len(e.tests), 'file')} kept, {len(e.rejected)} taken out"
    ),
    "tests_reviewed": lambda e: f"task {e.task}: reviewer on the tests {_verdict(e)}",
    "tests_run": _tests_run,
    "attempt_rejected": lambda e: f"task {e.task}, attempt {e.attempt}: REJECTED ({e.stage}) - {first_line(e.reason)}",
    "attempt_interrupted": lambda e: f"task {e.task}, attempt {e.attempt}: INTERRUPTED - {e.reason}",
    "task_completed": lambda e: f"task {e.task} complete, commit {e.commit[:12]}",
    "commit_moved": lambda e: (
        f"task {e.task}: commit {e.was[:12]} stands as {e.commit[:12]} now"
        f"{f': {first_line(e.reason)}' if e.reason else ''}"
    ),
    "task_reopened": lambda e: f"task {e.task} is open again: commit {e.commit[:12]} is gone, or was reverted",
    "task_undone": _task_undone,
    "task_blocked": lambda e: f"task {e.task} blocked: ({e.stage}) {first_line(e.reason)}",
    "task_retried": lambda e: f"task {e.task} will be retried",
    "task_skipped": lambda e: f"task {e.task} skipped: {e.reason}",
    "rejection_overridden": lambda e: (
        f"task {e.task}: {e.stage} overridden{' by the architect' if e.by == 'architect' else ''} - {e.reason}"
    ),
    "phase_reviewed": lambda e: f"phase {e.phase}: {verdict_in_words(e)}",
    "phase_regressed": lambda e: "; ".join(
        f"task {each.task} is open again: {first_line(each.reason)}" for each in e.culprits
    ),
    "phase_retried": lambda e: f"phase {e.phase} will be judged anew",
    "phase_overridden": lambda e: f"phase {e.phase}: {e.stage} overridden - {e.reason}",
    "phase_closed": lambda e: f"phase {e.phase} closed: {first_line(e.summary)}",
    "phase_approved": lambda e: f"phase {e.phase} approved{_unattended(e.by)}",
    "usage_recorded": lambda _: "",
    "guard_acted": lambda e: (
        f"guard {e.note.rule}: {e.note.effect}{' ' if e.note.role else ''}{e.note.role}: {first_line(e.note.detail)}"
    ),
    "turn_ended": lambda _: "",
    "guidance_given": lambda e: f"guidance on {e.domain}: {first_line(e.question)}",
    "phase_estimated": _phase_estimated,
    "debate_kept": lambda _: "",
    "debate_weighed": _debate_weighed,
    "lease_taken": lambda e: f"{e.worker} took the goal (epoch {e.epoch})",
    "budget_reserved": lambda _: "",
    "locks_removed": lambda e: (
        f"`git {e.command}` was killed in the middle; removed the locks that it left: {', '.join(e.locks)}"
    ),
    "evidence_kept": lambda _: "",
    "evidence_set_aside": lambda e: (
        f"task {e.task}: {counted(len(e.files), 'file')} of evidence of a step that was cut short moved to {e.kept}"
    ),
    "ledger_repaired": lambda e: f"a torn last line of the ledger ({e.size} bytes) was moved to {e.kept}",
    "record_sealed": lambda e: f"the {e.pattern} {e.record} is over, with {e.seq} lines on record",
    "ledger_restored": lambda e: f"the ledger had lost its lines after {e.lost}; lines up to {e.seq} were brought back",
    "ledger_adopted": lambda e: f"goes on from here by the user's word; {e.seq} other lines were on record ({e.kept})",
}
"""One entry an event; a test asserts that none is missing."""
