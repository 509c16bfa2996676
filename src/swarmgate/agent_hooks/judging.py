"""Runs the gates for a session: over all that it changed, or over the files of one edit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from swarmgate.agent_hooks.sessions import Sessions
from swarmgate.gates import baseline
from swarmgate.gates.adapters import prepare as load_adapters
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.definition import load
from swarmgate.gates.pipeline.pipeline import GatesOptions
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.verbs.request import Target
from swarmgate.gates.verbs.run import judged
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateReport

Part = Literal["quick", "slow", "all"]
SLOW_MS = 300
"""A gate that costs so much for one file (`gates.scanners`) is slow: it starts a program that takes its time."""


def of_session(repository: Repository, base: str) -> GateReport:
    """What all gates say of the work tree against the tree that a session started from; no file is changed."""
    return _report(repository, base, Scope(by_hand=True), "all")


def of_files(repository: Repository, session: str, paths: tuple[str, ...], part: Part) -> GateReport:
    """What gates say of some files' change since the session started.

    Args:
        repository: with the files.
        session: its id.
        paths: the files, relative to the root.
        part: which gates.
    """
    sessions = Sessions(repository)
    return _report(repository, sessions.base(sessions.of(session)), Scope(paths=paths, by_hand=True), part)


def prepare(root: Path) -> None:
    """Imports the gates' adapters, slow ones first."""
    gates = sorted(load(root), key=lambda gate: -gate.record.cost)
    load_adapters([gate.adapter for gate in gates if gate.adapter])


def _report(repository: Repository, base: str, scope: Scope, part: Part) -> GateReport:
    gates = load(repository.root)
    only = tuple(gate.id for gate in gates if part == "all" or (gate.record.cost >= SLOW_MS) == (part == "slow"))
    target = Target(repository, repository, repository.root, base, scope, "", "", fix=False)
    accepted = baseline.on_disk(repository.root)
    options = GatesOptions(only=() if part == "all" else only)
    return asyncio.run(judged(target, accepted, options, Memory())).report
