"""Reads the commit history: where HEAD is, what was committed since, and which commits are missing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.git import commits
from swarmgate.workspace.git.changes import diffs
from swarmgate.workspace.git.driver import AT_HOME, OUTSIDE, Driver, call
from swarmgate.workspace.git.object_model import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from swarmgate.workspace.git.commits import Commit
    from swarmgate.workspace.git.repository import Repository

_SCANNED, _COMPARED = 2_000, 200
"""Most commits, newest first, that are scanned for a missing one, and most patches that are compared."""
_NAMED = 3
"""As many commits or files are named; the rest is counted."""
_BRANCHES = "refs/heads/"
_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_PLACES = (b"@@ ", b"index ")
"""Beginnings of the lines of a patch that say where its text stands, and not what it is."""


class Position(NamedTuple):
    """Where HEAD is; `branch` is empty when it is detached."""

    branch: str
    commit: str


class TreeCommit(NamedTuple):
    """A commit that was made, and the tree that it had."""

    commit: str
    tree: str


def position(repository: Repository) -> Position:
    """The branch and the commit that HEAD names."""
    git = Driver(repository.root)
    with contextlib.suppress(OSError, ValueError):  # asked around every step: without a process where that will do
        place = regular.text(git.git_dir / "HEAD").strip().removeprefix("ref: ")
        commit = regular.text(git.common_dir / place).strip()
        if place.startswith(_BRANCHES) and _ID.fullmatch(commit):
            return Position(place.removeprefix(_BRANCHES), commit)
    out = git.run("rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    commit, place = os.fsdecode(out).splitlines()
    return Position(place.removeprefix(_BRANCHES) if place != "HEAD" else "", commit)


def tip(repository: Repository, branch: str) -> str:
    """The newest commit of a branch; HEAD's where there is no such branch."""
    code, out, _ = call(repository.root, "rev-parse", "--verify", "--quiet", f"{_BRANCHES}{branch}^{{commit}}")
    return repository.head() if code else out.decode().strip()


def commit(repository: Repository, revision: str = "HEAD") -> Commit:
    """A commit by its name."""
    return commits.read(Driver(repository.root), revision)


def signature(repository: Repository, commit: str) -> str:
    """The state of a commit's signature as `%G?` of git-log(1) names it: `G` good, `N` none. It runs gpg or ssh."""
    return Driver(repository.root).run("log", "-1", "--format=%G?", "--end-of-options", commit, "--").decode().strip()


def contains(repository: Repository, tip: str, commit: str) -> bool:
    """Whether a commit is `tip`, or one of its ancestors."""
    return call(repository.root, "merge-base", "--is-ancestor", commit, tip)[0] == 0


def missing(repository: Repository, tip: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Those of the commits that are neither `tip` nor its ancestors, in their order."""
    known = [each for each in wanted if each]
    if not known:
        return ()
    # The usual case in one process: nothing can be reached from them that cannot be reached from the tip.
    code, out, _ = call(repository.root, "rev-list", "--max-count=1", *known, "--not", tip, env=AT_HOME)
    if code == 0 and not out.strip():
        return ()
    return tuple(each for each in known if not contains(repository, tip, each))


def between(repository: Repository, base: str, tip: str) -> tuple[str, ...]:
    """The commits of the project that `tip` has and `base` has not, newest first: a short id and a subject each."""
    git = Driver(repository.root)
    own = ("--full-history", f"{base}..{tip}", "--", ".") if git.prefix else (f"{base}..{tip}", "--")
    out = git.run("log", "--format=%h %s", *own)
    return tuple(out.decode(errors="replace").splitlines())


def first_parents(repository: Repository, base: str, tip: str) -> tuple[str, ...]:
    """The commits after `base` (empty: from the first on) up to `tip` along its own line, oldest first."""
    span = f"{base}..{tip}" if base else tip
    found = Driver(repository.root).run("rev-list", "--first-parent", "--reverse", "--end-of-options", span)
    return tuple(found.decode("ascii").split())


def meanwhile(repository: Repository, base: str, head: str, *, own: Collection[str] = ()) -> str:
    """Describes what was committed to a branch since `base`.

    Args:
        repository: where to look.
        base: the commit that the work began on.
        head: the newest one now.
        own: files of the task that was worked at.
    """
    if not contains(repository, head, base):
        return f"the branch was moved from {base[:12]} to {head[:12]} meanwhile"
    made = between(repository, base, head)
    named = ", ".join(f"`{each}`" for each in made[:_NAMED])
    more = f" and {len(made) - _NAMED} more" if len(made) > _NAMED else ""
    count = "a commit was" if len(made) == 1 else f"{len(made)} commits were"
    summary = f"{count} made on the branch meanwhile: {named}{more}"
    changed = repository.changes(repository.tree_of(base), repository.tree_of(head)).paths
    held = [path for path in changed if path in own]
    return f"{summary}; files of the task are in it: {', '.join(held[:_NAMED])}" if held else summary


def left_behind(repository: Repository, base: str, tip: str) -> tuple[str, ...]:
    """The files that differ from `base` to `tip` and stand in the work tree as they were in `base`.

    That is so where a commit was made past the work tree, or where something brought the files back after it.
    """
    git = Driver(repository.root)
    inner = diffs.SUBMODULE  # what stands there is another repository's matter
    changed = {each.path for each in diffs.raw(git, base, tip) if inner not in (each.old_mode, each.new_mode)}
    edited = {entry.path for entry in diffs.raw(git, base, repository.snapshot())}
    return tuple(sorted(map(paths.decode, changed - edited)))


def rewritten(repository: Repository, gone: Sequence[TreeCommit], *, since: str, tip: str) -> dict[str, str]:
    """Finds what replaced commits that `tip` does not have: their ids, each with the commit that now holds the same.

    The same is a commit with the same patch (a rebase, a cherry-pick, another message), or one with the same tree,
    which holds all that was committed before it as well (a squash). Those for which there is none are left out.

    Args:
        repository: where to look.
        gone: the commits, in the order in which they were made.
        since: where the work began; of older commits none is looked at.
        tip: the newest commit.
    """
    git = Driver(repository.root)
    there = list(_newer(git, since, tip))
    found: dict[str, str] = {}
    whole = ""
    for each in reversed(gone):  # who has the tree of a later one has what came before, too
        whole = next((made.commit for made, _ in there if made.tree == each.tree), whole)
        same = whole or _same_patch(git, each.commit, there)
        if same:
            found[each.commit] = same
    return found


def _newer(git: Driver, since: str, tip: str) -> Iterator[tuple[TreeCommit, int]]:
    """The commits that `tip` has and `since` has not, each with the time at which it was first written."""
    known = call(git.root, "cat-file", "-e", f"{since}^{{commit}}")[0] == 0
    found = walk(git, (tip, *([f"^{since}"] if known else [])), limit=_SCANNED)
    trees = git.trees([each.commit for each in found]) if git.prefix else [each.tree for each in found]
    for each, tree in zip(found, trees, strict=True):
        yield TreeCommit(each.commit, tree), each.written


def _same_patch(git: Driver, commit: str, there: Iterable[tuple[TreeCommit, int]]) -> str:
    """The commit that changes the very same lines; empty where there is none, or `commit` is not known any more."""
    code, out, _ = call(git.root, "log", "-1", "--format=%at", commit, "--", env=AT_HOME)
    if code:
        return ""
    wrote, wanted = int(out.strip() or 0), patch_digest(git, commit)
    likely = sorted(there, key=lambda each: each[1] != wrote)[:_COMPARED]  # a rebase keeps who wrote it and when
    return next((made.commit for made, _ in likely if patch_digest(git, made.commit) == wanted), "")


def patch_digest(git: Driver, commit: str, *options: str) -> str:
    """The SHA-256 of what a commit changes, wherever in the files that stands; with `-R`, of the opposite."""
    form = ("-p", "--root", "--no-commit-id", "-U0", "--binary", "--full-index", "--no-renames", "--no-color")
    plain = ("--no-prefix", "--no-ext-diff", "--no-textconv", "--relative")
    out = git.run("diff-tree", *form, *plain, *options, commit, "--", ".", OUTSIDE)
    text = b"\n".join(line for line in out.split(b"\n") if not line.startswith(_PLACES))
    return hashlib.sha256(text).hexdigest()
