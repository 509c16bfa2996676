"""ruff's S rules over copies of the Python files, without any configuration: bandit's tests, and newer ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from swarmgate.gates import ruff
from swarmgate.gates.sast import bandit_tests
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.tool import Broken, invoke

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.copies import Copies

_NEWER_SYNTAX = "on Python 3"
"""In the message of an error that only says that the syntax is newer than the target: the file was read."""


async def scan(job: Job, files: Copies) -> Scanned:
    """Run the rules over the Python files."""
    argv = [ruff.program(), "check", "--isolated", "--select", "S", "--output-format", "json", "--no-cache", "--no-fix"]
    argv += ["--exit-zero", "--quiet", "--no-respect-gitignore", "--target-version", "py313", "--", str(files.root)]
    done = await invoke(job, [argv], env=ruff.ENVIRONMENT)
    if isinstance(done, Broken):
        return Scanned(error=done.reason)
    scanned = Scanned()
    try:
        for item in json.loads(done[0].stdout or "[]"):
            source = files.source(item["filename"])
            if source.language != "python":
                continue
            if (item["code"] or "").startswith("S"):
                scanned.hits.append(_hit(item, source.path))
            elif _NEWER_SYNTAX not in item["message"]:
                scanned.unread[source.path] = f"line {item['location']['row']}: {item['message']}"
    except (ValueError, KeyError, TypeError) as error:
        return Scanned(error=f"ruff's output is not understood: {error}")
    return scanned


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
