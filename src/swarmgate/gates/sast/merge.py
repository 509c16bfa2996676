"""The lists of the scanners as one: the same weakness on the same line is one finding that names who found it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates.sast import advice

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


def merge(hits: Iterable[Hit], *, quiet: bool) -> list[Finding]:
    """The findings of one file: our own rule speaks where it found the weakness, else bandit, else ruff.

    Args:
        hits: what all scanners found in the file.
        quiet: the file is a test: what is found there informs and does not block, and an assert is no finding at all.
    """
    told = (hit for hit in hits if not (quiet and hit.code in _ASSERTS))
    groups: defaultdict[tuple[int, str], list[Hit]] = defaultdict(list)
    for hit in sorted(told, key=lambda each: (_TOOLS.index(each.tool), each.line, each.column, each.code)):
        groups[hit.line, family(hit.cwe) or hit.code].append(hit)
    return [_finding(group, quiet=quiet) for group in groups.values()]


def family(cwe: str) -> str:
    """The one name of all that scanners call this weakness; empty for none."""
    return _FAMILY.get(cwe, cwe)


def _finding(group: Sequence[Hit], *, quiet: bool) -> Finding:
    first = max(group, key=lambda hit: (hit.tool == _TOOLS[0], hit.severity.rank, -_TOOLS.index(hit.tool)))
    severity = max((hit.severity for hit in group), key=lambda each: each.rank)
    if quiet:
        severity = min(severity, Severity.LOW, key=lambda each: each.rank)
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
