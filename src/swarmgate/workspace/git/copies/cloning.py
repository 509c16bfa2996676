"""Clones a repository into a folder that shares nothing with it, and asks later what the clone has that it lacks.

Nothing of the source is run and nothing beside it is asked for: no hook, no template, no submodule, no address that the
first one leads to. The user's own settings apply where they say how a remote is reached: credential helpers, keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.git.driver import SETTINGS, call, failure
from swarmgate.workspace.git.hosting.remotes import without_login

REMOTE = "origin"
"""What a clone calls its source."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never"}
"""Nobody is there to be asked for a password."""
_IDENTITY = ("user.name", "user.email")
_NOBODY = ("swarmgate", "swarmgate@localhost")
_TOLD = 500


def clone(source: str, target: Path, *, base: str = "", settings: Mapping[str, str] | None = None) -> None:
    """Clones a repository; its objects are copied, so that nothing done to the clone can touch the source.

    Args:
        source: the path of a folder, or an address.
        target: the new folder; the one above it is there.
        base: the branch that is checked out; empty: the one that is there.
        settings: settings of git for this one command: the protocols that are allowed, where a host is.

    Raises:
        WorkspaceError: there is no such repository or branch, or it is out of reach.
    """
    given = {**SETTINGS, "http.followRedirects": "false", **(settings or {})}
    options = [part for key, value in given.items() for part in ("-c", f"{key}={value}")]
    how = ["--quiet", "--no-hardlinks", "--template=", "--no-recurse-submodules", f"--origin={REMOTE}"]
    branch = [f"--branch={base}"] if base else []
    code, _, err = call(target.parent, *options, "clone", *how, *branch, "--", source, target.name, env=_QUIET)
    if code:
        why = " ".join(without_login(err).split())[:_TOLD]
        raise WorkspaceError(
            f"{without_login(source)} could not be cloned: {why}",
            hint="Try it on the server's machine, as its user: git clone, with the same address",
        )


def identify(target: Path, source: Path | None) -> None:
    """Has the commits of a clone made by who makes those of its source: name and address of its settings.

    Where neither it nor this user has any, they are swarmgate's.

    Args:
        target: the clone.
        source: the folder that it was cloned from; None: it was an address.

    Raises:
        WorkspaceError: git cannot write the settings.
    """
    for key, nobody in zip(_IDENTITY, _NOBODY, strict=True):
        own = _setting(source, key, "--local") if source is not None else ""
        if value := own or ("" if _setting(target, key) else nobody):
            code, _, err = call(target, "config", "--local", key, value)
            if code:
                raise failure("config", err)


def refresh(target: Path, *, base: str = "", settings: Mapping[str, str] | None = None) -> str:
    """Fetches what is new in the source of a clone; returns the newest commit of the branch.

    Args:
        target: the clone.
        base: the branch; empty: the one that is checked out at the source.
        settings: as of `clone`.

    Raises:
        WorkspaceError: it is out of reach, or has no such branch.
    """
    given = {**SETTINGS, "http.followRedirects": "false", **(settings or {})}
    options = [part for key, value in given.items() for part in ("-c", f"{key}={value}")]
    code, _, err = call(target, *options, "fetch", "--quiet", "--no-tags", REMOTE, base or "HEAD", env=_QUIET)
    if code:
        raise failure("fetch", without_login(err))
    return commit_of(target, "FETCH_HEAD")


def commit_of(target: Path, name: str = "HEAD") -> str:
    """The commit that a name stands for in a clone; without one, that of its files.

    Raises:
        WorkspaceError: there is none.
    """
    code, out, err = call(target, "rev-parse", "--verify", f"{name}^{{commit}}")
    if code:
        raise failure("rev-parse", err)
    return os.fsdecode(out.strip())


def move_to(target: Path, commit: str) -> None:
    """Has the files of a clone in which nobody commits be those of a commit.

    Raises:
        WorkspaceError: files that somebody changed stand in the way.
    """
    code, _, err = call(target, "-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach", commit)
    if code:
        raise failure("checkout", err)


def unmerged(target: Path, *, settings: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The local branches of a clone that hold commits which its source has on none of its branches. Asks the source.

    Raises:
        WorkspaceError: the source is out of reach, so that nothing is known.
    """
    given = {**SETTINGS, "http.followRedirects": "false", **(settings or {})}
    options = [part for key, value in given.items() for part in ("-c", f"{key}={value}")]
    code, _, err = call(target, *options, "fetch", "--quiet", "--prune", REMOTE, env=_QUIET)
    if code:
        raise failure("fetch", without_login(err))
    code, out, err = call(target, "for-each-ref", "--format=%(refname:short)", "refs/heads/")
    if code:
        raise failure("for-each-ref", err)
    branches = os.fsdecode(out).split("\n")[:-1]
    return tuple(each for each in branches if _ahead(target, each))


def _ahead(target: Path, branch: str) -> bool:
    """Whether a branch has commits that no branch of the source has."""
    code, out, err = call(target, "rev-list", "--max-count=1", f"refs/heads/{branch}", "--not", f"--remotes={REMOTE}")
    if code:
        raise failure("rev-list", err)
    return bool(out.strip())


def _setting(folder: Path, key: str, *where: str) -> str:
    code, out, _ = call(folder, "config", *where, "--get", key)
    return "" if code else os.fsdecode(out.rstrip(b"\n"))
