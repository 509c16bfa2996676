"""Remembers model capabilities during a command: from probes, from earlier runs and from calls.

One memory serves all roles: what one of them finds out, the others know with their next call. What the user wrote is
not in it, and is looked at first by whoever reads it (`wire.Dialect`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from swarmgate.domain.capabilities import Capabilities

Change = Callable[[Capabilities], Capabilities]
"""What a finding makes of what was known; it may be asked more than once."""


class Store(Protocol):
    """Stores a finding for later runs. Never raises: a run goes on where it cannot be stored."""

    def __call__(self, model: str, base_url: str, change: Change) -> None:
        """Put the finding beside what is on record of the model at that address."""


def store_nothing(model: str, base_url: str, change: Change) -> None:
    """Stores nothing: for models that are used outside of a project."""
    del model, base_url, change


class ModelMemory:
    """The known capabilities of models, by `provider/model`.

    Args:
        known: what was found before; what was found at another address does not count.
        store: stores what is found out, for the runs to come.
    """

    def __init__(self, known: Mapping[str, Capabilities] | None = None, *, store: Store = store_nothing) -> None:
        self._known = dict(known or {})
        self._store = store
        self._reported: set[tuple[str, str]] = set()

    @property
    def known(self) -> Mapping[str, Capabilities]:
        """All known capabilities."""
        return self._known

    def of(self, model: str, base_url: str) -> Capabilities:
        """What is known of a model at an address; all None where that is nothing."""
        found = self._known.get(model)
        return found if found and found.base_url == base_url else Capabilities(model=model, base_url=base_url, asked="")

    def learn(self, model: str, base_url: str, change: Change) -> bool:
        """Stores a finding of a call; False where it was known already."""
        before = self.of(model, base_url)
        after = change(before)
        if after == before:
            return False
        self._known[model] = after
        self._store(model, base_url, change)
        return True

    def first_report(self, model: str, what: str) -> bool:
        """Whether something is to be said to the user: True once."""
        new = (model, what) not in self._reported
        self._reported.add((model, what))
        return new
