"""Councils as jobs of the queue: begun at once under an id of the server's, held by a worker."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swarmgate.journal.disk_errors import writing
from swarmgate.server.runs import clones, patterns
from swarmgate.server.runs.goals import Goals, new_id, now, require_known
from swarmgate.server.runs.model import HOLD, Council, Wanted
from swarmgate.server.runs.records import Records
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive


class Jobs:
    """The councils that were begun over the server. Threads and processes may share it.

    Args:
        home: of the server; each council is in `councils/<id>/job.json`.
        goals: whose projects they are held in.
    """

    def __init__(self, home: Path, goals: Goals) -> None:
        self._scratch, self._goals = home / "scratch", goals
        self.records = Records(home / "councils", "job.json", Council)

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
        token: str = "",
    ) -> Council:
        """Writes a council down, to be held; `Runs.hold` has it begin at once.

        Args:
            pattern: its name in the table: debate, discussion, decision, critique, dispatch, chat, orchestration.
            request: the arguments of the facade's verb, such as `question` and `participants`; no `id`.
            repo: in whose scratch project it is held, where no goal is given.
            goal: in whose project it is held.
            owner: the id of the account.
            by: who asked, as an actor.
            asked: the request as it came, JSON-ready, for a face that has words of its own for it; None: there is none.
            token: as of `Goals.create`.

        Raises:
            NotFound: there is no such goal or repository.
            UsageError: there is no such pattern, or the request has a key that it does not know.
            LedgerWriteFailed: the disk refused.
        """
        asked_for = patterns.checked(pattern, request)
        goal, repo = require_known(self._goals, goal, repo)
        repository = self._goals.repositories.get(repo) if not goal else None
        scratch = self._scratch / repo / clones.WORK
        created = now()
        return self.records.put(
            Council(
                id=new_id("k", token),
                pattern=pattern,
                repo=repo,
                goal=goal,
                path=self._goals.get(goal).path if repository is None else str(clones.project_in(scratch, repository)),
                owner=owner,
                request=asked_for,
                asked=dict(asked or {}),
                created=created,
                wanted=Wanted(verb=HOLD, by=by, asked=created),
            )
        )

    def begun(self, token: str) -> Council | None:
        """The council that a request with that token began; None: it began none."""
        return self.records.find(new_id("k", token))

    def list(self, repo: str = "", goal: str = "") -> tuple[Council, ...]:
        """All of them, of one repository or goal or of all, the newest first."""
        found = self.records.all()
        return tuple(each for each in found if (not repo or each.repo == repo) and (not goal or each.goal == goal))

    def get(self, id: str) -> Council:  # noqa: A002 - the field's name
        """The one of that id.

        Raises:
            NotFound: there is none.
        """
        return self.records.get(id)

    @contextmanager
    def project(self, council: Council) -> Iterator[Path]:
        """The project's folder that a council is held in, made where it is not there.

        A scratch project is brought to the newest commit of its repository, unless others are at work in it.

        Raises:
            NotFound: the goal or the repository is gone.
            SwarmError: it cannot be made.
        """
        if council.goal:
            yield self._goals.prepare(self._goals.get(council.goal))
            return
        repository = self._goals.repositories.get(council.repo)
        folder = self._scratch / repository.id
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder / "use.lock", os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
        try:
            if _alone(descriptor) or not (folder / clones.WORK).exists():
                exclusive.take(descriptor)
                known = self._goals.repositories
                clones.refreshed(folder, repository, known.address(repository), trusted=known.trusts(repository))
            exclusive.take(descriptor, shared=True)
            yield clones.project_in(folder / clones.WORK, repository)
        finally:
            os.close(descriptor)


def _alone(descriptor: int) -> bool:
    """Whether nobody else uses the folder of a lock."""
    try:
        exclusive.take(descriptor, wait=False)
    except BlockingIOError:
        return False
    return True
