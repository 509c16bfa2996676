"""Work that only looks done: markers, elided code, stub wording, and Python functions without a body.

Python is read by syntax tree and tokens, other languages by their comments. Tests are looked at for markers only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates import comments, python_source, stubs
from swarmgate.gates.files import Trait
from swarmgate.gates.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.comments import Remark
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job, Outcome

# A marker opens a remark or a sentence, or is addressed ("TODO:", "TODO(ann)"); in a list or in quotes it is talk.
_WORD = r"(?:TODO|FIXME|XXX|HACK|TBD)"
_MARKER = re.compile(
    rf"(?:^[\s*@\-\[(:]*|[.;!?(]\s+|\()({_WORD})(?![\w\-/,'\"`=]|\s*,\s*[A-Z]{{3,5}}\b)"
    rf"|(?<![\w\-/'\"`])({_WORD})(?::(?!:)|\([\w .@#-]+\)|\s*$)"
)
_REST = (
    r"(?:the )?(?:rest|remainder) of (?:the |this |your |my )?(?:original |existing |previous )?"
    r"(?:code|file|function|method|class|module|implementation|logic|script)\b"
)
_ELIDED = re.compile(
    rf"\b{_REST}(?: (?:is|are|stays?|remains?|goes))* ?"
    r"(?:\(?unchanged|the same\b|as before|here\b|omitted|as is|\.\.\.|…)"
    rf"|(?:^|(?:\.\.\.|…) ?){_REST}\W*$"
    r"|(?:^|(?:\.\.\.|…)\s*)(?:existing|previous|original|remaining|other|same) (?:\w+ )?"
    r"(?:code|methods?|functions?|implementation|logic|imports|fields|tests)"
    r" ?(?:here$|\(?unchanged|\(?omitted|(?:(?:remains?|stays?) )?(?:unchanged|the same|as before)|goes here|\.\.\.|…)"
    r"|^existing code\W*$"
    r"|^(?:\.\.\.|…)\s*\(?(?:existing|rest|remaining|other|previous|same|implementation|unchanged|omitted)\b"
    r"|\b(?:code|implementation) (?:is |was )?(?:omitted|elided|left out)(?: for (?:brevity|clarity|now))?"
    r"|\bomitted for brevity",
    re.IGNORECASE,
)
_DOTS = re.compile(r"^(?:\.\.\.|…)$")
_WORDING = re.compile(
    r"\bin (?:a|the) (?:real|actual|production|proper|full)[ -](?:\w+ )?"
    r"(?:implementation|application|app|system|scenario|world|code|version|environment)\b"
    r".{0,40}?\b(?:would|should|will|you|we|could)\b"
    r"|\bfor now,? (?:we |i |it |this |just |simply |only )*"
    r"(?:returns?|pretends?|fakes?|mocks?|stubs?|hard-?codes?|does nothing)\b"
    r"|\b(?:placeholder|stub|dummy|mock) (?:implementation|function|method|logic|code)\b"
    r"(?! (?:for tests|in tests|detect))"
    r"|\bthis is (?:just |only )?a (?:stub|placeholder|mock|dummy)\W*$"
    r"|^(?:\w+ )?not (?:yet )?implemented(?: yet)?[.!]?$"
    r"|\b(?:implement|fill|finish|complete) (?:this|me|it)(?: in)? later\b|^to be implemented\b"
    r"|\bimplementation (?:goes|pending)\b"
    r"|\b(?:your|actual|real) (?:code|logic|implementation) (?:here|goes|would|should)\b|^implement me\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'")


async def run(job: Job) -> Outcome:
    """Look at the comments of every language known here, and at Python's functions."""
    return await scan(job, look, tool="swarmgate", nothing="no comment syntax known for the changed files")


def look(source: Source) -> list[Finding] | str:
    """The placeholders of one file; its language when nothing is known of it."""
    if Trait.DOC in source.traits:
        return "documentation"
    if source.language not in comments.languages():
        return source.language or "unknown"
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = source.content.decode("latin-1")  # every byte is a character: ASCII markers are found all the same
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = list(
        _python(source, text) if source.language == "python" else _remarks(source, comments.of(source.language, text))
    )
    return list({(finding.rule, finding.line): finding for finding in reversed(found)}.values())[::-1]


def _python(source: Source, text: str) -> Iterator[Finding]:
    remarks = comments.of("python", text)
    yield from _remarks(source, remarks)
    try:
        tree = python_source.parse(source.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the syntax gate names it
    yield from _remarks(source, comments.docstrings(tree))
    if Trait.TEST in source.traits or source.path.endswith(".pyi"):
        return
    for line, rule, message in stubs.find(tree, {remark.line: remark.text for remark in remarks}):
        yield _finding(source, rule, line, Severity.HIGH, message)


def _remarks(source: Source, remarks: list[Remark]) -> Iterator[Finding]:
    for remark in remarks:
        marker = _MARKER.search(remark.text)
        if marker:
            word = marker[1] or marker[2]
            yield _finding(source, "marker", remark.line, Severity.MEDIUM, f"{word} left in a {_kind(remark)}")
        if Trait.TEST in source.traits:
            continue
        said = _QUOTED.sub("", remark.text)
        if _ELIDED.search(said) or (remark.alone and _DOTS.match(said)):
            yield _finding(
                source,
                "elided-code",
                remark.line,
                Severity.HIGH,
                f"a {_kind(remark)} stands for code that was left out",
            )
        elif _WORDING.search(said):
            yield _finding(
                source,
                "stub-wording",
                remark.line,
                Severity.MEDIUM,
                f"the {_kind(remark)} says that this is not the real thing",
            )


def _kind(remark: Remark) -> str:
    return "docstring" if remark.docstring else "comment"


def _finding(source: Source, rule: str, line: int, severity: Severity, message: str) -> Finding:
    return Finding(rule=rule, path=source.path, line=line, severity=severity, message=message, suggestion=_MEND[rule])


_MEND = {
    "marker": "do it now, or describe the limitation in plain words",
    "elided-code": "write the code out",
    "stub-wording": "implement it",
    "stub-body": "implement it; an intended no-op says so in a docstring or comment",
}
