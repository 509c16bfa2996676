"""Finds the work tree that a folder belongs to, and says what is amiss where there is none to work on."""

from __future__ import annotations

import os
import re
from pathlib import Path

from swarmgate.errors import MissingRequirement, NotAProject, WorkspaceError
from swarmgate.workspace.git.driver import AT_HOME, call, failure
from swarmgate.workspace.git.folder import top_of
from swarmgate.workspace.programs import trusted

_MINIMUM_GIT = (2, 30)
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


def find(start: Path, *, lenient: bool) -> tuple[Path, bool]:
    """The top of the work tree, and whether it has no commit yet; the contract is `Repository.discover`'s."""
    if not start.is_dir():
        raise NotAProject(f"{start} is not a folder")
    redirected = next((name for name in _REDIRECTIONS if os.environ.get(name)), "")
    if redirected:
        raise WorkspaceError(f"{redirected} is set, which redirects git elsewhere", hint=f"unset {redirected}")
    _require_git(start)
    # The usual case in one process; what is amiss is then asked step by step.
    code, out, _ = call(start, "rev-parse", "HEAD^{commit}", "--show-toplevel", env=AT_HOME)
    if not code:
        root = Path(os.fsdecode(out.partition(b"\n")[2].removesuffix(b"\n"))).resolve()
        _require_own(start, root)
        trusted.keep_out(root)
        return root, False
    code, out, err = call(start, "rev-parse", "--is-bare-repository", "--show-toplevel")
    if code or not out.startswith(b"false\n"):
        raise _no_work_tree(start, out, err)
    root = Path(os.fsdecode(out.split(b"\n", 1)[1].removesuffix(b"\n"))).resolve()
    _require_own(start, root)
    trusted.keep_out(root)
    headless = bool(call(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", env=AT_HOME)[0])
    if headless and not call(root, "rev-parse", "--verify", "--quiet", "HEAD")[0]:
        raise WorkspaceError(
            f"the commit that HEAD names is missing in {root}: the repository is damaged",
            hint="git fsck; git fetch, or clone it again",
        )
    if headless and not lenient:
        raise WorkspaceError(
            f"the repository {root} has no commit yet",
            hint='swarm init --commit makes the first one; or: git add -A && git commit -m "Initial commit"',
        )
    return root, headless


def _require_git(folder: Path) -> None:
    found = re.search(rb"(\d+)\.(\d+)", call(folder, "--version")[1])
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < _MINIMUM_GIT:
        raise MissingRequirement(
            f"git {version[0]}.{version[1]} is too old: swarmgate needs 2.30 or newer", hint="install a newer git"
        )


def _require_own(start: Path, root: Path) -> None:
    """Refuse a work tree that `core.worktree` puts elsewhere than where its `.git` stands: other files would be judged.

    A submodule's and a linked work tree's `.git` is a file that names the git folder; both stand at the root.
    """
    nearest = top_of(start.resolve())
    if nearest not in (None, root):
        raise WorkspaceError(
            f"git takes {root} for the work tree of {nearest}: core.worktree is set",
            hint=f"git -C {nearest} config --unset core.worktree",
        )


def _no_work_tree(start: Path, out: bytes, err: str) -> NotAProject | WorkspaceError:
    if out.startswith(b"true\n"):
        return NotAProject(f"{start} is a bare repository: it has no files to work on", hint="git clone it, work there")
    if "not a git repository" in err:
        return NotAProject(
            f"{start} is not in a git repository", hint="cd into your project, or make one here: swarm init --commit"
        )
    if "work tree" in err:
        return NotAProject(f"{start} is inside a git folder, not in a work tree", hint="cd into your project")
    return failure("rev-parse", err)
