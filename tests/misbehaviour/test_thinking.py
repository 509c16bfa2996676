"""What a model only thinks, takes back or says in two ways, over the real wire and through the real readers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.llm.parsing.spellings import SPELLINGS, THOUGHTS
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import Scene

from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.coder import code
from swarmgate.agents.roles.reviewer import Submission, review
from swarmgate.config import Config, Provider, Role
from swarmgate.domain.guard import Effect
from swarmgate.domain.review.evidence import Review
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import connect
from swarmgate.llm.programs.command_model import CommandModel, Ran
from swarmgate.testing import ScriptedServer

APPROVED = {"verdict": "APPROVED", "summary": "tempting"}
REJECTED = {"verdict": "REJECTED", "summary": "no test of two()"}
FINISH = {"summary": "all done"}
WRITTEN = {"path": "src/app.py", "content": "THINK = '<think>'\nEND = '</think>'\n\n\ndef two():\n    return 2\n"}


def spelt(name: str, arguments: dict[str, Any], spelling: str = "our own, one by one") -> str:
    return SPELLINGS[spelling]([(name, arguments)])


@asynccontextmanager
async def at_the_wire(
    agent: AgentContext, *replies: Any, tools: bool
) -> AsyncIterator[tuple[AgentContext, ScriptedServer]]:
    """The agent context with a model behind a real endpoint that gives these replies."""
    told = [{"text": each} if isinstance(each, str) else each for each in replies]
    with ScriptedServer([{"replies": told}]) as server:
        provider = Provider.model_validate({"base_url": server.base_url, "tools": tools, "max_retries": 0})
        config = Config(providers={"local": provider}, roles={"default": Role.model_validate({"model": "local/m"})})
        model = connect("reviewer", config, environ={}, recorder=None, budget=Budget())
        try:
            yield replace(agent, model=model), server
        finally:
            await model.aclose()


async def reviewed(agent: AgentContext, scene: Scene) -> Review:
    work = Submission(
        task=scene.task, attempt=1, scope=scene.task.files, patch="+x\n", gates="ruff: PASS", test_command="pytest -q"
    )
    return await review(agent, work)


async def coded(agent: AgentContext, scene: Scene) -> str:
    async def gates() -> str:
        return "ruff: PASS"

    task = scene.task
    done = await code(agent, task=task, attempt=1, scope=task.files, instructions="x", feedback="", run_gates=gates)
    assert isinstance(done, str)
    return done


def heard(server: ScriptedServer) -> str:
    """What the model was told after its brief."""
    return "\n".join(str(each["content"]) for each in server.requests[-1].messages[2:])


@pytest.mark.slow
@case(
    "lies",
    "a verdict inside of thinking, in each of 19 forms, before the one that is given; without native tools",
    "thinking is cut out before anything is read: the verdict is the one behind it",
)
async def test_a_verdict_in_thinking(scene: Scene) -> None:
    for opening, closing in THOUGHTS.values():
        said = f"{opening}Tempting: {spelt('submit_verdict', APPROVED)}{closing}\n{spelt('submit_verdict', REJECTED)}"
        async with at_the_wire(scene.agent("reviewer", "review"), said, tools=False) as (agent, server):
            assert (await reviewed(agent, scene)).verdict == "REJECTED"
            assert len(server.requests) == 1
    assert scene.turns[-1].thinking > 0


@case(
    "lies",
    "a verdict in thinking that is never closed, or was opened by the prompt; natively and without tools",
    "nothing of it is read: the model is told that thinking is no answer, and asked again",
)
@pytest.mark.parametrize("tools", [True, False], ids=["native tools", "text"])
async def test_a_verdict_in_thinking_alone(scene: Scene, tools: bool) -> None:  # noqa: FBT001 - a parameter of the test
    given = {"tool_calls": [{"name": "submit_verdict", "arguments": REJECTED}]}
    said = (f"<think>Tempting: {spelt('submit_verdict', APPROVED)}", f"{spelt('submit_verdict', APPROVED)}\n</think>")
    async with at_the_wire(scene.agent("reviewer", "review"), *said, given, tools=tools) as (agent, server):
        assert (await reviewed(agent, scene)).verdict == "REJECTED"
    assert heard(server).count("The reply is thinking alone") == 2


@case(
    "lies",
    "`finish` inside of thinking, before the files are written",
    "the turn goes on: what is thought ends nothing",
)
async def test_finish_in_thinking(scene: Scene) -> None:
    said = f"<think>Or {spelt('finish', {'summary': 'nothing done'})}?</think>\n{spelt('write_file', WRITTEN)}"
    async with at_the_wire(scene.agent("coder", "code"), said, spelt("finish", FINISH), tools=False) as (agent, _):
        assert await coded(agent, scene) == "all done"
    assert (scene.root / "src/app.py").read_text() == WRITTEN["content"]


@pytest.mark.parametrize("spelling", ["our own", "Hermes", "Qwen3-Coder", "GLM", "Gemma"])
async def test_code_that_speaks_of_thinking_is_written_as_it_is(scene: Scene, spelling: str) -> None:
    said = f"<think>I write it.</think>\n{spelt('write_file', WRITTEN, spelling)}"
    async with at_the_wire(scene.agent("coder", "code"), said, spelt("finish", FINISH, spelling), tools=False) as (
        agent,
        server,
    ):
        assert await coded(agent, scene) == "all done"
    assert len(server.requests) == 2
    assert (scene.root / "src/app.py").read_text() == WRITTEN["content"]
    assert len(scene.noted("repaired", Effect.NOTED)) == (0 if spelling == "our own" else 2)


@case(
    "lies",
    "two verdicts in one answer: in text, natively and in text at once, and by an agent program",
    "none of them is chosen: it is asked again",
)
@pytest.mark.parametrize("where", ["text", "native and text", "two native"])
async def test_two_verdicts(scene: Scene, where: str) -> None:
    approval = {"name": "submit_verdict", "arguments": APPROVED}
    rejection = {"name": "submit_verdict", "arguments": REJECTED}
    both: Any = {
        "text": {"text": f"{spelt('submit_verdict', APPROVED)}\nOr rather:\n{spelt('submit_verdict', REJECTED)}"},
        "native and text": {"text": spelt("submit_verdict", REJECTED), "tool_calls": [approval]},
        "two native": {"tool_calls": [approval, rejection]},
    }[where]
    last = {"tool_calls": [rejection]} if where != "text" else spelt("submit_verdict", REJECTED)
    async with at_the_wire(scene.agent("reviewer", "review"), both, last, tools=where != "text") as (agent, server):
        assert (await reviewed(agent, scene)).verdict == "REJECTED"
    assert "Not carried out: " in heard(server)


async def test_two_verdicts_of_a_program(scene: Scene) -> None:
    outputs = [
        f"{spelt('submit_verdict', APPROVED)}\nOn second thoughts:\n{spelt('submit_verdict', REJECTED)}",
        f"<think>{spelt('submit_verdict', APPROVED)}</think>\n{spelt('submit_verdict', REJECTED)}",
    ]
    briefs: list[str] = []

    async def program(command: str, *, brief: str, writes: bool, on_line: Callable[[bytes], None] | None = None) -> Ran:
        assert command == "agent"
        assert not writes
        assert on_line
        briefs.append(brief)
        return Ran(exit_code=0, stdout=outputs[len(briefs) - 1], stderr="")

    agent = replace(scene.agent("reviewer", "review"), model=CommandModel("command:agent", program))
    assert (await reviewed(agent, scene)).verdict == "REJECTED"
    assert "Not carried out: submit_verdict and submit_verdict" in briefs[1]


@case(
    "lies",
    "a verdict that is taken back by the words behind it: `Wait, no: there is no test.`",
    "it is no verdict: a verdict is the last word, and is asked for again",
)
async def test_a_verdict_that_is_taken_back(scene: Scene) -> None:
    said = f"{spelt('submit_verdict', APPROVED)}\nWait, no: there is no test of two()."
    replies = (said, said, spelt("submit_verdict", REJECTED))
    async with at_the_wire(scene.agent("reviewer", "review"), *replies, tools=False) as (agent, server):
        assert (await reviewed(agent, scene)).verdict == "REJECTED"
    assert heard(server).count("words stand behind submit_verdict") == 2


async def test_a_turn_that_ends_with_words_behind_its_end_is_asked_once_and_then_believed(scene: Scene) -> None:
    said = f"{spelt('finish', FINISH)}\nThis ends my turn."
    async with at_the_wire(scene.agent("coder", "code"), said, said, tools=False) as (agent, server):
        assert await coded(agent, scene) == "all done"
    assert len(server.requests) == 2


@case(
    "lies",
    "`finish` before further calls of the same reply",
    "nothing of the reply is carried out: what ends a turn is its last call",
)
async def test_an_end_that_is_none(scene: Scene) -> None:
    said = f"{spelt('finish', FINISH)}\n{spelt('write_file', WRITTEN)}"
    replies = (said, spelt("write_file", WRITTEN) + spelt("finish", FINISH))
    async with at_the_wire(scene.agent("coder", "code"), *replies, tools=False) as (agent, server):
        assert await coded(agent, scene) == "all done"
    assert "finish ends your turn, and write_file stands behind it" in heard(server)


@case(
    "lies",
    "a verdict that can be read in two ways: quotes within quotes, a key twice, arguments twice, cut off",
    "it is never put right, however clear it may look: it is asked again",
)
async def test_a_verdict_with_two_readings(scene: Scene) -> None:
    said = (
        "{'tool': 'submit_verdict', 'arguments': {'verdict': 'APPROVED', 'summary': 'it says \"no\"'}}",
        '{"tool": "submit_verdict", "arguments": {"verdict": "REJECTED", "summary": "s", "verdict": "APPROVED"}}',
        f'{{"tool": "submit_verdict", "arguments": {json.dumps(REJECTED)}, "parameters": {json.dumps(APPROVED)}}}',
        '{"tool": "submit_verdict", "arguments": {"verdict": "APPROVED", "summary": "cut off"}',
        "<function=submit_verdict><parameter=verdict>REJECTED</parameter><parameter=verdict>APPROVED</parameter></function>",
    )
    for each in said:
        replies = (each, spelt("submit_verdict", REJECTED))
        async with at_the_wire(scene.agent("reviewer", "review"), *replies, tools=False) as (agent, server):
            assert (await reviewed(agent, scene)).verdict == "REJECTED"
            assert len(server.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("spelling", ["Hermes", "Anthropic", "DeepSeek V3", "Kimi", "harmony", "Llama 3"])
async def test_a_verdict_with_one_reading_counts_in_every_spelling(scene: Scene, spelling: str) -> None:
    said = f"<think>Tempting: APPROVED.</think>\n{spelt('submit_verdict', REJECTED, spelling)}\n"
    async with at_the_wire(scene.agent("reviewer", "review"), said, tools=False) as (agent, server):
        found = await reviewed(agent, scene)
    assert (found.verdict, found.summary, len(server.requests)) == ("REJECTED", REJECTED["summary"], 1)
