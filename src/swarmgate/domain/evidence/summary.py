"""Renders the summary of one task as markdown: request, attempts and their outcomes, evidence, cost.

All of it is what swarmgate measured or put on record; words of models stay words.
"""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.domain.evidence.report import AttemptEvidence, Recorded, Standing, TaskEvidence
from swarmgate.domain.guard import GuardNote
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Review, TestRun
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskRecord
from swarmgate.domain.text.markdown import code, inline
from swarmgate.domain.usage import Usage, cost_in_words

_NOTES, _FILES, _CRITERIA = 5, 10, 10


def summary(state: State, found: TaskEvidence, recorded: Recorded) -> tuple[str, ...]:
    """The lines; the first is the title alone.

    Args:
        state: the fold, with a plan that has the task.
        found: what was found of its evidence.
        recorded: what the ledger says of it.
    """
    if state.plan is None:
        raise ValueError("a state without a plan has no tasks")
    task, record = state.plan.tasks[found.task], state.task(found.task)
    lines = [inline(task.title), *_asked(task), f"- Status: {_status(record)}"]
    for attempt, pieces in zip(record.attempts, found.attempts, strict=True):
        lines += _attempt(attempt, pieces, record, recorded.runs.get((task.id, attempt.number)))
    lines += [f"- Overridden: {inline(each.told)}" for each in record.overrides.values()]
    lines += [f"- Blocker: {inline(text)}" for text in found.blockers]
    if record.usage != Usage():
        lines.append(f"- Cost: {in_words(record.usage)}")
    return tuple(lines)


def _asked(task: Task) -> Iterator[str]:
    more = f" and {len(task.acceptance) - _CRITERIA} more" if len(task.acceptance) > _CRITERIA else ""
    if task.description:
        yield f"- Asked: {inline(task.description)}"
    if task.acceptance:
        yield f"- Accepted when: {'; '.join(inline(text) for text in task.acceptance[:_CRITERIA])}{more}"


def _status(record: TaskRecord) -> str:
    count = len(record.attempts)
    commit = f", commit {record.commit[:12]}" if record.commit else ""
    return f"{record.status.value.replace('_', ' ')} after {count} attempt{'' if count == 1 else 's'}{commit}"


def _attempt(attempt: Attempt, found: AttemptEvidence, record: TaskRecord, run: TestRun | None) -> Iterator[str]:
    stage = f" by {inline(attempt.stage)}" if attempt.stage else ""
    why = f": {inline(attempt.reason)}" if attempt.reason else ""
    yield f"- Attempt {attempt.number} ({attempt.kind.value}): {attempt.outcome.value}{stage}{why}"
    for name, review in (
        ("reviewed", attempt.review),
        ("security reviewed", attempt.security_review),
        ("tested", attempt.tests_review),
        ("attacked", attempt.adversarial_review),
    ):
        if review is not None:
            yield f"  - {_verdict(name, review)}"
    if run is not None:
        yield f"  - tests: {tests_in_words(run)}"
    if attempt.mutants is not None:
        yield f"  - mutants: {attempt.mutants.text}"
    if attempt.debate is not None and attempt.debate.held:
        yield f"  - debated: {inline(attempt.debate.debate)}, {attempt.debate.verdict or 'nothing was decided'}"
    yield from _guards([note for note in record.guards if note.attempt == attempt.number])
    yield from _links(found)
    if attempt.outcome is Outcome.COMPLETE and attempt.files:
        more = f" and {len(attempt.files) - _FILES} more" if len(attempt.files) > _FILES else ""
        yield f"  - changed: {', '.join(map(code, attempt.files[:_FILES]))}{more}"


def _verdict(name: str, review: Review) -> str:
    who = f" by {inline(review.model)}" if review.model else ""
    return f"{name}{who}: {review.verdict.value} - {inline(review.summary, 160)}"


def tests_in_words(run: TestRun) -> str:
    """`3 passed, 1 failed, 2 skipped (1.2 s)`, and why it is not green."""
    counts = ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
    message = ", ".join(f"{count} {what}" for count, what in counts if count) or "no counts"
    return f"{message} ({run.seconds:.1f} s){'' if run.green else f': {inline(run.reason, 160)}'}"


def _guards(notes: list[GuardNote]) -> Iterator[str]:
    for note in notes[:_NOTES]:
        times = f" ({note.count} times)" if note.count > 1 else ""
        yield f"  - guard {inline(note.rule)}: {note.effect.value}: {inline(note.detail, 160)}{times}"
    if len(notes) > _NOTES:
        yield f"  - guards: {len(notes) - _NOTES} more notes"


def _links(found: AttemptEvidence) -> Iterator[str]:
    """Where the pieces are; those that are not as they should be by name."""
    groups: dict[tuple[str, str], list[str]] = {}
    for piece in found.pieces:
        if piece.standing is not Standing.NOT_DUE:
            place = piece.path if piece.standing is Standing.ARCHIVED else piece.path.rpartition("/")[0] + "/"
            groups.setdefault((piece.standing.value, place), []).append(piece.path.rpartition("/")[2])
    for (standing, place), names in groups.items():
        rendered = "" if standing == Standing.ARCHIVED else f": {', '.join(names)}"
        yield f"  - evidence, {standing}: {code(place)}{rendered}"


def in_words(used: Usage) -> str:
    """Tokens, money and time: `1,200 tokens, $0.0211, 3 min`."""
    return f"{used.tokens:,} tokens, {cost_in_words(used)}, {duration(used.seconds)}"


def duration(seconds: float) -> str:
    """A time for people: seconds below two minutes, else minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 - two minutes
