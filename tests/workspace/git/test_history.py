"""Where HEAD is, and what became of commits that a branch does not have any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmgate.workspace.git import history
from swarmgate.workspace.git.history import Position, TreeCommit
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., str]


def commit(repo: Path, git: Git, path: str, text: str, message: str = "Message") -> TreeCommit:
    (repo / path).write_text(text)
    git(repo, "add", path)
    git(repo, "commit", "--quiet", f"--message={message}")
    return TreeCommit(git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD^{tree}"))


def test_the_position_is_what_git_says_of_loose_packed_and_detached_heads(repo: Path, git: Git) -> None:
    repository, head = Repository.discover(repo), git(repo, "rev-parse", "HEAD")
    assert history.position(repository) == Position("main", head)
    git(repo, "pack-refs", "--all")
    assert history.position(repository) == Position("main", head)
    git(repo, "switch", "--quiet", "--create", "swarm/a/b")
    assert history.position(repository) == Position("swarm/a/b", head)
    git(repo, "switch", "--quiet", "--detach")
    assert history.position(repository) == Position("", head)
    other = repo.parent / "linked"
    git(repo, "worktree", "add", "--quiet", "-b", "linked", str(other))
    made = commit(other, git, "new.txt", "x\n")
    assert history.position(Repository.discover(other)) == Position("linked", made.commit)


def test_what_is_missing_is_found_also_where_an_object_is_gone(repo: Path, git: Git) -> None:
    repository, start = Repository.discover(repo), git(repo, "rev-parse", "HEAD")
    first, second = commit(repo, git, "a", "a\n"), commit(repo, git, "b", "b\n")
    wanted = [first.commit, second.commit]
    assert history.missing(repository, "HEAD", wanted) == ()
    assert history.missing(repository, first.commit, wanted) == (second.commit,)
    assert history.missing(repository, start, wanted) == tuple(wanted)
    assert history.missing(repository, "HEAD", [*wanted, "0" * 40]) == ("0" * 40,)
    assert history.missing(repository, "HEAD", []) == ()


def test_files_that_stand_as_before_the_newest_commits_are_left_behind(repo: Path, git: Git) -> None:
    repository, base = Repository.discover(repo), git(repo, "rev-parse", "HEAD")
    commit(repo, git, "README.md", "new\n")
    assert history.left_behind(repository, base, "HEAD") == ()
    (repo / "README.md").write_text("edited since\n")
    assert history.left_behind(repository, base, "HEAD") == ()
    git(repo, "checkout", "--quiet", base, "--", "README.md")
    assert history.left_behind(repository, base, "HEAD") == ("README.md",)


def on_main(repo: Path, git: Git) -> None:
    git(repo, "switch", "--quiet", "--create", "other", "HEAD~2")
    commit(repo, git, "src/app.py", "# new first line\ndef one():\n    return 1\n")


def rebased(repo: Path, git: Git) -> None:
    on_main(repo, git)
    git(repo, "rebase", "--quiet", "other", "main")


def picked_in_another_order(repo: Path, git: Git) -> None:
    wanted = git(repo, "rev-list", "HEAD~2..HEAD").split()
    on_main(repo, git)
    git(repo, "cherry-pick", *wanted)


def reworded(repo: Path, git: Git) -> None:
    git(repo, "commit", "--quiet", "--amend", "--message=Words", "--reset-author", "--date=2020-01-01T00:00:00")


def squashed(repo: Path, git: Git) -> None:
    git(repo, "reset", "--quiet", "--soft", "HEAD~2")
    git(repo, "commit", "--quiet", "--message=Both")


@pytest.mark.slow
@pytest.mark.parametrize("rewrite", [rebased, picked_in_another_order, reworded, squashed])
def test_rewritten_commits_are_found_by_what_they_hold(
    repo: Path, git: Git, rewrite: Callable[[Path, Git], None]
) -> None:
    since = git(repo, "rev-parse", "HEAD")
    app = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    made = [commit(repo, git, "src/app.py", app, "First"), commit(repo, git, "data.bin", "\0\1binary", "Second")]
    rewrite(repo, git)
    repository = Repository.discover(repo)
    gone = [each for each in made if each.commit in history.missing(repository, "HEAD", [each.commit])]
    found = history.rewritten(repository, gone, since=since, tip="HEAD")
    assert gone
    assert set(found) == {each.commit for each in gone}
    for each in gone:
        assert history.contains(repository, "HEAD", found[each.commit])
        assert each.commit != found[each.commit]


@pytest.mark.parametrize(
    "other", ["x = 1\n\nif x:\n    pass\n    x = 2\n", "x = 1\n\nif x:\n    pass\nx  = 2\n"], ids=["indent", "space"]
)
def test_a_patch_that_differs_in_white_space_is_another_one(repo: Path, git: Git, other: str) -> None:
    since = git(repo, "rev-parse", "HEAD")
    gone = commit(repo, git, "new.py", "x = 1\n\nif x:\n    pass\nx = 2\n")
    git(repo, "reset", "--quiet", "--hard", since)
    commit(repo, git, "new.py", other)
    assert history.rewritten(Repository.discover(repo), [gone], since=since, tip="HEAD") == {}


def test_an_original_that_is_gone_for_good_is_found_by_its_tree_alone(repo: Path, git: Git) -> None:
    since = git(repo, "rev-parse", "HEAD")
    made = commit(repo, git, "a", "a\n")
    lost = TreeCommit("0" * 40, made.tree)
    repository = Repository.discover(repo)
    assert history.rewritten(repository, [lost], since=since, tip="HEAD") == {lost.commit: made.commit}
    other = TreeCommit("0" * 40, "1" * 40)
    assert history.rewritten(repository, [other], since="2" * 40, tip="HEAD") == {}
