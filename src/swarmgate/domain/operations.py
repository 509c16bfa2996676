"""The operations of a run that somebody outside can follow: workflow > agent > model, tool.

The rooms that do them say so with `operation`, in neutral words; who follows, such as the server's traces, says so with
`followed`. Where nobody does, an operation costs a look at a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from enum import StrEnum

Value = str | int | float | bool
"""What an operation says of itself; longer texts are free text, which may hold what an agent or a model said."""


class Operation(StrEnum):
    """What is done."""

    WORKFLOW = "workflow"
    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"


Note = Callable[[dict[str, Value]], None]
"""Adds what is known only at the end of an operation."""

Follower = Callable[[Operation, str, dict[str, Value]], AbstractContextManager[Note]]
"""Entered when an operation of that name begins, and left when it ends, with the error that ended it."""

_follower: ContextVar[Follower | None] = ContextVar("follower", default=None)


@contextmanager
def followed(follower: Follower) -> Iterator[None]:
    """Has the operations that begin inside of the block, also in tasks that are made there, followed."""
    before = _follower.set(follower)
    try:
        yield
    finally:
        _follower.reset(before)


@contextmanager
def operation(kind: Operation, name: str, **known: Value) -> Iterator[Note]:
    """Does an operation.

    Args:
        kind: which one.
        name: of the workflow, the role, the model or the tool.
        known: what is known of it before it begins.
    """
    follower = _follower.get()
    if follower is None:
        yield _ignored
        return
    with follower(kind, name, known) as note:
        yield note


def _ignored(_known: dict[str, Value]) -> None:
    """Nobody follows."""
