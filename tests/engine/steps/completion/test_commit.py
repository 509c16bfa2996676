"""The commit: exactly the tree that passed, the user's hooks and identity honoured, found again after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.project import Project, call, code, engineer, part, rule

from swarmgate.domain.events import event as ev

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"


@pytest.mark.slow
def test_identity_and_message_are_the_users_and_the_tasks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}")
    project.git("config", "user.name", "Grace")
    project.planned()
    project.swarm("run", exits=3)
    assert project.git("log", "-1", "--format=%an <%ae> %s") == "Grace <ada@example.test> Part 1.1"


@pytest.mark.slow
def test_a_hook_that_reformats_is_judged_again_and_its_tree_is_what_counts(project: Project) -> None:
    project.hook("pre-commit", f"printf '\\nMORE = 1\\n' >> {PART} && git add {PART}")
    project.planned()
    assert "the result passed gates and tests again" in project.swarm("run", exits=3).stderr
    assert "MORE = 1" in project.git("show", f"HEAD:{PART}")
    (event,) = project.events(ev.TaskCompleted)
    assert event.tree == project.git("rev-parse", "HEAD^{tree}")
    assert project.git("status", "--porcelain", "--", "src") == ""
    assert project.json("verify")["passed"]


@pytest.mark.slow
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


@pytest.mark.slow
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


# --- hooks run with the user's rights ---


@pytest.mark.slow
def test_hooks_that_are_files_of_the_repository_are_not_the_agents_to_write(project: Project, tmp_path: Path) -> None:
    fired = tmp_path / "fired"
    project.write(".husky/pre-commit", "#!/bin/sh\ntrue\n", mode=0o755)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Hooks")
    project.git("config", "core.hooksPath", ".husky")
    evil = f"#!/bin/sh\ntouch {fired}\n"
    project.planned(
        rule(
            "coder",
            "code",
            [
                call("write_file", path=".husky/pre-commit", content=evil),
                call("write_file", path=".husky/post-commit", content=evil),
                call("run_command", command=f"printf 'touch {fired}' > .husky/pre-commit; mv .husky h; cp -r h .husky"),
                call("write_file", path=PART, content=part("1.1")),
            ],
            [call("finish", summary="done")],
            attempt="1",
        )
    )
    told = project.swarm("run", exits=3).stderr
    assert "agents cannot write what git or swarmgate uses with your rights: .husky" in told
    assert project.git("show", "--name-only", "--format=", "HEAD") == PART
    assert (project.root / ".husky/pre-commit").read_text() == "#!/bin/sh\ntrue\n"
    assert not fired.exists()


@pytest.mark.slow
def test_what_says_which_programs_hooks_run_is_committed_by_an_override_alone(project: Project, tmp_path: Path) -> None:
    fired = tmp_path / "fired"
    project.hook("pre-commit", f"test ! -f lefthook.yml || touch {fired}")
    project.planned(
        code({PART: part("1.1"), "lefthook.yml": "pre-commit: {}\n"}),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    rejected = project.state.task("1.1").attempts[0]
    assert rejected.stage == "commit"
    assert "the change touches `lefthook.yml`" in rejected.reason
    assert not fired.exists()
    project.swarm("override", "1.1", "--reason", "wanted")
    project.play()
    project.swarm("run", exits=3)
    assert fired.exists()
    assert "lefthook.yml" in project.git("show", "--name-only", "--format=", "HEAD")


@pytest.mark.slow
def test_a_git_that_an_agent_left_on_path_is_never_started(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = tmp_path / "fired"
    project.write(".gitignore", ".venv/\n")
    project.write(".venv/bin/.keep", "")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Ignore")
    monkeypatch.setenv("PATH", f"{project.root}/.venv/bin{os.pathsep}{os.environ['PATH']}")
    plant = f"printf '#!/bin/sh\\ntouch {fired}\\n' > .venv/bin/git; chmod +x .venv/bin/git"
    project.planned(
        rule(
            "coder",
            "code",
            [call("run_command", command=plant), call("write_file", path=PART, content=part("1.1"))],
            [call("finish", summary="done")],
            attempt="1",
        )
    )
    project.swarm("run", exits=1)
    assert project.state.task("1.1").attempts[0].stage == "installed"
    project.swarm("override", "1.1", "--reason", "I know of it")
    project.swarm("run", exits=3)
    assert (project.root / ".venv/bin/git").exists()
    assert not fired.exists()


# --- whose commits, whose files ---


@pytest.mark.slow
def test_commits_of_the_coder_itself_are_taken_back_and_judged(project: Project) -> None:
    broken = "def x(:\n"
    sly = "git add --all . && git commit --quiet --message=Mine"
    project.planned(
        rule(
            "coder",
            "code",
            [call("write_file", path="src/calc/broken.py", content=broken), call("run_command", command=sly)],
            [call("write_file", path=PART, content=part("1.1")), call("finish", summary="clean")],
            attempt="1",
        ),
        code({PART: part("1.1"), "src/calc/broken.py": "X = 1\n"}, attempt="2"),
        commands={"sandbox": "none", "allow": ["git add*"]},  # else neither policy nor sandbox would let it
    )
    told = project.swarm("run", exits=3).stderr
    assert "a commit was made on the branch meanwhile" in told
    kept = project.git("for-each-ref", "--format=%(refname)", "refs/swarm/set-aside")
    assert kept in told
    assert broken.strip() in project.git("show", f"{kept}:src/calc/broken.py")
    first, second = project.state.task("1.1").attempts
    assert "syntax_check" in first.stage
    assert second.outcome == "COMPLETE"
    assert project.git("rev-list", "--count", "main..HEAD") == "1"
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_commit_of_the_user_during_a_pause_is_never_reverted(project: Project) -> None:
    project.planned(tests={"command": "no-such-program"})
    project.swarm("run", exits=6)  # paused with the coder's work in the tree
    project.write("docs.md", "mine\n")
    project.git("add", "docs.md")
    project.git("commit", "--quiet", "--message=Mine", "--", "docs.md")
    project.play()
    project.swarm("run", exits=3)
    assert project.git("show", "HEAD:docs.md") == "mine"
    assert project.git("show", "--name-status", "--format=", "HEAD").split() == ["A", PART]
    assert [attempt.outcome for attempt in project.state.task("1.1").attempts] == ["INTERRUPTED", "COMPLETE"]
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_what_an_agent_writes_into_swarm_changes_no_judge_of_this_run(project: Project) -> None:
    off = "mkdir -p .swarm/gates && echo 'enabled = false' > .swarm/gates/syntax_check.toml"
    project.planned(
        rule(
            "coder",
            "code",
            [call("run_command", command=off), call("write_file", path=PART, content="def x(:\n")],
            [call("finish", summary="done")],
            attempt="1",
        )
    )
    project.swarm("run", exits=3)
    assert project.state.task("1.1").attempts[0].stage.startswith("gates: syntax_check, lint_check")


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_keys_reach_neither_tests_nor_hooks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k" * 20)
    project.hook("pre-commit", 'test -z "$MY_KEY"')
    nosy = (
        "import os\nfrom pathlib import Path\n\n\ndef test_part() -> None:\n"
        "    assert Path('src/calc/part_1.1.py').is_file()\n    assert 'MY_KEY' not in os.environ\n"
    )
    project.planned(engineer({"tests/test_part.py": nosy}))
    text = project.folder.config.read_text(encoding="utf-8")
    project.folder.config.write_text(text.replace('base_url = "', 'api_key_env = "MY_KEY"\nbase_url = "', 1))
    project.swarm("run", exits=3)
    assert [attempt.outcome for attempt in project.state.task("1.1").attempts] == ["COMPLETE"]
