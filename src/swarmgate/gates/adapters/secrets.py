"""Credentials in the changed files: every text file, whole.

A value never leaves this module: a prefix and a hash do.
"""

from __future__ import annotations

import asyncio
import re
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates.files import Trait
from swarmgate.gates.scan import scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job, Outcome
    from swarmgate.gates.secret_search import Candidate

_ALLOWED = re.compile(rb"pragma:[ \t]{0,4}(?:allow|white)list[ \t-]{1,3}secret\b", re.IGNORECASE)
_ALLOWED_NEXT = re.compile(
    rb"pragma:[ \t]{0,4}(?:allow|white)list[ \t-]{1,3}nextline[ \t-]{1,3}secret\b", re.IGNORECASE
)


async def run(job: Job) -> Outcome:
    """Search every text file for the formats of providers and for values that are assigned to telling names."""
    tool = f"google-re2 {version('google-re2')} + swarmgate rules"
    return await scan(job, look, tool=tool, nothing="no text file in the change", rules=await asyncio.to_thread(_rules))


def _rules() -> int:
    from swarmgate.gates import secret_rules  # noqa: PLC0415 - late: compiles the rules

    return secret_rules.load().count


def look(source: Source) -> list[Finding] | str:
    """The secrets of one file.

    Lock files, generated, minified and vendored files are full of hashes, random names and other people's examples:
    there only formats that a provider owns count. Assignments in tests are told and do not block. A line with an
    `allowlist secret` pragma (the form of detect-secrets, which repositories have already) is told as suppressed, so
    that a suppression is seen too.
    """
    from swarmgate.gates import secret_search  # noqa: PLC0415 - late: compiles the rules

    text = _readable(source.content)
    noisy = bool({Trait.LOCK, Trait.GENERATED, Trait.MINIFIED, Trait.VENDORED} & source.traits)
    found = secret_search.search(source.path, source.language, text, providers_only=noisy)
    lines = _lines_of(text, found)
    best: dict[tuple[int, str], Finding] = {}
    for candidate, number in zip(found, lines, strict=True):
        best.setdefault((number, candidate.value), _finding(source, candidate, number, text))
    return list(best.values())


def _readable(content: bytes) -> bytes:
    """Text of two bytes a character (UTF-16, from an editor on Windows) as UTF-8; without its stray NULs otherwise."""
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return content.decode("utf-16", "replace").encode()
    if b"\0" not in content:
        return content
    for order, nuls in (("utf-16-le", content[1:400:2]), ("utf-16-be", content[:400:2])):
        if nuls.count(0) > len(nuls) * 0.9:
            return content.decode(order, "replace").encode()
    return content.replace(b"\0", b"")


def _lines_of(text: bytes, found: Sequence[Candidate]) -> list[int]:
    numbers, line, position = [], 1, 0
    for candidate in found:
        line += text.count(b"\n", position, candidate.start)
        position = candidate.start
        numbers.append(line)
    return numbers


def _finding(source: Source, candidate: Candidate, number: int, text: bytes) -> Finding:
    severity = Severity.CRITICAL if candidate.certain else Severity.HIGH
    suffix = ""
    if not candidate.certain and Trait.TEST in source.traits:
        severity = Severity.LOW
    if _suppressed(text, candidate.start):
        severity, suffix = Severity.INFO, ", suppressed by a comment"
    return Finding(
        rule=candidate.rule,
        path=source.path,
        line=number,
        severity=severity,
        cwe=candidate.cwe,
        message=f"{candidate.title}: {mask(candidate.value)}{suffix}",
        suggestion="take it out, read it from the environment, and revoke it if it was ever real",
    )


def _suppressed(text: bytes, start: int) -> bool:
    begin = text.rfind(b"\n", 0, start) + 1
    end = text.find(b"\n", start)
    before = text.rfind(b"\n", 0, max(begin - 1, 0)) + 1
    line = text[begin : end if end >= 0 else len(text)]
    return bool(_ALLOWED.search(line) or (begin and _ALLOWED_NEXT.search(text[before:begin])))


def mask(value: str) -> str:
    """At most the first four characters (a quarter of a short value) and the first 12 digits of the SHA-256."""
    digest = sha256(value.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{value[: min(4, len(value) // 4)]}… (sha256 {digest})"
