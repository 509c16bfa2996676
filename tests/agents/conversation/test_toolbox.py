"""What the tools do, and whom they refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmgate.agents.authority.authority import Authority
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.architect import implement
from swarmgate.agents.roles.coder import code
from swarmgate.agents.roles.reviewer import Submission, review
from swarmgate.agents.roles.test_engineer import test as write_tests
from swarmgate.agents.tools.tool_table import OFFERED, TOOLS
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Task
from swarmgate.llm.model import ToolCall

OpenDesk = Callable[..., tuple[AgentContext, Any]]
Say = Callable[..., ToolCall]


async def gates() -> str:
    return "ruff: PASS"


async def result_of(make_agent: OpenDesk, say: Say, task: Task, call: ToolCall, **settings: Any) -> str:
    """What the coder is told of one tool call."""
    agent, model = make_agent(call, say("finish", summary=""), **settings)
    await code(agent, task=task, attempt=1, scope=task.files, instructions="x", feedback="", run_gates=gates)
    return str(model.heard)


async def test_files_are_read_listed_and_searched(make_agent: OpenDesk, say: Say, task: Task) -> None:
    assert await result_of(make_agent, say, task, say("read_file", path="src/app.py")) == "def one():\n    return 1\n"
    second = await result_of(make_agent, say, task, say("read_file", path="src/app.py", start_line="2", end_line=None))
    assert second == "    return 1\n"
    assert await result_of(make_agent, say, task, say("list_files", glob="src/**")) == "src/app.py\n"
    assert "src/app.py:2:" in await result_of(make_agent, say, task, say("search", pattern="return"))


async def test_files_are_written_edited_and_deleted(make_agent: OpenDesk, say: Say, task: Task, repo: Path) -> None:
    told = await result_of(make_agent, say, task, say("write_file", path="src/app.py", content="a = 1\nb = 2\n"))
    assert told == "Wrote src/app.py, 2 lines."
    await result_of(make_agent, say, task, say("edit_file", path="src/app.py", old="a = 1", new="a = 3"))
    assert (repo / "src/app.py").read_text() == "a = 3\nb = 2\n"
    await result_of(make_agent, say, task, say("delete_file", path="src/app.py"))
    assert not (repo / "src/app.py").exists()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", ".git/config", ".swarm/ledger.jsonl", "src/../../x", ".GIT/x", "~/x"]
)
async def test_nobody_writes_outside_or_into_git_and_swarm(
    make_agent: OpenDesk, say: Say, task: Task, path: str, repo: Path
) -> None:
    before = {file: file.stat().st_mtime_ns for file in repo.parent.rglob("*") if file.is_file()}
    told = await result_of(make_agent, say, task, say("write_file", path=path, content="x"))
    assert told.startswith("Error: path")
    assert {file: file.stat().st_mtime_ns for file in repo.parent.rglob("*") if file.is_file()} == before


async def test_a_write_outside_of_the_scope_is_done_and_said(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    told = await result_of(make_agent, say, task, say("write_file", path="notes.md", content="x"))
    assert (repo / "notes.md").read_text() == "x"
    assert "outside of the declared scope" in told
    inside = await result_of(make_agent, say, task, say("write_file", path="./src//app.py", content="x"))
    assert "scope" not in inside


async def test_a_write_through_a_link_is_judged_by_the_file_that_it_hits(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    (repo / "tests").mkdir()
    (repo / "tests/test_app.py").symlink_to("../README.md")
    told = await result_of(make_agent, say, task, say("write_file", path="tests/test_app.py", content="x"))
    assert "outside of the declared scope" in told


async def test_a_command_tells_exit_code_and_both_streams(make_agent: OpenDesk, say: Say, task: Task) -> None:
    call = say("run_command", command="pwd; echo here; echo oops >&2; exit 3")
    told = await result_of(make_agent, say, task, call)
    assert told.startswith("Exit code 3 after ")
    assert "/repo\nhere\n--- stderr\noops" in told


async def test_long_output_keeps_head_and_tail(make_agent: OpenDesk, say: Say, task: Task) -> None:
    told = await result_of(make_agent, say, task, say("run_command", command="seq 1 20000"))
    assert "--- stdout\n1\n2\n" in told
    assert told.endswith("\n20000")
    assert "characters left out" in told
    assert len(told) < 13_000


@pytest.mark.slow
async def test_a_command_that_hangs_is_ended_and_that_is_said(make_agent: OpenDesk, say: Say, task: Task) -> None:
    told = await result_of(make_agent, say, task, say("run_command", command="echo a; sleep 60", timeout_s=5))
    assert "time limit of 5 s; at most 60 s" in told
    assert "--- stdout\na" in told


async def test_the_gates_are_the_engines(make_agent: OpenDesk, say: Say, task: Task) -> None:
    assert await result_of(make_agent, say, task, say("run_gates")) == "ruff: PASS"


async def test_the_architect_writes_when_it_implements(make_agent: OpenDesk, say: Say, task: Task, repo: Path) -> None:
    agent, _ = make_agent(say("write_file", path="src/app.py", content="x"), say("finish", summary="ok"))
    told = await implement(agent, task=task, attempt=3, scope=task.files, instructions="", feedback="why")
    assert told == "ok"
    assert (repo / "src/app.py").read_text() == "x"


@pytest.mark.parametrize("path", ["src/app.py", "tests/../src/app.py", "tests/link.py"])
async def test_the_test_engineer_writes_tests_only(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path, path: str
) -> None:
    (repo / "tests").mkdir()
    (repo / "tests/link.py").symlink_to("../src/app.py")
    done = say("submit_verdict", verdict="REJECTED", summary="no")
    agent, model = make_agent(say("write_file", path=path, content="x"), done)
    await write_tests(
        agent,
        task=task,
        attempt=1,
        scope=(),
        patch="",
        test_command="pytest",
        is_test_path=lambda name: name.startswith("tests/"),
        feedback="",
        questions=(),
    )
    assert "is not a test file" in model.heard
    assert (repo / "src/app.py").read_text() == "def one():\n    return 1\n"


async def test_a_command_that_the_policy_refuses_is_not_run_and_goes_on_record(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    notes: list[GuardNote] = []
    call = say("run_command", command="touch ran; sh -c 'git push; rm -rf .git'")
    told = await result_of(make_agent, say, task, call, on_guard=notes.append)
    assert told.startswith("Error: the command was not run:")
    assert "the user pushes and fetches" in told
    assert not (repo / "ran").exists()
    assert [(note.rule, note.effect) for note in notes] == [("command-policy", Effect.REFUSED)] * 2


async def test_a_command_that_the_settings_allow_runs_and_is_noted(make_agent: OpenDesk, say: Say, task: Task) -> None:
    notes: list[GuardNote] = []
    call = say("run_command", command="git tag v1 --dry; echo done")
    told = await result_of(make_agent, say, task, call, on_guard=notes.append, allow_commands=("git tag *",))
    assert "done" in told
    assert [note.effect for note in notes if note.rule == "command-policy"] == [Effect.NOTED]


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "delete_file", "run_command", "run_gates"])
async def test_the_reviewer_reads_only(make_agent: OpenDesk, say: Say, task: Task, repo: Path, tool: str) -> None:
    arguments = {"path": "src/app.py", "content": "x", "old": "one", "new": "two", "command": "rm -rf src"}
    known = {key: value for key, value in arguments.items() if key in TOOLS[tool].arguments.model_fields}
    agent, model = make_agent(say(tool, **known), say("submit_verdict", verdict="APPROVED", summary="ok"))
    await review(agent, Submission(task=task, attempt=1, scope=(), patch="p", gates="", test_command="pytest"))
    assert "not offered" in model.heard
    assert (repo / "src/app.py").read_text() == "def one():\n    return 1\n"


def test_who_may_change_files_is_what_the_contract_says() -> None:
    writers = {who for who, tools in OFFERED.items() if {"write_file", "edit_file", "delete_file"} & {*tools}}
    testers = {("test_engineer", "test"), ("test_engineer", "adversarial_test")}
    assert writers == {("coder", "code"), ("architect", "implement"), *testers}
    assert {who for who, tools in OFFERED.items() if "run_command" in tools} == {("coder", "code"), *testers}
    assert not [who for who in testers if "delete_file" in OFFERED[who]]


async def test_what_is_closed_to_the_role_is_told_and_noted(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    notes: list[GuardNote] = []
    authority = Authority(role="coder", deny=("docs/**",))
    for call in (say("write_file", path="docs/a.md", content="x"), say("delete_file", path="Docs/../DOCS/b.md")):
        told = await result_of(make_agent, say, task, call, authority=authority, on_guard=notes.append)
        assert "is closed to the coder: [authority.coder] deny has `docs/**`" in told
    assert [(note.rule, note.effect, note.role) for note in notes] == [("authority", Effect.REFUSED, "coder")] * 2
    assert not (repo / "docs").exists()


@pytest.mark.parametrize("tool", ["write_file", "read_file"])
async def test_what_leaves_the_repository_is_on_record(make_agent: OpenDesk, say: Say, task: Task, tool: str) -> None:
    notes: list[GuardNote] = []
    arguments = {"path": "../secret", **({"content": "x"} if tool == "write_file" else {})}
    await result_of(make_agent, say, task, say(tool, **arguments), on_guard=notes.append)
    assert [note.rule for note in notes] == ["authority"]
    assert "../secret" in notes[0].detail


async def test_a_test_of_the_task_is_no_file_outside_of_its_scope(make_agent: OpenDesk, say: Say, task: Task) -> None:
    authority = Authority(role="coder", is_test=lambda path: path.startswith("tests/"))
    own = await result_of(
        make_agent, say, task, say("write_file", path="tests/unit/test_app.py", content="x"), authority=authority
    )
    assert "outside" not in own
    other = await result_of(
        make_agent, say, task, say("write_file", path="tests/test_other.py", content="x"), authority=authority
    )
    assert "outside of the declared scope" in other
