"""The syntax gate: parses every changed file and reports syntax errors and merge conflict markers.

Which module judges a language stands in `scan_file`. docs/gates/syntax_check.md tells what each catches and misses.
"""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.adapters.scan import scan
from swarmgate.gates.project.files import CODE, MAX_BYTES, Trait
from swarmgate.gates.source import encodings
from swarmgate.gates.syntax import conflicts, documents
from swarmgate.gates.syntax.problem import Problem, blank

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.gates.syntax.versions import Judge

_MARKUP = frozenset({"html", "svelte", "vue"})
MOST = 3
"""Findings of one file: what follows the first error is mostly its echo."""

_RECIPES = frozenset({"dockerfile", "makefile"})
_TEXT_WITH_TAGS = frozenset({"css", "dockerfile", "html", "less", "makefile", "scss", "sql"})
_ZSH = re.compile(r"(?:\.zsh|\.?z(?:shrc|shenv|profile|login))$|-theme$")
_SHEBANG = re.compile(rb"\A#!\s*\S*?(?:env(?:[ \t]+-\S+)*[ \t]+)?([A-Za-z]+)[\d.]*(?=\s|\Z)")
_SHELLS = frozenset({b"sh", b"bash", b"dash", b"ksh", b"ash", b"busybox", b"bats"})
_TAG = re.compile(rb"\{%[\s\S]*?%\}|<%[\s\S]*?%>|\{\{(?P<value>[\s\S]*?)\}\}|\{#[\s\S]*?#\}")
_PAGE_TAG = re.compile(
    rb"\{\{[-~#/]?\s*[\w.$(\"'@&!>^]|\{%|<%|<\?(?!xml)|\{#|^\s*[@}]\s*(?:@?(?:if|for|switch|else|defer|let))\b|\A---\r?\n"
    rb"|\[%|^\s*%[ =]|<#|<!--#", re.MULTILINE
)  # fmt: skip


async def run(job: Job) -> Outcome:
    """Parse every file that has a parser here."""
    target, notes = None, ""
    sources = [each for each in job.sources if each.language == "python" and len(each.content) <= MAX_BYTES]
    if sources:
        from swarmgate.gates.syntax.versions import Judge  # noqa: PLC0415 - late: a change without Python needs none

        target = Judge(job.repository.root)
        notes = await target.ask(job, sources)
    scanner = partial(scan_file, target=target, on=frozenset(job.definition.extra_languages))
    outcome = await scan(job, scanner, tool=_tool(job.sources, target), nothing="no parser for the changed files")
    findings = _echoes(outcome.findings)
    return replace(outcome, findings=findings, notes=(*outcome.notes, notes) if notes else outcome.notes)


def _echoes(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; in a Python file of which no version runs, before the change as after it, a further one informs."""
    torn = {each.path for each in findings if not each.new and each.rule == "python-syntax"}
    return tuple(
        each.model_copy(update={"severity": Severity.LOW})
        if each.path in torn and each.rule == "python-syntax"
        else each
        for each in findings
    )


def scan_file(source: SourceFile, target: Judge | None = None, on: Container[str] = frozenset()) -> list[Finding] | str:
    """The syntax errors of one file, or why it was not checked (its language where no parser reads it).

    Args:
        source: the file.
        target: for Python, with what it asked ruff before; without it the compiler decides alone.
        on: languages to look at that are off by default.
    """
    if len(source.content) > MAX_BYTES:
        return _too_large(source)
    encoding = encodings.hidden(source.content) if source.language == "python" else ""
    if encoding:
        return [_coded(source, encoding)]
    conflict = conflicts.find(source.content)
    if conflict:  # a parser would only repeat it
        return [_finding(source, "conflict-marker", each) for each in conflict[:MOST]]
    result = _check(source, target, on)
    if isinstance(result, str) or not result:
        return result if isinstance(result, str) else []
    word = _template(source, target)
    return word or [_finding(source, f"{source.language}-syntax", each) for each in result[:MOST]]


def _too_large(source: SourceFile) -> list[Finding] | str:
    """Code that no gate reads, because of its size, is judged by nobody: for people, it is too large as well."""
    if source.language not in CODE or source.traits & {Trait.GENERATED, Trait.MINIFIED, Trait.LOCK}:
        return "large"
    message = (
        f"{MAX_BYTES / 1e6:g} MB or more of code in one file are too large to be judged: split it, "
        "or mark it as linguist-generated in .gitattributes"
    )
    return [Finding(rule="too-large", path=source.path, severity=Severity.MEDIUM, message=message)]


def _coded(source: SourceFile, encoding: str) -> Finding:
    message = f"the source encoding {encoding} hides code: no scanner reads what Python would run; write it in UTF-8"
    return Finding(rule="hidden-by-encoding", path=source.path, line=1, severity=Severity.HIGH, message=message)


def _check(source: SourceFile, target: Judge | None, on: Container[str]) -> list[Problem] | str:
    from swarmgate.workspace.code import grammars  # noqa: PLC0415 - late, as are the languages' modules below

    if source.language == "python":
        from swarmgate.gates.syntax import python  # noqa: PLC0415

        problem = None if target else python.check(source.content)
        return target.check(source) if target else [problem] if problem else []
    if b"\0" in source.content:
        return f"{source.language or 'text'} with NUL bytes"
    if source.path.lower().endswith(".ipynb"):
        from swarmgate.gates.syntax import python  # noqa: PLC0415

        return python.check_notebook(source.content)
    if source.language in documents.languages():
        return documents.check(source.language, source.path, source.content)
    try:
        return _code(source, on)
    except grammars.TooSlow:
        return f"{source.language} (grammar too slow)"


def _code(source: SourceFile, on: Container[str]) -> list[Problem] | str:
    from swarmgate.gates.syntax import dockerfiles, markup, trees  # noqa: PLC0415

    language, content = source.language, _readable(source.content)
    if _other_shell(source):
        return _other_shell(source)
    if language in trees.OFF and language not in on:
        return trees.OFF[language]
    if language in _MARKUP:
        if language == "html" and _PAGE_TAG.search(content):
            return "html template"
        return markup.check(language, content)
    if language in _RECIPES:
        return dockerfiles.dockerfile(content) if language == "dockerfile" else dockerfiles.makefile(content)
    if language in trees.languages():
        return trees.check(language, source.path, content)
    return language or "unknown"


def _readable(content: bytes) -> bytes:
    """UTF-8 for the grammars: a byte order mark becomes spaces, Latin-1 (legal in many languages) is recoded."""
    if content.startswith(b"\xef\xbb\xbf"):
        content = b"   " + content[3:]
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1").encode()
    return content


def _other_shell(source: SourceFile) -> str:
    """The interpreter that the first line names, where it is not the one of the file's language."""
    if source.language == "bash" and _ZSH.search(source.path):
        return "zsh"
    shebang = _SHEBANG.match(source.content)
    if not shebang:
        return ""
    shell = shebang[1] in _SHELLS
    return shebang[1].decode() if shell != (source.language == "bash") and (shell or source.language == "bash") else ""


def _template(source: SourceFile, target: Judge | None) -> str:
    """A file that is sound but for the tags of a template engine is no broken file of its language."""
    if source.language in documents.languages() or not _TAG.search(source.content):
        return ""
    if source.language in _TEXT_WITH_TAGS:
        return f"{source.language} template"
    plain = _TAG.sub(lambda match: b"x" + blank(match[0])[1:] if match["value"] else blank(match[0]), source.content)
    result = _check(source.holding(plain), target, frozenset())
    return "" if result else f"{source.language} template"


def _finding(source: SourceFile, rule: str, problem: Problem) -> Finding:
    return Finding(rule=rule, path=source.path, line=problem.line, column=problem.column,
                   severity=Severity.CRITICAL, message=problem.message)  # fmt: skip


def _tool(sources: Sequence[SourceFile], target: Judge | None) -> str:
    """What judged: the verdicts come from these versions and from nothing else that is installed."""
    languages = {source.language for source in sources}
    parts = [target.tool] if target else []
    if languages - {"python", ""} - documents.languages():
        parts.append(f"tree-sitter-language-pack {version('tree-sitter-language-pack')}")
    if "yaml" in languages:
        parts.append(f"PyYAML {version('PyYAML')}")
    return ", ".join(parts) or f"Python {platform.python_version()}"
