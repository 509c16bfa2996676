"""An agent context over a real git repository, whose model plays the replies that a test hands in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.confined import runner
from tests.project import _template, project

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.domain.plan.plan import Complexity, Phase, Plan, Task
from swarmgate.llm.model import ToolCall
from swarmgate.llm.scripted import Scripted, ScriptedModel
from swarmgate.workspace.file_tools.files import FileTree

__all__ = ["_template", "project"]


class Played(ScriptedModel):
    """A scripted model that tests ask what it was told."""

    @property
    def brief(self) -> str:
        """The first user message of the newest request."""
        return self.requests[-1].messages[1].content

    @property
    def heard(self) -> str:
        """The last message of the newest request: the newest tool result, or the newest complaint."""
        return self.requests[-1].messages[-1].content


OpenDesk = Callable[..., tuple[AgentContext, Played]]
Say = Callable[..., ToolCall]


@pytest.fixture
def say() -> Say:
    """`say(tool, **arguments)`: a tool call."""
    return lambda name, **arguments: ToolCall(id="c", name=name, arguments=json.dumps(arguments))


@pytest.fixture
def make_agent(repo: Path) -> OpenDesk:
    """`make_agent(*replies, **changes of the agent context)`: the agent context and its model."""

    def opened(*replies: Scripted, **changes: Any) -> tuple[AgentContext, Played]:
        model = Played(replies, name="local/coder-1")
        settings = {"limits": Limits(replies=2, max_turns=12, command_timeout_s=60), **changes}
        settings.setdefault("commands", runner(repo, output_chars=12_000))
        return AgentContext(model=model, files=FileTree(repo), prompts=Prompts(), **settings), model

    return opened


@pytest.fixture
def task() -> Task:
    """Task 1.2, with two criteria and two files."""
    return Task(
        id="1.2",
        title="Add two",
        description="A function two().",
        acceptance=("two() returns 2", "two() takes no argument"),
        files=("src/app.py", "tests/test_app.py"),
        complexity=Complexity.SMALL,
    )


@pytest.fixture
def other() -> Task:
    """Task 1.3, open, with a file of its own and one that it shares with task 1.2."""
    return Task(id="1.3", title="Docs", acceptance=("x",), files=("docs/guide.md", "src/app.py"))


@pytest.fixture
def plan(task: Task, other: Task) -> Plan:
    """A legal plan of one phase."""
    first = Task(id="1.1", title="Start", acceptance=("a",), files=("README.md",))
    return Plan(title="Demo", phases=(Phase(name="One", tasks=(first, task, other)),))
