"""Fixtures: a real git repository, a way to change it and to run gates over the change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from swarmgate.domain.review.finding import GateReport, GateResult


@dataclass
class Project:
    """A repository under change; `base` is the tree of its first commit."""

    root: Path
    git: Callable[..., str]

    def write(self, path: str, content: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def commit(self, **files: str) -> None:
        for path, content in files.items():
            self.write(path, content)
        self.git(self.root, "add", "--all")
        self.git(self.root, "commit", "--quiet", "--message=more")

    def commit_files(self, files: dict[str, str]) -> None:
        self.commit(**files)

    def run(self, *gates: GateDefinition, fix: bool = True, **options: Any) -> GateReport:
        repository = Repository.discover(self.root)
        definitions = gates or load(self.root)
        return asyncio.run(
            run_pipeline(
                definitions, repository=repository, base=repository.head_tree(), config=GatesOptions(**options), fix=fix
            )
        )

    def gate(self, name: str, **options: Any) -> GateResult:
        """The result of one gate over the present change, switched on if it is off by default."""
        gates = (gate.model_copy(update={"enabled": True}) if gate.id == name else gate for gate in load(self.root))
        (result,) = [result for result in self.run(*gates, only=(name,), **options).results if result.gate == name]
        return result


@pytest.fixture
def project(repo: Path, git: Callable[..., str]) -> Project:
    return Project(repo, git)
