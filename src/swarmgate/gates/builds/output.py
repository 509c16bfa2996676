"""Parses what compilers and type checkers print into findings; only errors count."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Reader = Callable[[str], list[Finding]]
    """The errors in what a tool printed. What it cannot read is left out: the exit code tells that it is there."""

_MYPY = re.compile(
    r"^(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?: error: (?P<message>.*?)(?:  \[(?P<rule>[\w-]+)\])?$"
)
_TY = re.compile(r"^(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): error\[(?P<rule>[\w-]+)\]:? (?P<message>.+)$")
_TSC = re.compile(r"^(?:(?P<path>.+?)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<rule>TS\d+): (?P<message>.+)$")
_GO = re.compile(r"^(?:vet: )?(?P<path>[^\s:][^:\n]*\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.+)$")
_GO_MOD = re.compile(
    r"^(?:go: (?:errors parsing|updates to) )?(?P<path>go\.(?:mod|sum|work)):?(?P<line>\d+)?:? (?P<message>.+)$"
)
_MAVEN = re.compile(r"^\[ERROR\] (?P<path>/.+?|[A-Za-z]:.+?):\[(?P<line>\d+)(?:,(?P<column>\d+))?\] (?P<message>.+)$")
_MAVEN_POM = re.compile(r"^\[ERROR\]\s+(?P<message>(?:Non-parseable|Malformed) POM (?P<path>[^:]+?):.*?)(?: @.*)?$")
_DOTNET = re.compile(
    r"^\s*(?:(?P<path>[^(\n]+?)(?:\((?P<line>\d+),(?P<column>\d+)[^)]*\))? ?: )?error (?P<rule>[A-Z]+\d+): "
    r"(?P<message>.+?)(?: \[[^\]]+\])?$"
)
_MAKE_PLACE = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+): \*\*\* (?P<message>.+?)(?:  Stop\.)?$")
_MAKE = re.compile(r"^(?:g?make)(?:\[\d+\])?: \*\*\* (?!\[)(?P<message>.+?)(?:  Stop\.)?$")


def mypy(output: str) -> list[Finding]:
    """`path:line:column: error: message  [code]`."""
    return _lines(output, "mypy", _MYPY)


def ty(output: str) -> list[Finding]:
    """`ty check --output-format concise`."""
    return _lines(output, "ty", _TY)


def pyright(output: str) -> list[Finding]:
    """`pyright --outputjson`; its lines and columns count from 0."""
    try:
        # What it prints on stderr follows the document.
        document, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
        rows = document["generalDiagnostics"]
    except (ValueError, KeyError, TypeError):
        return []
    return [_pyright(row) for row in rows if row.get("severity") == "error"]


def tsc(output: str) -> list[Finding]:
    """`tsc --pretty false`."""
    return _lines(output, "tsc", _TSC)


def go(output: str) -> list[Finding]:
    """`go build` and `go vet`."""
    return _lines(output, "go", _GO, _GO_MOD)


def cargo(output: str) -> list[Finding]:
    """`cargo check --message-format json`: the compiler's errors at their primary span, once each."""
    found = {(each.path, each.line, each.column, each.message): each for each in _cargo(output)}
    return list(found.values())


def maven(output: str) -> list[Finding]:
    """The compiler plugin's `[ERROR] path:[line,column] message`; Maven prints each twice."""
    found = _lines(output, "maven", _MAVEN, _MAVEN_POM)
    return list({(each.path, each.line, each.column, each.message): each for each in found}.values())


def dotnet(output: str) -> list[Finding]:
    """MSBuild's `path(line,column): error CODE: message [project]`; printed again in its summary."""
    found = _lines(output, "dotnet", _DOTNET)
    return list({(each.path, each.line, each.column, each.message): each for each in found}.values())


def make(output: str) -> list[Finding]:
    """What stops GNU make before it runs anything; a file without targets is none of it."""
    found = _lines(output, "make", _MAKE_PLACE, _MAKE)
    return [each for each in found if not each.message.startswith("No targets")]


def _lines(output: str, tool: str, *patterns: re.Pattern[str]) -> list[Finding]:
    found = []
    for line in output.splitlines():
        match = next(filter(None, (pattern.match(line) for pattern in patterns)), None)
        if match:
            found.append(_finding(tool, **match.groupdict()))
    return found


def _finding(
    tool: str, message: str, path: str | None = "", line: Any = 0, column: Any = 0, rule: str | None = ""
) -> Finding:
    return Finding(
        rule=f"{tool}:{rule}" if rule else tool,
        path=path or "",
        line=int(line or 0),
        column=int(column or 0),
        severity=Severity.HIGH,
        message=message.strip(),
    )


def _pyright(row: dict[str, Any]) -> Finding:
    start = (row.get("range") or {}).get("start") or {"line": -1, "character": -1}
    message = str(row.get("message", "")).splitlines()[0] if row.get("message") else "error"
    return _finding(
        "pyright", message, row.get("file", ""), start["line"] + 1, start["character"] + 1, row.get("rule", "")
    )


def _cargo(output: str) -> Iterator[Finding]:
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            row = json.loads(line)
        except ValueError:
            continue
        message = row.get("message")
        if row.get("reason") != "compiler-message" or not isinstance(message, dict) or message.get("level") != "error":
            continue
        spans = message.get("spans") or []
        place = next((span for span in spans if span.get("is_primary")), spans[0] if spans else {})
        if place or not message.get("message", "").startswith("aborting due to"):
            code = (message.get("code") or {}).get("code", "")
            yield _finding(
                "cargo",
                message["message"],
                place.get("file_name"),
                place.get("line_start"),
                place.get("column_start"),
                code,
            )
