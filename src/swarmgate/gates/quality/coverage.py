"""Computes the test coverage of the added lines from a Cobertura XML or lcov report.

A report older than a source that it speaks of is not believed. Nothing is run here.
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.source.file import SourceFile

PLACES = (
    "coverage.xml", "cobertura.xml", "coverage/cobertura-coverage.xml", "coverage/coverage.xml", "build/coverage.xml",
    "lcov.info", "coverage/lcov.info", "coverage.lcov", "target/lcov.info",
)  # fmt: skip
"""Where coverage.py, jest, c8, cargo-llvm-cov and their like write by default."""

_LIMIT = 100_000_000
"""Bytes of the largest report that is read."""


class Unreadable(Exception):
    """A report that is no report; the message says why."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The coverage of the added lines: how many are known and how many ran; `missed` by path.

    `note` says why a report, or part of one, was not believed.
    """

    report: str = ""
    known: int = 0
    ran: int = 0
    missed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    note: str = ""


def of(root: Path, files: Iterable[SourceFile]) -> Covered:
    """Read the newest report of the tree for the added lines of the changed files."""
    found = [(stat.st_mtime_ns, place) for place in PLACES if (stat := _stat(root / place)) is not None]
    if not found:
        return Covered(note="no coverage report in the tree (coverage.xml, lcov.info): the coverage was not judged")
    written, report = max(found)
    files = list(files)
    newer = [file.path for file in files if (stat := _stat(_on_disk(root, file.path))) and stat.st_mtime_ns > written]
    if newer:
        return Covered(report, note=f"{report} is older than {newer[0]}: the coverage was not judged")
    try:
        lines = read(root / report, root)
    except (OSError, Unreadable) as error:
        return Covered(report, note=f"{report} cannot be read: {error}")
    known = ran = 0
    missed = []
    for file in files:
        hits = _lines_of(file.path, lines)
        judged = [number for number in sorted(file.added_lines) if number in hits]
        known += len(judged)
        ran += sum(hits[number] > 0 for number in judged)
        missed.append((file.path, tuple(number for number in judged if not hits[number])))
    return Covered(report, known, ran, tuple(each for each in missed if each[1]))


def read(report: Path, root: Path) -> dict[str, dict[int, int]]:
    """How often each line ran, by path, relative to the repository where the report tells.

    Raises:
        OSError: it cannot be read.
        Unreadable: it is no Cobertura XML and no lcov.
    """
    if report.stat().st_size > _LIMIT:
        raise Unreadable(f"above {_LIMIT // 1_000_000} MB")
    content = report.read_bytes()
    return _cobertura(content, root) if report.suffix == ".xml" else _lcov(content.decode("utf-8", "replace"), root)


def _cobertura(content: bytes, root: Path) -> dict[str, dict[int, int]]:
    lines: defaultdict[str, dict[int, int]] = defaultdict(dict)
    sources: list[str] = []
    state = {"file": "", "tag": ""}

    def start(tag: str, attributes: dict[str, str]) -> None:
        state["tag"] = tag
        if tag == "class":
            state["file"] = attributes.get("filename", "")
        elif tag == "line" and state["file"]:
            number, hits = int(attributes.get("number", "0")), int(attributes.get("hits", "0"))
            of_file = lines[state["file"]]
            of_file[number] = max(of_file.get(number, 0), hits)

    def text(data: str) -> None:
        if state["tag"] == "source" and data.strip():
            sources.append(data.strip())

    def refuse(*_: object) -> None:
        raise Unreadable("it declares entities")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EntityDeclHandler = start, text, refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError) as error:
        raise Unreadable(str(error)) from error
    found = {}
    for name, of_file in lines.items():
        for source in sources or [""]:
            found[_relative(posixpath.join(source, name), root)] = of_file
    return found


def _lcov(text: str, root: Path) -> dict[str, dict[int, int]]:
    lines: defaultdict[str, dict[int, int]] = defaultdict(dict)
    name = ""
    for record in text.splitlines():
        kind, _, value = record.partition(":")
        if kind == "SF":
            name = _relative(value.strip(), root)
        elif kind == "DA" and name:
            number, _, hits = value.partition(",")
            try:
                lines[name][int(number)] = int(hits.partition(",")[0])
            except ValueError as error:
                raise Unreadable(f"{record!r} is no line of lcov") from error
    if text.strip() and not lines and "SF:" not in text:
        raise Unreadable("it is no lcov")
    return dict(lines)


def _lines_of(path: str, lines: dict[str, dict[int, int]]) -> dict[int, int]:
    """The lines of a file: by its path, else by the only end of a path that fits (a report written elsewhere)."""
    if path in lines:
        return lines[path]
    ends = [name for name in lines if name.endswith(f"/{path}") or path.endswith(f"/{name}")]
    return lines[ends[0]] if len(ends) == 1 else {}


def _relative(name: str, root: Path) -> str:
    for prefix in (f"{root.as_posix()}/", f"{root.resolve().as_posix()}/"):
        name = name.removeprefix(prefix)
    return posixpath.normpath(name)


def _on_disk(root: Path, path: str) -> Path:
    return root / os.fsdecode(encode(path))


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
