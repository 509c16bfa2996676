"""kill -9 at random moments of a swarm chat, each resumed to its end: no message lost, none doubled.

    python benchmarks/chat_crash.py [KILLS] [SEED]

Two pairs of agents count against each other at the same time, over HTTP to a scripted server in a process of its own. A
message that is lost ends its row early, one that is doubled stands twice. The chat is killed when a random number of
messages is on record, and a random moment later. Target: 50 of 50.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from typer.testing import CliRunner
from workload import make_project

from swarmgate.cli.app import app
from swarmgate.workspace.background import serving

PAIRS = {"a": ("ada", "bob"), "c": ("cyd", "dee")}
LAST = 12
KILLS, SEED = 50, 2026
_LONGEST_S = 120


def script() -> dict[str, Any]:
    """Who has heard a number says the next one to the other of the pair; everybody else has nothing to say."""
    rules: list[dict[str, Any]] = [{"match": {"role": "participant"}, "replies": [{"text": "Read."}]}]
    for row, pair in PAIRS.items():
        for number in range(LAST):
            speaker, other = pair[number % 2], pair[(number + 1) % 2]
            heard = f"{row}{number}." if number else "Begin."
            call = {"name": "send_message", "arguments": {"to": other, "content": f"{row}{number + 1}."}}
            match = {"role": "participant", "step": "chat", "participant": speaker, "contains": heard}
            rules.append({"match": match, "replies": [{"tool_calls": [call]}, {"text": "Said."}]})
        match = {"role": "participant", "step": "chat", "participant": pair[LAST % 2], "contains": f"{row}{LAST}."}
        rules.append({"match": match, "replies": [{"text": "That was the last one."}]})
    return {"rules": rules}


def chat_file(name: str) -> str:
    """The chat as TOML."""
    agents = "".join(f'[[agents]]\nid = "{agent}"\n' for pair in PAIRS.values() for agent in pair)
    return f'id = "{name}"\n{agents}[initial]\nfrom = "moderator"\nto = "all"\ncontent = "Begin."\n'


def told(folder: Path, *arguments: str) -> Any:
    """What a command prints, run in this process: only what is killed is one of its own. It must succeed."""
    done = CliRunner().invoke(app, ["chat", *arguments, "--repo", str(folder), "--json"])
    if done.exit_code:
        raise SystemExit(f"swarm chat {' '.join(arguments)}: exit {done.exit_code}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def recorded(folder: Path, name: str) -> int:
    """Messages on record now."""
    try:
        with closing(sqlite3.connect(f"file:{folder / '.swarm/runtime/chats.sqlite3'}?mode=ro", uri=True)) as database:
            row = database.execute("SELECT count(*) FROM agent_messages WHERE swarm_id = ?", (name,)).fetchone()
            return int(row[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


def killed(folder: Path, name: str, *, at: int, pause: float) -> bool:
    """Begins a chat and kills it; whether that came before its end."""
    file = folder.parent / f"{name}.toml"
    file.write_text(chat_file(name))
    process = subprocess.Popen(
        [sys.executable, "-m", "swarmgate", "chat", str(file), "--repo", str(folder), "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + _LONGEST_S
    while recorded(folder, name) < at and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.returncode == -signal.SIGKILL


def problem(record: dict[str, Any]) -> str:
    """What is wrong with a whole chat; empty: nothing."""
    messages = [each["message"] for each in record["messages"]]
    said = [each["content"] for each in messages[1:]]
    expected = {f"{row}{number}." for row in PAIRS for number in range(1, LAST + 1)}
    if doubled := [content for content, times in Counter(said).items() if times > 1]:
        return f"doubled: {doubled}"
    if lost := sorted(expected - set(said)):
        return f"lost: {lost}"
    if [each["number"] for each in messages] != list(range(1, len(messages) + 1)):
        return "the numbers have gaps"
    unread = [each for each in record["messages"] if None in each["read"].values()]
    return f"{len(unread)} messages were never read" if unread else ""


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else SEED)  # noqa: S311 - moments, not keys
    whole, before_the_end = 0, 0
    with tempfile.TemporaryDirectory() as place:
        rules = Path(place) / "script.json"
        rules.write_text(json.dumps(script()))
        with serving([sys.executable, "-m", "swarmgate.testing", str(rules), "--until-stdin-closes"]) as base_url:
            folder = Path(place) / "project"
            make_project(folder, base_url)
            for number in range(kills):
                name = f"chat-{number}"
                at, pause = chance.randint(1, len(PAIRS) * LAST), chance.uniform(0, 0.02)
                if killed(folder, name, at=at, pause=pause):
                    open_still = told(folder, "show", name)["result"] is None
                    before_the_end += open_still
                    if open_still:
                        told(folder, "resume", name)
                wrong = problem(told(folder, "show", name))
                whole += not wrong
                if wrong:
                    print(f"kill {number} at message {at}: {wrong}", flush=True)
    print(f"{whole} of {kills} whole; {before_the_end} were killed before their end and resumed")
    raise SystemExit(0 if whole == kills and before_the_end else 1)


if __name__ == "__main__":
    main()
