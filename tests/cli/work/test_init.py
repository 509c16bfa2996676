"""`swarm init` where there is no commit yet: what it offers, what it commits, and what it never does."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from swarmgate.cli.app import app
from swarmgate.errors import HeadMoved
from swarmgate.workspace.git.repository import Repository

KEY = "AKIA" + "QWERTYUIOPASDFGH"
"""Of the form that a cloud gives; nobody's."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small project in it, and no repository."""
    root = tmp_path / "new"
    files = {
        ".gitignore": "/.env\n/node_modules/\n",
        ".env": f"KEY={KEY}\n",
        "README.md": "# New\r\n",
        "node_modules/x/index.js": "1\n",
        "src/app.py": "A = 1\n",
        "src/__pycache__/app.cpython-311.pyc": "x\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root


def init(folder: Path, *words: str, exits: int = 0) -> Result:
    done = CliRunner().invoke(app, ["init", "--repo", str(folder), *words])
    assert done.exit_code == exits, done.output
    return done


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def committed(folder: Path) -> list[str]:
    return git(folder, "ls-tree", "-r", "--name-only", "HEAD").split()


def nothing_there(folder: Path) -> None:
    """No commit was made, nothing is staged, and there is no `.swarm/`."""
    assert git(folder, "for-each-ref") == git(folder, "ls-files", "--cached") == ""
    assert not (folder / ".swarm").exists()


# --- for scripts ---


def test_a_folder_without_git_becomes_a_project(folder: Path) -> None:
    done = init(folder, "--commit")
    assert committed(folder) == [".gitignore", "README.md", "src/app.py"]
    assert git(folder, "log", "--format=%s").splitlines() == ["Initial commit"]
    assert git(folder, "status", "--porcelain").splitlines() == ["?? .swarm/", "?? src/__pycache__/"]
    assert (folder / ".swarm/ledger.jsonl").is_file()
    assert "The first commit would hold 3 files, 34 bytes" in done.stderr
    assert "  src/  1 file" in done.stderr.splitlines()
    assert f"first commit: {git(folder, 'rev-parse', 'HEAD')[:12]}" in done.stdout
    assert done.stdout.splitlines()[-1] == '  swarm plan "GOAL": say what is wanted', (
        "a command is never broken by a wrap"
    )


def test_as_json_it_says_which_commit(folder: Path) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    told = json.loads(init(folder, "-y", "--json").stdout)
    assert (told["commit"], told["created"]) == (git(folder, "rev-parse", "HEAD").strip(), True)
    again = json.loads(init(folder, "--yes", "--json").stdout)
    assert (again["commit"], again["created"]) == ("", False)
    assert len(git(folder, "log", "--format=%h").split()) == 1


def test_an_empty_folder_gets_an_empty_commit(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "would hold no file" in init(tmp_path / "empty", "--commit").stderr
    assert committed(tmp_path / "empty") == []


def test_a_folder_in_a_repository_is_no_new_one(folder: Path) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    assert f'"repository": "{folder}"' in init(folder / "src", "--commit", "--json").stdout
    assert not (folder / "src/.git").exists()


@pytest.mark.slow
def test_a_secret_is_not_committed(folder: Path) -> None:
    (folder / ".gitignore").unlink()
    told = init(folder, "--commit", exits=1)
    nothing_there(folder)
    assert ".env:1" in told.stdout
    assert KEY not in told.output
    assert "nothing was committed" in told.stderr
    report = json.loads(init(folder, "--commit", "--json", exits=1).stdout)
    assert [each["gate"] for each in report["results"] if each["status"] == "FAIL"] == ["secret_scan"]
    (folder / ".gitignore").write_text(".env\n")
    assert ".env" not in [init(folder, "--commit"), *committed(folder)]


def test_what_is_staged_and_nowhere_else_is_not_replaced(folder: Path) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    (folder / "src/app.py").write_text("A = 'staged'\n")
    git(folder, "add", "src/app.py")
    (folder / "src/app.py").write_text("A = 2\n")
    told = init(folder, "--commit", exits=2).stderr
    assert "`src/app.py`" in told
    assert git(folder, "show", ":src/app.py") == "A = 'staged'\n"
    git(folder, "add", "src/app.py")
    init(folder, "--commit")
    assert git(folder, "show", "HEAD:src/app.py") == "A = 2\n"


def test_a_hook_may_refuse(folder: Path) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    hook = folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not today'; exit 1\n")
    hook.chmod(0o755)
    assert "not today" in init(folder, "--commit", exits=2).stderr
    nothing_there(folder)


def test_repositories_inside_are_named(folder: Path, repo: Path) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    repo.rename(folder / "lib")
    git(folder, "init", "--quiet", "bare-of-commits")
    (folder / "bare-of-commits/a.txt").write_text("a\n")
    assert "'bare-of-commits/' does not have a commit" in init(folder, "--commit", exits=2).stderr
    nothing_there(folder)
    git(folder / "bare-of-commits", "commit", "--quiet", "--allow-empty", "-m", "now it has")
    assert "  lib is a repository of its own: only its commit is named" in init(folder, "--commit").stderr.splitlines()
    assert {"lib", "bare-of-commits"} < set(committed(folder))


@pytest.mark.parametrize("place", ["home", "root"])
def test_the_home_of_the_user_becomes_no_repository(place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    where = folder if place == "home" else Path("/")
    told = init(where, "--commit", exits=2).stderr
    assert "no folder of one project" in told
    assert not (where / ".git").exists()


def test_somebody_else_was_first(folder: Path) -> None:
    """Two at once: a second commit of the same files would stand on the first, and take what that has more away."""
    git(folder.parent, "init", "--quiet", str(folder))
    repository = Repository(folder, unborn=True, lenient=True)
    tree = repository.snapshot()
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    with pytest.raises(HeadMoved, match="somebody else made the first commit"):
        repository.commit_first(tree, "Initial commit")
    assert git(folder, "log", "--format=%s").split() == ["first"]
    assert git(folder, "ls-files") == ""


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_without_a_terminal_nothing_is_made(folder: Path, words: tuple[str, ...]) -> None:
    assert "swarm init --commit" in init(folder, *words, exits=2).output
    assert not (folder / ".git").exists()
    git(folder.parent, "init", "--quiet", str(folder))
    assert "swarm init --commit" in init(folder, *words, exits=2).output
    nothing_there(folder)


# --- on a terminal ---

ATTACHED = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the terminal of this session, so that Ctrl-C is a signal
sys.argv = ["swarm", "init"]
from swarmgate.cli import main
main()
"""


@pytest.fixture
def typed(folder: Path) -> Callable[[str], tuple[int, str]]:
    """`swarm init` in that folder on a terminal, with what is typed at its questions: the exit code, and all shown."""

    def run(keys: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", ATTACHED],
            cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        shown, waiting = "", list(keys)
        try:
            while part := os.read(ours, 65536):
                shown += part.decode()
                if waiting and shown.rstrip().endswith("]:"):
                    key = waiting.pop(0)
                    os.write(ours, key.encode() if key in "\x03\x04" else f"{key}\n".encode())
                    shown += "<"
        except OSError:  # the other end is closed: all was read
            pass
        os.close(ours)
        assert waiting == []
        return process.wait(), shown

    return run


@pytest.mark.slow
def test_it_asks_shows_and_commits(folder: Path, typed: Callable[[str], tuple[int, str]]) -> None:
    code, shown = typed("yy")
    assert (code, committed(folder)) == (0, [".gitignore", "README.md", "src/app.py"])
    assert "is in no git repository. Make one here? [Y/n]" in shown
    assert shown.index("would hold 3 files") < shown.index("Make this commit? [Y/n]") < shown.index("Initialised")


@pytest.mark.slow
def test_no_is_no(folder: Path, typed: Callable[[str], tuple[int, str]]) -> None:
    code, shown = typed("n")
    assert (code, (folder / ".git").exists()) == (2, False)
    assert "swarm init --commit" in " ".join(shown.split())
    assert typed("yn")[0] == 2
    nothing_there(folder)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_ctrl_c_and_the_end_of_the_input_stop_it(
    folder: Path, typed: Callable[[str], tuple[int, str]], key: str
) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    code, shown = typed(key)
    assert code == 130
    assert "Nothing is lost." in shown
    nothing_there(folder)


@pytest.mark.slow
def test_so_many_files_that_gitignore_may_be_missing(folder: Path, typed: Callable[[str], tuple[int, str]]) -> None:
    git(folder.parent, "init", "--quiet", str(folder))
    (folder / "venv/lib").mkdir(parents=True)
    for number in range(1001):
        (folder / f"venv/lib/{number}.py").write_text(f"A = {number}\n")
    code, shown = typed("n")
    assert code == 2
    assert "venv/  1,001 files" in shown
    assert "Make this commit? [y/N]" in shown
