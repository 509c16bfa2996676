"""Copies git-ignored files before a step, then saves what was changed and quarantines code that was hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.next_step import Step
from swarmgate.engine.context import Context

KEPT, HIDDEN = "kept", "hidden-code"
"""Rules: the user's ignored files are not lost; no new rule for ignoring hides code."""

_ROLES = {
    Step.CODE: "coder",
    Step.IMPLEMENT: "architect",
    Step.TEST: "test_engineer",
    Step.ADVERSARIAL_TEST: "test_engineer",
    Step.REVIEW: "reviewer",
    Step.SECURITY_REVIEW: "reviewer",
    Step.REVIEW_TESTS: "reviewer",
    Step.WEIGH: "architect",
    Step.DELEGATE: "architect",
    Step.EVALUATE_PHASE: "critic",
    Step.VALIDATE_PHASE: "reviewer",
    Step.RUN_TESTS: "tests",
    Step.GATES: "gates",
}
_LISTED = 5


@contextmanager
def watched(ctx: Context, step: Step) -> Iterator[None]:
    """Keeps copies of the user's ignored files for a step in which somebody may be at work, however it ends."""
    role = _ROLES.get(step)
    if role is None:
        yield
        return
    _begin(ctx)
    try:
        yield
    finally:
        keep_watch(ctx, role, step.value)
        ctx.ignored.end()


def keep_watch(ctx: Context, role: str, step: str) -> None:
    """Puts away code that was hidden, and hands over copies of the user's files that were changed or deleted."""
    name = role.replace("_", "-")
    folder = ctx.folder.quarantine_folder(f"hidden-by-{name}")
    if found := ctx.ignored.put_away(_rules(ctx), folder):
        stored = ctx.folder.relative(folder)
        _report(ctx, HIDDEN, role, step, f"code that new rules in a .gitignore hid was put into {stored}", found)
    _hand_over(ctx, role, step)


def _begin(ctx: Context) -> None:
    folder = ctx.folder.quarantine_folder("ignored-before")
    if lost := ctx.ignored.left_by_the_dead(folder):
        stored = ctx.folder.relative(folder)
        _report(ctx, KEPT, "", "", f"ignored files changed in a run that died; what they were lies in {stored}", lost)
    left = ctx.ignored.begin(lambda: _rules(ctx))
    if left is not None and left.files:
        size = f"{left.size / 1_000_000:,.0f} MB"
        ctx.notify("notice", f"{left.files:,} ignored files ({size}) are not copied before the work: they are too much")


def _hand_over(ctx: Context, role: str, step: str) -> None:
    folder = ctx.folder.quarantine_folder(f"ignored-before-{role.replace('_', '-')}")
    if lost := ctx.ignored.taken_out(folder):
        stored = ctx.folder.relative(folder)
        what = f"ignored files were changed or deleted by the {role.replace('_', ' ')}; what they were lies in {stored}"
        _report(ctx, KEPT, role, step, what, lost)


def _rules(ctx: Context) -> str:
    """The tree whose rules for ignoring count: the one that the running attempt builds on."""
    state = ctx.ledger.state
    attempt = state.task(state.open).running if state.open else None
    return ctx.repository.tree_of(attempt.base if attempt and attempt.base else "HEAD")


def _report(ctx: Context, rule: str, role: str, step: str, what: str, found: Sequence[str]) -> None:
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    text = f"{what}: {', '.join(found[:_LISTED])}{more}"
    ctx.notify("notice", text)
    effect = Effect.REFUSED if rule == HIDDEN else Effect.WARNED
    ctx.reports.append(GuardNote(rule=rule, effect=effect, detail=text, role=role, step=step, count=len(found)))
