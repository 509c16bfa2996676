"""The port by which a server hands goals to a fleet: workers on other machines work on them, and the server shows them.

The rooms `server` and `fleet` are both faces and do not import each other: this says what the server needs, in words of
the rooms below both, and `bound` finds who has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.engine.swarm import Swarm

R = TypeVar("R")
OPEN = frozenset({"due", "limit", "endpoint"})
"""How a goal stands that a worker goes on with by itself, now or later."""
Shown = tuple[str, str, Path]
"""A goal that is shown: the fleet's name of its repository, its id, and the project's folder here."""


class Fleet(Protocol):
    """A fleet: its repositories, and the goals that are worked on in them.

    All methods raise a `FleetError` where remote or database are out of reach. `repo` is the fleet's name of a
    repository, `project` the folder in which the server shows the goal; nobody works there.
    """

    def repository(self, source: str) -> str:
        """The name of the repository that goals of a source are worked on in; empty: the fleet has none."""

    def begin(self, repo: str, goal: str, project: Path, *, text: str, spec: str, source: str, actor: str) -> None:
        """Makes a goal of what stands in a project, unless it is there."""

    def decide(
        self, repo: str, goal: str, project: Path, decision: Callable[[Swarm], R], *, actor: str, expect: int | None
    ) -> R:
        """Records what somebody decides, and has the project show it.

        Raises:
            StaleWriter: the ledger is not where it is expected.
            SwarmError: of the decision.
        """

    def queue(self, repo: str, goal: str, project: Path) -> None:
        """Puts a goal in line where a worker can go on with it."""

    def leave(self, repo: str, goal: str) -> None:
        """Takes a goal out of line; a worker that has it goes on until it is a person's turn."""

    def follow(self, repo: str, goal: str, project: Path) -> str:
        """Has a project show what is recorded of a goal; how that stands: `due`, `waiting`, `done` ..."""

    def moved(self, shown_in: Iterable[Shown]) -> list[Shown]:
        """Those of which more is recorded than their projects show."""

    def status(self) -> Any:
        """All goals that are not done with their places in line, and the workers: a record that becomes JSON."""


def bound(settings: Config | None, environ: Mapping[str, str]) -> Fleet | None:
    """The fleet of some settings; None: they name no repositories of one.

    Args:
        settings: of the server.
        environ: where settings and keys of projects are looked up.

    Raises:
        MissingRequirement: what a fleet needs is not installed.
    """
    if settings is None or not settings.fleet.repositories:
        return None
    return cast("Fleet", import_module("swarmgate.fleet.served").ServedFleet(settings, environ))
