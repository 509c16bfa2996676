"""The commit: exactly the tree that passed, the user's hooks and identity honoured, found again after a crash."""

from __future__ import annotations

import pytest
from tests.project import Project, code, part

from swarmgate.domain import events as ev

PART = "src/calc/part_1.1.py"


def test_identity_and_message_are_the_users_and_the_tasks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}")
    project.git("config", "user.name", "Grace")
    project.planned()
    project.swarm("run", exits=3)
    assert project.git("log", "-1", "--format=%an <%ae> %s") == "Grace <ada@example.test> Part 1.1"


def test_a_hook_that_reformats_is_judged_again_and_its_tree_is_what_counts(project: Project) -> None:
    project.hook("pre-commit", f"printf '\\nMORE = 1\\n' >> {PART} && git add {PART}")
    project.planned()
    assert "the result passed gates and tests again" in project.swarm("run", exits=3).stderr
    assert "MORE = 1" in project.git("show", f"HEAD:{PART}")
    (event,) = project.events(ev.TaskCompleted)
    assert event.tree == project.git("rev-parse", "HEAD^{tree}")
    assert project.git("status", "--porcelain", "--", "src") == ""
    assert project.json("verify")["passed"]


def test_a_hook_that_spoils_the_files_has_its_commit_taken_back(project: Project) -> None:
    project.hook("pre-commit", f"grep -q safe {PART} || {{ echo 'def x(:' > {PART} && git add {PART}; }}")
    project.planned(code({PART: part("safe")}, attempt="2"))
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert first.stage == "commit"
    assert "a commit hook changed the files" in first.reason
    assert project.git("rev-list", "--count", "main..HEAD") == "1"
    assert second.outcome == "COMPLETE"
    assert project.json("verify")["passed"]


def test_no_identity_is_told_and_the_attempt_is_not_lost(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}")
    project.git("config", "--unset", "user.email")
    project.git("config", "user.useConfigOnly", "true")
    project.planned()
    assert "user.email" in project.swarm("run", exits=2).stderr
    project.git("config", "user.email", "ada@example.test")
    project.swarm("run", exits=3)
    assert len(project.state.task("1.1").attempts) == 1
