"""Looks at edited files: gates that are quick answer at once, slow ones when they are through, with the next answer.

An answer that comes late is kept until somebody asks again, and dropped where its file was edited since.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillLooking
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.agent_hooks import judging
from swarmgate.agent_hooks.findings import listed
from swarmgate.errors import SwarmError
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from concurrent.futures import Future

    from swarmgate.agent_hooks.judging import Part

WITHIN_S = 1.0
"""Seconds that an edit waits for what is quick, on a machine that is busy; on an idle one it takes 0.15."""
_COLD_S = 5.0
"""Seconds that it waits while the gates are still being loaded."""


class Looker:
    """Judges edited files of one repository, for whoever asks.

    Args:
        root: the repository.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._late: dict[str, str] = {}
        self._edits: dict[str, int] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._loaded = threading.Event()
        self._found: Repository | None = None

    def prepare(self) -> None:
        """Loads what the gates need, so that the first edit finds it there."""
        try:
            judging.prepare(self.root)
        finally:
            self._loaded.set()

    def look(self, session: str, paths: list[str]) -> str:
        """What is found in these files, and what was found late in others; a text for the model, empty: nothing."""
        names = tuple(os.path.relpath(each, self.root) for each in paths)
        with self._lock:
            for name in names:
                self._edits[name] = self._edits.get(name, 0) + 1
                self._late.pop(name, None)
            edits = {name: self._edits[name] for name in names}
        quick = self._pool.submit(self._judged, session, names, "quick")
        quick.add_done_callback(lambda _: self._look_slowly(session, names, edits))  # it would take time from it
        try:
            text = quick.result(WITHIN_S if self._loaded.is_set() else _COLD_S)
        except StillLooking:
            quick.add_done_callback(lambda done: self._keep(done, edits))
            text = ""
        return "\n".join(filter(None, (text, *self._told())))

    def _look_slowly(self, session: str, names: tuple[str, ...], edits: dict[str, int]) -> None:
        with suppress(RuntimeError):  # the process ends
            slow = self._pool.submit(self._judged, session, names, "slow")
            slow.add_done_callback(lambda done: self._keep(done, edits))

    def _judged(self, session: str, names: tuple[str, ...], part: Part) -> str:
        try:
            return listed(judging.of_files(self._repository(), session, names, part))
        except SwarmError as error:
            return f"swarmgate could not look at {', '.join(names)}: {error.message}" if part == "quick" else ""

    def _repository(self) -> Repository:
        """The repository, found once: that takes a fifth of an answer. One without a commit may get one meanwhile."""
        if self._found is None or self._found.unborn:
            self._found = Repository.discover(self.root, lenient=True)
        return self._found

    def _keep(self, done: Future[str], edits: dict[str, int]) -> None:
        """Keeps what came late, unless one of its files was edited meanwhile."""
        if done.cancelled() or done.exception() or not (text := done.result()):
            return
        with self._lock:
            if all(self._edits[name] == number for name, number in edits.items()):
                first = min(edits)
                self._late[first] = "\n".join(filter(None, (self._late.get(first, ""), text)))

    def _told(self) -> tuple[str, ...]:
        with self._lock:
            told = tuple(self._late.values())
            self._late.clear()
        return told
