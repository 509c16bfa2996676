"""The council as a library: three views of one question, a debate with a verdict, and a swarm chat.

Run it with `python examples/council.py`. The repository is a fresh one in a temporary folder, and everything is kept in
its `.swarm/`. With the address of your own endpoint in place of the `ScriptedServer`, no rules are needed.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from swarmgate.engine import Swarm
from swarmgate.engine.initialise import initialise
from swarmgate.testing import ScriptedServer

DESIGN = "Uploads are kept in memory, and written to disk every five minutes. A restart takes a second."


def claims(*texts: str) -> dict[str, Any]:
    """A speech: claims as a voice lists them."""
    listed = [{"text": text, "stance": "against", "evidence": "docs/design.md"} for text in texts]
    return {"text": json.dumps({"claims": listed})}


def votes(verdict: str, reason: str, *cites: str, **more: Any) -> dict[str, Any]:
    """A vote; with `summary` and `dissent` it is a synthesis."""
    ballot = {"verdict": verdict, "confidence": 0.8, "reasons": [{"text": reason, "cites": cites}], **more}
    return {"text": f"FINAL_VERDICT:\n{json.dumps(ballot)}"}


def calls(tool: str, **arguments: str) -> dict[str, Any]:
    """A turn that calls a tool."""
    return {"tool_calls": [{"name": tool, "arguments": arguments}]}


def voice(step: str, *replies: dict[str, Any], role: str = "participant", **match: str) -> dict[str, Any]:
    """What one voice says."""
    return {"match": {"role": role, "step": step, **match}, "replies": list(replies)}


RULES = [
    voice("dispatch", {"text": "Memory grows with every upload; nothing bounds it."}, participant="reviewer"),
    voice("dispatch", {"text": "No test restarts the server between upload and write."}, participant="test_engineer"),
    voice("debate", claims("A restart is rare, and takes a second only."), participant="advocate", round="1"),
    voice("debate", claims("A restart loses five minutes of uploads."), participant="challenger", round="1"),
    voice("debate", votes("REJECT", "The loss is real.", "r1-msg-002"), participant="advocate", round="2"),
    voice("debate", votes("REJECT", "Uploads are lost.", "r1-msg-002"), participant="challenger", round="2"),
    voice(
        "synthesize",
        votes("REJECT", "A restart loses uploads.", "r1-msg-002", summary="Write uploads through.", dissent=[]),
        role="architect",
    ),
    voice("chat", calls("send_message", to="disk", content="What does writing through cost?"), participant="lead"),
    voice("chat", calls("send_message", to="lead", content="2 ms an upload."), {"text": "Done."}, participant="disk"),
    voice(
        "chat",
        calls("synthesize", summary="Write through: it costs 2 ms."),
        participant="lead",
        contains="2 ms an upload",
    ),
]


def make_repository(root: Path, base_url: str) -> None:
    """A repository with a design in it, and settings that name the models."""
    (root / "docs").mkdir()
    (root / "docs/design.md").write_text(DESIGN + "\n", encoding="utf-8")
    for arguments in (
        ("init", "--quiet"),
        ("config", "user.name", "Ada Example"),
        ("config", "user.email", "ada@example.com"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "Start"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    initialise(root)
    with (root / ".swarm/config.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'\n[providers.scripted]\nbase_url = "{base_url}"\n')
        settings.write('\n[roles.default]\nmodel = "scripted/senior"\n')


async def work(root: Path) -> None:
    """Asks, debates and talks; prints what came of it."""
    council = Swarm(root).council
    asked = await council.dispatch(
        mode="parallel",
        tasks=[
            {"role": "reviewer", "text": "What fails first in docs/design.md?"},
            {"role": "test_engineer", "text": "Which test of docs/design.md is missing?"},
        ],
    )
    tell(f"{asked.mode}: {asked.summary}")
    for reply in asked.replies:
        tell(f"  {reply.name}: {reply.text}")

    outcome = await council.debate(
        "Is this design sound?",
        participants=["advocate", "challenger=scripted/junior"],
        files=["docs/design.md"],
    )
    tell(f"debate: {outcome.verdict} after {outcome.rounds} rounds, by {outcome.decided_by}")
    for held in council.record(outcome.id).rounds:
        for speech in held.speeches:
            said = speech.ballot.vote if speech.ballot else speech.claims[0].text
            tell(f"  {speech.id} {speech.seat}: {said}")

    ended = await council.swarm(
        ttl_s=60,
        agents=[{"id": "lead"}, {"id": "disk", "system": "You know what a write costs."}],
        initial={"from": "moderator", "to": "lead", "content": "Find out what writing through costs."},
    )
    tell(f"chat: {ended.end} by {ended.by} after {ended.messages} messages: {ended.summary}")


def tell(line: str) -> None:
    """Prints a line."""
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """Holds one council of each kind."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(RULES) as server:
        root = Path(folder).resolve()
        make_repository(root, server.base_url)
        asyncio.run(work(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
