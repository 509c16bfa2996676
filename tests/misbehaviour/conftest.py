"""A scene: a scripted model that misbehaves, in a real agent context, repository and sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conftest import Played, make_agent, other, plan, say, task
from tests.confined import SANDBOX, runner
from tests.project import _after, _template, once, project

from swarmgate.agents.authority.authority import Authority, right_of
from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.roles.architect import delegate, implement
from swarmgate.agents.roles.coder import code
from swarmgate.agents.roles.reviewer import Submission, review
from swarmgate.agents.roles.test_engineer import test as write_tests
from swarmgate.domain.guard import Effect, GuardNote, Turn
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.domain.review.evidence import Review
from swarmgate.llm.model import ToolCall
from swarmgate.workspace.detect import detect, is_test_path
from swarmgate.workspace.process.process import Completed
from swarmgate.workspace.sandbox.command_runner import CommandRunner

__all__ = ["_after", "_template", "make_agent", "once", "other", "plan", "project", "say", "task"]

SECRET = "the-secret-of-the-user"
HOME = Path("/home/dev")
"""What `~` is in commands that are never started: temporary folders, where the homes of tests lie, may be written."""


def call(name: str, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(id="c", name=name, arguments=json.dumps(arguments))


def write(path: str, content: str = "mine now\n") -> ToolCall:
    return call("write_file", path=path, content=content)


def run(command: str, **arguments: Any) -> ToolCall:
    return call("run_command", command=command, **arguments)


def verdict(word: str = "APPROVED", summary: str = "as the criteria say", **more: Any) -> ToolCall:
    return call("submit_verdict", verdict=word, summary=summary, **more)


FINISH = call("finish", summary="done")


class NeverStarts(CommandRunner):
    """Stands where commands are started; for those that no machine should run, also not when a guard fails."""

    async def run(self, command: object, **_options: Any) -> Completed:
        raise AssertionError(f"it was started: {command}")


@dataclass
class Scene:
    """Roles at their agent contexts. `notes` is what goes on record of guards, `turns` what turns took."""

    root: Path
    home: Path
    task: Task
    plan: Plan
    others: dict[str, Task]
    open_desk: Callable[..., tuple[AgentContext, Played]]
    notes: list[GuardNote] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    model: Played | None = None

    @property
    def outside(self) -> Path:
        """A file of the user beside the repository."""
        return self.root.parent / "outside.txt"

    @property
    def heard(self) -> list[str]:
        """The results of tools that the model was told, in order."""
        assert self.model
        return [each.content for each in self.model.requests[-1].messages if each.role == "tool"]

    @property
    def told(self) -> str:
        """Everything that the model was told after its brief."""
        assert self.model
        return "\n".join(each.content for each in self.model.requests[-1].messages[2:])

    def noted(self, rule: str, effect: Effect = Effect.REFUSED) -> list[str]:
        """The details of what one rule put on record."""
        return [note.detail for note in self.notes if (note.rule, note.effect) == (rule, effect)]

    def agent(self, role: str, step: str, *replies: Any, **changes: Any) -> AgentContext:
        allow, deny = changes.pop("allow", ()), changes.pop("deny", ())
        authority = Authority(
            role=role,
            right=right_of(role, step),
            allow=allow,
            deny=deny,
            is_test=self.is_test,
            original=self._original,
        )
        settings = {
            "on_guard": self.notes.append,
            "on_turn": self.turns.append,
            "authority": authority,
            "limits": Limits(command_timeout_s=20),
            **changes,
        }
        agent, self.model = self.open_desk(*replies, **settings)
        return agent

    def is_test(self, path: str) -> bool:
        """As the product detects it in this repository."""
        files = [place.relative_to(self.root).as_posix() for place in self.root.rglob("*")]
        return is_test_path(path, detect(self.root, files).test_globs)

    def _original(self, path: str) -> str | None:
        """The text of a file before the task; here what stood under `before` the turn."""
        return self.before.get(path)

    before: dict[str, str] = field(default_factory=dict)

    def existing(self, path: str, content: str) -> Path:
        """A file that was there before the task."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        self.before[path] = content
        return place

    async def coder(self, *replies: Any, end: bool = True, **changes: Any) -> list[str]:
        """The coder's turn; what it heard of its calls."""

        async def gates() -> str:
            return "ruff: PASS"

        agent = self.agent("coder", "code", *replies, *([FINISH] if end else []), **changes)
        await code(
            agent, task=self.task, attempt=1, scope=self.task.files, instructions="x", feedback="", run_gates=gates
        )
        return self.heard

    async def implementing(self, *replies: Any, **changes: Any) -> list[str]:
        """The architect's turn in an escalated attempt."""
        agent = self.agent("architect", "implement", *replies, FINISH, **changes)
        await implement(agent, task=self.task, attempt=3, scope=self.task.files, instructions="x", feedback="why")
        return self.heard

    async def delegating(self, *replies: Any, **changes: Any) -> list[str]:
        """The architect's turn at a delegation."""
        agent = self.agent("architect", "delegate", *replies, call("delegate", instructions="Do it."), **changes)
        await delegate(agent, task=self.task, attempt=1, plan=self.plan, feedback="", others=self.others)
        return self.heard

    async def engineer(self, *replies: Any, **changes: Any) -> list[str]:
        """The test engineer's turn, which ends with a rejection."""
        agent = self.agent("test_engineer", "test", *replies, verdict("REJECTED", "no"), **changes)
        await write_tests(
            agent,
            task=self.task,
            attempt=1,
            scope=self.task.files,
            patch="",
            test_command="pytest",
            is_test_path=lambda path: not agent.authority.refusal(path),
            feedback="",
            questions=(),
        )
        return self.heard

    async def reviewer(self, *replies: Any, patch: str = "+    return 2\n", **changes: Any) -> Review:
        """The reviewer's turn; what it must quote is in `changes`, as `material`."""
        material = changes.pop("material", None)
        agent = self.agent("reviewer", "review", *replies, **changes)
        work = Submission(
            task=self.task,
            attempt=1,
            scope=self.task.files,
            patch=patch,
            gates="ruff: PASS",
            test_command="pytest -q",
            material=material,
        )
        return await review(agent, work)

    async def refused_by(self, command: str, *, never_start: bool = False) -> list[str]:
        """The rules of the policy that refuse the coder's command, as told and as on record; empty: it ran."""
        commands = runner(self.root)
        before = len(self.notes)
        with pytest.MonkeyPatch.context() as patch:
            if never_start:
                commands = NeverStarts(commands.sandbox, commands.confinement)
                patch.setenv("HOME", str(HOME))
            (told,) = await self.coder(run(command), commands=commands)
        fresh = [note for note in self.notes[before:] if (note.rule, note.effect) == ("command-policy", Effect.REFUSED)]
        named = (note.detail.rpartition("(")[2].removesuffix(")") for note in fresh)
        return [rule for rule in named if told.startswith("Error: the command was not run:") and f"({rule})" in told]

    async def confined(self, command: str, *, timeout_s: float = 20, **changes: Any) -> Completed:
        """The same without the policy: what the sandbox alone makes of a command."""
        if SANDBOX == "none":
            pytest.skip("this machine has no sandbox")
        return await runner(self.root, **changes).run(command, timeout_s=timeout_s)


@pytest.fixture
def scene(
    repo: Path,
    isolated: Path,
    task: Task,
    other: Task,
    plan: Plan,
    make_agent: Callable[..., tuple[AgentContext, Played]],
) -> Scene:
    """A repository with a `.swarm`, a home with a key, a file of the user beside the repository."""
    (repo / ".swarm").mkdir()
    (repo / ".swarm/ledger.jsonl").write_text("{}\n")
    (repo / ".swarm/config.toml").write_text("[gates]\n")
    (isolated / ".ssh").mkdir()
    (isolated / ".ssh/id_ed25519").write_text(SECRET)
    made = Scene(repo, isolated, task, plan, {task.id: task, other.id: other}, make_agent)
    made.outside.write_text("the user's\n")
    return made


@pytest.fixture
def changed(scene: Scene) -> Callable[[], list[str]]:
    """What is not as it was of all that is guarded: git's folder, swarmgate's, what lies outside, and the home."""
    places = (scene.root / ".git", scene.root / ".swarm", scene.home)

    def seen() -> dict[str, bytes]:
        files = [file for place in places for file in sorted(place.rglob("*")) if file.is_file()]
        beside = [file for file in scene.root.parent.iterdir() if file != scene.root]
        return {str(file): file.read_bytes() if file.is_file() else b"" for file in (*files, *beside)}

    before = seen()

    def differing() -> list[str]:
        after = seen()
        return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))

    return differing
