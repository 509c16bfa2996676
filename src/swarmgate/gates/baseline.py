"""What the change introduced and what stood there before: findings of both revisions compared by fingerprint.

A fingerprint is the SHA-256 of rule, path, the line's content with white space collapsed, and the how-manieth finding
of that kind it is in the file; of a secret, also the value's hash. Lines that moved or were indented anew therefore
match, and so do renamed files, because both sides are taken under the new path.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from swarmgate.gates import masking
from swarmgate.gates.files import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from swarmgate.domain.finding import Finding


def compare(
    source: Source, findings: Sequence[Finding], base: bytes, base_findings: Iterable[Finding]
) -> list[Finding]:
    """Fingerprint the findings of one file and mark as old those that the base revision had as well.

    Where the change repeats a line that was bad before, the findings on lines that it added are the new ones.

    Args:
        source: the file as it is now.
        findings: what was found in it.
        base: its content in the base revision.
        base_findings: what the same scanner found there.
    """
    was = _lines(base)
    budget = Counter(_kind(finding, was) for finding in base_findings)
    marked = fingerprint(source, findings)
    now = _lines(source.content)
    by_kind: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, finding in enumerate(marked):
        by_kind[_kind(finding, now)].append(index)
    for kind, indexes in by_kind.items():
        untouched_first = sorted(indexes, key=lambda index: (marked[index].line in source.added_lines, index))
        for index in untouched_first[: budget[kind]]:
            marked[index] = marked[index].model_copy(update={"new": False})
    return marked


def may_be_old(source: Source, findings: Iterable[Finding], base: bytes) -> bool:
    """Whether one of a file's findings stands on a line that the base revision has as well, or on none."""
    lines, was = _lines(source.content), {" ".join(line.split()) for line in _lines(base)}
    return any(not 0 < each.line <= len(lines) or _content(each, lines) in was | {each.message} for each in findings)


def nowhere(path: str) -> Source:
    """Stands for a file whose content is not at hand: findings are told apart by their messages."""
    return Source(path, "")


def fingerprint(source: Source, findings: Iterable[Finding], *, path: str = "") -> list[Finding]:
    """The findings of one file, sorted by line, each with its fingerprint; with `path`, as if it had that name."""
    lines, seen = _lines(source.content), Counter[tuple[str, str]]()
    marked = []
    for finding in sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule)):
        kind = _kind(finding, lines)
        seen[kind] += 1
        text = "\0".join((finding.rule, path or source.path, kind[1], str(seen[kind])))
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        marked.append(finding.model_copy(update={"fingerprint": digest}))
    return marked


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").split("\n")


def _kind(finding: Finding, lines: Sequence[str]) -> tuple[str, str]:
    """Rule and content; of a secret also its hash, for its line may hold only where it begins."""
    found = masking.hashes(finding)
    content = _content(finding, lines)
    return finding.rule, f"{content}\0{found}" if found else content


def _content(finding: Finding, lines: Sequence[str]) -> str:
    if not 0 < finding.line <= len(lines):
        return finding.message
    return " ".join(lines[finding.line - 1].split()) or finding.message
