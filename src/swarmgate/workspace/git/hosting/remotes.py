"""Pushes a commit to a branch of a remote, as the user would: with their credentials, their hooks, and never by force.

A push cannot be independent of the user's git configuration, since that says how to reach the remote and who they are:
credential helpers, the ssh command, rewritten addresses. Agents cannot write it (`sandbox.unsandboxed_files`). What of
it would push more than the one branch, or force, is overruled here.
"""

from __future__ import annotations

import re
import secrets
import sys
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.errors import UsageError, WorkspaceError
from swarmgate.workspace.git.driver import Driver, call, failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.workspace.git.repository import Repository

_HEADS = "refs/heads/"
_USER = re.compile(r"(?<=://)[^/@\s]+@")
"""Who logs in, in an address: often a token."""
_ASKED = re.compile(
    r"could not read (Username|Password)|Authentication failed|Permission denied|[Hh]ost key|\b40[13]\b"
)
_FAILED = "error: failed to push some refs to "
"""Git's own last line, with exit code 1, after what refused a push; where git itself could not, it is 128."""
_TOLD = 500
"""Characters of what a hook or a remote says that are passed on."""
_MOVED = ("non-fast-forward", "fetch first", "stale info")
_REPORT = re.compile(r"^!\t\S+\t\[(?P<kind>[^\]]+)\](?: \((?P<why>.*)\))?$", re.MULTILINE)
"""How `git push --porcelain` says that a reference was not updated."""


class Remote(NamedTuple):
    """A remote: `configured` is its address as the settings have it, `address` where git pushes to."""

    name: str
    configured: str
    address: str


def find(repository: Repository, name: str, *, branches: tuple[str, ...]) -> Remote:
    """The remote to push to.

    Args:
        repository: whose.
        name: the one that the user names; empty: where git would push these branches to, else `origin`, else the only
            one.
        branches: in their order.

    Raises:
        UsageError: there is none, none of that name, or several and none stands out.
    """
    names = _lines(repository, "remote")
    if not names:
        raise UsageError(
            "This repository has no remote to push to.", hint="git remote add origin ADDRESS, then: swarm pr"
        )
    found = name or _usual(repository, names, branches)
    if found not in names:
        problem = f"There is no remote {found!r}." if found else "There are several remotes, and none is the usual one."
        raise UsageError(problem, hint=f"Name one with --remote: {', '.join(names)}")
    configured = _setting(repository, f"remote.{found}.pushurl") or _setting(repository, f"remote.{found}.url")
    address = next(iter(_lines(repository, "remote", "get-url", "--push", "--", found)), configured)
    return Remote(found, configured, address)


def _usual(repository: Repository, names: list[str], branches: tuple[str, ...]) -> str:
    keys = (
        *(f"branch.{each}.pushRemote" for each in branches),
        "remote.pushDefault",
        *(f"branch.{each}.remote" for each in branches),
    )
    set_ones = [value for key in keys if (value := _setting(repository, key)) in names]
    return next(iter((*set_ones, *(each for each in names if each == "origin" or len(names) == 1))), "")


def tips(repository: Repository, remote: Remote, *branches: str) -> dict[str, str]:
    """The newest commits of those branches that the remote has. Asks the remote.

    Raises:
        WorkspaceError: it cannot be reached.
    """
    refs = (f"{_HEADS}{each}" for each in branches)
    code, out, err = call(repository.root, "ls-remote", "--", remote.address, *refs, env=_environment())
    if code:
        raise _unreachable(remote, err)
    pairs = (line.split("\t") for line in out.decode(errors="replace").splitlines())
    return {name.removeprefix(_HEADS): commit for commit, name in pairs}


def push(repository: Repository, remote: Remote, commit: str, branch: str) -> None:
    """Makes a commit the newest of a branch of the remote; no tag, no other branch and no submodule goes with it.

    Raises:
        WorkspaceError: the remote has commits there that this one does not stand on, refused it, or is out of reach.
    """
    # Of submodules git would have to run there, by the settings there, which may be an agent's work.
    only = ("--porcelain", "--no-follow-tags", "--recurse-submodules=no")
    command = ("push", *only, "--", remote.name, f"{commit}:{_HEADS}{branch}")
    code, out, err = call(repository.root, "-c", f"remote.{remote.name}.mirror=false", *command, env=_environment())
    if not code:
        return
    refused = _REPORT.search(out.decode(errors="replace"))
    if refused is None and code == 1:
        told = " ".join(line.strip() for line in err.splitlines() if not line.startswith(_FAILED))
        raise WorkspaceError(
            f"Nothing was pushed: your hook pre-push refused it: {without_login(told)[:_TOLD] or 'it said nothing'}",
            hint=f"Mend what it names. It is the same with: git push {remote.name} {branch}",
        )
    if refused is None:
        raise _unreachable(remote, err)
    if refused["why"] in _MOVED:
        raise diverged(remote, branch)
    lines = [line.removeprefix("remote:").strip() for line in err.splitlines() if line.startswith("remote:")]
    why = "; ".join(filter(None, lines))[:_TOLD] or refused["why"] or refused["kind"]
    raise WorkspaceError(
        f"{remote.name} refused the branch {branch}: {without_login(why)}",
        hint=f"See what it wants: git push {remote.name} {branch}",
    )


def carrying(repository: Repository, base: str, tip: str, texts: Iterable[str]) -> str:
    """The oldest commit of those after `base` up to `tip` whose message or lines have one of these texts; else empty.

    They are looked for as UTF-8, in files that git takes for binary ones as well.
    """
    wanted = [each.encode() for each in texts]
    if not wanted:
        return ""
    mark = secrets.token_hex(16)  # nothing that is in a commit
    form = ("--reverse", f"--format={mark}%h%n%B", "--no-color")
    patch = ("--patch", "--cc", "--text", "--no-textconv", "--no-ext-diff")
    log = Driver(repository.root).run("log", *form, *patch, "--end-of-options", f"{base}..{tip}")
    for commit in log.split(mark.encode())[1:]:
        if any(each in commit for each in wanted):
            return commit.partition(b"\n")[0].decode()
    return ""


def diverged(remote: Remote, branch: str) -> WorkspaceError:
    """The branch there has commits that the one here does not stand on."""
    return WorkspaceError(
        f"The branch {branch} of {remote.name} has commits that yours has not. Nothing was pushed: swarm never forces.",
        hint=f"See them: git fetch {remote.name} {branch} && git log {branch}..FETCH_HEAD. Then take them in "
        f"(git merge FETCH_HEAD), or delete the branch there yourself",
    )


def without_login(text: str) -> str:
    """The text without the users, passwords and tokens of addresses in it."""
    return _USER.sub("", text)


def _unreachable(remote: Remote, err: str) -> WorkspaceError:
    message = without_login(failure(f"at the remote {remote.name}", err).message)
    asks = "git asks who you are there, and got no answer; " if _ASKED.search(err) else ""
    return WorkspaceError(message, hint=f"{asks}see whether this works: git ls-remote {remote.name}")


def _environment() -> dict[str, str]:
    """Git asks for a name or a password on the terminal; where nobody sits there it must not wait."""
    return {} if sys.stdin is not None and sys.stdin.isatty() else {"GIT_TERMINAL_PROMPT": "0"}


def _setting(repository: Repository, key: str) -> str:
    code, out, _ = call(repository.root, "config", "--get", key)
    return "" if code else out.decode(errors="replace").strip()


def _lines(repository: Repository, *args: str) -> list[str]:
    code, out, _ = call(repository.root, *args)
    return [] if code else out.decode(errors="replace").splitlines()
