"""Crash test: kill -9 at random moments of a discussion of 5 rounds, each resumed; the record must be the same.

    python benchmarks/discussion_crash.py [KILLS] [SEED]

After the resume all messages, choices and the conclusion are those of a discussion that nobody killed, but for times;
nobody whose answer was on record was asked again. Target: 50 of 50.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from council_crash import Case, main
from discussion import rules

from swarmgate.engine import Swarm

ROUNDS = 5
_OF_THE_CLOCK = {"startedAt", "seconds"}


def begin(_folder: Path, name: str) -> Sequence[str]:
    """The id; the verb of the command line gives a discussion one of its own, so that this file holds it."""
    return ("hold", name)


def result_of(record: dict[str, Any]) -> Any:
    """All of its rounds, choices and the conclusion, but for times."""
    return without_times({key: record[key] for key in ("rounds", "choices", "conclusion", "status")})


def without_times(value: Any) -> Any:
    """A JSON value without what is of the clock."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in _OF_THE_CLOCK}
    return [without_times(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    if "--repo" in sys.argv:
        given, root = sys.argv[3], sys.argv[-1]
        asyncio.run(Swarm(root).council.discuss("Should we?", mode="deep", rounds=ROUNDS, cache=False, id=given))
    else:
        case = Case("discussion", "discuss", rules(ROUNDS), begin, result_of, program=(__file__,))
        main(replace(case, resume=lambda name: ("resume", name, "--yes")))
