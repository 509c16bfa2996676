"""A project in a folder of a larger repository: it sees, judges and commits that folder, and nothing else of it."""

from __future__ import annotations

import shutil
import signal
import subprocess

import pytest
from tests.confined import SANDBOX
from tests.project import Project, call, code, part, plain, plan, review, rule, until
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.domain.events.event import AttemptInterrupted, AttemptRejected
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.git.repository import Repository

TASK = "src/calc/part_1.1.py"


@pytest.fixture
def package(project: Project) -> Project:
    """The usual project as `packages/api` of a repository that has another package."""
    top = project.root.with_name("mono")
    root = top / "packages/api"
    root.parent.mkdir(parents=True)
    shutil.copytree(project.root, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".swarm"))
    made = Project(root, project.suite, processes=project.processes)
    (root / ".gitignore").rename(top / ".gitignore")
    (top / "packages/web").mkdir()
    (top / "packages/web/page.js").write_text("const page = 1;\n")
    (top / "README.md").write_text("# Many packages\n")
    for args in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Ada Tester"),
        ("config", "user.email", "ada@example.test"),
        ("config", "commit.gpgsign", "false"),
        ("add", "--all", ":/"),
        ("commit", "--quiet", "--message=Start"),
    ):
        subprocess.run(["git", *args], cwd=top, check=True, capture_output=True)
    made.swarm("init")
    return made


def colleague(package: Project, text: str) -> str:
    """A commit in the other package."""
    package.write("../web/page.js", text)
    package.git("commit", "--quiet", "--message=The page of a colleague", "--", "../web/page.js")
    return package.git("rev-parse", "HEAD")


@pytest.mark.slow
def test_a_goal_is_done_in_the_folder_and_the_rest_of_the_repository_stays_as_it_is(package: Project) -> None:
    package.write("../web/page.js", "const page = 2;\n")
    package.write("../../notes.txt", "not committed\n")
    package.write("../web/staged.js", "const staged = 1;\n")
    package.git("add", "../web/staged.js")
    package.planned(plan("1.1", "1.2"))
    package.swarm("run", exits=3)
    assert package.git("diff", "--name-only", "main..HEAD").splitlines() == [
        "packages/api/src/calc/part_1.1.py",
        "packages/api/src/calc/part_1.2.py",
    ]
    others = (":/", ":(exclude,top)packages/api/.swarm")
    status = package.git("status", "--porcelain", "--untracked-files=all", "--", *others)
    assert status.splitlines() == [
        " M packages/web/page.js",
        "A  packages/web/staged.js",
        "?? notes.txt",
    ]
    (change,) = (package.folder.evidence / "1.1").rglob("change.patch")
    assert f"b/{TASK}" in change.read_text()
    package.swarm("approve")
    package.swarm("undo", "1.2")
    assert not (package.root / "src/calc/part_1.2.py").exists()
    assert package.git("status", "--porcelain", "--", ":/packages/web", ":/notes.txt").count("\n") == 2
    package.swarm("verify")


@pytest.mark.slow
def test_a_commit_of_a_colleague_in_another_folder_disturbs_neither_the_run_nor_verify(package: Project) -> None:
    hook = package.write("../../commit-beside.sh", "", mode=0o755)
    hook.write_text(
        "#!/bin/sh\n"
        "echo 'const page = 3;' > ../web/page.js\n"
        "git commit --quiet --message='Beside it' -- ../web/page.js\n"
    )
    package.planned(plan("1.1", "1.2"))
    beside = subprocess.Popen(
        ["sh", "-c", f"until ls {package.folder.evidence}/1.1/attempt-1/gates.json; do sleep 0.05; done; {hook}"],
        cwd=package.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    package.swarm("run", exits=3)
    assert beside.wait(60) == 0
    colleague(package, "const page = 4;\n")
    assert not package.events(AttemptInterrupted)
    assert package.git("log", "--format=%s", "--reverse", "main..HEAD").splitlines() == [
        "Beside it",
        "Part 1.1",
        "Part 1.2",
        "The page of a colleague",
    ]
    verified = package.json("verify")
    assert verified["passed"]
    assert "Beside" not in str(verified)
    package.swarm("approve")


@pytest.mark.slow
def test_a_commit_of_the_user_in_the_folder_ends_the_attempt_as_at_the_top(package: Project) -> None:
    package.planned(code({TASK: part("one")}, task="1.1"))
    package.write("src/calc/more.py", part("more"))
    with pytest.raises(AssertionError):
        package.swarm("run", exits=3)
    assert "src/calc/more.py" in package.swarm("run", exits=2).stderr


@pytest.mark.slow
def test_rejected_work_is_quarantined_and_a_killed_run_goes_on_in_the_folder_alone(package: Project) -> None:
    package.write("../web/page.js", "const page = 2;\n")
    package.planned(
        plan("1.1"),
        review("REJECTED", "The value is wrong", "wrong value", task="1.1", attempt=1),
        {
            "match": {"role": "coder", "step": "code", "attempt": 2},
            "replies": [
                {
                    "tool_calls": [
                        {"name": "write_file", "arguments": {"path": TASK, "content": part("two")}},
                    ],
                },
                {"fault": {"kind": "hang"}},
            ],
        },
    )
    process = package.start("run", "--json")
    place = package.root / TASK
    until(lambda: package.events(AttemptRejected) and place.exists() and "two" in place.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    package.play(code({TASK: part("three")}, task="1.1"))
    package.swarm("run", exits=3)
    assert package.git("show", f"HEAD:./{TASK}") == part("three").rstrip("\n")
    assert package.git("diff", "--name-only", "main..HEAD") == f"packages/api/{TASK}"
    assert (package.root / "../web/page.js").read_text() == "const page = 2;\n"
    assert package.json("verify")["passed"]


@pytest.mark.slow
def test_gates_judge_the_folder(package: Project) -> None:
    package.write("../web/page.js", "const key = 'AKIA' + 'IOSFODNN7EXAMPLE';\n")
    package.write("src/calc/broken.py", "def f(:\n")
    for options in ((), ("--base", "main"), ("--all",)):
        found = package.json("gates", "run", *options, exits=1)
        files = {each["path"] for gate in found["results"] for each in gate["findings"]}
        assert files == {"src/calc/broken.py"}, options
    package.git("add", "src/calc/broken.py", "../web/page.js")
    staged = package.json("gates", "run", "--staged", exits=1)
    assert {each["path"] for gate in staged["results"] for each in gate["findings"]} == {"src/calc/broken.py"}
    package.git("reset", "--quiet", "--", "src/calc/broken.py")
    (package.root / "src/calc/broken.py").unlink()
    assert "Nothing" in package.swarm("gates", "run").stdout + package.swarm("gates", "run").stderr


@pytest.mark.slow
def test_two_projects_in_one_repository_each_have_their_branch_and_their_ledger(package: Project) -> None:
    package.planned(plan("1.1", "2.1"))
    package.swarm("run", exits=3)
    package.swarm("approve")
    web = Project(package.root.parent / "web", package.suite)
    web.swarm("init")
    assert web.state.goal == ""
    web.planned(plan("1.1"))
    refused = plain(web.swarm("run", exits=2).stderr)
    assert f"{package.state.branch} is checked out, the branch of another project" in refused
    assert web.state.branch == ""
    package.git("switch", "--quiet", "main")
    told = package.swarm("run", exits=2).stderr
    assert "and main is checked out" in plain(told)
    package.folder.path.rename(package.root / "elsewhere")
    web.folder.path.rename(web.root / "elsewhere")
    package.swarm("verify", "--restore", exits=1)  # the evidence is elsewhere
    web.swarm("verify", "--restore")
    assert (package.state.goal, web.state.goal) == ("Add parts", "Add parts")
    assert (package.state.seq > web.state.seq, web.state.branch) == (True, "")


def test_trees_are_those_of_the_folder_with_the_attributes_and_ignore_rules_above_it(package: Project) -> None:
    package.write("../../.gitattributes", "*.bat text eol=crlf\n")
    package.write("../../.gitignore", "__pycache__/\n*.log\n/packages/api/out/\n")
    package.write("run.bat", "echo\r\n")
    package.write("seen.log", "x")
    package.write("out/x.txt", "x")
    repository = Repository.discover(package.root / "src/calc")
    assert repository.root == package.root
    tree = repository.snapshot()
    assert {path.partition("/")[0] for path in repository.list_tree(tree)} == {"AGENTS.md", "run.bat", "src", "tests"}
    assert repository.read(tree, "run.bat") == b"echo\n"
    assert repository.changes(repository.head_tree(), tree).paths == ("run.bat",)
    (package.root / "run.bat").unlink()
    repository.restore(tree, quarantine=package.folder.quarantine / "x")
    assert (package.root / "run.bat").read_bytes() == b"echo\r\n"
    assert repository.tree_of("HEAD") == repository.head_tree() == repository.tree_of(repository.head())


@pytest.mark.slow
def test_a_merge_with_conflicts_elsewhere_is_named_and_gates_judge_the_folder_all_the_same(package: Project) -> None:
    package.git("switch", "--quiet", "-c", "other")
    colleague(package, "const page = 6;\n")
    package.git("switch", "--quiet", "main")
    colleague(package, "const page = 7;\n")
    merging = subprocess.run(["git", "merge", "other"], cwd=package.root, check=False, capture_output=True)
    assert merging.returncode == 1
    package.write("src/calc/broken.py", "def f(:\n")
    found = package.json("gates", "run", exits=1)
    assert {each["path"] for gate in found["results"] for each in gate["findings"]} == {"src/calc/broken.py"}
    package.planned(plan("1.1"))
    assert "a merge is in progress" in package.swarm("run", exits=2).stderr


@pytest.mark.slow
@pytest.mark.skipif(SANDBOX == "none", reason="this machine has no sandbox")
def test_agents_and_tests_see_the_folder_alone_and_git_works_there(package: Project) -> None:
    package.write(
        "tests/test_calc.py",
        "import pathlib\nimport subprocess\n\n\n"
        "def test_start() -> None:\n"
        "    asked = ['git', 'log', '-1', '--format=%s']\n"
        "    assert subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip() == 'Test git'\n"
        "    asked = ['git', 'rev-parse', '--show-prefix']\n"
        "    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()\n"
        "    assert told == 'packages/api/'\n"
        "    assert not pathlib.Path('../web/page.js').exists()\n",
    )
    package.git("commit", "--quiet", "--all", "--message=Test git")
    command = "git log -1 --format=GIT-%s; ls ../web; touch ../new ../../.git/new; ls -A"
    package.planned(
        plan("1.1"),
        rule(
            "coder",
            "code",
            [call("run_command", command=command)],
            [
                call("write_file", path="../web/page.js", content="x"),
                call("write_file", path=TASK, content=part("one")),
                call("finish", summary="done"),
            ],
        ),
    )
    package.swarm("run", exits=3)
    said = "".join(str(each.messages) for each in package.requests)
    assert "GIT-Test git" in said
    assert "page.js: No such file" not in said
    assert "const page" not in said
    assert (package.root / "../web/page.js").read_text() == "const page = 1;\n"
    assert not (package.root / "../new").exists()
    assert not (package.root / "../../.git/new").exists()


def test_a_checkout_is_of_the_folder_as_git_writes_it_there(package: Project) -> None:
    package.write("../../.gitattributes", "/packages/api/*.bat text eol=crlf\n")
    package.write("run.bat", "echo\r\n")
    repository = Repository.discover(package.root)
    with checked_out(package.root, repository.snapshot()) as made:
        assert sorted(each.name for each in made.root.iterdir()) == ["AGENTS.md", "run.bat", "src", "tests"]
        assert (made.root / "run.bat").read_bytes() == b"echo\r\n"
        told = subprocess.run(["git", "log", "--format=%s"], cwd=made.root, check=True, capture_output=True, text=True)
        assert told.stdout == "Start\n"
        assert made.rewritten() == ()
        (made.root / "src/calc/__init__.py").write_text("other\n")
        assert made.rewritten() == ("src/calc/__init__.py",)


@pytest.mark.slow
def test_uncommitted_files_of_the_folder_are_stashed_and_those_beside_it_stay(package: Project) -> None:
    package.write("src/calc/mine.py", part("mine"))
    package.write("../web/page.js", "const page = 2;\n")
    package.write("../web/new.js", "const fresh = 1;\n")
    package.planned(plan("1.1"))
    assert "src/calc/mine.py" in package.swarm("run", exits=2).stderr
    package.swarm("run", "--stash", exits=3)
    assert (package.root / "../web/page.js").read_text() == "const page = 2;\n"
    assert (package.root / "../web/new.js").exists()
    assert package.git("stash", "show", "--include-untracked", "--name-only").splitlines() == [
        "packages/api/src/calc/mine.py"
    ]


@pytest.mark.slow
def test_it_is_the_same_in_a_linked_work_tree(package: Project) -> None:
    package.git("add", "--force", ".swarm/config.toml", ".swarm/ledger.jsonl")
    package.git("commit", "--quiet", "--message=The project")
    linked = package.root.parents[1].with_name("linked")
    package.git("worktree", "add", "--quiet", "-b", "other", str(linked))
    there = Project(linked / "packages/api", package.suite, processes=package.processes)
    there.swarm("init")
    there.planned(plan("1.1"))
    there.swarm("run", exits=3)
    assert there.git("show", "--format=", "--name-only", "HEAD") == f"packages/api/{TASK}"
    assert there.json("verify")["passed"]
    assert package.state.goal == ""


@pytest.mark.slow
def test_a_request_is_opened_with_the_work_of_the_folder(package: Project) -> None:
    remote = package.root.parents[1].with_name("remote.git")
    package.git("init", "--quiet", "--bare", str(remote))
    package.git("remote", "add", "origin", str(remote))
    package.git("push", "--quiet", "origin", "main")
    package.planned(plan("1.1"))
    package.swarm("run", exits=3)
    package.swarm("approve")
    colleague(package, "const page = 5;\n")
    told = package.json("pr")
    assert "The page of a colleague" not in str(told)
    assert package.git("ls-remote", "origin", package.state.branch).split()[0] == package.git("rev-parse", "HEAD")


@pytest.mark.slow
def test_every_other_report_is_of_the_folder(package: Project) -> None:
    package.write("../web/package.json", '{"name": "web", "dependencies": {"left-pad": "1.3.0"}}\n')
    package.write("pyproject.toml", '[project]\nname = "api"\nversion = "1.0"\ndependencies = ["attrs==23.1.0"]\n')
    package.git("add", "--all", "--", "../web", "pyproject.toml")
    package.git("commit", "--quiet", "--message=Manifests")
    package.write("../web/page.js", "const page = 8;\n")
    package.planned(plan("1.1"))
    told = CliRunner().invoke(app, ["preflight", "--json", "--repo", str(package.root)]).stdout
    assert '"clean"' in told
    package.swarm("run", exits=3)
    sbom = package.swarm("sbom").stdout
    assert "attrs" in sbom
    assert "left-pad" not in sbom
    for verb in ("doctor", "drift", "handoff", "report", "status", "history"):
        result = CliRunner().invoke(app, [verb, "--repo", str(package.root)])
        assert result.exit_code in {0, 1, 6}, f"{verb}: {result.stdout} {result.stderr}"
        assert "left-pad" not in result.stdout
