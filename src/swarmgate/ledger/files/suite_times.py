"""Stores how long the tests took when they last passed, `.swarm/runtime/test-times.json`: a cache."""

from __future__ import annotations

import contextlib
import json

from pydantic import Field, RootModel, ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.errors import LedgerError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

_MOST = 50
"""As many commands are remembered, the newest."""


class Took(Frozen):
    """How many tests a run had, and how many seconds it took."""

    __test__ = False  # pytest: not a test class

    tests: int = Field(0, ge=0)
    seconds: float = Field(ge=0)


class _Times(RootModel[dict[str, Took]]):
    pass


def read(folder: SwarmFolder) -> dict[str, Took]:
    """The times by what was run; empty where nothing is known."""
    try:
        return _Times.model_validate_json(regular.read(folder.runtime / "test-times.json")).root
    except (OSError, ValidationError):
        return {}


def remember(folder: SwarmFolder, what: str, took: Took) -> None:
    """Keeps the time of a run; a disk that refuses costs an estimate."""
    known = {key: value for key, value in read(folder).items() if key != what}
    kept = dict([*known.items(), (what, took)][-_MOST:])
    target = folder.runtime / "test-times.json"
    with contextlib.suppress(LedgerError), writing(target):
        make(target.parent)
        replace(target, json.dumps({key: value.model_dump() for key, value in kept.items()}), durable=False)
