"""Does every changed file parse: Python, JSON, TOML and YAML by their parsers; conflict markers in any text."""

from __future__ import annotations

import json
import platform
import re
import tomllib
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates import python_source
from swarmgate.gates.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job, Outcome

_OURS = re.compile(rb"^<{7} ", re.MULTILINE)
_THEIRS = re.compile(rb"^>{7}(?: |\r?$)", re.MULTILINE)
_TEMPLATE = re.compile(rb"\{\{[-~#/]?\s*[\w.$]|\{%|<%")


async def run(job: Job) -> Outcome:
    """Parse every file that has a parser here."""
    tool = f"Python {platform.python_version()}"
    return await scan(job, look, tool=tool, nothing="no parser for the changed files")


def look(source: Source) -> list[Finding] | str:
    """The syntax findings of one file, or its language when there is no parser for it."""
    conflicts = _conflicts(source)
    parser = _PARSERS.get(source.language)
    if parser is None:
        return conflicts or source.language or "unknown"
    if conflicts:  # the parser would only repeat it
        return conflicts
    if source.language != "python" and not _is_utf8(source.content):
        return f"{source.language} that is not UTF-8"
    wrong = parser(source.content)
    if wrong is None:
        return []
    if source.language in _TEMPLATED and _TEMPLATE.search(source.content):
        return f"{source.language} template"
    line, column, message = wrong
    return [
        Finding(
            rule=f"{source.language}-syntax", path=source.path, line=line, column=column,
            severity=Severity.CRITICAL, message=message,
        )
    ]  # fmt: skip


def _conflicts(source: Source) -> list[Finding]:
    ends = [match.start() for match in _THEIRS.finditer(source.content)]
    return [
        Finding(
            rule="conflict-marker", path=source.path, line=source.content.count(b"\n", 0, match.start()) + 1,
            severity=Severity.CRITICAL, message="an unresolved merge conflict",
        )
        for match in _OURS.finditer(source.content, 0, ends[-1] if ends else 0)
    ]  # fmt: skip


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_Wrong = tuple[int, int, str] | None


def _python(content: bytes) -> _Wrong:
    try:
        python_source.check(content)
    except SyntaxError as error:
        return error.lineno or 0, max(error.offset or 0, 0), f"not valid Python {_VERSION}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return 0, 0, f"cannot be compiled: {str(error) or type(error).__name__}"
    return None


def _json(content: bytes) -> _Wrong:
    try:
        json.loads(content)
    except json.JSONDecodeError as error:
        return error.lineno, error.colno, f"not valid JSON: {error.msg}"
    except (ValueError, RecursionError) as error:
        return 0, 0, f"not valid JSON: {error}"
    return None


def _jsonl(content: bytes) -> _Wrong:
    for number, line in enumerate(content.splitlines(), 1):
        wrong = _json(line) if line.strip() else None
        if wrong:
            return number, wrong[1], wrong[2]
    return None


def _toml(content: bytes) -> _Wrong:
    try:
        tomllib.loads(content.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        return line, column, f"not valid TOML: {str(error).partition(' (at')[0]}"
    except RecursionError:
        return 0, 0, "not valid TOML: nested too deeply"
    return None


def _yaml(content: bytes) -> _Wrong:
    import yaml  # noqa: PLC0415 - late: 20 ms that `swarm --help` must not pay

    try:
        # Composed, not constructed: unknown tags (CloudFormation, Ansible) are legal YAML, and nothing is built.
        for _ in yaml.compose_all(content, Loader=yaml.SafeLoader):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        return *place, f"not valid YAML: {error.problem or error.context}"
    except (yaml.YAMLError, RecursionError) as error:
        return 0, 0, f"not valid YAML: {str(error).splitlines()[0] if str(error) else 'nested too deeply'}"
    return None


_VERSION = ".".join(platform.python_version_tuple()[:2])
_PARSERS: dict[str, Callable[[bytes], _Wrong]] = {
    "json": _json,
    "jsonl": _jsonl,
    "python": _python,
    "toml": _toml,
    "yaml": _yaml,
}
# Helm charts, Jinja and cookiecutter files carry the suffix of what they will become.
_TEMPLATED = {"json", "toml", "yaml"}
