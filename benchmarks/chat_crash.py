"""Crash test: kill -9 at random moments of a swarm chat, each resumed; no message may be lost or doubled.

    python benchmarks/chat_crash.py [KILLS] [SEED]

Two pairs of agents count against each other at the same time, over HTTP to a scripted server in a process of its own. A
message that is lost ends its row early, one that is doubled stands twice. Target: 50 of 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from council_crash import Case, main

PAIRS = {"a": ("ada", "bob"), "c": ("cyd", "dee")}
LAST = 12


def rules() -> list[dict[str, Any]]:
    """Who has heard a number says the next one to the other of the pair; everybody else has nothing to say."""
    found: list[dict[str, Any]] = [{"match": {"role": "participant"}, "replies": [{"text": "Read."}]}]
    for row, pair in PAIRS.items():
        for number in range(LAST):
            speaker, other = pair[number % 2], pair[(number + 1) % 2]
            expected = f"{row}{number}." if number else "Begin."
            call = {"name": "send_message", "arguments": {"to": other, "content": f"{row}{number + 1}."}}
            match = {"role": "participant", "step": "chat", "participant": speaker, "contains": expected}
            found.append({"match": match, "replies": [{"tool_calls": [call]}, {"text": "Said."}]})
        match = {"role": "participant", "step": "chat", "participant": pair[LAST % 2], "contains": f"{row}{LAST}."}
        found.append({"match": match, "replies": [{"text": "That was the last one."}]})
    return found


def begin(folder: Path, name: str) -> Sequence[str]:
    """The chat as a file."""
    agents = "".join(f'[[agents]]\nid = "{agent}"\n' for pair in PAIRS.values() for agent in pair)
    file = folder / f"{name}.toml"
    file.write_text(f'id = "{name}"\n{agents}[initial]\nfrom = "moderator"\nto = "all"\ncontent = "Begin."\n')
    return ("hold", str(file))


def result_of(record: dict[str, Any]) -> Any:
    """How it ended, and what was said; the two rows go on beside each other, so the order of all messages is any."""
    return record["result"]["end"], sorted(each["message"]["content"] for each in record["messages"])


def problem(record: dict[str, Any]) -> str:
    """Whether the numbers of messages have gaps, or one was never read."""
    numbers = [each["message"]["number"] for each in record["messages"]]
    if numbers != list(range(1, len(numbers) + 1)):
        return "the numbers have gaps"
    unread = [each for each in record["messages"] if None in each["read"].values()]
    return f"{len(unread)} messages were never read" if unread else ""


if __name__ == "__main__":
    main(Case("chat", "chat", rules(), begin, result_of, problem))
