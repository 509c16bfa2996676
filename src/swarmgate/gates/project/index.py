"""The index of a change's old and new tree, shared by all gates of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.gates.project.view import Trees, View

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Project:
    """A repository before and after a change.

    Attributes:
        base: the old tree.
        head: the new tree, which the working tree shows.
        stopped: says that there is no time left to look at more.
    """

    base: View
    head: View
    stopped: Callable[[], bool] = bool

    @classmethod
    def of(cls, repository: Trees, base: str, tree: str) -> Project:
        """The two trees of a repository, of which nothing is known yet."""
        return cls(View(repository, base), View(repository, tree))

    def until(self, stopped: Callable[[], bool]) -> Project:
        """A copy of the project whose searches end once `stopped` is true."""
        return replace(self, stopped=stopped)
