"""Finds the git trees that a check compares (merge base, index, whole tree), and checks one out temporarily."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths
from swarmgate.workspace.git.driver import Driver, call
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY_TREES = frozenset(
    {
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    }
)
"""The tree without files, by SHA-1 and SHA-256: what a first commit and `--all` compare with."""

_ENVIRONMENTS = (".venv", "venv", "node_modules")
"""Installed dependencies at the root: no part of any tree, and without them type checks and builds find nothing."""


def empty_tree(repository: Repository) -> str:
    """The id of the tree without files."""
    return Driver(repository.root).empty_tree


def submodules(repository: Repository, tree: str) -> tuple[str, ...]:
    """The paths in `tree` at which another repository stands: mode 160000."""
    records = (record.partition(b"\t") for record in Driver(repository.root).records("ls-tree", "-r", "-z", tree))
    return tuple(paths.decode(path) for kind, _, path in records if kind.startswith(b"160000 "))


def merge_base(repository: Repository, revision: str) -> str:
    """The tree from which HEAD and a revision parted; the revision's own tree where they share no past.

    Raises:
        WorkspaceError: git knows no such revision, or the clone is too shallow to tell.
    """
    root = repository.root
    shallow = call(root, "rev-parse", "--is-shallow-repository")[1].strip() == b"true"
    deepen = "this clone is shallow: git fetch --unshallow (in CI: fetch-depth: 0), then again"
    try:
        tree = repository.tree_of(revision)
    except WorkspaceError as error:
        if not shallow:
            raise
        raise WorkspaceError(error.message, hint=deepen) from error
    if repository.unborn:
        return tree
    code, out, _ = call(root, "merge-base", "HEAD", revision)
    if code == 0:
        return repository.tree_of(out.decode().strip())
    if shallow and _is_commit(root, revision):
        raise WorkspaceError(f"where HEAD and `{revision}` parted is not in this clone", hint=deepen)
    return tree


def parent(repository: Repository, commit: str) -> str:
    """The id of the first parent of a commit; empty for a first commit."""
    code, out, _ = call(repository.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^")
    return "" if code else out.decode().strip()


def _is_commit(root: Path, revision: str) -> bool:
    name = f"{revision}^{{commit}}"
    return call(root, "rev-parse", "--verify", "--quiet", "--end-of-options", name)[0] == 0


def index_tree(repository: Repository, index: Path | None = None) -> str:
    """The tree that a commit of the index would have.

    Args:
        repository: the repository.
        index: another index than the repository's own, as git hands one to a hook.

    Raises:
        WorkspaceError: it holds conflicts.
    """
    git = Driver(repository.root)
    conflicts = Driver(git.top).records("ls-files", "-z", "--unmerged")  # with any of them git writes no tree
    if conflicts:
        path = paths.decode(conflicts[0].split(b"\t", 1)[1])
        raise WorkspaceError(
            f"`{path}` has conflicts, so there is no index to judge", hint="resolve them, git add them"
        )
    with git.index(copied=index is None) as scratch:
        if index is not None and index.is_file():
            shutil.copy2(index, scratch)
        return git.write_tree(scratch)


def everything(base: str, tree: str, repository: Repository) -> ChangeSet:
    """The change set in which every file of `tree` outside `.swarm/` is new, without line numbers.

    `base` is the id of the tree that it names as its base; the empty one is meant.
    """
    records = Driver(repository.root).records("ls-tree", "-r", "-z", tree)
    files = []
    for record in records:
        header, _, raw = record.partition(b"\t")
        if not raw.startswith(b".swarm/"):
            mode, _, blob = header.decode().split()
            files.append(ChangedFile(path=paths.decode(raw), kind=ChangeKind.ADDED, new_mode=mode, new_id=blob))
    return ChangeSet(base=base, tree=tree, files=tuple(sorted(files, key=lambda file: file.path)))


@contextlib.contextmanager
def checkout(repository: Repository, tree: str, *, head: str) -> Iterator[Repository]:
    """A repository of its own in a temporary folder, whose files and index are `tree` and whose HEAD is `head`.

    It shares the objects of the user's repository and writes nothing there. The folders of installed dependencies
    (`node_modules`, `.venv`) are linked, because tools that build or check types need them.
    """
    git = Driver(repository.root)
    form = git.run("rev-parse", "--show-object-format").decode().strip()
    objects = repository.root / os.fsdecode(git.run("rev-parse", "--git-path", "objects").rstrip(b"\n"))
    with temporary.folder("staged") as folder:
        root = folder / repository.root.name
        root.mkdir()
        there = Driver(root)
        there.run("init", "--quiet", "--template=", f"--object-format={form}", "--initial-branch=main", ".")
        info = root / ".git" / "info"
        info.mkdir(exist_ok=True)
        (root / ".git" / "objects" / "info").mkdir(exist_ok=True)
        (root / ".git" / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects.resolve()) + b"\n")
        (info / "exclude").write_text("".join(f"/{name}\n" for name in _ENVIRONMENTS))
        who = ("-c", "user.name=swarmgate", "-c", "user.email=swarmgate@localhost")
        code, out, err = call(root, *who, "commit-tree", "-m", "what the index is compared with", head)
        if code:
            raise WorkspaceError(f"the staged files could not be set up: {err.strip()}")
        there.run("update-ref", "HEAD", out.decode().strip())
        there.run("read-tree", tree)
        # Large files that only stand for others (git-lfs) stay what they are: nothing is fetched.
        code, _, err = call(root, "checkout-index", "--all", "--index", "--quiet", env={"GIT_LFS_SKIP_SMUDGE": "1"})
        if code:
            raise WorkspaceError(f"the staged files could not be set up: {err.strip()}")
        for name in _ENVIRONMENTS:
            place = repository.root / name
            if place.is_dir() and not (root / name).exists():
                (root / name).symlink_to(place.resolve())
        yield Repository.discover(root)


def put_back(checkout: Repository) -> None:
    """Brings the files of a `checkout` back to what they were when it was made.

    Raises:
        WorkspaceError: git refuses.
    """
    git = Driver(checkout.root)
    git.run("checkout-index", "--all", "--force", "--quiet")
    git.run("clean", "-d", "--force", "--quiet")
