"""Adds the quoted source line to each finding, with secrets redacted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.gates.secret_scan import redaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from swarmgate.domain.review.finding import Finding, GateResult
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.git.repository import Repository

_CHARACTERS = 300
"""Of a line, so much is kept: what is longer was not written to be read."""

_KEY = b"-----BEGIN"
"""How a key begins that has many lines (RFC 7468)."""

_IN_CELLS = ".ipynb"
"""In notebooks, tools count the lines of cells and not those of the file."""


def quoted(
    results: Sequence[GateResult], sources: Sequence[SourceFile], repository: Repository, tree: str
) -> tuple[GateResult, ...]:
    """Add to each finding the source line that it names.

    Args:
        results: what the gates said.
        sources: the files that were read already.
        repository: has the others.
        tree: the judged tree.
    """
    wanted: dict[str, set[int]] = defaultdict(set)
    secret: dict[tuple[str, int], int] = {}
    for gate, finding in ((result.gate, each) for result in results for each in result.findings):
        if not finding.path or not finding.line or finding.path.endswith(_IN_CELLS):
            continue
        wanted[finding.path].add(finding.line)
        if redaction.about_a_secret(gate, finding):
            place = finding.path, finding.line
            secret[place] = min(finding.column, secret.get(place, finding.column))
    if not wanted:
        return tuple(results)
    hidden = {path for path, _ in secret}
    lines = _masked(_lines(wanted, hidden, sources, repository, tree), secret)
    return tuple(
        result.model_copy(update={"findings": tuple(_with_code(each, lines) for each in result.findings)})
        for result in results
    )


def _with_code(finding: Finding, lines: Mapping[tuple[str, int], str]) -> Finding:
    code = lines.get((finding.path, finding.line), "")
    return finding.model_copy(update={"code": code}) if code else finding


def _lines(
    wanted: Mapping[str, set[int]],
    hidden: AbstractSet[str],
    sources: Sequence[SourceFile],
    repository: Repository,
    tree: str,
) -> dict[tuple[str, int], str]:
    """The lines, those of files with secrets masked as a whole: a key has lines that tell nothing by themselves."""
    contents = {source.path: source.content for source in sources if source.path in wanted}
    elsewhere = sorted(wanted.keys() - contents.keys())
    contents |= repository.read_many(tree, elsewhere) if elsewhere else {}
    found = {}
    for path, content in contents.items():
        lines = content.decode("utf-8", "replace").split("\n")
        if path in hidden or _KEY in content:
            lines = redaction.lines(lines)
        for number in sorted(wanted[path]):
            if number <= len(lines):
                found[path, number] = lines[number - 1].rstrip()
    return found


def _masked(lines: Mapping[tuple[str, int], str], secret: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], str]:
    """The lines, cut before what a gate called a secret, and what else looks like one masked."""
    visible = {place: text for place, text in lines.items() if text.strip()}
    for place, column in secret.items():
        if place in visible:
            before = visible[place][: max(column - 1, 0)]
            visible[place] = f"{before}…" if before.strip() else ""
    masked = redaction.lines(list(visible.values()))
    return {place: text[:_CHARACTERS] for place, text in zip(visible, masked, strict=True)}
