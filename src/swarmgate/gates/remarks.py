"""Remarks that silence a scanner (`nosec`, `allowlist secret`): only one that stood there before counts.

In a change they need no look: what the base revision has as well is old, with or without a remark, and a remark that
the change brings silences nothing. Where files are judged whole nothing is old, and this tells what their authors and
reviewers have settled already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.finding import Finding
    from swarmgate.gates.project.scope import Scope
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.repository import Repository

_ANY_CASE = re.IGNORECASE
_FORMS = {
    "secrets": re.compile(r"pragma:[ \t]*(?:allow|white)list[ \t-]+(?:nextline[ \t-]+)?secret\b", _ANY_CASE),
    "sast": re.compile(r"\b(?:nosec|nosemgrep)\b|\bnoqa\b(?!:)|\bnoqa:[ \t]*(?:[A-Z]+\d+,?[ \t]*)*S\d", _ANY_CASE),
}
"""The remarks that its tools know, by adapter; those that name rules of ruff alone only where one is of security."""

_BEFORE = re.compile(r"nextline|nosemgrep", _ANY_CASE)
"""A remark that may stand on the line before."""


def settled(
    adapter: str, findings: Sequence[Finding], sources: Sequence[SourceFile], repository: Repository, scope: Scope
) -> tuple[Finding, ...]:
    """The findings, those with a remark accepted that the reference has on the same line of the same file.

    Args:
        adapter: who found them.
        findings: of one gate.
        sources: the judged files.
        repository: holds the reference.
        scope: what is judged; without a reference, or of a change, no remark counts.
    """
    form = _FORMS.get(adapter)
    if form is None or not (findings and scope.whole and scope.reference):
        return tuple(findings)
    lines = {source.path: _lines(source.content) for source in sources}
    places = [_remark(form, lines.get(each.path, []), each.line) for each in findings]
    wanted = sorted({each.path for each, place in zip(findings, places, strict=True) if place})
    past = {path: set(_lines(content)) for path, content in repository.read_many(scope.reference, wanted).items()}
    return tuple(
        each.model_copy(update={"accepted": "a remark on the line, which stood there before"})
        if place and set(place) <= past.get(each.path, set())
        else each
        for each, place in zip(findings, places, strict=True)
    )


def _remark(form: re.Pattern[str], lines: Sequence[str], number: int) -> tuple[str, ...]:
    """The line with a remark and the line that it is about, which mostly are one; empty where there is none."""
    if not 0 < number <= len(lines):
        return ()
    line, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    if form.search(line):
        return (line,)
    return (before, line) if form.search(before) and _BEFORE.search(before) else ()


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")
