"""Makes a repository that holds the files of one commit and nothing of its history, and applies patches to it.

What is replayed there finds no later commit by `git log`: the answer is not in the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.git.copies.cloning import identify
from swarmgate.workspace.git.driver import call, failure

BRANCH = "main"
"""The branch of the one commit."""
_TOLD = 300


def has_commit(source: Path, commit: str) -> bool:
    """Whether a repository (bare, or with files) holds a commit."""
    code, _, _ = call(source, "cat-file", "-e", f"{commit}^{{commit}}")
    return code == 0


def is_repository(folder: Path) -> bool:
    """Whether a folder is a repository itself, bare or with files, and not only a folder of one."""
    return (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def lay_out(source: Path, commit: str, target: Path, *, apart: bool) -> None:
    """Makes a repository at `target` whose only commit has the files of `commit`; no reference leads to any other.

    Args:
        source: a repository that holds the commit; it is only read.
        commit: the full id.
        target: an empty folder.
        apart: copy the objects, so that no later commit can be read there by its id either; takes seconds.

    Raises:
        WorkspaceError: the commit is not there, or git cannot write.
    """
    _git(target, "init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
    identify(target, None)
    objects = _git(source, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    alternates = target / ".git" / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_text(f"{objects}\n", encoding="utf-8")
    only = _git(target, "commit-tree", f"{commit}^{{tree}}", "-m", "The files as they were")
    _git(target, "update-ref", f"refs/heads/{BRANCH}", only)
    _git(target, "reset", "--quiet", "--hard", only)
    if apart:
        _git(target, "repack", "-a", "-d", "-q")
        alternates.unlink()


def apply_patch(root: Path, patch: str) -> str:
    """Applies a patch to the files; returns why it cannot be applied, as git says it, and empty where it was.

    A patch that does not apply as a whole changes nothing. Agents write wrong numbers of lines: where git objects, they
    are counted anew.
    """
    text = (patch if patch.endswith("\n") else f"{patch}\n").encode("utf-8", "surrogateescape")
    for more in ((), ("--recount",)):
        code, _, err = call(root, "apply", "--whitespace=nowarn", *more, "-", stdin=text)
        if not code:
            return ""
    return " ".join(err.split())[:_TOLD] or "git apply failed"


def _git(folder: Path, *args: str) -> str:
    code, out, err = call(folder, *args)
    if code:
        raise failure(args[0], err) if err else WorkspaceError(f"{folder}: git {args[0]} failed")
    return os.fsdecode(out.strip())
