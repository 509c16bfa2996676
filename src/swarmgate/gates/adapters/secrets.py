"""Credentials in the changed files: every text file, whole.

A value never leaves this module: a prefix and a hash do.
"""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates.files import Trait
from swarmgate.gates.scan import scan
from swarmgate.gates.secret_values import Candidate, Kind, plausible

if TYPE_CHECKING:
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job, Outcome

_SEVERITY = {Kind.PROVIDER: Severity.CRITICAL, Kind.KEYWORD: Severity.HIGH, Kind.ENTROPY: Severity.MEDIUM}


async def run(job: Job) -> Outcome:
    """Search every text file for the formats of providers, for assignments and for random-looking strings."""
    tool = f"detect-secrets {version('detect-secrets')} + swarmgate rules"
    return await scan(job, look, tool=tool, nothing="no text file in the change")


def look(source: Source) -> list[Finding] | str:
    """The secrets of one file.

    Lock files, generated files are full of hashes and random names: there only formats that a provider owns count.
    Assignments in tests are told and do not block. A line that carries detect-secrets' own `allowlist secret` comment
    is told as suppressed, so that a suppression is seen too.
    """
    from swarmgate.gates import secret_search  # noqa: PLC0415 - late: brings detect-secrets

    text = source.content.decode("utf-8", "replace")
    if "\0" in text:  # UTF-16 from an editor on Windows
        text = source.content.decode("utf-16", "replace")
    noisy = bool({Trait.LOCK, Trait.GENERATED} & source.traits)
    best: dict[tuple[int, str], Candidate] = {}
    for candidate in secret_search.search(source.path, text, providers_only=noisy):
        if not plausible(candidate, source.language):
            continue
        key = candidate.line, candidate.value
        if key not in best or candidate.kind.value < best[key].kind.value:
            best[key] = candidate
    return [_finding(source, candidate) for candidate in _distinct(list(best.values()))]


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """One candidate a secret: the most certain one where several overlap on a line."""
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda each: (each.kind.value, each.line, -len(each.value))):
        same_line = (other.value for other in kept if other.line == candidate.line)
        if not any(candidate.value in value or value in candidate.value for value in same_line):
            kept.append(candidate)
    return sorted(kept, key=lambda each: each.line)


def _finding(source: Source, candidate: Candidate) -> Finding:
    severity = _SEVERITY[candidate.kind]
    suffix = ""
    if candidate.kind is not Kind.PROVIDER and Trait.TEST in source.traits:
        severity = Severity.LOW
    if candidate.suppressed:
        severity, suffix = Severity.INFO, ", suppressed by a comment"
    return Finding(
        rule=candidate.rule,
        path=source.path,
        line=candidate.line,
        severity=severity,
        message=f"{candidate.title}: {mask(candidate.value)}{suffix}",
        suggestion="take it out, read it from the environment, and revoke it if it was ever real",
    )


def mask(value: str) -> str:
    """At most the first four characters (a quarter of a short value) and the first 12 digits of the SHA-256."""
    digest = sha256(value.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{value[: min(4, len(value) // 4)]}… (sha256 {digest})"
