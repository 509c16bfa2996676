"""The placeholder gate: reports unfinished work such as TODO markers, stubs, elided code and sample values.

Python is read by `ast` and tokens, other languages by tree-sitter, what has no grammar here by a comment lexer.
Tests and documentation have rules of their own: see docs/gates/placeholder_scan.md.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import chain
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.adapters.scan import scan
from swarmgate.gates.placeholders import debugging, python, sample_values, skipped_tests, test_detection, trees, wording
from swarmgate.gates.placeholders.function_bodies import Function, finding, judge
from swarmgate.gates.project.files import Trait, is_of_tests
from swarmgate.gates.source import comments
from swarmgate.gates.source.file import text_of
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome
    from swarmgate.gates.source.comments import Remark
    from swarmgate.gates.source.file import SourceFile

_PROSE = {"markdown", "rst"}
_SAMPLE = re.compile(r"^(?:#|//|>>>)|\s(?:#|//) ")
"""A comment in a comment, or in a docstring: a sample of code."""

_FENCE = re.compile(r"^ {0,3}(```|~~~)")


async def run(job: Job) -> Outcome:
    """Check the comments, functions and values of every supported language."""
    outcome = await scan(
        job, scan_file, tool="swarmgate", nothing="no comment syntax known for the changed files", alone=True
    )
    return replace(outcome, findings=await asyncio.to_thread(_moved, job, outcome.findings))


def _moved(job: Job, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings; a marker whose line the change took away elsewhere, or only edited, is old."""
    new = [each for each in findings if each.new and each.rule == "marker"]
    if not new:
        return findings
    contents = {source.path: source.now.text.split("\n") for source in job.sources}
    lines = {each.fingerprint: contents[each.path][each.line - 1].strip() for each in new}
    removed = _removed_lines(job, lines.values())
    old = set[str]()
    for each in new:
        line = lines[each.fingerprint]
        word = each.message.partition(" ")[0]
        match = next((past for past in removed if word in past.upper() and (past == line or _alike(past, line))), None)
        if match is not None:
            removed.remove(match)
            old.add(each.fingerprint)
    return tuple(each.model_copy(update={"new": False}) if each.fingerprint in old else each for each in findings)


def _removed_lines(job: Job, new: Iterable[str]) -> list[str]:
    """The lines with a marker of all files of the base, less those that still stand where the change wrote none."""
    before = [file.old_path or file.path for file in job.change.files if file.old_mode and not file.binary]
    after = [file.path for file in job.change.present if not file.binary]
    past = Counter(_marked(job.repository.read_many(job.change.base, before)))
    past.subtract(_marked(job.repository.read_many(job.change.tree, after)))
    past.update(new)
    return sorted((+past).elements())


def _marked(contents: Mapping[str, bytes]) -> Iterator[str]:
    for content in contents.values():
        yield from (line.strip() for line in text_of(content).split("\n") if wording.may_mark(line))


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio() >= _SAME


_SAME = 0.7
"""The share of words that a marker's line keeps where only its wording was touched."""


def scan_file(source: SourceFile) -> list[Finding] | str:
    """The placeholders of one file; the name of its language where that is not supported."""
    if Trait.DOC in source.traits and source.language not in _PROSE:
        return "text"
    grammar = grammars.grammar_of(source.path, source.language)
    known = source.language in comments.languages() or source.language in _PROSE or trees.reads(grammar)
    if not known:
        return source.language or "unknown"
    if is_of_tests(source.path):
        source = replace(source, traits=source.traits | {Trait.TEST})
    text = source.now.text
    if source.language in _PROSE:
        found = _prose(source, text)
    elif source.language == "python":
        found = _python(source, text)
    else:
        other = _tree(source, grammar, text) if trees.reads(grammar) else _lexed(source)
        product = (test_detection.in_text(source, text), debugging.in_text(source, text))
        found = other if _apart(source) else chain(other, *product)
    return list({(each.rule, each.line): each for each in reversed(list(found))}.values())[::-1]


def _apart(source: SourceFile) -> bool:
    """Whether a file is no part of the product: a test, or documentation."""
    return bool(source.traits & {Trait.TEST, Trait.DOC})


def _prose(source: SourceFile, text: str) -> Iterator[Finding]:
    """Documentation: markers and filler inform, they never block. Code samples in it may leave things out."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not line.startswith(("    ", "\t")):
            word = wording.marker(line.strip().lstrip("#>*- "))
            if word:
                yield finding("marker", source.path, number, Severity.LOW, f"{word[0]} left in the documentation")
            if "lorem ipsum" in line.lower():
                yield finding("filler-text", source.path, number, Severity.LOW, "filler text in the documentation")


def _python(source: SourceFile, text: str) -> Iterator[Finding]:
    remarks = source.now.comments
    yield from _remarks(source, remarks)
    try:
        tree = source.now.tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the syntax gate names it
    seen = python.survey(tree)
    documented = python.docstrings(seen)
    yield from _remarks(source, documented)
    yield from sample_values.values(source, text, frozenset(remark.line for remark in (*remarks, *documented)))
    if not _apart(source):
        yield from test_detection.in_python(source, tree)
        yield from debugging.in_python(source, text, tree)
    if source.path.endswith(".pyi"):
        return
    tests = Trait.TEST in source.traits
    for line in () if tests else seen.gaps:
        yield finding("elided-code", source.path, line, Severity.HIGH, "`...` stands for code that was left out")
    yield from _functions(source, python.functions(seen, {each.line: each.text for each in remarks}, tests=tests))


def _tree(source: SourceFile, grammar: str, text: str) -> Iterator[Finding]:
    try:
        yield from _parsed(source, grammar, text, 0)
    except grammars.TooSlow:
        yield from _lexed(source)


def _parsed(source: SourceFile, grammar: str, text: str, before: int) -> Iterator[Finding]:
    """A file, or a script in a page that begins after `before` lines."""
    code = text.encode("utf-8", "surrogateescape")
    tree = trees.parse(grammar, code)
    tests = Trait.TEST in source.traits
    found = trees.comments(grammar, tree, code)
    remarks = comments.remarks(((each.line, each.text) for each in found), text)
    if not found and tree.root_node.has_error and source.language in comments.languages():
        remarks = comments.of(source.language, text)  # a comment that never ends is none to the grammar
    covered = {line for each in found for line in range(each.line, each.line + each.text.count("\n") + 1)}
    made = [
        *_remarks(source, remarks),
        *sample_values.values(source, text, frozenset(covered)),
        *_functions(source, trees.functions(grammar, tree, code, found, tests=tests)),
        *(skipped_tests.tests(source, text, covered) if tests else ()),
    ]
    yield from (each.model_copy(update={"line": each.line + before}) if before else each for each in made)
    for inner, content, lines in trees.embedded(tree) if grammar in trees.EMBEDDED else ():
        if inner:
            yield from _parsed(source, inner, text_of(content), before + lines)


def _lexed(source: SourceFile) -> Iterator[Finding]:
    yield from _remarks(source, source.now.comments)


def _functions(source: SourceFile, functions: Iterator[Function]) -> Iterator[Finding]:
    for function in functions:
        # Doubles in tests are empty by design; only the test cases themselves are judged there.
        if function.test or Trait.TEST not in source.traits:
            verdict = judge(function, source.path)
            if verdict:
                yield verdict


def _remarks(source: SourceFile, remarks: Sequence[Remark]) -> Iterator[Finding]:
    test = Trait.TEST in source.traits
    linked = set(_linked(remarks))
    for remark in remarks:
        yield from _line(source, remark, quiet=test or remark.line in linked)
    plain = (remark for remark in remarks if not _SAMPLE.search(remark.text))
    for block in () if test else comments.paragraphs(plain):
        yield from _wording(source, block)


def _linked(remarks: Sequence[Remark]) -> Iterator[int]:
    """The lines with a marker below which, in lines of nothing but comment and before the next marker, an issue stands.

    What stands beside the code of the next line speaks of that.
    """
    named, below = False, 0
    for remark in reversed(remarks):
        named = named and remark.line == below - 1
        if wording.marker(remark.text):
            if named:
                yield remark.line
            named = False
        elif remark.whole or remark.docstring:
            named = named or wording.names_issue(remark.text)
        else:
            named = False
        below = remark.line


def _line(source: SourceFile, remark: Remark, *, quiet: bool) -> Iterator[Finding]:
    word = wording.marker(remark.text)
    if word:
        # An issue holds the work, and a test without it is no broken promise: both inform.
        severity = Severity.LOW if word[1] or quiet else Severity.MEDIUM
        yield finding("marker", source.path, remark.line, severity, f"{word[0]} left in a {_kind(remark)}")
    between = remark.alone and Trait.TEST not in source.traits and not remark.docstring
    if _SAMPLE.search(remark.text):
        return
    if (not remark.docstring and wording.elided(remark.text)) or (between and wording.stands_for_code(remark.text)):
        message = f"a {_kind(remark)} stands for code that was left out"
        yield finding("elided-code", source.path, remark.line, Severity.HIGH, message)


def _wording(source: SourceFile, block: Sequence[Remark]) -> Iterator[Finding]:
    text = "\n".join(remark.text for remark in block)
    place = wording.stub_wording(text)
    if place >= 0:
        remark = block[text.count("\n", 0, place)]
        message = f"the {_kind(remark)} says that this is not the real thing"
        yield finding("stub-wording", source.path, remark.line, Severity.MEDIUM, message)


def _kind(remark: Remark) -> str:
    return "docstring" if remark.docstring else "comment"
