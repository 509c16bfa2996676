"""Tries every fault of a model endpoint and reports its outcome: recovered, or fatal, with and without a fallback.

    python benchmarks/faults.py

One task is done while the coder's endpoint misbehaves. `passes`: the fault goes away after two times. `fallback`: it
stays, and the role has a second model. `stays`: it stays and there is none; then it is mended and the run is resumed.
Expected: done, done, and a pause with exit code 5, after which the resumed run is done. Where the model answers, but
never usably, the attempt is rejected instead, and the architect takes over: done.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from workload import make_project, team

from swarmgate.domain.next_step import Waiting
from swarmgate.engine import Swarm
from swarmgate.errors import SwarmError
from swarmgate.testing import ScriptedServer

ANSWERS = ("huge", "wrong_tool")
"""Faults that are answers all the same: they go back to the model as an error, and end the attempt when they stay."""
KINDS = ("429", "500", "hang", "cut_stream", "invalid_json", "empty", "huge", "wrong_tool")


def faulty(kind: str, *, times: int | None, model: str) -> list[dict[str, Any]]:
    """The team's rules, with a coder that is faulty when it is asked as `model`."""
    rules = team(1)
    fault: dict[str, Any] = {"kind": kind, "retry_after": 0.1 if kind == "429" else None}
    if times is not None:
        fault["times"] = times
    coder = next(rule for rule in rules if rule["match"].get("role") == "coder")
    first, *rest = coder["replies"]
    if kind not in ANSWERS:
        replies = [{"fault": fault, "then": first}, *rest]
    elif times:  # an answer takes a turn of its own
        replies = [{"fault": {"kind": kind, "times": 1}, "then": first}, *([first] if kind == "huge" else []), *rest]
    else:
        replies = [{"fault": {"kind": kind, "times": 50 if kind == "wrong_tool" else None}}]
    architect = {"match": {"role": "architect", "step": "implement"}, "replies": coder["replies"]}
    return [*rules, architect, {"match": {**coder["match"], "model": model}, "replies": replies}]


async def attempt(folder: Path) -> str:
    """One `swarm run`, in a word."""
    try:
        outcome = await Swarm(folder).run()
    except SwarmError as error:
        return f"exit {error.exit_code}"
    return "done" if outcome.waiting is Waiting.PHASE_APPROVAL else str(outcome.waiting)


async def play(rules: list[dict[str, Any]], *, fallback: bool, mended: list[dict[str, Any]] | None = None) -> str:
    """Plans and runs one task; with `mended` rules the run is resumed against them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        with ScriptedServer(rules) as server:
            made = make_project(folder, server.base_url)
            text = made.config.read_text().replace('/v1"\n', '/v1"\ntimeout_s = 1\nmax_retries = 2\n', 1)
            second = '\nfallback = ["bench/senior"]' if fallback else ""
            made.config.write_text(text.replace('model = "bench/junior"', f'model = "bench/junior"{second}'))
            await Swarm(folder).plan("Parts")
            Swarm(folder).approve()
            outcome = await attempt(folder)
        if mended is None or outcome == "done":
            return outcome
        with ScriptedServer(mended) as server:
            old = next(line for line in made.config.read_text().splitlines() if line.startswith("base_url"))
            made.config.write_text(made.config.read_text().replace(old, f'base_url = "{server.base_url}"'))
            if outcome == Waiting.BLOCKED_TASK:
                Swarm(folder).retry("1.1")
            return f"{outcome}, then {await attempt(folder)}"


def main() -> None:
    print(f"{'fault':<14}{'passes':<12}{'fallback':<12}{'stays, then mended':<32}{'seconds':>8}")
    for kind in KINDS:
        started = time.perf_counter()
        times = 2
        passes = asyncio.run(play(faulty(kind, times=times, model="junior"), fallback=False))
        fallback = asyncio.run(play(faulty(kind, times=None, model="junior"), fallback=True))
        mended = team(1)
        stays = asyncio.run(play(faulty(kind, times=None, model="junior"), fallback=False, mended=mended))
        print(f"{kind:<14}{passes:<12}{fallback:<12}{stays:<32}{time.perf_counter() - started:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
