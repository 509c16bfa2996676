"""Checks after an agent turn: reverts files that the role may not write, and rejects on a tripped breaker.

The tools refuse (`agents.conversation.toolbox`); a command writes where the sandbox lets it, and an agent program has
tools of its own. What is taken back lies in the quarantine, and is on record.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from swarmgate.agents.authority.authority import RULE, Authority
from swarmgate.agents.authority.scope import is_output
from swarmgate.domain.events.event import AttemptRejected, Event
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state.state import State, current
from swarmgate.engine.context import Context
from swarmgate.errors import BreakerTripped, WorkspaceError
from swarmgate.ledger.recovery.interruption import swept
from swarmgate.workspace.files.folders import make
from swarmgate.workspace.git.changes.diffs import SUBMODULE

Step = Callable[[State, Context], Awaitable[list[Event]]]
Text = Callable[[str], str | None]

_LISTED = 5


@dataclass(frozen=True)
class Breach:
    """A path that a turn changed and may not, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Settled:
    """The outcome of the check of a turn: the tree as it is now, and the paths that were reverted."""

    tree: str
    taken: tuple[str, ...]


def after_turn(ctx: Context, role: str, step: str, *, before: str, base: str = "") -> Settled:
    """Reverts what a turn changed and its role may not write.

    Args:
        ctx: the context of the run.
        role: whose turn it was.
        step: at which step.
        before: the tree that the turn began with.
        base: the commit that the attempt is measured against; HEAD when empty.

    Raises:
        HeadMoved: somebody committed meanwhile: what they committed must not be taken back.
    """
    if base:
        ctx.stay_on(base)
    quarantine = ctx.folder.quarantine_folder(f"not-of-{role.replace('_', '-')}")
    foreign = ctx.repository.put_away_foreign(quarantine)
    found = [Breach(path, f"`{path}` is a repository in the repository, or a git folder") for path in foreign]
    now = ctx.repository.snapshot()
    if planted := ctx.agent_files.planted(ctx.repository.list_tree(now)):
        found += [Breach(path, f"`{path}` would instruct agent programs") for path in planted]
        _put_away(ctx, planted, quarantine)
        now = ctx.repository.snapshot()
    if shadowing := ctx.start_up.appeared():
        found += [Breach(path, f"`{path}` would be imported by swarmgate's own Python") for path in shadowing]
        _put_away(ctx, shadowing, quarantine)
        now = ctx.repository.snapshot()
    if now != before:
        changed = ctx.repository.changes(before, now).files
        authority, tree = ctx.authority(role, step), ctx.repository.tree_of(base or "HEAD")
        strays = breaches(authority, changed, *(_texts(ctx, each, changed) for each in (before, now, tree)))
        if strays:
            ctx.repository.restore(before, quarantine=quarantine, only=[each.path for each in strays])
            now = ctx.repository.snapshot()
        found += strays
    if found:
        _report(ctx, role, step, found, ctx.folder.relative(quarantine))
    return Settled(now, tuple(each.path for each in found))


def _put_away(ctx: Context, paths: Iterable[str], quarantine: Path) -> None:
    """Moves files below the quarantine, with those that git ignores; their folders go when they are empty."""
    for path in sorted(paths, reverse=True):
        place, target = ctx.repository.root / path, quarantine / path
        if place.is_dir() and not place.is_symlink():
            with contextlib.suppress(OSError):  # something is left in it that was there before
                place.rmdir()
            continue
        try:
            make(target.parent)
            shutil.move(place, target)
        except OSError as error:
            raise WorkspaceError(f"`{path}` cannot be moved to {quarantine}: {error}") from error


def reads_only(role: str, name: str, step: Step) -> Step:
    """Wraps the step of a read-only role: the tree afterwards is the one that was judged."""

    async def guarded(state: State, ctx: Context) -> list[Event]:
        _, _, attempt = current(state)
        events = await step(state, ctx)
        after_turn(ctx, role, name, before=attempt.tree, base=attempt.base)
        return events

    return guarded


def breaches(
    authority: Authority, changed: Iterable[ChangedFile], before: Text, after: Text, original: Text
) -> list[Breach]:
    """Finds the changes of a turn that its role may not make.

    Args:
        authority: of the role.
        changed: what the turn changed.
        before: gives the text of a file before the turn; None: it is not there, or no text.
        after: the same after it.
        original: the same before the task.
    """
    found = []
    for file in changed:
        for path in file.touched:
            gone = not file.exists or path != file.path
            if reason := _reason(authority, file, path, gone=gone, texts=(before, after, original)):
                found.append(Breach(path, reason))
    return found


def _reason(authority: Authority, file: ChangedFile, path: str, *, gone: bool, texts: tuple[Text, Text, Text]) -> str:
    if file.new_mode == SUBMODULE != file.old_mode and not gone:
        return f"`{path}` is a repository in the repository"
    if refusal := authority.refusal(path):
        return refusal
    if file.kind is ChangeKind.ADDED:
        return ""
    before, after, original = texts
    was = before(path) or ""
    return authority.objection(path, was, None if gone else after(path) or "", original=original(path))


def _texts(ctx: Context, tree: str, changed: Iterable[ChangedFile]) -> Text:
    """The texts of the changed files in a tree; what is not UTF-8 is told apart well enough by replacement."""

    @cache
    def contents() -> dict[str, bytes]:  # most changes are settled by their paths alone
        return ctx.repository.read_many(tree, sorted({path for file in changed for path in file.touched}))

    return lambda path: contents()[path].decode("utf-8", "replace") if path in contents() else None


def _report(ctx: Context, role: str, step: str, found: list[Breach], kept_in: str) -> None:
    """Reports breaches as guard notes and progress messages; outputs of test runs and builds are no breaches."""
    name = role.replace("_", " ")
    paths = ", ".join(each.path for each in found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    ctx.notify("notice", f"the {name} changed what is not its to change; taken back into {kept_in}: {paths}{more}")
    meant = [each for each in found if not is_output(each.path)]
    if meant:
        detail = f"{len(meant)} taken back into {kept_in}: " + "; ".join(each.reason for each in meant[:_LISTED]) + more
        ctx.reports.append(
            GuardNote(rule=RULE, effect=Effect.REFUSED, detail=detail, role=role, step=step, count=len(meant))
        )


def sweep(ctx: Context, role: str) -> tuple[str, ...]:
    """Removes pipes, sockets and devices that the running step made, before git reads the tree; returns their paths."""
    found, kept_in = swept(ctx.folder, ctx.ledger.state.step_time)
    if found:
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        message = f"{len(found)} taken back into {kept_in}: {', '.join(found[:_LISTED])}{more}: nobody can read that"
        ctx.reports.append(GuardNote(rule=RULE, effect=Effect.REFUSED, detail=message, role=role, count=len(found)))
        ctx.notify("notice", message)
    return found


def ends_attempt(step: Step) -> Step:
    """Wraps the step of a judging role: a tripped breaker restores the tree and rejects the attempt."""

    async def guarded(state: State, ctx: Context) -> list[Event]:
        try:
            return await step(state, ctx)
        except BreakerTripped as error:
            _, _, attempt = current(state)
            ctx.keep_head(attempt)
            ctx.settle_tree(attempt)
            return [rejection_by(state, error)]

    return guarded


def rejection_by(state: State, error: BreakerTripped) -> AttemptRejected:
    """The rejection that a tripped breaker means."""
    task, _, attempt = current(state)
    did = "\n".join(f"- {line}" for line in error.last) or "- nothing: it called no tool"
    remark = Remark(severity=Severity.HIGH, message=f"What the role did last:\n{did}")
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage=Stage.of(Judge.BREAKER, error.breaker),
        reason=error.message,
        feedback=(remark,),
    )
