"""What `swarm gates run` judges: work tree, index, branch, everything, paths; and in repositories of every state."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from swarmgate.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable

TODO = "x = 1  # TODO: later\n"
FIXABLE = "print(f'x')\nx = 1\n"
QUICK = ("--only", "placeholder_scan", "--only", "lint_fix", "--only", "diff")


@dataclass
class Place:
    """A repository in which `swarm gates` is called."""

    root: Path
    git: Callable[..., str]

    def write(self, path: str, text: str = TODO) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def commit(self, **files: str) -> None:
        for path, text in files.items():
            self.write(path.replace("__", "/").replace("_py", ".py"), text)
        self.git(self.root, "add", "--all")
        self.git(self.root, "commit", "--quiet", "--message=more")

    def call(self, *args: str, exits: int) -> Any:
        done = CliRunner().invoke(app, ["gates", *args, "--repo", str(self.root)])
        assert done.exit_code == exits, done.output
        return done

    def run(self, *args: str, exits: int) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.call("run", *QUICK, "--json", *args, exits=exits).stdout)
        return told

    def found(self, *args: str, exits: int = 1) -> list[str]:
        """The files with new findings."""
        results = self.run(*args, exits=exits)["results"]
        return sorted(each["path"] for result in results for each in result["findings"] if each["new"])


@pytest.fixture
def place(repo: Path, git: Callable[..., str]) -> Place:
    return Place(repo, git)


# --- work tree ---


@pytest.mark.slow
def test_the_work_tree_with_untracked_files_is_the_default(place: Place) -> None:
    place.commit(old_py=TODO)
    place.write("new.py")
    assert place.found() == ["new.py"]


@pytest.mark.slow
def test_it_is_fixed_and_the_change_shown(place: Place) -> None:
    place.write("new.py", FIXABLE)
    told = place.run(exits=0)
    fixed = next(each for each in told["results"] if each["gate"] == "lint_fix")
    assert fixed["fixed"] == ["new.py"]
    assert "-print(f'x')\n" in fixed["patch"]
    place.write("new.py", FIXABLE)
    assert "-print(f'x')" in place.call("run", *QUICK, exits=0).stdout.splitlines()
    place.write("new.py", FIXABLE)
    place.run("--no-fix", exits=0)
    assert (place.root / "new.py").read_text() == FIXABLE


def test_a_fix_of_what_is_in_no_commit_can_be_undone(place: Place) -> None:
    place.write("new.py", FIXABLE)
    said = place.call("run", *QUICK, exits=0).stdout
    assert (place.root / "new.py").read_text() != FIXABLE
    undo = next(line for line in said.splitlines() if "undo: " in line).partition("undo: ")[2]
    subprocess.run(shlex.split(undo), check=True)
    assert (place.root / "new.py").read_text() == FIXABLE
    assert "undo: " not in place.call("run", *QUICK, "--no-fix", exits=0).stdout


def test_a_project_without_ruff_is_not_formatted(place: Place) -> None:
    place.write("new.py", "print(f'x')\nx = { 'a':1 }\n")
    place.run(exits=0)
    assert (place.root / "new.py").read_text() == "print('x')\nx = { 'a':1 }\n"


# --- base ---


def test_a_base_is_where_the_branches_parted(place: Place) -> None:
    place.git(place.root, "switch", "--quiet", "--create", "feature")
    place.commit(mine_py=TODO)
    place.git(place.root, "switch", "--quiet", "main")
    place.commit(theirs_py=TODO)
    place.git(place.root, "switch", "--quiet", "feature")
    place.write("fresh.py", FIXABLE)
    assert place.found("--base", "main") == ["mine.py"]
    assert (place.root / "fresh.py").read_text() == FIXABLE
    assert place.found("--base", "main", "--fix") == ["mine.py"]
    assert (place.root / "fresh.py").read_text() == "print('x')\nx = 1\n"


def test_histories_without_a_common_commit_are_compared_as_they_are(place: Place) -> None:
    place.git(place.root, "switch", "--quiet", "--orphan", "other")
    place.commit(other_py=TODO)
    place.git(place.root, "switch", "--quiet", "main")
    assert place.run("--base", "other", exits=0)["results"]


def test_a_shallow_clone_says_what_to_do(place: Place, tmp_path: Path) -> None:
    first = place.git(place.root, "rev-parse", "HEAD")
    place.commit(a_py="a = 1\n")
    place.git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{place.root}", "shallow")
    shallow = Place(tmp_path / "shallow", place.git)
    for revision in (first, "nope"):
        told = shallow.call("run", "--base", revision, exits=2)
        assert "git knows no revision" in told.stderr
        assert "git fetch --unshallow" in told.stderr
    shallow.write("b.py", "b = 1\n")
    assert shallow.run("--base", "HEAD", exits=0)["results"]


# --- staged ---


def test_only_what_is_staged_counts(place: Place) -> None:
    place.write("staged.py", "x = 1\n")
    place.git(place.root, "add", "staged.py")
    place.write("staged.py", TODO)
    place.write("loose.py", TODO)
    assert place.found("--staged", exits=0) == []
    place.git(place.root, "add", "staged.py")
    place.write("staged.py", "x = 1\n")
    assert place.found("--staged") == ["staged.py"]


def test_tools_see_the_staged_configuration(place: Place) -> None:
    place.write("ruff.toml", 'lint.select = ["D100"]\n')
    place.write("a.py", "x = 1\n")
    place.git(place.root, "add", "--all")
    place.write("ruff.toml", "")
    told = json.loads(place.call("run", "--staged", "--only", "lint_check", "--json", exits=1).stdout)
    assert [each["rule"] for result in told["results"] for each in result["findings"]] == ["D100"]


def test_staging_leaves_no_trace(place: Place) -> None:
    place.write("a.py", "import os\n")
    place.git(place.root, "add", "a.py")
    before = place.git(place.root, "status", "--porcelain"), place.git(place.root, "worktree", "list")
    place.run("--staged", exits=0)
    assert before == (place.git(place.root, "status", "--porcelain"), place.git(place.root, "worktree", "list"))
    assert (place.root / "a.py").read_text() == "import os\n"


@pytest.mark.slow
def test_as_a_hook_of_git_it_judges_the_index_that_git_hands_over(place: Place) -> None:
    """`git commit FILE` has an index of its own; what else is staged is not in it."""
    hook = place.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    only = " ".join(QUICK)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m swarmgate gates run --staged {only}\n")
    hook.chmod(0o755)
    place.write("src/app.py", "def one():\n    return 2\n")
    place.write("bad.py", TODO)
    place.git(place.root, "add", "bad.py")
    done = subprocess.run(
        ["git", "commit", "--quiet", "--message=x", "src/app.py"],
        cwd=place.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    done = subprocess.run(
        ["git", "commit", "--quiet", "--message=x"], cwd=place.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "bad.py:1" in done.stdout + done.stderr


def test_conflicts_in_the_index_are_named(place: Place) -> None:
    conflict(place)
    assert "has conflicts" in place.call("run", "--staged", exits=2).stderr


# --- all, paths ---


def test_everything_is_judged_whole(place: Place) -> None:
    place.commit(old_py=TODO)
    place.write("new.py")
    told = place.run("--all", exits=1)
    assert {each["path"] for result in told["results"] for each in result["findings"]} == {"new.py", "old.py"}
    (diff,) = [each for each in told["results"] if each["gate"] == "diff"]
    assert (diff["status"], diff["reason"]) == ("SKIP", "it judges a difference, and files are judged whole here")


@pytest.mark.slow
def test_paths_are_judged_whole(place: Place) -> None:
    place.commit(src__old_py=TODO, src__deep__er_py=TODO, lib__x_py=TODO)
    assert place.found("src/old.py") == ["src/old.py"]
    assert place.found("src", "lib/x.py") == ["lib/x.py", "src/deep/er.py", "src/old.py"]
    done = CliRunner().invoke(app, ["gates", "run", *QUICK, "--repo", str(place.root / "src"), "deep"])
    assert "src/deep/er.py:1" in done.stdout


def test_paths_are_fixed_and_unformatted_ones_stay_so(place: Place) -> None:
    place.commit(ugly_py="x = {  'a':1 }\n", neat_py="x = 1\n", ruff__toml="")
    place.write("neat.py", "x=1\n")
    place.write("ugly.py", "print(f'x')\nx = {  'a':1 }\n")
    place.run(".", exits=0)
    assert (place.root / "neat.py").read_text() == "x = 1\n"
    assert (place.root / "ugly.py").read_text() == "print('x')\nx = {  'a':1 }\n"


@pytest.mark.slow
def test_paths_of_a_change(place: Place) -> None:
    place.commit(a_py=TODO, b_py=TODO)
    place.write("a.py", TODO * 2)
    place.write("b.py", TODO * 2)
    assert place.found("--base", "HEAD", "a.py") == ["a.py"]
    place.git(place.root, "add", "--all")
    assert place.found("--staged", "b.py") == ["b.py"]


@pytest.mark.parametrize("path", ["missing.py", "../outside.py", ".git/config", ".swarm/x", "ignored.py"])
def test_a_path_that_is_not_judged_is_wrong_usage(place: Place, path: str) -> None:
    place.commit(_gitignore="")
    (place.root / ".gitignore").write_text("ignored.py\n")
    (place.root / "ignored.py").write_text("x = 1\n")
    assert path.rpartition("/")[2] in place.call("run", path, exits=2).stderr


@pytest.mark.parametrize(
    "options",
    [("--base", "HEAD", "--staged"), ("--all", "--base", "HEAD"), ("--all", "--staged"), ("--all", "src"),
     ("--staged", "--fix"), ("--format", "xml")],
)  # fmt: skip
def test_what_makes_no_sense_is_wrong_usage(place: Place, options: tuple[str, ...]) -> None:
    assert place.call("run", *options, exits=2).stderr.startswith("swarm: ")


# --- output ---


def test_output_goes_to_a_file_and_the_text_to_stdout(place: Place, tmp_path: Path) -> None:
    place.write("new.py")
    target = tmp_path / "report.sarif"
    done = place.call("run", *QUICK, "--format", "sarif", "--output", str(target), exits=1)
    assert json.loads(target.read_text())["version"] == "2.1.0"
    assert "FAIL   placeholder_scan" in done.stdout
    assert place.call("run", *QUICK, "--output", str(tmp_path / "no" / "x"), exits=2)
    target.write_text("kept")
    place.call("run", "--format", "sarif", "--output", str(target), "--base", "nope", exits=2)
    assert target.read_text() == "kept"


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_every_format_on_stdout(place: Place, form: str) -> None:
    place.write("new.py")
    assert "new.py" in place.call("run", *QUICK, "--format", form, exits=1).stdout


def test_a_clean_tree_says_in_json_that_nothing_was_judged(place: Place) -> None:
    told = place.run(exits=0)
    assert (told["verdict"], told["notes"]) == ("nothing judged", ["Nothing differs from HEAD: nothing was judged."])
    assert place.run("--staged", exits=0)["notes"] == ["Nothing is staged: nothing was judged."]


def test_prose_alone_passes_and_says_what_was_looked_at(place: Place) -> None:
    place.write("README.md", "# Demo\n\nMore of it.\n")
    told = place.call("run", exits=0).stdout
    assert "PASS   placeholder_scan, secret_scan" in told
    assert "1 file looked at" in told
    assert "nothing judged" in place.call("run", "--only", "lint_check", exits=0).stdout


# --- states of repositories ---


def conflict(place: Place) -> None:
    place.git(place.root, "switch", "--quiet", "--create", "other")
    place.commit(src__app_py="def one():\n    return 2\n")
    place.git(place.root, "switch", "--quiet", "main")
    place.commit(src__app_py="def one():\n    return 3\n")
    subprocess.run(["git", "merge", "other"], cwd=place.root, capture_output=True, check=False)


def test_a_merge_in_progress_is_judged_and_told(place: Place) -> None:
    conflict(place)
    told = json.loads(place.call("run", "--only", "syntax_check", "--json", exits=1).stdout)
    rules = {each["rule"] for result in told["results"] for each in result["findings"]}
    assert "conflict-marker" in rules
    assert any("a merge is in progress" in note for note in told["notes"])


@pytest.mark.slow
def test_before_the_first_commit_everything_is_the_change(tmp_path: Path, git: Callable[..., str]) -> None:
    root = tmp_path.resolve() / "fresh"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    fresh = Place(root, git)
    assert fresh.run(exits=0)["verdict"] == "nothing judged"
    fresh.write("a.py")
    assert fresh.found() == ["a.py"]
    assert fresh.found("--all") == ["a.py"]
    assert fresh.found("a.py") == ["a.py"]
    git(root, "add", "a.py")
    fresh.write("b.py")
    assert fresh.found("--staged") == ["a.py"]
    assert "no revision" in fresh.call("run", "--base", "main", exits=2).stderr


def test_a_bare_repository_has_no_files(tmp_path: Path, git: Callable[..., str]) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    assert "bare repository" in Place(tmp_path / "bare", git).call("run", exits=2).stderr


def test_repositories_in_the_repository_are_told_and_not_followed(place: Place) -> None:
    for name in ("empty", "with"):
        place.git(place.root, "init", "--quiet", name)
        place.write(f"{name}/inner.py")
    place.git(place.root / "with", "add", "--all")
    place.git(place.root / "with", "commit", "--quiet", "--message=inner")
    place.write("outer.py")
    told = place.run(exits=1)
    assert [each["path"] for result in told["results"] for each in result["findings"] if each["rule"] == "marker"] == [
        "outer.py"
    ]
    assert told["notes"] == ["empty/ is a repository without a commit: not looked at"]
    (scan,) = [each for each in told["results"] if each["gate"] == "placeholder_scan"]
    assert "1 submodule" in scan["reason"]
    assert "belongs to the repository" in place.call("run", "with/inner.py", exits=2).stderr


def test_a_repository_without_a_commit_is_told_where_nothing_else_changed(place: Place) -> None:
    place.git(place.root, "init", "--quiet", "empty")
    assert place.run(exits=0)["notes"] == [
        "Nothing differs from HEAD: nothing was judged.", "empty/ is a repository without a commit: not looked at",
    ]  # fmt: skip


@pytest.mark.slow
def test_staged_content_that_is_not_on_disk_is_told(place: Place) -> None:
    said = "staged content of src/app.py is not what was judged: judge it with --staged"
    place.write("src/app.py")
    place.git(place.root, "add", "--all")
    assert place.run(exits=1)["notes"] == []
    place.write("src/app.py", "def one() -> int:\n    return 3\n")
    for args in ((), ("--base", "HEAD"), ("src",), ("--all",)):
        assert place.run("--no-fix", *args, exits=0)["notes"] == [said], args
    place.write("other.py", "X = 1\n")
    assert place.run("other.py", exits=0)["notes"] == []
    place.run("--staged", exits=1)
    (place.root / "other.py").unlink()
    place.git(place.root, "restore", "--source=HEAD", "--worktree", "src/app.py")
    assert place.run(exits=0)["notes"] == ["Nothing differs from HEAD: nothing was judged.", said]


def test_a_git_state_that_fools_git_status_fools_no_gate(place: Place) -> None:
    place.git(place.root, "update-index", "--assume-unchanged", "src/app.py")
    place.write("src/app.py")
    place.write(".hypothesis/e.py")
    assert set(place.found()) == {".hypothesis/e.py", "src/app.py"}


def test_links_in_circles_end(place: Place) -> None:
    (place.root / "loop").symlink_to("loop")
    (place.root / "src" / "up").symlink_to("..")
    place.write("a.py")
    assert place.found() == ["a.py"]
    assert place.found("--all") == ["a.py"]
    assert place.found("src/up", exits=0) == []


def test_another_redirection_of_git_is_refused(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.git(tmp_path, "init", "--quiet", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere" / ".git"))
    assert "GIT_DIR is set" in place.call("run", exits=2).stderr
    assert os.environ["GIT_DIR"]


# --- hooks ---


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_the_hooks_that_we_offer_run(place: Place, number: int) -> None:
    manifest = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
    hooks = yaml.safe_load(manifest.read_text("utf-8"))
    assert [hook["id"] for hook in hooks] == ["swarm-gates", "swarm-gates-push"]
    place.git(place.root, "update-ref", "refs/remotes/origin/HEAD", "HEAD")
    place.commit(new_py="x = 1\n")
    hook = hooks[number]
    argv = [*hook["entry"].split(), *hook.get("args", ())]
    assert argv[0] == "swarm"
    assert (hook["pass_filenames"], hook["language"]) == (False, "python")
    done = CliRunner().invoke(app, [*argv[1:], "--repo", str(place.root)])
    assert done.exit_code == 0, done.output
    assert ("Nothing is staged" in done.stdout) is (number == 0)
