"""A discussion as a library: two given experts, a moderator and a contrarian, and what was counted in their round.

Run it with `python examples/discussion.py`. The repository is a fresh one in a temporary folder, and everything is kept
in its `.swarm/`. With the address of your own endpoint in place of the `ScriptedServer`, no rules are needed.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from swarmgate.council.discussion.model import Choice, ChoiceKind, DiscussionRecord
from swarmgate.council.discussion.user_choices import FOLLOWING
from swarmgate.engine import Swarm
from swarmgate.engine.initialise import initialise
from swarmgate.testing import ScriptedServer

PERSONAS = Path(__file__).with_name("personas.toml")


def says(step: str, prose: str = "", data: dict[str, Any] | None = None, **match: str) -> dict[str, Any]:
    """What a voice answers in a step: prose and one JSON object."""
    text = f"{prose}\n```json\n{json.dumps(data)}\n```" if data else prose
    return {"match": {"role": "participant", "step": step, **match}, "replies": [{"text": text}]}


def link(to: str, kind: str, steel_man: str = "") -> dict[str, str]:
    """A link to an earlier message."""
    return {"to": to, "kind": kind, "steelMan": steel_man}


WOULD = "a rotation that cost more than the leak"
RULES = [
    says(
        "position",
        data={"position": "Every 30 days.", "confidence": 0.8, "wouldChangeIf": WOULD},
        participant="security-lead",
    ),
    says(
        "position",
        data={"position": "After an incident only.", "confidence": 0.6, "wouldChangeIf": WOULD},
        participant="operator",
    ),
    says("frame", data={"faultLines": [{"axis": "safety against stability"}], "disagreementBudget": 4}),
    says(
        "argue",
        "A key that leaked in May is still good in December.",
        {"links": [link("r1-msg-002", "counters", "A rotation that nobody needs is an outage that nobody needs.")]},
        participant="security-lead",
    ),
    says(
        "argue",
        "A machine could do it every week, if it can go back by itself.",
        {"links": [link("r1-msg-001", "extends")]},
        participant="operator",
    ),
    says(
        "attack",
        "Who notices that the machine stopped rotating?",
        {"links": [link("r1-msg-005", "counters", "A machine forgets nothing and is never tired.")]},
    ),
    says("respond", "An alert on the age of a key.", {"links": [link("r1-msg-006", "responds_to")], "shift": "none"}),
    says(
        "respond",
        "With that alert I can live with it.",
        {
            "links": [link("r1-msg-004", "supports")],
            "shift": {"kind": "major", "reason": "the leak of May", "cites": ["r1-msg-004"]},
            "position": "Every week, by a machine.",
            "confidence": 0.7,
        },
        participant="operator",
    ),
    says(
        "assess",
        data={
            "genuineDisagreement": 4,
            "evidenceQuality": 3,
            "steelManning": 4,
            "novelInsights": 3,
            "positionEvolution": 4,
            "overall": 4,
            "summary": "A machine that rotates keys every week is held against people who look at each rotation. The "
            "machine wins on speed; that nobody looks was countered, and an alert on the age of each key answers it.",
            "recommendationReason": "What a rotation costs is still open.",
            "agreements": [{"point": "A machine rotates.", "supporters": ["security-lead", "operator"]}],
            "recommendation": "continue",
        },
    ),
    says(
        "conclude",
        data={
            "executiveSummary": "Rotate by a machine, every week, with an alert on the age of each key. "
            + "That nobody looks at a rotation any more was countered, and it was answered by the alert. " * 5,
            "agreements": [{"text": "A machine rotates.", "resolvedBy": "argument", "cites": ["r1-msg-008"]}],
            "minorityReport": [{"text": "A stopped machine looks like a healthy one.", "cites": ["r1-msg-006"]}],
        },
    ),
]


class Brief:
    """A user who takes the cast, says nothing, and goes to the synthesis after the first round."""

    confirm = FOLLOWING.confirm
    speak = FOLLOWING.speak

    async def choose(self, record: DiscussionRecord) -> Choice:
        """The synthesis."""
        return Choice(after=len(record.rounds), kind=ChoiceKind.SYNTHESIZE)


def make_repository(root: Path, base_url: str) -> None:
    """A repository with settings that name the model."""
    for arguments in (
        ("init", "--quiet"),
        ("config", "user.name", "Ada Example"),
        ("config", "user.email", "ada@example.com"),
        ("commit", "--quiet", "--allow-empty", "--message", "Start"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    initialise(root)
    with (root / ".swarm/config.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'\n[providers.scripted]\nbase_url = "{base_url}"\n')
        settings.write('\n[roles.default]\nmodel = "scripted/senior"\n')


async def work(root: Path) -> None:
    """Holds the discussion; prints what came of it."""
    council = Swarm(root).council
    record = await council.discuss(
        "How often do keys rotate, and who does it?", mode="lightweight", personas=PERSONAS, people=Brief()
    )
    for message in record.rounds[0].messages:
        links = ", ".join(f"{each.kind} {each.to}" for each in message.links)
        tell(f"{message.id} {message.author}, {message.step}{f': {links}' if links else ''}")
    counted = record.rounds[0].measured
    if counted and record.conclusion:
        tell(f"counted: {counted.counters} counters, {counted.steel_mans} steel-mans, {counted.shifts} shifts")
        tell(record.conclusion.executive_summary)
        for each in record.conclusion.agreements:
            tell(f"agreed by {each.resolved_by}: {each.text} {list(each.cites)}")


def tell(line: str) -> None:
    """Prints a line."""
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """Holds one discussion."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(RULES) as server:
        root = Path(folder).resolve()
        make_repository(root, server.base_url)
        asyncio.run(work(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
