"""Runs a gate on labelled cases, many at once in one real repository, each case in a folder of its own."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import GateStatus
from swarmgate.errors import UsageError, WorkspaceError
from swarmgate.gates.definition import load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from swarmgate.domain.review.finding import Finding, GateResult
    from swarmgate.evaluation.case import Case

BATCH = 400
"""Cases of one repository: few enough for the time limit of a gate, many enough that a gate's start does not count."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, and whether its gate objected. `trouble` says why where the gate could not do its work."""

    case: Case
    found: bool
    trouble: str = ""


def judge(cases: Iterable[Case]) -> Iterator[Judged]:
    """Judge every case by its gate, in the order they come as far as they are of the same gate.

    Raises:
        WorkspaceError: git cannot make a repository in the temporary folder.
    """
    waiting: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        waiting[case.gate].append(case)
        if len(waiting[case.gate]) == BATCH:
            yield from _batch(case.gate, waiting.pop(case.gate))
    for gate, rest in waiting.items():
        yield from _batch(gate, rest)


def verdict(repository: Repository, base: str, gates: Sequence[str] = ()) -> tuple[GateResult, ...]:
    """The results of the built-in gates (of these alone, if named) over the work tree, nothing fixed or capped."""
    definitions = [gate.model_copy(update={"enabled": True, "timeout_s": 3600.0}) for gate in load()]
    options = GatesOptions(only=tuple(gates))
    report = asyncio.run(run_pipeline(definitions, repository=repository, base=base, config=options, fix=False))
    return report.results


def repository(place: Path) -> Repository:
    """A new repository with an empty first commit.

    Raises:
        WorkspaceError: git does not work here.
    """
    who = ("-c", "user.name=swarm eval", "-c", "user.email=eval@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet", "."), (*who, "commit", "--quiet", "--allow-empty", "--message=base")):
        code, _, error = call(place, *words)
        if code:
            raise WorkspaceError(f"{place}: git {words[0]} failed: {error.strip()}")
    return Repository(place)


def write(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder.

    Raises:
        UsageError: a path leads out of it; labelled data is somebody else's.
    """
    for path, content in files.items():
        target = root / os.fsdecode(encode(path))
        if not Path(os.path.normpath(target)).is_relative_to(root):
            raise UsageError(f"{path}: a path of labelled data stays below its folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _batch(gate: str, cases: Sequence[Case]) -> Iterator[Judged]:
    with temporary.folder("eval") as root:
        there = repository(root)
        for number, case in enumerate(cases):
            write(root / _folder(number), case.before)
        base = there.snapshot()
        for number, case in enumerate(cases):
            for path in case.before.keys() - case.after.keys():
                (root / _folder(number) / os.fsdecode(encode(path))).unlink()
            write(root / _folder(number), case.after)
        result = next(result for result in verdict(there, base, (gate,)) if result.gate == gate)
    found = _by_folder(result.findings)
    trouble = result.reason if result.status is GateStatus.ERROR else ""
    for number, case in enumerate(cases):
        yield Judged(case, any(map(case.hit, found[_folder(number)])), trouble)


def _folder(number: int) -> str:
    return f"case{number:05}"


def _by_folder(findings: Iterable[Finding]) -> defaultdict[str, list[Finding]]:
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.path.partition("/")[0]].append(finding)
    return found
