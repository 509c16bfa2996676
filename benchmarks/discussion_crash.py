"""kill -9 at random points of a deep discussion of 5 rounds, each resumed to its end: as if nobody had killed it.

    python benchmarks/discussion_crash.py [KILLS] [SEED]

Every kill hits while the discussion is at work; the moment is drawn over its whole length. After the resume all rounds
are those of a discussion that nobody killed, but for times; no finished step was asked again, so that at most the
voices of the step in flight were. Target: 30 of 30.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from discussion import Kept, Room, rules

from swarmgate.config import Config
from swarmgate.council.discussion.chronicle import record_of
from swarmgate.council.discussion.holding import hold
from swarmgate.council.discussion.request import discussion_of
from swarmgate.council.records import Records
from swarmgate.domain.discussion import DiscussionRecord
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import connect
from swarmgate.workspace.background import serving
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.running import CommandRunner
from swarmgate.workspace.sandbox.surroundings import confine

ROUNDS, LATENCY_S = 5, 0.02


def records(root: Path) -> Records:
    return Records(FileDocuments(SwarmFolder(root).path), clean=lambda value: value)


async def held(root: Path, url: str, name: str) -> int:
    """Holds the discussion of that id, or goes on with it; how many calls that took."""
    settings = {"providers": {"local": {"base_url": url}}, "roles": {"participant": {"model": "local/m"}}}
    model = connect("participant", Config.model_validate(settings), environ={}, recorder=None, budget=Budget())
    kept = Kept(model)
    room = Room(root, kept, CommandRunner(choose("none"), confine(root, environ={})))
    discussion = discussion_of(id=name, topic="Should we?", mode="deep", rounds=ROUNDS)
    try:
        await hold(discussion, voices=room, records=records(root))
    finally:
        await model.aclose()
    return len(kept.asked)


def plain(record: DiscussionRecord) -> list[Any]:
    """The rounds without times, and the conclusion."""
    times: dict[str, Any] = {"seconds": True, "usage": {"seconds"}}
    messages = [each.model_dump(exclude=times) for held in record.rounds for each in held.messages]
    rounds = [each.model_dump(exclude={"started_at", "seconds", "messages"}) for each in record.rounds]
    return [rounds, messages, record.conclusion and record.conclusion.model_dump(exclude=times)]


def start(root: Path, url: str, name: str) -> subprocess.Popen[bytes]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--child", str(root), url, name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def killed(root: Path, url: str, name: str, after: float) -> bool:
    """Kills it `after` seconds since its manifest was there; whether it was still at work."""
    process = start(root, url, name)
    manifest = root / ".swarm" / "discussions" / name / "manifest.json"
    while not manifest.exists() and process.poll() is None:
        time.sleep(0.002)
    time.sleep(after)
    at_work = process.poll() is None
    process.kill()
    process.communicate()
    return at_work


def problem(root: Path, url: str, name: str, expected: list[Any]) -> str:
    """What is not as it should be after a resume; empty: nothing."""
    before = record_of(records(root), name)
    finished = [*before.rounds, *([before.partial] if before.partial else [])]
    there = sum(len(each.messages) for each in finished) + (before.cast is not None) + (before.conclusion is not None)
    again = start(root, url, name)
    calls = int(again.communicate()[0] or -1)
    after = record_of(records(root), name)
    if after.status != "complete" or plain(after) != expected:
        return f"{after.status}, and its rounds differ"
    whole = len(expected[1]) + 2
    return "" if calls == whole - there else f"{calls} calls after {there} of {whole} answers were on record"


def main(kills: int = 30, seed: int = 2026) -> None:
    chance, good, stood = random.Random(seed), 0, Counter[str]()  # noqa: S311 - moments, not keys
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / ".swarm").mkdir()
        script = root / "script.json"
        script.write_text(json.dumps({"rules": rules(ROUNDS)}))
        served = [sys.executable, "-m", "swarmgate.testing", str(script), "--latency", str(LATENCY_S)]
        with serving([*served, "--until-stdin-closes"]) as url:
            began = time.perf_counter()
            asyncio.run(held(root, url, "reference"))
            length = time.perf_counter() - began
            expected = plain(record_of(records(root), "reference"))
            print(f"{ROUNDS} rounds, {len(expected[1])} messages, {length:.2f} s; {kills} kills", flush=True)
            number = tries = 0
            while number < kills and tries < 3 * kills:
                tries += 1
                name = f"killed-{tries}"
                if not killed(root, url, name, chance.uniform(0, length)):
                    continue
                number += 1
                at = record_of(records(root), name)
                stood[f"{len(at.rounds)}.{len(at.partial.done) if at.partial else 0}"] += 1
                wrong = problem(root, url, name, expected)
                good += not wrong
                if wrong:
                    print(f"kill {number}: {wrong}", flush=True)
    print(f"{good} of {kills} as if nobody had killed them")
    print(f"rounds.steps on record at the kill: {dict(sorted(stood.items()))}")
    raise SystemExit(0 if good == kills else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(asyncio.run(held(Path(sys.argv[2]), sys.argv[3], sys.argv[4])))
    else:
        main(*map(int, sys.argv[1:3]))
