"""Finds tests that are skipped without a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.placeholders.function_bodies import finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from swarmgate.gates.source.file import SourceFile

_FORMS = {
    "kotlin": r"^\s*@(?:Disabled|Ignore)(?:\(\s*\))?\s*(?:$|(?=@|public|fun|void))",
    "csharp": r"^\s*\[Ignore(?:\(\s*\))?\]", "ruby": r"^\s*(?:xit|xdescribe|xcontext)\b|^\s*skip\s*$|^\s*pending\s*$",
    "php": r"->markTest(?:Skipped|Incomplete)\(\s*\)", "swift": r"\bXCTSkip\(\s*\)", "dart": r"\bskip:\s*true\b",
}  # fmt: skip
"""Those of Python, JavaScript, TypeScript, Go, Rust and Java are told by the gate test_integrity."""
_PATTERNS = {language: re.compile(pattern, re.MULTILINE) for language, pattern in _FORMS.items()}


def tests(source: SourceFile, text: str, commented: Collection[int]) -> Iterator[Finding]:
    """The skipped tests of a test file.

    Args:
        source: the file.
        text: its content.
        commented: the lines with a comment: one on the line or right above it is taken for the reason.
    """
    pattern = _PATTERNS.get(source.language)
    if pattern is None:
        return
    for found in pattern.finditer(text):
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        line = text.count("\n", 0, start) + 1
        if not {line, line - 1} & set(commented):
            yield finding(
                "skipped-test", source.path, line, Severity.LOW, "a test is switched off, and nothing says why"
            )
