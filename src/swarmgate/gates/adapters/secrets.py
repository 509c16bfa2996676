"""The secrets gate: searches every changed text file for credentials.

A value never leaves this module: a prefix and a hash do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.adapters.scan import scan
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.secret_scan import self_signed
from swarmgate.gates.secret_scan.redaction import digest, mask
from swarmgate.gates.source import content_traits
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome
    from swarmgate.gates.secret_scan.search import Candidate

_NOISY = frozenset({Trait.LOCK, Trait.GENERATED, Trait.MINIFIED, Trait.VENDORED})
_PROSE = frozenset({"", "markdown", "rst", "text"})
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BESIDE = 500
"""Files of a folder among which a certificate is looked for."""

_PEM_SIZE = 20_000
"""Bytes beyond which a file is more than a key and its certificate."""

_BYTEWISE = frozenset({"bash", "dockerfile", "javascript", "makefile", "perl", "php", "python", "ruby"})
"""Languages that are never read as UTF-16, whatever mark stands at the beginning."""


async def run(job: Job) -> Outcome:
    """Search every text file for the formats of providers and for values that are assigned to telling names."""
    tool = f"google-re2 {version('google-re2')} + swarmgate rules"
    rules = await asyncio.to_thread(_rules)
    outcome = await scan(job, scan_file, tool=tool, nothing="no text file in the change", rules=rules, alone=True)
    findings = await asyncio.to_thread(_rotated, job, outcome.findings)
    return replace(outcome, findings=tuple(_of_test_server(job, each) for each in findings))


def _of_test_server(job: Job, finding: Finding) -> Finding:
    """The finding; the key of a server that tests start informs: beside it stands its certificate, signed by itself."""
    if finding.rule != "private-key" or Trait.TEST not in traits_of(finding.path) or not finding.new:
        return finding
    folder = finding.path.rpartition("/")[0]
    neighbours = [path for path in job.repository.list_tree(job.change.tree) if path.rpartition("/")[0] == folder]
    contents = job.repository.read_many(job.change.tree, neighbours[:_BESIDE])
    key = contents.get(finding.path, b"")
    if len(key) > _PEM_SIZE or not self_signed.of_key(key, contents.values()):
        return finding
    message = f"{finding.message}; its certificate beside it is signed by itself, as one of a test's server is"
    return finding.model_copy(update={"severity": Severity.LOW, "message": message})


def _rotated(job: Job, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings; in tests, a key in the place of one that was there informs: certificates of tests expire."""
    tests = {each.path for each in job.sources if Trait.TEST in each.traits}
    now = Counter(each.rule for each in findings if each.path in tests)
    if not any(each.new and each.path in tests for each in findings):
        return findings
    old = [file.old_path or file.path for file in job.change.files if file.old_mode and not file.binary]
    contents = job.repository.read_many(job.change.base, [path for path in old if Trait.TEST in traits_of(path)])
    before = Counter[str]()
    for path, content in contents.items():
        old_findings = scan_file(SourceFile.of(path, language_of(path, content), traits_of(path), content))
        before.update(each.rule for each in old_findings if not isinstance(each, str))
    return tuple(
        each.model_copy(update={"severity": Severity.LOW, "message": f"{each.message}, in the place of another one"})
        if each.new and each.path in tests and now[each.rule] <= before[each.rule]
        else each
        for each in findings
    )


def _rules() -> int:
    from swarmgate.gates.secret_scan import rules as secret_rules  # noqa: PLC0415 - late: compiles the rules

    return secret_rules.load().count


def scan_file(source: SourceFile) -> list[Finding] | str:
    """The secrets of one file.

    Lock files, generated, minified and vendored files are full of hashes, random names and other people's examples:
    there only formats that a provider owns count. Assignments in tests are told and do not block.
    """
    from swarmgate.gates.secret_scan import search  # noqa: PLC0415 - late: compiles the rules

    noisy = bool(_NOISY & source.traits)
    best: dict[tuple[int, str], Finding] = {}
    for text in _readings(source.content):
        known = {value for _, value in best}
        found = search.search(source.path, source.language, text, providers_only=noisy)
        for candidate, number in zip(found, _lines_of(text, found), strict=True):
            if candidate.value not in known:
                best.setdefault((number, candidate.value), _finding(source, candidate, number))
    return [*best.values(), *_nuls(source)]


def _readings(content: bytes) -> list[bytes]:
    """The content as UTF-16 where it may be that, and without its NULs: each may hide what the other shows."""
    marked = content[:2] in _WIDE_MARKS
    if not marked and b"\0" not in content:
        return [content]
    order = "utf-16" if marked else content_traits.two_bytes_each(content)
    return [*([content.decode(order, "replace").encode()] if order else []), content.replace(b"\0", b"")]


def _nuls(source: SourceFile) -> list[Finding]:
    """A finding for code or configuration with NULs: its interpreter drops them, and other gates skip the file."""
    content = source.content
    if b"\0" not in content or source.language in _PROSE or not _hides_text(source):
        return []
    quiet = bool({*_NOISY, Trait.TEST, Trait.DOC} & source.traits)
    return [
        Finding(
            rule="nul-bytes",
            path=source.path,
            line=content.count(b"\n", 0, content.find(b"\0")) + 1,
            severity=Severity.LOW if quiet else Severity.MEDIUM,
            message="holds NUL bytes: no tool reads it as its interpreter does",
            suggestion="write it as UTF-8 text, with an escape where a NUL is meant",
        )
    ]


def _hides_text(source: SourceFile) -> bool:
    """Whether a content with NULs is neither a binary file by another name nor sound UTF-16 that its mark announces."""
    content = source.content
    if content[:2] in _WIDE_MARKS and source.language not in _BYTEWISE:
        return "\0" in content.decode("utf-16", "replace")
    return content_traits.mostly_text(content)


def _lines_of(text: bytes, found: Sequence[Candidate]) -> list[int]:
    numbers, line, position = [], 1, 0
    for candidate in found:
        line += text.count(b"\n", position, candidate.start)
        position = candidate.start
        numbers.append(line)
    return numbers


def _finding(source: SourceFile, candidate: Candidate, number: int) -> Finding:
    severity = Severity.CRITICAL if candidate.certain else Severity.HIGH
    suffix = ", which only repeats the user, database or service beside it" if candidate.local else ""
    if candidate.local or (not candidate.certain and Trait.TEST in source.traits):
        severity = Severity.LOW
    return Finding(
        rule=candidate.rule,
        path=source.path,
        line=number,
        severity=severity,
        cwe=candidate.cwe,
        subject=digest(candidate.value),
        message=f"{candidate.title}: {mask(candidate.value)}{suffix}",
        suggestion="take it out, read it from the environment, and revoke it if it was ever real",
    )
