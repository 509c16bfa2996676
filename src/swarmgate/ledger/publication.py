"""The port by which a goal that several machines work on hears of every record: a project on one machine has none.

A fleet's implementation pushes what was recorded to where all workers see it, and says who may go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from swarmgate.domain.events.event import Event
    from swarmgate.domain.state.state import State
    from swarmgate.domain.usage import Usage


class Published(Protocol):
    """The ledger that is published."""

    @property
    def state(self) -> State:
        """The fold over everything recorded so far."""
        ...

    @property
    def head(self) -> str:
        """The hash of the last line."""
        ...

    def append(self, events: Sequence[Event], *, expect: int, actor: str = "swarmgate") -> State:
        """Records events; that too is published."""
        ...


class Publication:
    """The publication of a ledger that nobody else works on: nothing is to be done.

    Attributes:
        branch: the name that the branch of the work has to have; empty: as the plan is called.
    """

    branch: str = ""

    def recorded(self, ledger: Published) -> None:
        """Hears that events were recorded, which are durable here.

        Raises:
            LeaseLost: somebody else works on the goal now; what was recorded counts no more.
            RemoteAway: nobody else can see it.
        """

    def reserve(self, ledger: Published, expected: Usage, pending: Usage) -> None:
        """Hears that a model is about to be asked.

        Args:
            ledger: open for writing.
            expected: what the call is likely to use.
            pending: what the step has used so far.

        Raises:
            LeaseLost, RemoteAway: as `recorded`; the call is then not made.
        """


LOCAL = Publication()
"""Of every project that no fleet works on."""
