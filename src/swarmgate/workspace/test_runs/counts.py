"""Parses the test counts out of the output of test runners, by a table with a row for each runner."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_WORDS = {
    "passed": ("passed", "passing", "pass"),
    "failed": ("failed", "failing", "fail", "failure", "failures", "error", "errors", "cancelled"),
    "skipped": ("skipped", "skips", "skip", "ignored", "pending", "todo", "incomplete", "xfailed"),
    "total": ("tests", "test", "examples", "example", "runs", "ran", "run"),
}
_MEANING = {word: kind for kind, words in _WORDS.items() for word in words}
_COUNT_FIRST = re.compile(r"(?P<count>\d+) (?P<word>[A-Za-z]+)")
_LABEL_FIRST = re.compile(r"(?<!expected )\b(?P<word>[A-Za-z]+)(?: run)?(?:[:=]\s*| +)(?P<count>\d+)")
_PRINTED = re.compile(r"\b\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")
"""A count of pytest's tests, in whatever form a plugin prints it."""


class Counts(Frozen):
    """The counts in a test run's output; names of failed tests in the order in which they appear.

    `names` are all tests that ran and `skips` those that were skipped, where a report names each; else both are empty.
    """

    passed: int
    failed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Runner:
    """Where a runner prints its counts (lines, summed), in which of two orders, and how it names failed tests."""

    lines: re.Pattern[str]
    items: re.Pattern[str]
    failures: re.Pattern[str]

    def count(self, text: str) -> Counts | None:
        found = {"passed": 0, "failed": 0, "skipped": 0, "total": 0}
        seen: set[str] = set()
        for line in self.lines.finditer(text):
            for item in self.items.finditer(line[0]):
                kind = _MEANING.get(item["word"].lower())
                if kind:
                    found[kind] += int(item["count"])
                    seen.add(kind)
        if not seen & {"passed", "failed", "total"}:
            return None
        if "passed" not in seen and "total" in seen:
            found["passed"] = max(0, found["total"] - found["failed"] - found["skipped"])
        names = _unique(match[1].strip() for match in self.failures.finditer(text))
        return Counts(passed=found["passed"], failed=found["failed"], skipped=found["skipped"], failures=names)


def _row(lines: str, items: re.Pattern[str], failures: str) -> _Runner:
    return _Runner(re.compile(lines, re.MULTILINE), items, re.compile(failures, re.MULTILINE))


_ROWS = {
    "pytest": _row(
        r"^=*\s*\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)\b.* in [\d.]+s.*$",
        _COUNT_FIRST,
        r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$",
    ),
    "cargo": _row(
        r"^test result: .*|^\s+Summary \[.*\] .*\d+ tests? run:.*$", _COUNT_FIRST, r"^test (.+?) \.\.\. FAILED"
    ),
    "jest": _row(r"^Tests:\s+.*\btotal$", _COUNT_FIRST, r"^\s+● (.+ \u203a .+)$"),
    "vitest": _row(r"^\s*Tests\s+\d+ .*\(\d+\)$", _COUNT_FIRST, r"^\s*FAIL\s+(\S.*? > .+)$"),
    "mocha": _row(r"^\s+\d+ (?:passing|failing|pending)\b", _COUNT_FIRST, r"^\s{4,}\d+\) (.+)$"),
    "node": _row(
        r"^(?:#|\u2139) (?:pass|fail|cancelled|skipped|todo) +\d+$",
        _LABEL_FIRST,
        r"^(?:not ok \d+ - |✖ (?!failing tests:))(.+?)(?: \([\d.]+ms\))?$",
    ),
    "bun": _row(r"^\s*\d+ (?:pass|fail|skip)$", _COUNT_FIRST, r"^\(fail\) (.+?)(?: \[[\d.]+ms\])?$"),
    "unittest": _row(
        r"^Ran \d+ tests? in |^(?:OK|FAILED) \(.*\)$", _LABEL_FIRST, r"^(?:FAIL|ERROR): (\S+(?: \(\S+\))?)"
    ),
    "maven": _row(
        r"^(?:\[\w+\] )?Tests run:(?!.*(?:Time elapsed| in )).*$", _LABEL_FIRST, r"^\[ERROR\]\s+(\w+\.\w+:\d+.*)$"
    ),
    "gradle": _row(
        r"^\d+ tests? completed, .*$",
        re.compile(r"(?P<count>\d+) (?P<word>tests?|failed|skipped)"),
        r"^(\S+ > .+) FAILED$",
    ),
    "rspec": _row(r"^\d+ examples?, \d+ failures?.*$", _COUNT_FIRST, r"^rspec (\S+) #"),
    "phpunit": _row(r"^OK \(\d+ tests?, .*\)$", _COUNT_FIRST, r"^\d+\) (\S+::\S+)"),
    "phpunit-failed": _row(r"^Tests: \d+, Assertions: .*$", _LABEL_FIRST, r"^\d+\) (\S+::\S+)"),
    "dotnet": _row(
        r"^\s*(?:Passed!|Failed!|Skipped!)\s+- .*$|^\s+(?:Passed|Failed|Skipped): \d+$",
        _LABEL_FIRST,
        r"^\s+Failed (\S+) \[",
    ),
    "minitest": _row(r"^\d+ (?:runs|tests), \d+ assertions, .*$", _COUNT_FIRST, r"^(\S+#test_\S+)"),
}

_GO_LEVEL = re.compile(r"^--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_GO_FAILED = re.compile(r"^\s*--- FAIL: (\S+)", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(ok|FAIL)\s+(\S+)[^\n]*$", re.MULTILINE)


def read(runner: str, output: str) -> Counts | None:
    """The counts in a runner's output; None when it names none.

    Args:
        runner: a row's name; "" or an unknown one tries all.
        output: what the test command printed.
    """
    text = _ANSI.sub("", output).replace("\r\n", "\n")
    if runner == "go":
        return _go(text)
    rows = [row for name, row in _ROWS.items() if name.partition("-")[0] == runner] or list(_ROWS.values())
    return next((counts for row in rows if (counts := row.count(text))), None)


def contradiction(report: Counts, printed: str, *, silent: bool) -> str:
    """Why pytest's report and its own last line do not tell of one green run; empty where they do.

    Args:
        report: the counts of its report.
        printed: its standard output.
        silent: whether it was told to print no last line, or what was printed is not all its own.
    """
    text = _ANSI.sub("", printed).replace("\r\n", "\n")
    lines = list(_ROWS["pytest"].lines.finditer(text))
    if not lines:
        ended = silent or _PRINTED.search(text)
        return "" if ended else "pytest wrote a report and did not come to its end: it printed no count of its tests"
    counts = dict.fromkeys(("passed", "xpassed", "failed", "error", "errors"), 0)
    counts |= {item["word"]: int(item["count"]) for item in _COUNT_FIRST.finditer(lines[-1][0])}
    passed, failed = counts["passed"] + counts["xpassed"], counts["failed"] + counts["error"] + counts["errors"]
    if report.passed <= passed and not (failed and not report.failed):
        return ""
    return (
        f"pytest's report names {report.passed} tests that passed and {report.failed} that failed, and its last line "
        f"{passed} and {failed}: one of them was changed"
    )


def read_with(pattern: str, output: str) -> Counts | None:
    """The counts by the user's `tests.count_pattern`, a regular expression with groups `passed` and perhaps `failed`.

    All matches are summed. None when nothing matches.

    Raises:
        ConfigError: the pattern is no regular expression, or has no group `passed`.
    """
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ConfigError(f"tests.count_pattern {pattern!r} is not a regular expression: {error}") from error
    if "passed" not in expression.groupindex:
        raise ConfigError(
            f"tests.count_pattern {pattern!r} has no group `passed`",
            hint="for example: (?P<passed>\\d+) ok, (?P<failed>\\d+) not ok",
        )
    found = [match.groupdict() for match in expression.finditer(_ANSI.sub("", output))]
    if not found:
        return None
    sums = {kind: sum(_number(match.get(kind)) for match in found) for kind in ("passed", "failed", "skipped")}
    return Counts(passed=sums["passed"], failed=sums["failed"], skipped=sums["skipped"])


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _go(text: str) -> Counts | None:
    """Top-level tests of `go test -v`; without -v go prints no counts, and packages are counted instead."""
    results = [match[1] for match in _GO_LEVEL.finditer(text)]
    names = _unique(match[1] for match in _GO_FAILED.finditer(text))
    if "PASS" in results:
        count = results.count
        return Counts(passed=count("PASS"), failed=count("FAIL"), skipped=count("SKIP"), failures=names)
    packages = [(match[1], match[2]) for match in _GO_PACKAGE.finditer(text) if "[no test" not in match[0]]
    if not packages:
        return None
    failed = tuple(name for result, name in packages if result == "FAIL")
    return Counts(passed=len(packages) - len(failed), failed=len(failed), failures=names or failed)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
