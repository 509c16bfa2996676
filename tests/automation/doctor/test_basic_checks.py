"""Tests the doctor's basic checks: what is missing is named, nothing is spent, nothing is changed."""

from __future__ import annotations

import pytest
from tests.project import Project, plain

from swarmgate.automation.doctor.basic_checks import examine
from swarmgate.config import ROLES
from swarmgate.ledger.check import Check
from swarmgate.workspace.sandbox import choice


def checks(project: Project, environ: dict[str, str] | None = None) -> dict[str, Check]:
    return {check.name: check for check in examine(project.folder, environ or {}, ROLES)}


@pytest.mark.slow
def test_a_healthy_project(project: Project) -> None:
    project.play()
    before = {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}
    found = checks(project)
    assert list(found) == ["git", "settings", "models", "tests", "sandbox", "gates", "guidance", "ledger"]
    assert not [check for check in found.values() if not check.passed]
    assert "coder=local/junior" in found["models"].looked_at
    assert "-m pytest" in found["tests"].looked_at
    assert not project.requests
    assert before == {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}
    assert "ok    git" in project.swarm("doctor").stdout


@pytest.mark.slow
def test_a_project_without_models(project: Project) -> None:
    problems = checks(project)["models"].problems
    assert any("no model is set for the role `coder`" in problem for problem in problems)
    assert problems[-1].startswith("-> [roles.default] model = "), "what to do is told once, below the roles"
    project.swarm("doctor", exits=6)


def test_the_sandbox_is_named_with_its_weaknesses(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.play(commands={"sandbox": "none"})
    assert checks(project)["sandbox"].looked_at.startswith("none; commands of agents run with all your rights")
    project.configure(commands={"sandbox": "auto"})
    choice.choose.cache_clear()
    monkeypatch.setattr(choice, "_KINDS", {"bubblewrap": lambda: "bubblewrap is not installed"})
    try:
        assert "bubblewrap is not installed" in checks(project)["sandbox"].problems[0]
    finally:
        choice.choose.cache_clear()


@pytest.mark.slow
def test_what_the_settings_open_to_commands_is_looked_at(project: Project) -> None:
    there = project.root.parent / "cache"
    there.mkdir()
    project.play(commands={"sandbox": "auto", "writable": [str(there), "/no/such"], "readable": ["~/no-such-place"]})
    found = checks(project)["sandbox"]
    if found.passed:  # this machine has a sandbox
        assert found.warnings == (
            "[commands] readable: ~/no-such-place is left out: nothing is there",
            "[commands] writable: /no/such is left out: there is no such folder",
        )
        assert " WARN sandbox: " in plain(project.swarm("doctor").stdout)
        project.configure(commands={"sandbox": "auto", "writable": [str(project.root.parent)]})
        problem = checks(project)["sandbox"].problems[0]
        assert "[commands] writable: " in problem
        assert " -> name the folders" in problem


def test_a_mistyped_answer_of_an_expert_is_named_with_file_and_line(project: Project) -> None:
    project.play()
    text = "## SME Guidance Cache\n\n### Security\n- Question: How are tokens signed?\n- Answr: With RS256.\n"
    project.folder.context.write_text(text)
    found = checks(project)["guidance"]
    assert (found.passed, found.looked_at) == (True, "0 answers in .swarm/context.md")
    assert found.warnings[0].startswith(".swarm/context.md line 3: the entry has no `- Answer:`")
    assert found.warnings[1].startswith(".swarm/context.md line 5: `- Answr:` is no field")
    assert ".swarm/context.md line 5: `- Answr:` is no field" in project.swarm("plan", "goal", exits=3).stderr


def test_a_missing_key(project: Project) -> None:
    project.play(providers__local={"api_key_env": "MY_KEY"})
    assert "MY_KEY is not set" in checks(project)["models"].problems[0]
    assert checks(project, {"MY_KEY": "x"})["models"].passed


def test_agent_programs_are_looked_at(project: Project) -> None:
    project.play(roles__coder={"model": "command:sh agents/gone.sh"})
    found = checks(project)["programs"]
    assert found.looked_at == "coder=sh agents/gone.sh"
    assert "`agents/gone.sh` of role `coder` is not there -> mend the command line" in found.problems[0]
    project.write("agents/gone.sh", "")
    assert checks(project)["programs"].passed
    shared = {"model": "command:sh agents/gone.sh", "writable": ["~/.agent"]}
    project.configure(roles__coder=shared, roles__reviewer=shared)
    assert "may both write ~/.agent" in checks(project)["programs"].warnings[0]


def test_a_coder_that_reviews_itself(project: Project) -> None:
    project.play(roles__coder={"model": "local/senior"})
    found = checks(project)["models"]
    assert (found.passed, "same model" in found.looked_at) == (True, True)


def test_broken_settings_hide_nothing_else(project: Project) -> None:
    project.folder.config.write_text("[tests\n")
    found = checks(project)
    assert not found["settings"].passed
    assert "config.toml" in found["settings"].problems[0]
    assert found["ledger"].passed


def test_an_unfinished_merge(project: Project) -> None:
    (project.root / ".git/MERGE_HEAD").write_text("0" * 40 + "\n")
    assert "merge" in checks(project)["git"].problems[0]


def test_a_damaged_ledger(project: Project) -> None:
    project.planned()
    project.folder.ledger.write_text(project.folder.ledger.read_text().replace("Add parts", "Add ports", 1))
    assert "does not match its own hash" in checks(project)["ledger"].problems[0]


def test_a_gates_tool_that_is_not_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = 'id = "odd"\ntitle = "Odd"\nstage = "check"\ncommand = ["no-such-tool-here"]\ninstall_hint = "get it"\n'
    project.write(".swarm/gates/odd.toml", gate)
    project.play()
    assert "no-such-tool-here is not on PATH. get it" in str(checks(project)["gates"].problems)
