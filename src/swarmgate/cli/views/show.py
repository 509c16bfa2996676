"""`swarm show`: shows everything about one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.actor import actor_in_words
from swarmgate.terminal.options import Json, Repo, TaskId
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.guard import GuardNote
    from swarmgate.domain.review.evidence import Proof, Review
    from swarmgate.engine.reports.status import AttemptReport, TaskReport


_INDENT = 4
_LINES = 15
"""Of a long piece of feedback, such as the output of a test run, the end is shown."""


def command(task: TaskId, repo: Repo = None, json: Json = False) -> None:
    """Show one task: criteria, attempts, who rejected it and why. It says what you may do, too.

    Example: swarm show 1.2
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).show(task)
        terminal.result(report, _lines(report))


def _lines(report: TaskReport) -> list[str]:
    task = report.task
    lines = [
        f"Task {task.id}: {task.title} [{task.complexity}] - {report.status.replace('_', ' ')}"
        + ("" if report.state in (report.status, "idle") else f" ({report.state})"),
        *([f"  {line}" for line in task.description.splitlines()]),
        f"  files:   {', '.join(task.files)}",
        *([f"  depends: {', '.join(task.depends)}"] if task.depends else []),
        *(f"  accept:  {text}" for text in task.acceptance),
        *([f"  commit:  {report.commit}"] if report.commit else []),
        *(f"  note:    {note}" for note in report.notes),
        *(f"  asked:   {asked}" for asked in report.asked),
        *(
            f"  override of {stage} by {actor_in_words(report.overridden_by[stage])}: {reason}"
            for stage, reason in report.overrides.items()
        ),
    ]
    known = {attempt.number for attempt in report.attempts}
    lines += [f"  {_guard(note)}" for note in report.guards if note.attempt not in known]
    for attempt in report.attempts:
        lines += _attempt(task.id, attempt)
        noticed = [f"    {_guard(note)}" for note in report.guards if note.attempt == attempt.number]
        lines[-1:] = [*noticed, lines[-1]]
    if report.reason:
        lines += ["", f"It is {report.status}: {report.reason}"]
    if report.actions:
        lines += ["You may:", *(f"  {action}" for action in report.actions)]
    return lines


def _guard(note: GuardNote) -> str:
    """What a guard noticed: the rule, what it did about it, whose doing it was, and how often."""
    who = f" {note.role}{f' ({note.step})' if note.step else ''}" if note.role else ""
    times = f" ({note.count} times)" if note.count > 1 else ""
    return f"guard {note.rule}: {note.effect}{who}: {note.detail}{times}"


def _review(name: str, review: Review) -> list[str]:
    """A verdict on one line, then what the losing side of a debate holds, and the findings that count for nothing."""
    summary = review.summary.splitlines()[0] if review.summary else "no summary"
    dropped = (f"      dropped, as it cites nothing: {finding.message}" for finding in review.dropped)
    dissent = (f"      dissent: {text.splitlines()[0]}" for text in review.dissent if text)
    return [f"    {name} ({review.model}): {review.verdict} - {summary}", *dissent, *dropped]


def _reviews(attempt: AttemptReport) -> list[str]:
    """The verdicts of an attempt; one that the user overruled was given in an earlier attempt."""
    from swarmgate.domain.review.stage import Judge

    lines = []
    for name, judge, review in (
        ("reviewer", Judge.REVIEWER, attempt.review),
        ("security review", Judge.SECURITY_REVIEWER, attempt.security_review),
        ("test engineer", Judge.TEST_ENGINEER, attempt.tests_review),
        ("adversarial tests", Judge.ATTACKS, attempt.adversarial_review),
        ("reviewer, on the tests", Judge.REVIEWER, attempt.second_review),
    ):
        if review is None:
            continue
        if attempt.kind == "override" and not review.approved and attempt.stage.judge is not judge:
            lines.append(f"    {name}: overruled, not asked again")
        else:
            lines += _review(name, review)
    return lines


def _gates(attempt: AttemptReport) -> list[str]:
    """The findings that rejected an attempt, as `swarm gates run` prints them."""
    from swarmgate.domain.text.screen import Screen
    from swarmgate.gates.formats.text import rejection
    from swarmgate.terminal.screen import screen

    return rejection(attempt.gates, Screen(max(screen().width - _INDENT, 0))) if attempt.gates else []


def _attempt(task_id: str, attempt: AttemptReport) -> list[str]:
    head = f"  Attempt {attempt.number} ({attempt.kind}): {attempt.outcome}"
    if attempt.stage:
        head += f" ({attempt.stage})"
    elif attempt.outcome == "RUNNING":
        head += f" in {attempt.state}"
    lines = ["", head + (f" - {attempt.reason}" if attempt.reason else "")]
    if attempt.kind == "override":
        lines.append(f"    overruled: {attempt.instructions}")
    lines += [f"    {line}".rstrip() for line in _gates(attempt)]
    for text in () if attempt.gates else attempt.feedback:
        first, *more = text.strip().splitlines()[-_LINES:] or [""]
        lines += [f"    - {first}", *(f"      {line}" for line in more)]
    lines += [f"    sensitive: {reason}" for reason in attempt.sensitive]
    lines += [f"    debate: {attempt.debate}"] if attempt.debate else []
    lines += _reviews(attempt)
    if attempt.files:
        paths = (f"{path} (outside the scope)" if path in attempt.outside else path for path in attempt.files)
        lines.append(f"    changed: {', '.join(paths)}")
    if attempt.tests:
        lines.append(f"    tests:   {', '.join(attempt.tests)}")
    if attempt.proof:
        lines.append(f"    proof:   {_proof(attempt.proof)}")
    if attempt.mutants:
        lines.append(f"    mutants: {attempt.mutants.text}")
    if attempt.kept:
        lines.append(f"    kept:    its unfinished work, in {attempt.kept}")
    lines.append(f"    evidence: .swarm/evidence/{task_id}/attempt-{attempt.number}/")
    return lines


def _proof(proof: Proof) -> str:
    if proof.outdated:
        return f"none: tests of before fail in their old form: {', '.join(proof.outdated[:3])}"
    if not proof.able:
        return f"none: {', '.join(proof.tests)} passes without the change as well"
    if proof.unnoticed:
        return f"none: {', '.join(proof.tests)} passes where each new or changed function {proof.unnoticed[0]}"
    if proof.unrun:
        return f"none: no passing test runs {', '.join(proof.unrun[:3])}"
    if not proof.tests:
        return "the tests of before pass, and run what was changed"
    failed = ", ".join(proof.run.failures[:3]) or proof.run.reason
    return f"without the change, it fails: {failed}"
