"""Crash test: kill -9 at random moments of a dispatch of 6 tasks, each resumed; no answer lost or asked twice.

    python benchmarks/dispatch_crash.py [KILLS] [SEED]

A dispatch goes on under its id by the library (`Council.dispatch`); this file is its command, too. Target: 50 of 50.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from council_crash import Case, main

from swarmgate.engine import Swarm

TASKS = 6
COMMAND = "dispatch"


def rules() -> list[dict[str, Any]]:
    """Everybody answers by name."""
    return [
        {"match": {"role": "participant", "step": "dispatch"}, "replies": [{"text": "{{participant}} has looked."}]}
    ]


def begin(_folder: Path, name: str) -> Sequence[str]:
    """The arguments of this file."""
    return (name,)


def result_of(record: dict[str, Any]) -> Any:
    """What every task came to."""
    return [(each["name"], each["text"], bool(each["failed"]), each["tries"]) for each in record["replies"]]


def hold(name: str, repo: Path) -> None:
    """Holds the dispatch of that id, or goes on with it."""
    tasks = [{"participant": f"v{n}", "text": "Look."} for n in range(1, TASKS + 1)]
    result = asyncio.run(Swarm(repo).council.dispatch(mode="parallel", tasks=tasks, id=name))
    print(json.dumps({"summary": result.summary}))


if __name__ == "__main__":
    if sys.argv[1:2] == [COMMAND]:
        hold(sys.argv[2], Path(sys.argv[-1]))
    else:
        main(
            Case("dispatch", COMMAND, rules(), begin, result_of, resume=None, latency_s=0.05, program=(__file__,)),
        )
