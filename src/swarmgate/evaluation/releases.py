"""Runs all gates on consecutive releases of other projects, one changed file at a time.

A release of a well-kept package was reviewed and tested by its authors, so that a block is most likely a false one.
Which are true is for a reader to say: every block is listed with its findings.
"""

from __future__ import annotations

import random
import re
import tarfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from swarmgate.domain.review.finding import GateStatus
from swarmgate.errors import UsageError
from swarmgate.evaluation import gate_runs
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.domain.review.finding import GateResult

_SDIST = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.tar\.gz")


@dataclass(frozen=True, slots=True)
class Change:
    """One file that differs between two releases; `after` None where the later one has no such file."""

    releases: str
    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Block:
    """What blocked a change: the gate, its reason, and its blocking findings as `place rule: message`."""

    change: Change
    gate: str
    reason: str
    findings: tuple[str, ...]


def judge(folder: Path, *, sample: int, seed: int) -> Iterator[tuple[Change, tuple[Block, ...]]]:
    """Run every gate over single-file changes between the releases in a folder.

    Args:
        folder: holds source distributions, `name-version.tar.gz`, at least two of a name.
        sample: at most so many changes of each pair of releases, chosen at random.
        seed: of the choice.

    Raises:
        UsageError: there are no two releases of one package.
    """
    chance = random.Random(seed)  # noqa: S311 - a repeatable sample, no secret
    for older, newer in _pairs(folder):
        before, after = _files(older), _files(newer)
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        chosen = sorted(chance.sample(changed, min(sample, len(changed))))
        with temporary.folder("eval") as root:
            there = gate_runs.repository(root)
            gate_runs.write(root, before)
            base = there.snapshot()
            for path in chosen:
                change = Change(f"{older.name} -> {newer.name}", path, before.get(path), after.get(path))
                _put(root, path, change.after)
                yield change, tuple(_blocks(change, gate_runs.verdict(there, base)))
                _put(root, path, change.before)


def _blocks(change: Change, results: tuple[GateResult, ...]) -> Iterator[Block]:
    for result in results:
        if result.status is GateStatus.FAIL:
            found = tuple(f"{each.place} {each.rule}: {each.message}" for each in result.new_findings)
            yield Block(change, result.gate, result.reason, found)


def _put(root: Path, path: str, content: bytes | None) -> None:
    if content is None:
        (root / path).unlink(missing_ok=True)
    else:
        gate_runs.write(root, {path: content})


def _pairs(folder: Path) -> list[tuple[Path, Path]]:
    releases: dict[str, list[tuple[Version, Path]]] = {}
    for path in sorted(folder.glob("*.tar.gz")):
        match = _SDIST.fullmatch(path.name)
        if match:
            try:
                version = Version(match["version"])
            except InvalidVersion:
                continue
            releases.setdefault(match["name"].lower().replace("-", "_"), []).append((version, path))
    pairs = [(a[1], b[1]) for found in releases.values() for a, b in pairwise(sorted(found))]
    if not pairs:
        raise UsageError(
            f"{folder}: no two releases of one package are there",
            hint="pip download --no-deps --no-binary :all: NAME==VERSION puts one there.",
        )
    return pairs


def _files(archive: Path) -> dict[str, bytes]:
    """The files of a source distribution, without its topmost folder and what its build wrote into it."""
    found = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            path = member.name.partition("/")[2]
            if member.isfile() and path and ".egg-info/" not in path and path != "PKG-INFO":
                stream = packed.extractfile(member)
                found[path] = stream.read() if stream else b""
    return found
