"""Cache of what is parsed from a file's content, so that every content is parsed once in all threads."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar

from swarmgate.workspace.code.grammars import TooSlow

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


class _Reading(Generic[T]):
    """One reading of one content: made, or the error that it ended in."""

    __slots__ = ("error", "lock", "made")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made: list[T] = []
        self.error: Exception | None = None


def once(limit: int) -> Callable[[Callable[Concatenate[bytes, P], T]], Callable[Concatenate[bytes, P], T]]:
    """Decorator that caches a pure function of a content, so that each content is parsed once.

    Nobody may change what it returns: all who ask share it. It may read no other content through a function that waits
    for this one. That a content is wrong or too much (`SyntaxError`, `ValueError`, `TooSlow`) is kept as well; other
    errors may depend on who asks.

    Args:
        limit: the bytes of contents whose readings are kept; those that were not asked for the longest go first.
    """

    def decorate(read: Callable[Concatenate[bytes, P], T]) -> Callable[Concatenate[bytes, P], T]:
        known: OrderedDict[tuple[bytes, object, object], _Reading[T]] = OrderedDict()
        guard = threading.Lock()
        held = 0

        def reading_of(key: tuple[bytes, object, object]) -> _Reading[T]:
            nonlocal held
            with guard:
                found = known.get(key)
                if found is None:
                    found = known[key] = _Reading()
                    held += len(key[0])
                known.move_to_end(key)
                while held > limit and len(known) > 1:
                    held -= len(known.popitem(last=False)[0][0])
                return found

        @functools.wraps(read)
        def shared(content: bytes, /, *args: P.args, **kwargs: P.kwargs) -> T:
            found = reading_of((content, args, tuple(kwargs.items())))
            with found.lock:
                if not found.made and found.error is None:
                    try:
                        found.made.append(read(content, *args, **kwargs))
                    except (SyntaxError, ValueError, TooSlow) as error:
                        found.error = error
            if found.error is not None:
                raise found.error.with_traceback(None)
            return found.made[0]

        return shared

    return decorate
