"""Makes the repository and its first commit for `swarm init`, in a folder that has none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.errors import NotAProject, WorkspaceError
from swarmgate.gates.verbs.request import Request
from swarmgate.gates.verbs.run import Judged, judge
from swarmgate.workspace.git import discovery, revisions
from swarmgate.workspace.git.driver import call, failure
from swarmgate.workspace.git.repository import Repository

_SECRETS = "secret_scan"
_MESSAGE = "Initial commit"
_NAMED = 20
"""Of files and folders at the top, so many are named."""
_MANY = 1000
"""Of more files, some were most likely not written by hand."""


class FirstCommit(Frozen):
    """What a first commit would hold: all files but those that git ignores, and `.swarm/`.

    `tree` is what is committed, whatever happens to the files until then. `size` is in bytes. `submodules` are other
    repositories, of which it only says where they stand.
    """

    root: Path
    tree: str
    files: tuple[str, ...]
    size: int
    submodules: tuple[str, ...]

    @property
    def doubtful(self) -> bool:
        """Whether it holds so many files that a .gitignore may be missing."""
        return len(self.files) > _MANY

    def lines(self) -> list[str]:
        """What it would hold, by files and folders at its top."""
        top = Counter(f"{name}/" if rest else name for name, _, rest in (each.partition("/") for each in self.files))
        named = [
            f"  {name}  {_files(count)}" if name.endswith("/") else f"  {name}"
            for name, count in list(top.items())[:_NAMED]
        ]
        more = [f"  and {len(top) - _NAMED} more at the top"] if len(top) > _NAMED else []
        head = f"{_files(len(self.files))}, {self.size:,} bytes: {self.root}" if self.files else f"no file: {self.root}"
        inner = [f"  {each} is a repository of its own: only its commit is named" for each in self.submodules]
        doubt = ["So many: name what is installed or built in .gitignore first."] if self.doubtful else []
        return [f"The first commit would hold {head}", *named, *more, *inner, *doubt]


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def outside_of_git(folder: Path) -> bool:
    """Whether a folder is there and belongs to no repository, not even to one that git refuses to use."""
    return (
        folder.is_dir()
        and bool(call(folder, "rev-parse", "--git-dir")[0])
        and not any((each / ".git").exists() for each in (folder, *folder.parents))
    )


def make_repository(folder: Path) -> None:
    """Makes a git repository of a folder.

    Raises:
        NotAProject: it is the user's home, or the root of the machine.
        WorkspaceError: git refuses.
    """
    if folder in (Path.home().resolve(), Path(folder.anchor)):
        raise NotAProject(f"{folder} is no folder of one project", hint="cd into your project")
    code, _, err = call(folder, "init", "--quiet")
    if code:
        raise failure("init", err)


def first_commit(start: Path) -> FirstCommit | None:
    """What the first commit of a repository would hold; None where it has a commit.

    Raises:
        NotAProject, WorkspaceError: the repository cannot be used, or one inside of it has no commit.
    """
    root, unborn = discovery.find(start, lenient=True)
    if not unborn:
        return None
    repository = Repository(root, unborn=True)
    tree, empty = repository.snapshot(), revisions.empty_tree(repository)
    _require_on_disk(repository, empty, tree)
    change = revisions.everything(empty, tree, repository)
    sizes = repository.sizes(each.new_id for each in change.files)
    return FirstCommit(
        root=root,
        tree=tree,
        files=change.paths,
        size=sum(sizes.get(each.new_id, 0) for each in change.files),
        submodules=revisions.submodules(repository, tree),
    )


def _require_on_disk(repository: Repository, empty: str, tree: str) -> None:
    """Refuses to replace what is staged and is nowhere else."""
    apart = repository.staged_apart(empty, tree)
    if apart:
        raise WorkspaceError(
            f"the repository {repository.root} has no commit yet, and what is staged of `{apart[0]}` is not what the "
            "file holds",
            hint='commit what you staged: git commit -m "Initial commit"',
        )


def secrets(commit: FirstCommit) -> Judged:
    """What the secret scan says of all files.

    Raises:
        WorkspaceError: files changed since the commit was put together.
    """
    judged = judge(Request(commit.root), only=(_SECRETS,), cache=False)
    if judged.report.tree != commit.tree:
        raise WorkspaceError(f"files in {commit.root} change at this moment", hint="run it again: swarm init")
    return judged


def make(commit: FirstCommit) -> str:
    """Makes the commit, and returns its id; the user's identity, hooks and signing apply.

    Raises:
        CommitRefused, HeadMoved, WorkspaceError: see `Repository.commit`.
    """
    return Repository(commit.root, unborn=True).commit_first(commit.tree, _MESSAGE).id
