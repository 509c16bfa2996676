"""kill -9 at random moments of a debate of 4 voices in 3 rounds, each resumed to its end: nothing lost or doubled.

    python benchmarks/debate_crash.py [KILLS] [SEED]

After each resume: every message of every round once, the tally and the verdict of a debate that nobody killed, and the
ledger counts each call that was answered once. Target: 50 of 50.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from workload import make_project

from swarmgate.domain.events import UsageRecorded
from swarmgate.engine import Swarm
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.background import serving

SEATS, ROUNDS = 4, 3
LATENCY_S = 0.1
MESSAGES = [f"r{n}-msg-{seat:03d}" for n in range(1, ROUNDS + 1) for seat in range(1, SEATS + 1)]


def rules() -> list[dict[str, Any]]:
    """Every voice has something new to say each round; half of them approve; the architect rejects."""

    def rule(role: str, step: str, text: str, **match: str) -> dict[str, Any]:
        return {"match": {"role": role, "step": step, **match}, "replies": [{"text": text}]}

    claims = json.dumps({"claims": [{"text": "{{participant}} on {{round}}", "stance": "for", "evidence": "x"}]})
    votes = [
        rule(
            "participant",
            "debate",
            "FINAL_VERDICT: "
            + json.dumps({"verdict": word, "confidence": 0.8, "reasons": [{"text": "so", "cites": ["r1-msg-001"]}]}),
            round=str(ROUNDS),
            participant=f"v{n}",
        )
        for n, word in enumerate(("APPROVE", "REJECT") * (SEATS // 2))
    ]
    weighed = {"verdict": "REJECT", "summary": "weighed", "reasons": [{"text": "so", "cites": ["r3-msg-002"]}]}
    return [
        rule("participant", "debate", claims),
        *votes,
        rule("architect", "synthesize", json.dumps({**weighed, "confidence": 0.9, "dissent": []})),
    ]


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """`swarm debate` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "swarmgate", "debate", *arguments, "--json", "--repo", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def hold(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """Begins a debate of that id."""
    path = folder.parent / f"{name}.toml"
    voices = "".join(f'[[participants]]\nid = "v{n}"\n' for n in range(SEATS))
    path.write_text(f'question = "Well?"\nid = "{name}"\nrounds = {ROUNDS}\n{voices}')
    return start(folder, str(path))


def problem(folder: Path, name: str, expected: dict[str, Any], end: dict[str, Any]) -> str:
    """What is not as it should be after a resume; empty where all is."""
    project, record = SwarmFolder(folder), Swarm(folder).council.record(name)
    named = [speech.id for held in record.rounds for speech in held.speeches]
    if named != MESSAGES:
        return f"messages: {named}"
    if (end["verdict"], end["tally"]) != (expected["verdict"], expected["tally"]):
        return f"outcome: {end['verdict']} {end['tally']}"
    events = (entry.event for entry, _ in Ledger.read(project).entries())
    mine = (each for each in events if isinstance(each, UsageRecorded) and each.source == f"debate-{name}")
    counted = sum(each.usage.calls for each in mine)
    kept = (project.traces / "council" / f"debate-{name}").glob("*.json")
    answered = sum("reply" in json.loads(path.read_text()) for path in kept)
    return "" if counted == answered else f"{answered} calls were answered, the ledger counts {counted}"


def begins(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Waits until the debate is on record."""
    while not file.exists() and process.poll() is None:
        time.sleep(0.005)


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 2026)  # noqa: S311 - moments, not keys
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "script.json"
        script.write_text(json.dumps({"rules": rules()}))
        served = [
            sys.executable,
            "-m",
            "swarmgate.testing",
            str(script),
            "--latency",
            str(LATENCY_S),
            "--until-stdin-closes",
        ]
        with serving(served) as base_url:
            folder = Path(place) / "project"
            make_project(folder, base_url)
            began = time.perf_counter()
            expected = json.loads(hold(folder, "reference").communicate()[0])
            length = time.perf_counter() - began
            print(f"a debate takes {length:.2f} s; {kills} kills", flush=True)
            good, whole = 0, Counter[int]()
            for number in range(kills):
                name = f"killed-{number}"
                process = hold(folder, name)
                if number % 10:  # every tenth is killed while Python starts, the others inside of the debate
                    begins(folder / ".swarm/traces/debates" / name / "debate.json", process)
                time.sleep(chance.uniform(0, (ROUNDS + 1) * LATENCY_S))
                process.kill()
                process.communicate()
                kept = len(list((folder / ".swarm/traces/debates" / name).glob("round-*.json")))
                begun = name in Swarm(folder).council.ids()
                again = start(folder, "resume", name) if begun else hold(folder, name)
                end = json.loads(again.communicate()[0])
                wrong = problem(folder, name, expected, end)
                whole[kept if begun else -1] += 1
                good += not wrong
                if wrong:
                    print(f"kill {number}: {wrong}", flush=True)
    print(f"{good} of {kills} as if nobody had killed them; whole rounds at the kill: {dict(sorted(whole.items()))}")
    raise SystemExit(0 if good == kills else 1)


if __name__ == "__main__":
    main()
