"""Stores the last accepted save of each plan file, the base for editors that hold an older buffer.

Such an editor never sees what we made of the file, so all its saves show one ledger position. The second is then no
edit of what stood there at that position but of the first save. The copies lie in `.swarm/runtime/`, byte for byte;
where one is lost, a save is compared with its position alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from swarmgate.domain.plan.plan import Plan
from swarmgate.errors import PlanSyntaxError
from swarmgate.workspace.files.atomic import replace

Read = Callable[[bytes], tuple[int, Plan]]
"""Gives the ledger position and the plan that the bytes of a plan file show."""


class LastSaves:
    """The saves of one project.

    Args:
        folder: where the copies lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[bytes, int, Plan]] = {}

    def remember(self, name: str, data: bytes, seq: int, plan: Plan) -> None:
        """A save was taken in. A disk that refuses costs no more than the memory.

        Args:
            name: the plan file.
            data: the bytes of the save.
            seq: the ledger position that it shows.
            plan: what it says itself, whatever it was merged with.
        """
        self._known[name] = data, seq, plan
        with contextlib.suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            replace(self._path(name), data, durable=False)

    def plan(self, name: str, seq: int, read: Read) -> Plan | None:
        """The plan of the last save; None where there was none, or it showed another position.

        Args:
            name: the plan file.
            seq: the position that the present save shows.
            read: reads the copy; another process may have left it.
        """
        try:
            data = self._path(name).read_bytes()
            if name not in self._known or self._known[name][0] != data:
                self._known[name] = data, *read(data)
        except (OSError, UnicodeDecodeError, PlanSyntaxError):
            return None
        _, position, plan = self._known[name]
        return plan if position == seq else None

    def _path(self, name: str) -> Path:
        return self._folder / f"last-save-{name}"
