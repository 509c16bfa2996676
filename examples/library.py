"""swarmgate as a library: plan, approve and run one task, against a scripted model.

Run it with `python examples/library.py`. The repository is a fresh one in a temporary folder; git, gates, pytest and
the commit are real. With the address of your own endpoint in place of the `ScriptedServer`, no rules are needed.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from swarmgate.domain.next_step import Waiting
from swarmgate.domain.progress import Progress
from swarmgate.engine import Swarm
from swarmgate.engine.initialise import initialise
from swarmgate.testing import ScriptedServer

CODE = '''"""Greetings."""


def greet(name: str) -> str:
    """A greeting; ValueError for an empty name."""
    if not name:
        raise ValueError("a name is needed")
    return f"Hello, {name}!"
'''

TEST = '''"""Greetings are polite and need a name."""

import pytest

from greetings import greet


def test_the_name_is_greeted() -> None:
    assert greet("Ada") == "Hello, Ada!"


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(ValueError, match="needed"):
        greet("")
'''


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """One turn of the model: a tool call."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


TASK = {
    "id": "1.1",
    "title": "Greet by name",
    "description": "A function greet(name).",
    "acceptance": ["greet('Ada') is 'Hello, Ada!'", "an empty name is a ValueError"],
    "files": ["greetings.py", "tests/test_greetings.py"],
    "depends": [],
    "complexity": "SMALL",
}
APPROVED = {"verdict": "APPROVED", "summary": "Does what the criteria say.", "findings": []}
CRITERIA = [{"criterion": text, "tests": ["tests/test_greetings.py"]} for text in TASK["acceptance"]]
RULES = [
    {
        "match": {"role": "architect", "step": "plan"},
        "replies": [call("save_plan", title="Greetings", phases=[{"name": "Greetings", "tasks": [TASK]}])],
    },
    {"match": {"role": ["critic", "reviewer"]}, "replies": [call("submit_verdict", **APPROVED)]},
    {
        "match": {"role": "architect", "step": "delegate"},
        "replies": [call("declare_scope", files=["greetings.py"]), call("delegate", instructions="Write greet(name).")],
    },
    {
        "match": {"role": "coder"},
        "replies": [call("write_file", path="greetings.py", content=CODE), call("finish", summary="greet is written.")],
    },
    {
        "match": {"role": "test_engineer"},
        "replies": [
            call("write_file", path="tests/test_greetings.py", content=TEST),
            call("submit_verdict", **APPROVED, criteria=CRITERIA),
        ],
    },
    {
        "match": {"role": "architect", "step": "close_phase"},
        "replies": [call("close_phase", summary="Greetings work.", decisions=[], lessons=[])],
    },
]


def make_repository(root: Path) -> None:
    """A git repository with one commit and a committer."""
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n', encoding="utf-8")
    for arguments in (
        ("init", "--quiet"),
        ("config", "user.name", "Ada Example"),
        ("config", "user.email", "ada@example.com"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "Start"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)


def tell(progress: Progress) -> None:
    """Shows what is going on."""
    sys.stderr.write(f"{progress.kind:6} {progress.text}\n")


async def work(root: Path, base_url: str) -> Swarm:
    """From a goal to an approved phase."""
    swarm = Swarm(
        root,
        listener=tell,
        flags={
            "providers": {"scripted": {"base_url": base_url}},
            "roles": {"default": {"model": "scripted/senior"}, "coder": {"model": "scripted/junior"}},
            "tests": {"command": f"{sys.executable} -m pytest -q"},
        },
    )
    outcome = await swarm.plan("Greet people by name")
    while outcome.waiting in (Waiting.PLAN_APPROVAL, Waiting.PHASE_APPROVAL):
        swarm.approve()
        outcome = await swarm.run()
    return swarm


def main() -> int:
    """Prints the plan as it stands at the end; 0 when the record fits."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(RULES) as server:
        root = Path(folder).resolve()
        make_repository(root)
        initialise(root)
        swarm = asyncio.run(work(root, server.base_url))
        sys.stdout.write(swarm.folder.plan_md.read_text(encoding="utf-8"))
        checks = swarm.verify()
        sys.stdout.writelines(f"{check.name}: {'ok' if check.passed else check.problems}\n" for check in checks)
        return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
