"""Scans Python files with bandit and the taint analysis, and drops matches that need a flow and have none.

bandit and ruff match how code is written. Inside a function that handles a request the interpreter knows more: what it
does not follow to such a line is left out there. Both look in processes of their own (`worker`), as many as there are
processors where there is much to look at.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.sast import bandit_tests, older_syntax
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.tools.run import Broken, excerpt, invoke
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.rules import Rule
    from swarmgate.gates.sast.temporary_copies import Copies
    from swarmgate.gates.source.file import SourceFile

_INJECTIONS = "20 22 74 77 78 79 88 89 90 91 94 95 113 117 134 470 501 502 601 611 643 918 943 1333 1336"
INJECTIONS = frozenset(f"CWE-{number}" for number in _INJECTIONS.split())
"""Weaknesses that need outside input: of a value that is none, there is nothing to say."""

_NO_FLOW = {"B201", "B701", "B702"}
"""bandit's tests that carry the CWE of an injection and are not about a value."""

_MATCHES = {"swarmgate.python.yaml-load-without-safe-loader", "swarmgate.python.xml-parser-resolves-entities"}
"""Rules of ours that match how code is written, too."""

_WORTH_A_PROCESS = 150_000
"""Bytes of Python that take a worker about three times as long as it takes to start."""


@dataclass(slots=True)
class PythonScan:
    """The combined result of the workers: bandit's hits, flows, syntax errors, and facts about calls.

    `scanned` are the files that bandit looked at, `parsed` those that were read at all: the others hold no word of a
    weakness.
    """

    bandit: Scanned = field(default_factory=Scanned)
    flows: Scanned = field(default_factory=Scanned)
    unparsed: dict[str, str] = field(default_factory=dict)
    handlers: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    open_calls: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    scanned: set[str] = field(default_factory=set)
    parsed: set[str] = field(default_factory=set)
    harmless: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def take(self, path: str, reply: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
        """Add a worker's result for one file (`worker.scan`)."""
        if reply:
            self.parsed.add(path)
        if "unparsed" in reply:
            self.unparsed[path] = reply["unparsed"]
            return
        self.handlers[path] = [(first, last) for first, last in reply.get("handlers", ())]
        self.open_calls[path] = [(test, first, last) for test, first, last in reply.get("open", ())]
        self.harmless[path] = [(test, first, last) for test, first, last in reply.get("harmless", ())]
        self.flows.hits += [_flow(path, rules[rule], *rest) for rule, *rest in reply.get("flows", ())]
        if not reply.get("whole", True):
            self.flows.partly[path] = f"flows through {path} were followed only in part"
        if "issues" in reply:
            self.scanned.add(path)
        self.bandit.hits += [bandit_tests.hit(path, *issue) for issue in reply.get("issues", ())]
        if reply.get("why"):
            self.bandit.unread[path] = reply["why"]


async def scan(job: Job, files: Copies, flows: Mapping[str, Rule], followed: Container[str]) -> PythonScan:
    """Scan the Python files where bandit may add something, or flows are to be followed.

    Args:
        job: its time limit.
        files: the copies.
        flows: the rules that speak of flows.
        followed: the paths of the files through which flows are followed.
    """
    result = PythonScan(flows=Scanned(rules=frozenset(flows)))
    python = files.of("python")
    rules = [(rule.id, rule.raw_flow) for rule in flows.values()]
    calls = []
    for share in _shares(python):
        named = [(place, python[place].path in followed) for place in share]
        calls.append(_called(job, python, json.dumps({"flows": rules, "files": named}).encode()))
    for reply in await asyncio.gather(*calls):
        if isinstance(reply, Broken):
            result.bandit.error = result.bandit.error or f"bandit and flows: {reply.reason}"
            continue
        for each in reply:
            result.take(python[each.pop("place")].path, each, flows)
    return result


def why_unparsed(content: bytes) -> str:
    """Why a Python file does not parse; empty where it does."""
    try:
        older_syntax.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return older_syntax.why(error)
    return ""


def _shares(python: Mapping[str, SourceFile]) -> list[list[str]]:
    """The places dealt out to the workers, so that each has about as much to read."""
    total = sum(len(source.content) for source in python.values())
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shares: list[list[str]] = [[] for _ in range(max(bool(python), min(most, total // _WORTH_A_PROCESS)))]
    sizes = [0] * len(shares)
    for place, source in sorted(python.items(), key=lambda each: -len(each[1].content)):
        least = sizes.index(min(sizes))
        shares[least].append(place)
        sizes[least] += len(source.content)
    return shares


async def _called(job: Job, python: Mapping[str, SourceFile], request: bytes) -> list[dict[str, Any]] | Broken:
    """What one worker says of its files."""

    def on_output(line: bytes) -> None:
        if line.startswith(b'{"begun"'):
            job.at(python[json.loads(line)["begun"]].path)

    argv = trusted.module("swarmgate.gates.sast.worker")
    done = await invoke(job, [argv], stdin=request, own=True, exit_codes=(0,), on_line=on_output)
    if isinstance(done, Broken):
        return done
    try:
        replies = [json.loads(line) for line in done[0].stdout.splitlines()]
    except ValueError as error:
        return Broken(f"what the worker says is not understood ({error}): {excerpt(done[0].stderr)}")
    return [each for each in replies if "place" in each]


def _flow(
    path: str, rule: Rule, line: int, column: int, end_line: int, end_column: int, origins: Sequence[tuple[str, int]]
) -> Hit:
    # Who starts a program with these arguments could as well do the harm without it.
    own = all(kind == "argv" for kind, _ in origins)
    lines = ", ".join(str(line) for line in sorted({line for _, line in origins})[:3])
    what, stop, fix = rule.message.partition(". ")
    return Hit(
        path=path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        tool="swarmgate",
        code=rule.id,
        cwe=rule.cwe,
        severity=Severity.LOW if own else rule.severity,
        message=f"{what} (it comes from line {lines}){stop}{fix}",
    )


def plausible(
    hits: Sequence[Hit], handlers: Sequence[tuple[int, int]], harmless: Sequence[tuple[str, int, int]] = ()
) -> list[Hit]:
    """Drop the hits of one file that the syntax tree proves wrong.

    Args:
        hits: of every scanner.
        handlers: the lines of the functions that answer a request.
        harmless: tests, and the lines where they are wrong.
    """
    lines = {hit.line for hit in hits if _is_ours(hit)}

    def dropped(hit: Hit) -> bool:
        test = "" if _is_ours(hit) else "B" + hit.code[1:]
        if any(each == test and first <= hit.line <= last for each, first, last in harmless):
            return True
        doubtful = not _is_ours(hit) and _needs_a_flow(hit) and hit.line not in lines
        return doubtful and any(first <= hit.line <= last for first, last in handlers)

    return [hit for hit in hits if not dropped(hit)]


def raised(hits: Sequence[Hit], open_calls: Sequence[tuple[str, int, int]]) -> list[Hit]:
    """Raise to `medium` the hits of one file that run code or commands that are not constant."""

    def is_open(hit: Hit) -> bool:
        test = "B" + hit.code[1:] if hit.tool in {"bandit", "ruff"} else ""
        lower = test in bandit_tests.WHERE_NOT_FIXED and hit.severity.rank < Severity.MEDIUM.rank
        return lower and any(each == test and first <= hit.line <= last for each, first, last in open_calls)

    return [replace(hit, severity=Severity.MEDIUM) if is_open(hit) else hit for hit in hits]


def _is_ours(hit: Hit) -> bool:
    return hit.tool == "swarmgate" and hit.code not in _MATCHES


def _needs_a_flow(hit: Hit) -> bool:
    return hit.cwe in INJECTIONS and "B" + hit.code[1:] not in _NO_FLOW
