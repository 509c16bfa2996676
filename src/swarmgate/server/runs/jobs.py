"""Councils as jobs of the queue: begun at once under an id of the server's, held by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.model import Council


class Jobs:
    """The councils that were begun over the server. Threads and processes may share it.

    Args:
        home: of the server; each council is in `councils/<id>/job.json`.
        goals: whose projects they are held in.
    """

    def __init__(self, home: Path, goals: Goals) -> None:
        self._home, self._goals = home, goals

    def start(
        self,
        pattern: str,
        request: Mapping[str, Any],
        *,
        repo: str = "",
        goal: str = "",
        owner: str,
        by: str,
        asked: Mapping[str, Any] | None = None,
    ) -> Council:
        """Writes a council down, to be held; `Runs` begins it.

        Args:
            pattern: its name in the table: debate, discussion, decision, critique, dispatch, chat, orchestration.
            request: the arguments of the facade's verb, such as `question` and `participants`; no `id`.
            repo: in whose scratch project it is held, where no goal is given.
            goal: in whose project it is held.
            owner: the id of the account.
            by: who asked, as an actor.
            asked: the request as it came, JSON-ready, for a face that has words of its own for it; None: there is none.

        Raises:
            NotFound: there is no such goal or repository.
            UsageError: there is no such pattern, or the request has a key that it does not know.
        """
        raise NotImplementedError

    def list(self, repo: str = "", goal: str = "") -> tuple[Council, ...]:
        """All of them, of one repository or goal or of all, the newest first."""
        raise NotImplementedError

    def get(self, id: str) -> Council:  # noqa: A002 - the field's name
        """The one of that id.

        Raises:
            NotFound: there is none.
        """
        raise NotImplementedError
