"""The session of docs/server-api.md, typed as it stands there: from a repository to a pull request by curl."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.project import Project, call, part, plan, rule
from tests.server.conftest import Running

from swarmgate.server.accounts.model import Role

PAGE = Path(__file__).parents[3] / "docs/server-api.md"


@pytest.mark.slow
def test_the_session_of_the_page_goes_from_a_repository_to_a_pull_request(
    server: Running, account: Callable[..., httpx.Client], project: Project, tmp_path: Path
) -> None:
    ask = call("ask_user", question="Which unit?", options=["metres", "feet"], why="It is shown.", assumption="feet")
    done = [call("write_file", path="src/calc/part_1.1.py", content=part("1.1")), call("finish", summary="done")]
    project.play(plan("1.1"), rule("coder", "code", [ask], done), ask={"coder": True})
    key = account("ada", Role.ADMIN).headers["Authorization"].removeprefix("Bearer ")
    script = next(iter(re.findall(r"```bash\n(.*?)```", PAGE.read_text(), re.DOTALL)))
    told = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={**os.environ, "SWARM": server.url, "KEY": key, "REPO": str(project.root)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    lines = [json.loads(line) for line in told.stdout.splitlines() if line.startswith(("{", "["))]
    repository, planned, begun, question, answered, phase, over, verified, cost, opened = lines
    assert repository == {"id": "shop", "name": "project", "role": "admin"}
    assert planned == {"what": "plan", "title": "Parts", "tasks": ["Part 1.1"]}
    assert begun["verb"] == "run"
    assert question == {"task": "1.1", "role": "coder", "text": "Which unit?", "options": ["metres", "feet"]}
    assert answered == {"answer": "metres", "by": "user:ada"}
    assert (phase["phase"], phase["proofs"][0]["failed"]) == (1, 0)
    assert "fail" not in phase["proofs"][0]["gates"]
    assert over["goal"] == begun["goal"]
    assert verified == {"passed": True}
    assert {row["name"] for row in cost} >= {"architect", "critic", "coder", "reviewer"}
    assert (opened["title"], opened["pushed"]) == ("Parts", True)
    events = (tmp_path / "events.txt").read_text()
    assert "event: plan_approved" in events or '"plan_approved"' in events
    branch = project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/swarm")
    assert branch, project.git("branch", "--all")
