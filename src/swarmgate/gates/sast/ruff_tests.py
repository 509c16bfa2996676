"""Runs ruff's security rules (S) over copies of the Python files, without the project's configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from swarmgate.gates.lint import ruff
from swarmgate.gates.sast import bandit_tests
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.tools.run import Broken, invoke

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.temporary_copies import Copies
    from swarmgate.gates.source.file import SourceFile

_NEWER_SYNTAX = "on Python 3"
"""In the message of an error that only says that the syntax is newer than the target: the file was read."""


async def scan(job: Job, files: Copies) -> Scanned:
    """Run the rules over the Python files."""
    argv = [ruff.program(), "check", "--isolated", "--select", "S", "--output-format", "json", "--no-cache", "--no-fix"]
    argv += ["--exit-zero", "--quiet", "--ignore-noqa", "--no-respect-gitignore", "--target-version", "py313"]
    argv += ["--", str(files.root)]
    done = await invoke(job, [argv], env=ruff.ENVIRONMENT, own=True)
    if isinstance(done, Broken):
        return Scanned(error=done.reason)
    scanned = Scanned()
    try:
        for item in json.loads(done[0].stdout or "[]"):
            _take(item, files.source(item["filename"]), scanned)
    except (ValueError, KeyError, TypeError) as error:
        return Scanned(error=f"ruff's output is not understood: {error}")
    return scanned


def _take(item: dict[str, Any], source: SourceFile, scanned: Scanned) -> None:
    if source.language != "python":
        return
    if (item["code"] or "").startswith("S"):
        scanned.hits.append(_hit(item, source.path))
    elif _NEWER_SYNTAX not in item["message"]:
        scanned.unread[source.path] = f"line {item['location']['row']}: {item['message']}"


def _hit(item: dict[str, Any], path: str) -> Hit:
    test = "B" + item["code"][1:]
    return Hit(
        path=path,
        line=item["location"]["row"],
        column=item["location"]["column"],
        end_line=item["end_location"]["row"],
        end_column=item["end_location"]["column"],
        tool="ruff",
        code=item["code"],
        cwe=bandit_tests.cwe_of(test),
        severity=bandit_tests.severity_of(test),
        message=item["message"],
    )
