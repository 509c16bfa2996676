"""A coder's turn through the real client against a scripted endpoint: what DESIGN.md says about the wire."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.confined import runner

from swarmgate.agents.briefs.house_rules import HouseRules, everywhere
from swarmgate.agents.context import AgentContext
from swarmgate.agents.prompts import Prompts
from swarmgate.agents.roles.coder import code
from swarmgate.config import Config, Provider, Role
from swarmgate.domain.plan.plan import Task
from swarmgate.errors import NoUsableReply
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import connect
from swarmgate.testing import ScriptedServer
from swarmgate.workspace.file_tools.files import FileTree


async def coded(server: ScriptedServer, repo: Path, task: Task, *, tools: bool) -> str:
    provider = Provider.model_validate({"base_url": server.base_url, "tools": tools})
    config = Config(providers={"local": provider}, roles={"coder": Role.model_validate({"model": "local/coder-1"})})
    model = connect("coder", config, environ={}, recorder=None, budget=Budget())
    agent = AgentContext(
        model=model,
        files=FileTree(repo),
        prompts=Prompts(),
        commands=runner(repo),
        house_rules=everywhere(HouseRules("AGENTS.md", "ROLE: architect")),
    )

    async def gates() -> str:
        return "all pass"

    try:
        done = await code(
            agent, task=task, attempt=2, scope=task.files, instructions="Add two().", feedback="", run_gates=gates
        )
        assert isinstance(done, str)
        return done
    finally:
        await model.aclose()


@pytest.mark.parametrize("tools", [True, False], ids=["native tools", "json in text"])
async def test_a_turn_over_http(repo: Path, task: Task, *, tools: bool) -> None:
    write = {"path": "src/app.py", "content": "def two():\n    return 2\n"}
    replies = [
        {"text": "Let me think."},
        {"fault": {"kind": "wrong_tool"}},
        {"tool_calls": [{"name": "write_file", "arguments": '{"path": "src/app.py'}]},
        {"tool_calls": [{"name": "write_file", "arguments": write}]},
        {"tool_calls": [{"name": "finish", "arguments": {"summary": "did {{task}}"}}]},
    ]
    with ScriptedServer([{"match": {"role": "coder", "task": "1.2"}, "replies": replies}]) as server:
        assert await coded(server, repo, task, tools=tools) == "did 1.2"
    assert (repo / "src/app.py").read_text() == write["content"]
    assert len(server.requests) == 5
    for request in server.requests:
        assert [message["role"] for message in request.messages].count("system") == 1
        assert request.messages[0]["role"] == "system"
        assert request.headers == {
            "ROLE": "coder",
            "STEP": "code",
            "TASK": "1.2",
            "ATTEMPT": "2",
            "FILE": ["src/app.py", "tests/test_app.py"],
        }
    if tools:
        assert server.requests[0].tools[-3:] == ("run_command", "run_gates", "finish")


@pytest.mark.parametrize("kind", ["huge", "wrong_tool"])
async def test_an_endpoint_that_never_gives_a_usable_answer_is_given_up(repo: Path, task: Task, kind: str) -> None:
    fault = {"kind": kind, "times": 9} if kind == "wrong_tool" else {"kind": kind}
    script = [{"replies": [{"fault": fault}, {"tool_calls": [{"name": "finish", "arguments": {"summary": ""}}]}]}]
    with ScriptedServer(script) as server, pytest.raises(NoUsableReply):
        await coded(server, repo, task, tools=True)
    assert len(server.requests) == 4
