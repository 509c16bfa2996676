"""The tools that ask models, by the reference client over stdio: what they answer, tell on the way and leave behind."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import McpError
from tests.council.debate_script import debating, speech
from tests.council.decision.conftest import facilitates, says, stance
from tests.council.discussion_script import discussing
from tests.mcp.conftest import Connect, told
from tests.project import GOAL, Project, rule, until

from mcp import types
from swarmgate.engine import Swarm

pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

VOICES = ["advocate", "challenger"]
WITHIN = timedelta(seconds=120)


class Progress:
    """Keeps what a client was told of a call."""

    def __init__(self) -> None:
        self.counts, self.texts = list[float](), list[str]()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.counts.append(progress)
        self.texts.append(message or "")


async def test_councils_are_held_by_the_models_of_the_settings_and_tell_how_far_they_are(
    project: Project, start: Connect
) -> None:
    project.play(
        *debating(votes={"challenger": "REJECT"}), *discussing(), says(None, stance("agree", 0.9)), facilitates("{}")
    )
    heard: dict[str, Progress] = {}
    async with start(project.root) as client:

        async def held(tool: str, **given: Any) -> dict[str, Any]:
            heard[tool] = Progress()
            answer = await client.call_tool(tool, given, read_timeout_seconds=WITHIN, progress_callback=heard[tool])
            found: dict[str, Any] = told(answer)["result"]
            return found

        debated = await held("debate", question="Is it sound?", participants=VOICES, rounds=2)
        discussed = await held("discuss", topic="Who rotates the keys?", mode="lightweight", rounds=1)
        decided = await held("decide", question="Do we rotate?", participants=["ann", "bob"], strategy="unanimous")
    council = Swarm(project.root).council
    assert debated["outcome"]["verdict"] == "APPROVE"
    assert council.record(debated["outcome"]["id"]).outcome is not None
    assert "machine" in discussed["conclusion"]["executiveSummary"]
    assert decided["outcome"]["consensus"]
    assert council.discussion_record(discussed["id"]).conclusion is not None
    assert council.decision_record(decided["outcome"]["id"]).outcome is not None
    for tool, progress in heard.items():
        assert progress.counts == sorted(progress.counts), tool
        assert any("round" in each for each in progress.texts), (tool, progress.texts)


async def test_a_plan_is_worked_on_until_it_is_the_persons_turn(project: Project, start: Connect) -> None:
    project.play(gates={"skip": ["sast_scan", "build_check", "sbom_generate"]})
    heard = Progress()
    async with start(project.root) as client:
        planned = told(await client.call_tool("plan", {"goal": GOAL}, read_timeout_seconds=WITHIN))["result"]
        assert planned["outcome"]["waiting"] == "plan_approval"
        project.swarm("approve")
        ran = await client.call_tool("run", {}, read_timeout_seconds=WITHIN, progress_callback=heard)
        worked = told(ran)["result"]
    assert (worked["outcome"]["waiting"], worked["exit_code"]) == ("phase_approval", 3)
    assert project.state.task("1.1").settled
    assert any(each.startswith("task 1.1: ") for each in heard.texts), heard.texts


async def test_a_council_whose_call_is_cancelled_stops_and_is_gone_on_with(project: Project, start: Connect) -> None:
    hangs = rule(
        "participant",
        "debate",
        {"fault": {"kind": "hang", "times": 1}},
        {"text": speech()},
        round="1",
        participant="challenger",
    )
    project.play(*debating(), hangs)
    async with start(project.root) as client:
        asked = {"question": "Is it sound?", "participants": VOICES, "rounds": 2}
        call = asyncio.ensure_future(client.call_tool("debate", asked))
        await asyncio.to_thread(until, lambda: len(project.requests) == len(VOICES))
        cancelled = types.CancelledNotificationParams(requestId=1, reason="enough")  # 0 was `initialize`
        await client.send_notification(types.ClientNotification(types.CancelledNotification(params=cancelled)))
        with pytest.raises(McpError, match="cancelled"):
            await asyncio.wait_for(call, 60)
        told(await client.call_tool("guard_check", {"command": "ls"}))
    (held,) = Swarm(project.root).council.ids()
    assert _spoken(project.root, held) <= {"advocate"}
    await Swarm(project.root).council.resume(held)
    assert _spoken(project.root, held) == set(VOICES)
    assert Swarm(project.root).council.record(held).outcome is not None


def _spoken(root: Path, debate: str) -> set[str]:
    """Who has said something that is on record."""
    return {said.seat for each in Swarm(root).council.record(debate).rounds for said in each.speeches}
