"""Parses the output of ESLint, Biome, ShellCheck and other linters into findings."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Finding, Severity

if TYPE_CHECKING:
    from swarmgate.workspace.process.process import Completed

_SHELLCHECK = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "info": Severity.LOW, "style": Severity.INFO}
_ESLINT = {1: Severity.LOW, 2: Severity.MEDIUM}
_BIOME = {"error": Severity.MEDIUM, "warning": Severity.LOW, "notice": Severity.INFO}
_ANNOTATION = re.compile(
    r"^::(?P<level>error|warning|notice) title=(?P<rule>[^,]+),file=(?P<path>.+?),line=(?P<line>\d+),"
    r"endLine=\d+,col=(?P<column>\d+),endColumn=\d+::(?P<message>.*)$",
    re.MULTILINE,
)


def eslint(done: Completed, name: str) -> list[Finding]:
    """ESLint's `--format json`; its warnings inform, its errors are what the project wants to block.

    Raises:
        ValueError, KeyError, TypeError: it is something else.
    """
    return [
        Finding(
            rule=f"{name}:{each['ruleId'] or 'syntax'}", path=file["filePath"], line=each.get("line") or 0,
            column=each.get("column") or 0, message=each["message"],
            severity=Severity.HIGH if each.get("fatal") else _ESLINT[each["severity"]],
        )
        for file in json.loads(done.stdout or "[]")
        for each in file["messages"]
    ]  # fmt: skip


def biome(done: Completed, name: str) -> list[Finding]:
    """Biome's `--reporter=github`; formatting informs, because the fixing gate does it."""
    return [
        Finding(
            rule=f"{name}:{each['rule']}", path=_unescaped(each["path"]), line=int(each["line"]),
            column=int(each["column"]), message=_unescaped(each["message"]),
            severity=Severity.LOW if each["rule"] in {"format", "assist"} else _BIOME[each["level"]],
        )
        for each in _ANNOTATION.finditer(done.stdout)
    ]  # fmt: skip


def shellcheck(done: Completed, name: str) -> list[Finding]:
    """ShellCheck's `--format=json1`.

    Raises:
        ValueError, KeyError, TypeError: it is something else.
    """
    comments: list[dict[str, Any]] = json.loads(done.stdout)["comments"]
    return [
        Finding(
            rule=f"{name}:SC{each['code']}", path=each["file"], line=each["line"], column=each["column"],
            severity=_SHELLCHECK[each["level"]], message=each["message"],
        )
        for each in comments
    ]  # fmt: skip


def _unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text.strip()
