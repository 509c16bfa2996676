"""Stores which test files were seen to run which files, `.swarm/runtime/test-coverage.json`: a cache.

It is what proofs measured: the new tests of a task over the files that it changed. Imports tell the rest.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection

from pydantic import RootModel, ValidationError

from swarmgate.errors import LedgerError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

_MOST = 5_000
"""As many files are remembered, those that ran last."""


class _Coverage(RootModel[dict[str, tuple[str, ...]]]):
    pass


def read(folder: SwarmFolder) -> dict[str, tuple[str, ...]]:
    """The test files by what they ran; empty where nothing is known."""
    try:
        return _Coverage.model_validate_json(regular.read(folder.runtime / "test-coverage.json")).root
    except (OSError, ValidationError):
        return {}


def remember(folder: SwarmFolder, tests: Collection[str], ran: Collection[str]) -> None:
    """Keeps that these tests ran these files; a disk that refuses costs a longer list of tests, or a shorter one."""
    if not (tests and ran):
        return
    known = read(folder)
    for path in ran:
        known[path] = tuple(sorted({*known.pop(path, ()), *tests}))
    target = folder.runtime / "test-coverage.json"
    with contextlib.suppress(LedgerError), writing(target):
        make(target.parent)
        replace(target, json.dumps(dict(list(known.items())[-_MOST:])), durable=False)
