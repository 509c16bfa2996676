"""Tells new findings from old ones by comparing the fingerprints of both revisions.

A fingerprint is the SHA-256 of rule, path, the line's content with white space collapsed, and the how-manieth finding
of that kind it is in the file; where it has a subject, also that. Lines that moved or were indented anew therefore
match, and so do renamed files, because both sides are taken under the new path.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from swarmgate.domain.review.finding import Finding


ALIKE = 0.5
"""The share of words and marks that a line keeps when it is edited and not written anew."""

_WORDS = re.compile(r"\w+|[^\w\s]")


def judged(pair: SourceFile, check: Callable[[SourceFile], Sequence[Finding] | str]) -> list[Finding] | str:
    """The findings of a check in a file, each marked as old or new; or why the file cannot be checked.

    The base is looked at only where something was found.
    """
    found = check(pair)
    if isinstance(found, str) or not found:
        return found if isinstance(found, str) else []
    before = check(pair.past) if pair.old else ()
    return compare(pair, found, () if isinstance(before, str) else before)


def compare(
    source: SourceFile,
    findings: Sequence[Finding],
    base_findings: Iterable[Finding],
    *,
    edited: Callable[[SourceFile], Callable[[Finding, Finding], bool]] | None = None,
) -> list[Finding]:
    """Fingerprint the findings of one file and mark as old those that the base revision had as well.

    Where the change repeats a line that was bad before, the findings on lines that it added are the new ones.

    Args:
        source: the file as it is now, and as it was.
        findings: what was found in it.
        base_findings: what the same scanner found in the base.
        edited: tells for the file which finding on an edited line is the same as one that is gone from the base, and
            old as well. `alike` is right for style and types, which an edit beside them leaves; never for weaknesses,
            which it may make reachable.
    """
    before, was = list(base_findings), _Plain(source.was.content)
    budget = Counter(_kind(finding, was) for finding in before)
    marked = fingerprint(source, findings)
    now = _Plain(source.content)
    by_kind: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, finding in enumerate(marked):
        by_kind[_kind(finding, now)].append(index)
    for kind, indexes in by_kind.items():
        untouched_first = sorted(indexes, key=lambda index: (marked[index].line in source.added_lines, index))
        for index in untouched_first[: budget[kind]]:
            marked[index] = marked[index].model_copy(update={"new": False})
        budget[kind] -= len(untouched_first)
    _match_values(marked, before)
    if edited:
        removed = [each for each in before if budget[_kind(each, was)] > 0]
        _match_edited(marked, removed, edited(source))
    return marked


def by_lines(source: SourceFile, findings: Iterable[Finding]) -> list[Finding]:
    """Mark findings as old that stand on no line that the change wrote, for tools without a base run."""
    return [
        each.model_copy(update={"new": source.added or not each.line or each.line in source.added_lines})
        for each in fingerprint(source, findings)
    ]


def _match_values(marked: list[Finding], before: Sequence[Finding]) -> None:
    """Mark as old each secret whose value the file held before, on whatever line: it is told, and no further leak."""
    known = {each.subject for each in before if each.cwe in redaction.SECRET_CWES} - {""}
    for index, finding in enumerate(marked):
        if finding.new and finding.cwe in redaction.SECRET_CWES and finding.subject in known:
            marked[index] = finding.model_copy(update={"new": False})


def alike(source: SourceFile) -> Callable[[Finding, Finding], bool]:
    """Make a function that decides whether an old and a new finding are the same, on similar lines."""
    now, was = _Plain(source.content), _Plain(source.was.content)

    def same(finding: Finding, other: Finding) -> bool:
        if (other.rule, other.message) != (finding.rule, finding.message):
            return False
        words, before = _WORDS.findall(now.line(finding.line)), _WORDS.findall(was.line(other.line))
        return SequenceMatcher(None, words, before, autojunk=False).ratio() >= ALIKE

    return same


def _match_edited(marked: list[Finding], removed: list[Finding], same: Callable[[Finding, Finding], bool]) -> None:
    """Mark as old each new finding that is the same as one that is gone."""
    for index, finding in enumerate(marked):
        if not (finding.new and finding.line):
            continue
        place = next((place for place, other in enumerate(removed) if same(finding, other)), None)
        if place is not None:
            del removed[place]
            marked[index] = finding.model_copy(update={"new": False})


def may_be_old(source: SourceFile, findings: Iterable[Finding]) -> bool:
    """Whether one of a file's findings stands on a line that the base revision has as well, or on none."""
    lines, was = _Plain(source.content), {" ".join(line.split()) for line in _lines(source.was.content)}
    # A finding on no line, or on an empty one, is told apart by its message.
    return any(not (content := lines.line(each.line)) or content in was for each in findings)


def nowhere(path: str) -> SourceFile:
    """A stand-in for a file without content: its findings are compared by message."""
    return SourceFile.of(path, "")


def fingerprint(source: SourceFile, findings: Iterable[Finding], *, path: str = "") -> list[Finding]:
    """The findings of one file, sorted by line, each with its fingerprint; with `path`, as if it had that name."""
    lines, seen = _Plain(source.content), Counter[tuple[str, str]]()
    begun: dict[tuple[str, str], hashlib._Hash] = {}
    marked = []
    for finding in sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule)):
        kind = _kind(finding, lines)
        seen[kind] += 1
        if kind not in begun:  # a lock file may be one line of a megabyte with thousands of findings on it
            text = "\0".join((finding.rule, path or source.path, kind[1], ""))
            begun[kind] = hashlib.sha256(text.encode("utf-8", "surrogateescape"))
        whole = begun[kind].copy()
        whole.update(str(seen[kind]).encode())
        marked.append(finding.model_copy(update={"fingerprint": whole.hexdigest()}))
    return marked


class _Plain:
    """The lines of a file with single blanks, each made on first use."""

    def __init__(self, content: bytes) -> None:
        self._lines = _lines(content)
        self._made: dict[int, str] = {}

    def line(self, number: int) -> str:
        """The line with that number, from 1; empty where there is none."""
        if not 0 < number <= len(self._lines):
            return ""
        if number not in self._made:
            self._made[number] = " ".join(self._lines[number - 1].split())
        return self._made[number]


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").split("\n")


def _kind(finding: Finding, lines: _Plain) -> tuple[str, str]:
    """Rule, content and subject: a line may hold two findings of a rule, or only the beginning of what is meant."""
    content = lines.line(finding.line) or finding.message
    return finding.rule, f"{content}\0{finding.subject}" if finding.subject else content
