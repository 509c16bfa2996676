"""What became of a task by one arm, kept as a file each, so that a killed run loses none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.usage import Usage
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace.files import atomic

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.evaluation.patches.dataset import Instance


class Arm(StrEnum):
    """Who works on a task."""

    MINI = "mini-swe-agent"
    """One agent alone, with the loop and the prompts of the package."""
    SWARM = "swarmgate"
    """The whole loop: plan, coder, gates, review, tests, proof."""


@dataclass(frozen=True)
class Setup:
    """What both arms are given. `tokens` and `seconds` bound one task; None and 0 are no bound."""

    config: Config
    model: str
    environ: Mapping[str, str]
    tokens: int | None = None
    seconds: int = 0
    flags: Mapping[str, object] = field(default_factory=dict)


class Ended(Frozen):
    """How an arm ended a task: whether it handed in a change as done, and what it used."""

    handed_in: bool
    ended: Line
    usage: Usage = Usage()


class Row(Frozen):
    """A task by one arm: how it ended, and what the hidden tests say of the files that it left.

    `resolved` is asked of every change, handed in or not. `seconds` are those of the arm alone. `trouble` is why there
    is no outcome: an endpoint that failed, a clone that is not there.
    """

    id: Line
    repo: Line
    arm: Arm
    key: str
    handed_in: bool = False
    resolved: bool = False
    ended: Line = ""
    hidden: Line = ""
    files: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    trouble: Line = ""

    @property
    def wrong(self) -> bool:
        """Handed in as done, and not resolved."""
        return self.handed_in and not self.resolved


class Rows:
    """The rows below a folder. One that is damaged, or of another question, counts as not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Row | None:
        """The row with this key; None: the task is to be worked on."""
        try:
            found = Row.model_validate_json((self._folder / f"{key}.json").read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key else None

    def put(self, row: Row) -> None:
        """Keeps a row; one with trouble is not kept, and tried again.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        if row.trouble:
            return
        path = self._folder / f"{row.key}.json"
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(path, row.model_dump_json(), durable=False)


def key_of(instance: Instance, arm: Arm, setup: Setup, version: str) -> str:
    """The key of a row: SHA-256 of the task, the arm with its version, the model, the bounds and the settings."""
    parts = (instance.model_dump_json(), arm, version, setup.model, setup.tokens, setup.seconds, repr(setup.flags))
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
