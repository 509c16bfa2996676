"""kill -9 at random moments of a deep discussion of 5 rounds, each resumed to its end: as if nobody had killed it.

    python benchmarks/discussion_crash.py [KILLS] [SEED]

After the resume all messages, choices and the conclusion are those of a discussion that nobody killed, but for times;
nobody whose answer was on record was asked again. Target: 50 of 50.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from council_crash import Case, main
from discussion import rules

from swarmgate.engine import Swarm

ROUNDS = 5
_OF_THE_CLOCK = {"startedAt", "seconds"}


def program(root: Path, name: str) -> list[str]:
    """This file, which holds a discussion of that id: the command line gives it one of its own."""
    return [sys.executable, __file__, "--child", str(root), name]


def comes_to(shown: dict[str, Any]) -> Any:
    """All of its rounds, choices and the conclusion, but for times."""
    return without_times({key: shown[key] for key in ("rounds", "choices", "conclusion", "status")})


def without_times(value: Any) -> Any:
    """A JSON value without what is of the clock."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in _OF_THE_CLOCK}
    return [without_times(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        council = Swarm(sys.argv[2]).council
        asyncio.run(council.discuss("Should we?", mode="deep", rounds=ROUNDS, cache=False, id=sys.argv[3]))
    else:
        main(
            Case(
                "discussion",
                "discuss",
                rules(ROUNDS),
                lambda _folder, _name: (),
                comes_to,
                resume=lambda name: ("resume", name, "--yes"),
                program=program,
            )
        )
