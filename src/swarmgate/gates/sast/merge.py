"""Merges the results of the security scanners: the same weakness on the same line becomes one finding."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.tools import advice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from swarmgate.gates.sast.hit import Hit

_TOOLS = ("swarmgate", "bandit", "ruff")

# The scanners name one weakness by neighbouring numbers of the CWE tree.
_KIN = (
    ("CWE-327", "CWE-328", "CWE-326", "CWE-329", "CWE-916"),
    ("CWE-94", "CWE-95", "CWE-78", "CWE-77", "CWE-88", "CWE-489"),
    ("CWE-330", "CWE-338"),
    ("CWE-611", "CWE-20", "CWE-776"),
    ("CWE-79", "CWE-80", "CWE-116"),
    ("CWE-259", "CWE-798"),
    ("CWE-22", "CWE-23", "CWE-73", "CWE-918"),
    ("CWE-703", "CWE-755"),
)
_FAMILY = {cwe: kin[0] for kin in _KIN for cwe in kin}

_ASSERTS = frozenset({"B101", "S101"})
"""The numbers that bandit and ruff give an assert: `python -O` leaves it out, and runs no tests."""


_FIXED_SECRETS = frozenset({"CWE-259", "CWE-321", "CWE-798"})
_EXAMPLES = frozenset(
    {"demo", "demos", "doc", "docs", "example", "examples", "sample", "samples", "tutorial", "tutorials"}
)
_REFERRER = re.compile(r"referr?er", re.IGNORECASE)


def quoted(hits: Iterable[Hit], path: str, lines: Sequence[bytes]) -> list[Hit]:
    """The hits of one file; in an example, hits in quoted code only inform.

    That is a fixed key of a session, and a redirect to where the browser says that it was. All else is copied from
    examples, and blocks there as well.
    """
    if _EXAMPLES.isdisjoint(path.lower().split("/")[:-1]):
        return list(hits)

    def harmless(hit: Hit) -> bool:
        line = lines[hit.line - 1].decode("utf-8", "replace") if 0 < hit.line <= len(lines) else ""
        return hit.cwe in _FIXED_SECRETS or (hit.cwe == "CWE-601" and bool(_REFERRER.search(line)))

    return [replace(hit, severity=_least(hit.severity)) if harmless(hit) else hit for hit in hits]


def _least(severity: Severity) -> Severity:
    return min(severity, Severity.LOW, key=lambda each: each.rank)


def merge(hits: Iterable[Hit], *, quiet: bool) -> list[Finding]:
    """Merge the hits of one file: our own rule is reported before bandit, bandit before ruff.

    Args:
        hits: what all scanners found in the file.
        quiet: the file is a test: what is found there informs and does not block, and an assert is no finding at all.
    """
    reported = (hit for hit in hits if not (quiet and hit.code in _ASSERTS))
    groups: defaultdict[tuple[int, str], list[Hit]] = defaultdict(list)
    for hit in sorted(reported, key=lambda each: (_TOOLS.index(each.tool), each.line, each.column, each.code)):
        groups[hit.line, family(hit.cwe) or hit.code].append(hit)
    return [_finding(group, quiet=quiet) for group in groups.values()]


def family(cwe: str) -> str:
    """The common name of a weakness in all scanners; empty for none."""
    return _FAMILY.get(cwe, cwe)


def _finding(group: Sequence[Hit], *, quiet: bool) -> Finding:
    first = max(group, key=lambda hit: (hit.tool == _TOOLS[0], hit.severity.rank, -_TOOLS.index(hit.tool)))
    severity = max((hit.severity for hit in group), key=lambda each: each.rank)
    if quiet:
        severity = _least(severity)
    who = ", ".join(dict.fromkeys(_name(hit) for hit in group))
    what, fix = _split(first)
    return Finding(
        rule=first.code,
        path=first.path,
        line=first.line,
        column=first.column,
        severity=severity,
        message=f"{what} ({', '.join(filter(None, (first.cwe, who)))})",
        suggestion=fix,
        cwe=first.cwe,
        subject=first.subject,
    )


def _name(hit: Hit) -> str:
    if hit.tool == _TOOLS[0]:
        return "semgrep"
    return f"ruff S{hit.code[1:]}" if hit.tool == "ruff" else f"{hit.tool} {hit.code}"


def _split(hit: Hit) -> tuple[str, str]:
    """What is wrong, and what to do: our messages say both, in that order."""
    if hit.tool != _TOOLS[0]:
        return hit.message.strip().rstrip("."), advice.mend(hit.code)
    what, _, fix = hit.message.partition(". ")
    return what.rstrip("."), fix.strip()
