"""Lists the dependency names in the manifests of a work tree, with the SBOM's readers."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path

from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.report import Place, TextKind
from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.formats import Role, Unreadable

MOST_BYTES = 2_000_000
"""A manifest above this size is not read."""
MOST_FILES = 200

_DEVELOPMENT = ("dev", "test", "lint", "docs", "ci", "example", "sample", "benchmark")


def read(root: Path, paths: Iterable[str]) -> tuple[list[LaterText], list[str]]:
    """(the dependencies, why files were passed over) of the manifests among some paths of a work tree."""
    found: list[LaterText] = []
    notes: list[str] = []
    wanted = sorted(path for path in set(paths) if (kind := formats.of(path)) and kind.role is not Role.LOCK)
    if len(wanted) > MOST_FILES:
        notes.append(f"{len(wanted)} manifests: only the first {MOST_FILES} were read")
    for path in wanted[:MOST_FILES]:
        result = _read(root, path)
        if isinstance(result, str):
            notes.append(result)
        else:
            found += result
    return found, notes


def _read(root: Path, path: str) -> list[LaterText] | str:
    kind = formats.of(path)
    content = _content(root, path)
    if isinstance(content, str):
        return content
    if kind is None or content is None:
        return []
    reading = formats.read(path, content, kind, lambda name: _sibling(root, path, name))
    if isinstance(reading, Unreadable):
        return f"passed over: {reading}"
    apart = _apart(path, content)
    seen: dict[str, LaterText] = {}
    for each in reading.declared:
        aside = each.optional or each.name in apart or _development(path)
        place = Place(file=path, line=each.line, what="dependency")
        if each.name not in seen or (seen[each.name].development and not aside):
            seen[each.name] = LaterText(
                TextKind.DEPENDENCY, each.name, place, f"package {each.name}", development=aside
            )
    return list(seen.values())


def _content(root: Path, path: str) -> bytes | str | None:
    """The file; None where there is none (any more), or a text that says why it is not read."""
    place = root / path
    try:
        if place.is_symlink() or not place.is_file():
            return None
        if place.stat().st_size > MOST_BYTES:
            return f"passed over: {path}: larger than {MOST_BYTES // 1_000_000} MB"
        return place.read_bytes()
    except OSError as error:
        return f"passed over: {path}: {error.strerror or error}"


def _sibling(root: Path, path: str, name: str) -> bytes | None:
    content = _content(root, posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
    return content if isinstance(content, bytes) else None


def _development(path: str) -> bool:
    """Whether a file is for work on the project (requirements-dev.txt), or for a sample of its use."""
    words = path.lower().replace("-", "/").replace("_", "/").replace(".", "/").split("/")
    return any(word.startswith(_DEVELOPMENT) for word in words)


def _apart(path: str, content: bytes) -> frozenset[str]:
    """What package.json asks for among the development dependencies only."""
    if posixpath.basename(path) != "package.json":
        return frozenset()
    data = json.loads(content)
    return frozenset(data.get("devDependencies", {})) - frozenset(data.get("dependencies", {}))


def listed(root: Path, tracked: Iterable[str]) -> Iterator[str]:
    """The paths of a work tree in which manifests are looked for: what git tracks, and what lies at the top."""
    yield from tracked
    try:
        with os.scandir(root) as entries:
            yield from (entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return
