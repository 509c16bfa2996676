"""What Windows does otherwise with names and line ends, as far as it can be tried elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from swarmgate.errors import UnsafePath
from swarmgate.workspace import system
from swarmgate.workspace.files import guard
from swarmgate.workspace.git.repository import Repository


@pytest.mark.parametrize(
    "name",
    [
        "CON",
        "con.txt",
        "aux.tar.gz",
        "NUL ",
        "Com1",
        "lpt9.py",
        "COM¹",
        "name.",
        "name ",
        "a:b",
        "a?b",
        "a\x01b",
        'a"b',
    ],
)
def test_names_that_windows_cannot_hold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guard.windows_problem(name)
    guard.resolve(tmp_path, f"src/{name}x")  # elsewhere they are names like any other
    monkeypatch.setattr(system, "IS_WINDOWS", True)
    with pytest.raises(UnsafePath, match="Windows"):
        guard.resolve(tmp_path, f"src/{name}/part.py")


@pytest.mark.parametrize("name", ["console.py", "com10", "auxiliary.c", ".gitignore", "..", "a b.py", "naïve.py"])
def test_names_that_windows_can_hold(name: str) -> None:
    assert guard.windows_problem(name) == ""


@pytest.mark.parametrize(
    "path",
    [".GIT/config", ".Swarm/ledger.jsonl", "src/.Git/hooks/x", ".git./config", ".git::$INDEX_ALLOCATION/config",
     "git~1/config", ".swarm /x", ".\uff27\uff29\uff34/config", ".g\u200cit/config"],
)  # fmt: skip
def test_what_is_gits_and_swarmgates_is_so_by_every_name_that_a_file_system_may_take_for_it(
    path: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsafePath):
        guard.resolve(tmp_path, path)


@pytest.mark.parametrize("path", ["C:/Windows/x", "c:\\x", "\\\\server\\share\\x", "src\\..\\..\\x", "..\\x"])
def test_absolute_and_climbing_paths_in_the_way_of_windows_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        guard.resolve(tmp_path, path)


def test_line_ends_of_a_checkout_on_windows_are_no_change(repo: Path) -> None:
    app = repo / "src/app.py"
    app.write_bytes(app.read_bytes().replace(b"\n", b"\r\n"))
    here = Repository.discover(repo)
    assert here.changes(here.head_tree(), here.snapshot()).paths == ("src/app.py",)
    subprocess.run(["git", "config", "core.autocrlf", "true"], cwd=repo, check=True)
    there = Repository.discover(repo)
    assert there.snapshot() == there.head_tree()
    app.write_bytes(app.read_bytes() + b"MORE = 1\r\n")
    change = there.changes(there.head_tree(), there.snapshot())
    assert [(file.path, file.added, file.removed) for file in change.files] == [("src/app.py", 1, 0)]
