"""`swarm gates`: by hand, in any git repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.project import Project
from typer.testing import CliRunner

from swarmgate.cli.app import app


@pytest.mark.slow
def test_an_uncommitted_change_is_judged_without_swarm(repo: Path) -> None:
    (repo / "new.py").write_text("def x(:\n")
    done = CliRunner().invoke(app, ["gates", "run", "--repo", str(repo)])
    assert done.exit_code == 1
    assert "syntax_check" in done.stdout
    assert not (repo / ".swarm").exists()
    done = CliRunner().invoke(app, ["gates", "run", "--repo", str(repo), "--skip", "syntax_check", "--only", "diff"])
    assert done.exit_code == 0, done.stdout


@pytest.mark.slow
def test_a_base_is_compared_with(project: Project) -> None:
    project.write("new.py", "def x(:\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Broken")
    assert project.json("gates", "run", "--base", "HEAD~1", exits=1)["results"]
    assert "no revision `nope`" in project.swarm("gates", "run", "--base", "nope", exits=2).stderr


def test_a_clean_tree_has_nothing_to_judge(project: Project) -> None:
    assert project.swarm("gates", "run").stdout == "Nothing differs from HEAD: nothing was judged.\n"
    assert project.json("gates", "run")["results"] == []


@pytest.mark.parametrize("option", ["--only", "--skip"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_gate_that_is_not_there_is_named(project: Project, option: str, *, clean: bool) -> None:
    if not clean:
        project.write("new.py", "X = 1\n")
    told = project.json("gates", "run", option, "lint_chek", exits=2)
    assert told["error"] == "CONFIG"
    assert "lint_chek" in told["message"]
    assert "lint_check" in told["hint"]


def test_the_list_names_every_gate(project: Project) -> None:
    listed = {gate["id"] for gate in json.loads(project.swarm("gates", "list", "--json").stdout)}
    assert listed >= {"syntax_check", "lint_fix", "lint_check", "secret_scan", "placeholder_scan"}
    assert "secret_scan" in project.swarm("gates", "list").stdout


@pytest.mark.slow
def test_a_gate_of_the_projects_own_judges_here_and_in_the_loop(project: Project) -> None:
    command = 'command = ["sh", "-c", "echo PARTS-ARE-BANNED; exit 1"]'
    gate = f'id = "no_parts"\ntitle = "No parts"\nbaseline = "none"\n{command}\n'
    project.write(".swarm/gates/no_parts.toml", gate)
    assert "no_parts" in project.swarm("gates", "list").stdout
    project.planned(loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert project.state.task("1.1").attempts[0].stage == "gates: no_parts"
    assert "PARTS-ARE-BANNED" in project.briefs("architect", "implement")[0]


@pytest.mark.parametrize(
    "asked",
    [("--base", ""), ("--only", ""), ("--skip", " "), ("--output", ""), ("",), ("--only", "diff", "--only", "")],
)
def test_an_empty_value_is_refused(project: Project, asked: tuple[str, ...]) -> None:
    assert "the value is empty" in project.swarm("gates", "run", *asked, exits=2).stderr
    assert "the value is empty" in project.json("gates", "run", *asked, exits=2)["message"]


def test_baseline_refuses_an_empty_value_too(project: Project) -> None:
    for option in ("--base", "--only", "--expires"):
        told = project.swarm("gates", "baseline", "--reason", "x", option, "", exits=2)
        assert "the value is empty" in told.stderr


def test_what_contradicts_itself_is_refused(project: Project) -> None:
    told = project.json("gates", "run", "--only", "diff", "--skip", "diff", exits=2)
    assert "--only diff and --skip diff" in told["message"]
    assert "--json and --format junit" in project.json("gates", "run", "--format", "junit", exits=2)["message"]
    assert "--skip: there is no gate" in project.json("gates", "run", "--skip", "diffs", exits=2)["message"]
    assert "--only: there is no gate" in project.json("gates", "run", "--only", "diffs", exits=2)["message"]


@pytest.mark.slow
def test_what_two_gates_find_is_shown_where_it_blocks_and_accepted_for_both(project: Project) -> None:
    project.write("pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F", "S"]\n')
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Settings")
    project.write(
        "src/calc/store.py",
        "import pickle\nimport subprocess\n\n\ndef find(db, name, args, blob):\n    subprocess.run(args)\n"
        "    pickle.loads(blob)\n    db.execute(f\"SELECT * FROM t WHERE n = '{name}'\")\n",
    )
    asked = ("gates", "run", "--no-fix", "--only", "lint_check", "--only", "sast_scan")
    told = project.json(*asked, exits=1)
    shown = [(each["line"], each["rule"]) for result in told["results"] for each in result["findings"]]
    assert (6, "S603") in shown
    assert (6, "B603") not in shown
    assert len([rule for line, rule in shown if line == 8]) == 1
    text = project.swarm(*asked, exits=1).stdout
    assert "rejected: src/calc/store.py:" in text.splitlines()[-1]
    assert "SKIP" not in text
    project.swarm("gates", "baseline", "--reason", "reviewed", "--only", "lint_check", "--only", "sast_scan")
    project.swarm(*asked)
    pruned = project.json("gates", "baseline", "--prune")
    assert pruned["dropped"] == []
