"""The workload of the benchmarks: a small Python project, and a scripted team that does N small tasks in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from swarmgate.engine.initialise import initialise
from swarmgate.ledger.files.folder import SwarmFolder

MODULE = '''"""Part {n} of the benchmark's project."""

from __future__ import annotations


def scaled_{n}(values: list[int], factor: int) -> list[int]:
    """Every value times the factor; ValueError if that is negative."""
    if factor < 0:
        raise ValueError(f"{{factor}} is negative")
    return [value * factor for value in values]
'''
TEST = """import pytest

from pkg.part_{n} import scaled_{n}


def test_every_value_is_scaled() -> None:
    assert scaled_{n}([1, 2], {n}) == [{n}, 2 * {n}]


def test_negative_factors_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        scaled_{n}([1], -1)
"""


def make_project(folder: Path, base_url: str) -> SwarmFolder:
    """A committed project with `.swarm/` whose roles all speak through `base_url`."""
    (folder / "src" / "pkg").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "pkg" / "__init__.py").write_text('"""The benchmark\'s project."""\n')
    (folder / "tests" / "test_start.py").write_text("def test_start() -> None:\n    assert True\n")
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    (folder / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "benchmark"),
        ("config", "user.email", "benchmark@swarmgate.invalid"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "A small project"),
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    initialise(folder)
    made = SwarmFolder(folder)
    command = json.dumps(f"{sys.executable} -m pytest -q")
    made.config.write_text(
        f'[providers.bench]\nbase_url = "{base_url}"\n\n[roles.default]\nmodel = "bench/senior"\n\n'
        f'[roles.coder]\nmodel = "bench/junior"\n\n[tests]\ncommand = {command}\n'
    )
    return made


def team(tasks: int) -> list[dict[str, Any]]:
    """The rules of a team that plans `tasks` tasks in one phase and does each at the first attempt."""
    rules = [
        _rule({"role": "architect", "step": "plan"}, ("save_plan", plan(tasks))),
        _rule({"role": "critic", "step": "review_plan"}, _approve("Fine.")),
        _rule({"role": "reviewer", "step": "review"}, _approve("Does what it should.")),
        _rule(
            {"role": "architect", "step": "close_phase"},
            ("close_phase", {"summary": "All parts stand.", "decisions": [], "lessons": []}),
        ),
    ]
    for n in range(1, tasks + 1):
        task = f"1.{n}"
        rules += [
            _rule(
                {"role": "architect", "step": "delegate", "task": task}, ("delegate", {"instructions": f"Part {n}."})
            ),
            _rule(
                {"role": "coder", "step": "code", "task": task},
                ("write_file", {"path": f"src/pkg/part_{n}.py", "content": MODULE.format(n=n)}),
                ("finish", {"summary": "Written."}),
            ),
            _rule(
                {"role": "test_engineer", "step": "test", "task": task},
                ("write_file", {"path": f"tests/test_part_{n}.py", "content": TEST.format(n=n)}),
                _approve(
                    "Tested.", criteria=[{"criterion": "values are scaled", "tests": ["test_every_value_is_scaled"]}]
                ),
            ),
        ]
    return rules


def plan(tasks: int) -> dict[str, Any]:
    """The arguments of `save_plan` for one phase of independent tasks."""
    return {
        "title": "Parts",
        "phases": [
            {
                "name": "All",
                "tasks": [
                    {
                        "id": f"1.{n}",
                        "title": f"Part {n}",
                        "description": "A function that scales.",
                        "acceptance": ["values are scaled"],
                        "files": [f"src/pkg/part_{n}.py", f"tests/test_part_{n}.py"],
                        "depends": [],
                        "complexity": "SMALL",
                    }
                    for n in range(1, tasks + 1)
                ],
            }
        ],
    }


def _rule(match: dict[str, str], *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "match": match,
        "replies": [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls],
    }


def _approve(summary: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "submit_verdict", {"verdict": "APPROVED", "summary": summary, "findings": [], **more}
