"""The rows of the measurement: what an arm made of a patch. Each is a file, so that a killed run loses none."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from swarmgate import assets
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.usage import Usage
from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import AgentPatch, Half, Label
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace.files import atomic

_JUDGES = ("agents", "council", "domain", "engine", "gates", "workspace")
"""The rooms whose code decides what becomes of a patch."""


class Objection(Frozen):
    """One thing said against a patch; `rule` is `gate: rule` or the judge. `blocks`: it was rejected by this."""

    rule: Line
    place: Line = ""
    message: Line = ""
    blocks: bool = True


class Row(Frozen):
    """What one arm made of one patch.

    `blocked` is the stage of the rejection as the ledger has it, empty where the patch got in. `seconds` are those of
    the checks alone, `prepared` those that laid out the repository. `trouble` is why there is no verdict.
    """

    id: Line
    repo: Line
    model: Line
    label: Label
    half: Half
    arm: Arm
    key: str
    blocked: Line = ""
    reason: Text = ""
    objections: tuple[Objection, ...] = ()
    seconds: float = 0.0
    prepared: float = 0.0
    usage: Usage = Usage()
    trouble: Line = ""

    @property
    def gates(self) -> tuple[str, ...]:
        """What blocked: the gates, or the judge."""
        head, _, rest = self.blocked.partition(": ")
        return tuple(rest.split(", ")) if head == "gates" and rest else ((self.blocked,) if self.blocked else ())


class Rows:
    """The rows below a folder. One that is damaged, or of another question, counts as not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Row | None:
        """The row with this key; None: the patch is to be replayed."""
        try:
            found = Row.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key else None

    def put(self, row: Row) -> None:
        """Keeps a row; one without a verdict is not kept, and replayed again.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        if row.trouble:
            return
        path = self._path(row.key)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(path, row.model_dump_json(), durable=False)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def key_of(patch: AgentPatch, arm: Arm, settings: str) -> str:
    """The key of a row: SHA-256 of the patch, the arm, the settings and the code that judges."""
    parts = (patch.model_dump_json(), arm, settings, _judging_code())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _judging_code() -> str:
    """The hash of the code and rules that judge, as they are when this process first asks."""
    package = Path(assets.__file__).parent
    folders = (*(package / room for room in _JUDGES), assets.gates(), assets.prompts())
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _CODE)
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


_CODE = frozenset({".py", ".toml", ".md", ".json", ".txt", ".yaml", ".yml"})
