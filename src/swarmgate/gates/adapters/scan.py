"""Runs a pure scanner over the files of a job, and over the base revision of those where it found something."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.outcome import Outcome
from swarmgate.gates.source import comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.job import Job
    from swarmgate.gates.source.file import SourceFile

    Scanner = Callable[[SourceFile], Sequence[Finding] | str]
    """Looks at one file: its findings, or in a word why it cannot look at such a file."""


async def scan(job: Job, scanner: Scanner, *, tool: str, nothing: str, rules: int = 0, alone: bool = False) -> Outcome:
    """Run `scanner` in a thread over every file of the job.

    Args:
        job: what to look at.
        scanner: a pure function; the same one reads the base revision.
        tool: name and version of what scans.
        nothing: the reason when the scanner could look at no file; the words it gave are added.
        rules: how many rules the scanner has; 0 where that means nothing.
        alone: what the scanner says of a file depends on this file alone, so that it is kept.
    """
    outcome = await asyncio.to_thread(_scan, job, scanner, tool, nothing, job.memory if alone else None)
    return replace(outcome, rules=rules) if outcome.files else outcome


def _scan(job: Job, scanner: Scanner, tool: str, nothing: str, memory: Memory | None) -> Outcome:
    def judged(pair: SourceFile) -> list[Finding] | str:
        return comparison.judged(pair, scanner)

    findings: list[Finding] = []
    unseen, files = Counter[str](), 0
    for source in job.sources:
        if job.stop.is_set():
            break
        job.at(source.path)
        result = memory.of_pair(job.definition.adapter, source, judged) if memory else judged(source)
        if isinstance(result, str):
            unseen[result] += 1
            continue
        files += 1
        findings += result
    words = ", ".join(f"{word} ({count})" for word, count in sorted(unseen.items()))
    if not files:
        return Outcome(tool=tool, skip=f"{nothing}: {words}" if words else nothing)
    return Outcome(tuple(findings), files, tool, (f"not looked at: {words}",) if words else ())
