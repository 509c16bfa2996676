"""Merges duplicate findings: a weakness that several gates report is listed once and names the others.

Where it blocks in some gates only, one of these tells it: what keeps a change out always stands in the report.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, GateResult
from swarmgate.gates.sast.merge import family

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPEAKERS = (
    "syntax_check",
    "secret_scan",
    "sast_scan",
    "diff",
    "imports",
    "placeholder_scan",
    "lint_check",
    "build_check",
)
"""Who tells of a weakness first. A gate that is not here tells its own, and yields to these."""

# Rules of several gates that mean one thing. A syntax error counts once a file: parsers differ in where they notice it.
_KINDS = (
    ("syntax", re.compile(r"^(.+-syntax|.+-compile|(\w+:)?(invalid-syntax|syntax-error|syntax|E999)|tsc:TS1\d{3})$")),
    ("secret", re.compile(r"^(S10[5-7]|B10[5-7])$")),
    ("marker", re.compile(r"^(marker|FIX00\d|TD00\d)$")),
    ("import", re.compile(r"^(\w+:(import-not-found|reportMissingImports|TS2307)|unresolved-\w+|invented-package)$")),
)
_BROKEN = "contract-user-broken"
_MISSING = re.compile(rf"^(unresolved-\w+|{_BROKEN})$")
"""What tells of a name that is not there, by its subject."""
_PARTS = re.compile(r"[./:]")
_BANDIT = re.compile(r"^[SB](\d{3})$")
_SECRET_CWES = {"CWE-259", "CWE-321", "CWE-522", "CWE-798"}


_Key = tuple[str, int, str]
"""Path, line and kind of a weakness."""


def merge(results: Sequence[GateResult]) -> tuple[GateResult, ...]:
    """Merge the results so that each weakness is listed once. No gate's status changes."""
    results = tuple(map(_without_causes, results))
    first: dict[_Key, tuple[str, Finding]] = {}
    also: dict[_Key, list[str]] = {}
    for result, finding in sorted(_every(results), key=_first_told):
        for key in _keys(finding):
            reporter, first_finding = first.setdefault(key, (result.gate, finding))
            if reporter != result.gate and first_finding.counts >= finding.counts:
                also.setdefault(key, []).append(result.gate)
    if not also:
        return tuple(results)
    return tuple(_rewritten(result, {key: first[key][0] for key in also}, first, also) for result in results)


def _without_causes(result: GateResult) -> GateResult:
    """The result without what changed a contract, where all who were broken by it are told of, and say so."""
    seen = {each.subject for each in result.findings if each.rule == _BROKEN and each.counts}
    rest = [each for each in result.findings if each.rule == _BROKEN or not (each.subject and each.subject in seen)]
    return result.model_copy(update={"findings": tuple(rest)}) if len(rest) < len(result.findings) else result


def _every(results: Sequence[GateResult]) -> list[tuple[GateResult, Finding]]:
    return [(result, finding) for result in results for finding in result.findings]


def _first_told(each: tuple[GateResult, Finding]) -> tuple[bool, bool, int]:
    result, finding = each
    blocks = finding.counts and finding.severity.rank >= result.blocks_from.rank
    return not blocks, not finding.counts, _rank(result.gate)


def _rewritten(
    result: GateResult,
    tellers: dict[_Key, str],
    first: dict[_Key, tuple[str, Finding]],
    also: dict[_Key, list[str]],
) -> GateResult:
    remaining, dropped = [], Counter[str]()
    for finding in result.findings:
        shared = next((key for key in _keys(finding) if key in tellers), None)
        if shared is None:
            remaining.append(finding)
        elif tellers[shared] == result.gate:
            others = tuple(dict.fromkeys(also[shared]))
            remaining.append(finding.model_copy(update={"also": others}) if first[shared][1] is finding else finding)
        elif first[shared][1].counts >= finding.counts:
            dropped[tellers[shared]] += 1
        else:
            remaining.append(finding)
    if not dropped:
        return result.model_copy(update={"findings": tuple(remaining)})
    counts = ", ".join(f"{count} told by {gate}" for gate, count in sorted(dropped.items()))
    reason = "; ".join(filter(None, (result.reason, counts)))
    return result.model_copy(update={"findings": tuple(remaining), "reason": reason})


def _keys(finding: Finding) -> tuple[_Key, ...]:
    """What identifies a weakness: its place, with its kind, its CWE or its rule."""
    kind = next((name for name, pattern in _KINDS if pattern.match(finding.rule)), "")
    if kind == "syntax":
        return ((finding.path, 0, kind),)
    if not finding.line:
        return ()
    numbered = _BANDIT.match(finding.rule)
    cwe = finding.cwe or (_cwe_of(f"B{numbered[1]}") if numbered else "")
    named = _MISSING.match(finding.rule) and finding.subject
    missing = f"missing {_PARTS.split(finding.subject)[-1]}" if named else ""
    words = [missing, kind, f"B{numbered[1]}" if numbered else finding.rule, family(cwe)]
    words += ["secret"] if cwe in _SECRET_CWES else []
    return tuple((finding.path, finding.line, word) for word in dict.fromkeys(words) if word)


def _cwe_of(test: str) -> str:
    from swarmgate.gates.sast import bandit_tests  # noqa: PLC0415 - late: few findings have such a number

    return bandit_tests.cwe_of(test)


def _rank(gate: str) -> int:
    return _SPEAKERS.index(gate) if gate in _SPEAKERS else len(_SPEAKERS)
