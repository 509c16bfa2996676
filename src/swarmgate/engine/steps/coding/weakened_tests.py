"""Reports what a change removes from existing tests, so that the reviewer looks at it.

Said to the reviewer, and on record. Tests that do not run any more at all are for `switched_off`.
"""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.agents.authority.existing_tests import weakened
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.change import ChangedFile, ChangeSet
from swarmgate.domain.state.state import TaskRecord
from swarmgate.engine.context import Context
from swarmgate.gates.source import behaviour

RULE = "tests-weakened"
_LISTED = 5
_HOOKS = "conftest.py"
"""A new one, too, can change the tests that are there."""


def weakened_tests(ctx: Context, record: TaskRecord, change: ChangeSet) -> tuple[str, ...]:
    """The tests that a change deletes or weakens, a line each with how; comments and layout are nothing.

    Protected are the tests of the attempt's base, and the adversarial ones that an earlier attempt at the task left.

    Args:
        ctx: the context of the step.
        record: the task's record, whose last attempt is the running one.
        change: what the attempt's tree changes against its base.
    """
    found = [_of_file(ctx, change, file, ctx.is_test_path) for file in change.files]
    attempts = record.attempts
    if record.attacks and len(attempts) > 1 and attempts[-1].kind is not AttemptKind.OVERRIDE:
        since = ctx.repository.changes(attempts[-2].tree, change.tree)
        found += [_of_file(ctx, since, file, record.attacks.__contains__) for file in since.files]
    return tuple(dict.fromkeys(filter(None, found)))


def note(ctx: Context, record: TaskRecord, change: ChangeSet, *, role: str, step: str) -> GuardNote | None:
    """The guard note about weakened tests; None where there are none."""
    found = weakened_tests(ctx, record, change)
    if not found:
        return None
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    detail = " ".join(f"existing tests are weakened: {'; '.join(found[:_LISTED])}{more}".split())
    number = record.attempts[-1].number
    return GuardNote(rule=RULE, effect=Effect.WARNED, detail=detail, role=role, step=step, attempt=number)


def _of_file(ctx: Context, change: ChangeSet, file: ChangedFile, is_protected: Callable[[str], bool]) -> str:
    old_path = file.old_path or file.path
    hooks = not file.old_mode and file.path.rpartition("/")[2] == _HOOKS
    if not hooks and not (file.old_mode and is_protected(old_path) and behaviour.is_code(old_path)):
        return ""
    before = b"" if hooks else ctx.repository.read(change.base, old_path) or b""
    if not file.exists:
        return f"{file.path} is deleted" if before.strip() else ""
    if not hooks and not is_protected(file.path):
        return f"{old_path} is no test any more: it is {file.path} now"
    after = ctx.repository.read(change.tree, file.path) or b""
    if not behaviour.differs(file.path, before, after):
        return ""
    old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    how = weakened(file.path, old, old, new)
    return f"{file.path}: {how}" if how else ""
