"""Detects product code that behaves differently while it is being tested.

Python is read by its syntax tree (`asking`): a look at the state of the process, and the word of a test runner that is
compared or looked up, in one function. Other languages are read by the patterns of gates/rules/test_detection.toml,
over their code without comments. Asking for what only a runner has or sets blocks. Asking for `CI`, or for a variable
by which people tell tests apart, informs: tools adapt their output to it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from swarmgate import assets
from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.placeholders import test_awareness
from swarmgate.gates.placeholders.function_bodies import finding
from swarmgate.gates.source import comments

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterator, Mapping

    from swarmgate.gates.source.file import SourceFile

RULE = "test-detection"

_RUNNER = re.compile(
    r"(?<![A-Za-z0-9])(?:_?py\.?test|unittest|nose2?|conftest|doctest|xdist|hypothesis|tox|nox)(?![A-Za-z0-9])|swarmgate",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"_*PYTEST(?:_(?!ADDOPTS|PLUGINS|DISABLE|DEBUG|THEME)|$)|.*swarmgate", re.IGNORECASE)
"""In the name of a variable: what pytest sets, not what people set for it."""
_TEST = re.compile(rf"(?<![a-z])tests?(?![a-z])|{_RUNNER.pattern}", re.IGNORECASE)
_TOLD = re.compile(
    r"CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI|JENKINS_URL|TF_BUILD|BUILDKITE"
    r"|(?:\w+_)?(?:TESTING|UNDER_TEST|IS_TEST|TEST_MODE|TEST_ENV|UNIT_TEST)"
)
_BY_RUNNER, _BY_CALLER, _BY_NAME, _TRACED = (
    "asks whether a test runner is at work",
    "goes by the name of what calls it",
    "asks whether it runs in CI or in a test",
    "asks whether a debugger or a measurement of coverage is at work",
)
_SETTINGS = re.compile(
    r"(?:^|/)(?:config|\.?[\w-]+\.config\.\w+$|\.?babelrc|\.?\w+rc\.\w+$|gulpfile|gruntfile)", re.IGNORECASE
)
"""Files that configure tools and environments by the kind of run."""


class _Matcher(NamedTuple):
    """The rules of the file: variables that runners set, and the patterns of each language, the gravest first."""

    variables: re.Pattern[str]
    patterns: Mapping[str, tuple[tuple[Severity, re.Pattern[str]], ...]]


@functools.cache
def _matcher() -> _Matcher:
    raw = tomllib.loads((assets.gates() / "rules" / "test_detection.toml").read_text(encoding="utf-8"))
    variables = raw["variables"]
    patterns = {
        name: tuple(
            (severity, re.compile(pattern.replace("VARIABLES", variables)))
            for severity in (Severity.HIGH, Severity.MEDIUM, Severity.LOW)
            for pattern in group.get(severity.value, ())
        )
        for group in raw["language"]
        for name in group["names"]
    }
    return _Matcher(re.compile(variables), patterns)


def in_python(source: SourceFile, tree: ast.Module) -> Iterator[Finding]:
    """The places in a Python product module that check for being tested.

    Args:
        source: the file.
        tree: its syntax tree.
    """
    for scope in test_awareness.scopes(source.content, tree):
        for line, text in scope.texts:
            severity = _severity(text, scope.state)
            if severity:
                yield _found(source, line, severity, _BY_NAME if severity is Severity.LOW else _BY_RUNNER)
        if scope.caller:
            yield _found(source, scope.caller, Severity.MEDIUM, _BY_CALLER)
        if "trace" in scope.state:
            yield _found(source, scope.state["trace"], Severity.MEDIUM, _TRACED)


def _severity(text: str, state: Collection[str]) -> Severity | None:
    """How much a text says beside what is looked at of the process; None for nothing."""
    if _matcher().variables.fullmatch(text):
        return Severity.HIGH
    patterns = dict.fromkeys(("stack", "main", "modules"), _TEST.search) | {
        "variables": _PREFIX.match,
        "trace": None,
    }
    if any(matches(text) for kind in state if (matches := patterns.get(kind, _RUNNER.search))):
        return Severity.HIGH
    return Severity.LOW if "variables" in state and _TOLD.fullmatch(text) else None


def in_text(source: SourceFile, text: str) -> Iterator[Finding]:
    """The places in a product file of another language that check for being tested."""
    patterns = _matcher().patterns.get(source.language, ())
    code = comments.without(source.language, text) if patterns else ""
    reported: set[int] = set()
    for severity, pattern in patterns:
        for match in pattern.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            if line not in reported:
                reported.add(line)
                quiet = severity is Severity.LOW or (severity is Severity.MEDIUM and _SETTINGS.search(source.path))
                message = _BY_NAME if quiet else _BY_RUNNER
                yield _found(source, line, Severity.LOW if quiet else severity, message)


def _found(source: SourceFile, line: int, severity: Severity, message: str) -> Finding:
    return finding(RULE, source.path, line, severity, f"product code {message}")
