"""Work that only looks done: markers, elided code, stub wording, functions that do nothing of their own, sample values.

Python is read by `ast` and tokens, other languages by tree-sitter, what has no grammar here by a comment lexer.
Tests and documentation have rules of their own: see docs/gates/placeholder_scan.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates import comments, python_source
from swarmgate.gates.files import Trait
from swarmgate.gates.placeholders import data, python, skipped, test_detection, trees, words
from swarmgate.gates.placeholders.bodies import Function, finding, judge
from swarmgate.gates.scan import scan
from swarmgate.workspace import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.gates.comments import Remark
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome

_PROSE = {"markdown", "rst"}
_TESTS = re.compile(r"(?:^|/)[\w.-]*[._-]?(?:tests?|specs?|testing)/|(?:^|/)(?:[\w.-]*[a-z.]Tests?)/")
_SAMPLE = re.compile(r"^(?:#|//|>>>)|\s(?:#|//) ")
"""A comment in a comment, or in a docstring: a sample of code."""

_FENCE = re.compile(r"^ {0,3}(```|~~~)")


async def run(job: Job) -> Outcome:
    """Look at the comments, functions and values of every language known here."""
    return await scan(job, look, tool="swarmgate", nothing="no comment syntax known for the changed files")


def look(source: Source) -> list[Finding] | str:
    """The placeholders of one file; its language when nothing is known of it."""
    if Trait.DOC in source.traits and source.language not in _PROSE:
        return "text"
    grammar = grammars.grammar_of(source.path, source.language)
    known = source.language in comments.languages() or source.language in _PROSE or trees.reads(grammar)
    if not known:
        return source.language or "unknown"
    if _TESTS.search(source.path):
        source = replace(source, traits=source.traits | {Trait.TEST})
    text = _text(source.content)
    if source.language in _PROSE:
        found = _prose(source, text)
    elif source.language == "python":
        found = _python(source, text)
    else:
        other = _tree(source, grammar, text) if trees.reads(grammar) else _lexed(source, text)
        found = other if _apart(source) else chain(other, test_detection.in_text(source, text))
    return list({(each.rule, each.line): each for each in reversed(list(found))}.values())[::-1]


def _apart(source: Source) -> bool:
    """Whether a file is no part of the product: a test, or documentation."""
    return bool(source.traits & {Trait.TEST, Trait.DOC})


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # every byte is a character: ASCII markers are found all the same
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _prose(source: Source, text: str) -> Iterator[Finding]:
    """Documentation: markers and filler inform, they never block. Code samples in it may leave things out."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not line.startswith(("    ", "\t")):
            word = words.marker(line.strip().lstrip("#>*- "))
            if word:
                yield finding("marker", source.path, number, Severity.LOW, f"{word[0]} left in the documentation")
            if "lorem ipsum" in line.lower():
                yield finding("filler-text", source.path, number, Severity.LOW, "filler text in the documentation")


def _python(source: Source, text: str) -> Iterator[Finding]:
    remarks = comments.of("python", text)
    yield from _remarks(source, remarks)
    try:
        tree = python_source.parse(source.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the syntax gate names it
    seen = python.survey(tree)
    documented = python.docstrings(seen)
    yield from _remarks(source, documented)
    yield from data.values(source, text, frozenset(remark.line for remark in (*remarks, *documented)))
    if not _apart(source):
        yield from test_detection.in_python(source, tree)
    if source.path.endswith(".pyi"):
        return
    tests = Trait.TEST in source.traits
    for line in () if tests else seen.gaps:
        yield finding("elided-code", source.path, line, Severity.HIGH, "`...` stands for code that was left out")
    yield from _functions(source, python.functions(seen, {each.line: each.text for each in remarks}, tests=tests))


def _tree(source: Source, grammar: str, text: str) -> Iterator[Finding]:
    try:
        yield from _parsed(source, grammar, text, 0)
    except grammars.TooSlow:
        yield from _lexed(source, text)


def _parsed(source: Source, grammar: str, text: str, before: int) -> Iterator[Finding]:
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
        *data.values(source, text, frozenset(covered)),
        *_functions(source, trees.functions(grammar, tree, code, found, tests=tests)),
        *(skipped.tests(source, text, covered) if tests else ()),
    ]
    yield from (each.model_copy(update={"line": each.line + before}) if before else each for each in made)
    for inner, content, lines in trees.embedded(tree) if grammar in trees.EMBEDDED else ():
        if inner:
            yield from _parsed(source, inner, _text(content), before + lines)


def _lexed(source: Source, text: str) -> Iterator[Finding]:
    yield from _remarks(source, comments.of(source.language, text))


def _functions(source: Source, functions: Iterator[Function]) -> Iterator[Finding]:
    for function in functions:
        # Doubles in tests are empty by design; only the test cases themselves are judged there.
        if function.test or Trait.TEST not in source.traits:
            verdict = judge(function, source.path)
            if verdict:
                yield verdict


def _remarks(source: Source, remarks: list[Remark]) -> Iterator[Finding]:
    test = Trait.TEST in source.traits
    for remark in remarks:
        yield from _line(source, remark, test=test)
    plain = (remark for remark in remarks if not _SAMPLE.search(remark.text))
    for block in () if test else comments.paragraphs(plain):
        yield from _wording(source, block)


def _line(source: Source, remark: Remark, *, test: bool) -> Iterator[Finding]:
    word = words.marker(remark.text)
    if word:
        # An issue holds the work, and a test without it is no broken promise: both inform.
        severity = Severity.LOW if word[1] or test else Severity.MEDIUM
        yield finding("marker", source.path, remark.line, severity, f"{word[0]} left in a {_kind(remark)}")
    between = remark.alone and not test and not remark.docstring
    if _SAMPLE.search(remark.text):
        return
    if (not remark.docstring and words.elided(remark.text)) or (between and words.stands_for_code(remark.text)):
        message = f"a {_kind(remark)} stands for code that was left out"
        yield finding("elided-code", source.path, remark.line, Severity.HIGH, message)


def _wording(source: Source, block: Sequence[Remark]) -> Iterator[Finding]:
    said = "\n".join(remark.text for remark in block)
    place = words.stub_wording(said)
    if place >= 0:
        remark = block[said.count("\n", 0, place)]
        message = f"the {_kind(remark)} says that this is not the real thing"
        yield finding("stub-wording", source.path, remark.line, Severity.MEDIUM, message)


def _kind(remark: Remark) -> str:
    return "docstring" if remark.docstring else "comment"
