"""Fixtures of preflight: a project before a phase, as its checks get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pytest
from tests.confined import runner
from tests.project import Project

from swarmgate import config as settings
from swarmgate.automation.preflight.context import PreflightContext
from swarmgate.domain.preflight import Reach
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.repository import Repository


class Contexts(Protocol):
    def __call__(self, **changes: Any) -> PreflightContext: ...


@pytest.fixture
def context(project: Project) -> Contexts:
    """`context(phase=2, ours=True)`: the project as it lies there now."""

    async def nothing(_models: Sequence[str]) -> Sequence[Reach]:
        return ()

    def made(**changes: Any) -> PreflightContext:
        ledger = Ledger.read(project.folder)
        fields: dict[str, Any] = {
            "folder": project.folder,
            "repository": Repository.discover(project.root),
            "ledger": ledger,
            "state": ledger.state,
            "phase": 1,
            "config": settings.load(project_file=project.folder.config, environ={}),
            "roles": (),
            "commands": lambda: runner(project.root),
            "budgets": tuple,
            "reach": nothing,
            "demands": tuple,
        }
        return PreflightContext(**{**fields, **changes})

    return made
