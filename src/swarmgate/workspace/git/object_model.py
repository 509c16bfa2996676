"""Walks over commits with GitPython's object model, in the surroundings of every other git command of ours.

GitPython knows repositories of SHA-1 alone, and ends in whatever exception comes where a commit is damaged. So where it
does not get through, git is asked itself: it reads what there is to read, or says what is wrong.
"""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.workspace.git.driver import AT_HOME, SETTINGS, program, surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from git import Commit, Repo

    from swarmgate.workspace.git.driver import Driver

_NO_PROGRAMS = {
    "core.fsmonitor": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
"""Settings by which git would start a program: a walk starts none."""
_CLOSED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_PARAMETERS": "", **AT_HOME}
_IMPORTING = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_TRACE": ""}
"""GitPython starts a git when it is imported: the one that was found before, and no other."""
_FIELDS = "%H%x00%T%x00%P%x00%at%x00%B%x00%x00"


class Walked(NamedTuple):
    """A commit on a walk: its id, its tree's, its parents', its message, and when it was written.

    The time is in Unix seconds, 0 where the commit has none that can be read. What is no UTF-8 in the message is
    U+FFFD: GitPython reads no other encoding, whatever the commit says of its own.
    """

    commit: str
    tree: str
    parents: tuple[str, ...]
    message: str
    written: int


def walk(git: Driver, revisions: Sequence[str], *, limit: int = 0, parents_first: bool = False) -> tuple[Walked, ...]:
    """The commits that revisions reach, as `git rev-list` takes them (`A..B`, `^A`).

    Args:
        git: of the repository.
        revisions: where to begin, and what to leave out; ids and names, and no options.
        limit: most commits; 0: all.
        parents_first: no commit before its parents; else the newest first.

    Raises:
        WorkspaceError: git knows no such revision, or an object is missing or damaged.
        MissingRequirement: there is no git.
    """
    try:
        with opened(git) as repo:
            return tuple(_walked(each) for each in _commits(repo, revisions, limit, parents_first=parents_first))
    except Exception:  # noqa: BLE001 - whatever a library says of a repository, the word of git itself decides
        return _by_log(git, revisions, limit, parents_first=parents_first)


@contextmanager
def opened(git: Driver) -> Iterator[Repo]:
    """GitPython's view of a repository: no hook, no prompt, no setting that starts a program; closed at the end.

    Raises:
        MissingRequirement: there is no git, or it lies where agents write.
        git.exc.GitError: GitPython cannot open it.
    """
    with _model(program(git.root))(git.root, expand_vars=False) as repo:
        repo.git.update_environment(**{**surroundings(git.root), **_CLOSED, **_settings()})
        yield repo


def _settings() -> dict[str, str]:
    """The variables by which git takes settings that go before those of every file."""
    pairs = enumerate((SETTINGS | _NO_PROGRAMS).items())
    keys = {
        f"GIT_CONFIG_{part}_{n}": text for n, pair in pairs for part, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {**keys, "GIT_CONFIG_COUNT": str(len(keys) // 2)}


@functools.cache
def _model(executable: str) -> type[Repo]:
    """GitPython's class of a repository, which starts this git and no other."""
    given = {name: os.environ.get(name) for name in (*_IMPORTING, "GIT_PYTHON_GIT_EXECUTABLE")}
    os.environ.update(_IMPORTING, GIT_PYTHON_GIT_EXECUTABLE=executable)
    try:
        from git import Git, Repo  # noqa: PLC0415 - late: 30 ms, 130 without what swarmgate has loaded by then
    finally:
        for name, value in given.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    class Program(Git):
        """Its commands."""

        GIT_PYTHON_GIT_EXECUTABLE = executable

    class Hardened(Repo):
        """A repository whose commands are those."""

        GitCommandWrapperType = Program

    return Hardened


def _commits(repo: Repo, revisions: Sequence[str], limit: int, *, parents_first: bool) -> Iterator[Commit]:
    """The commits. Their ids come whole: what lists them while they are read is left open where reading fails."""
    from git import Commit  # noqa: PLC0415 - late: see `_model`

    order = {"topo_order": True, "reverse": True} if parents_first else {}
    most = {"max_count": limit} if limit else {}
    listed = repo.git.rev_list("--end-of-options", *revisions, "--", **order, **most)
    return (Commit(repo, bytes.fromhex(each)) for each in listed.split())


def _walked(each: Commit) -> Walked:
    message = each.message if isinstance(each.message, str) else each.message.decode(errors="replace")
    parents = tuple(parent.hexsha for parent in each.parents)
    return Walked(each.hexsha, each.tree.hexsha, parents, message.rstrip("\n"), each.authored_date)


def _by_log(git: Driver, revisions: Sequence[str], limit: int, *, parents_first: bool) -> tuple[Walked, ...]:
    """The same by one call of git."""
    order = ("--topo-order", "--reverse") if parents_first else ()
    most = (f"--max-count={limit}",) if limit else ()
    log = git.run("log", *order, *most, f"--format={_FIELDS}", "--end-of-options", *revisions, "--")
    found = []
    for record in log.decode(errors="replace").split("\0\0\n"):
        if record:
            commit, tree, parents, written, message = record.split("\0", 4)
            found.append(Walked(commit, tree, tuple(parents.split()), message.rstrip("\n"), int(written or 0)))
    return tuple(found)
