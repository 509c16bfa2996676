"""Finds the clone of a repository below the folder that the user named; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.evaluation.patches.dataset import AgentPatch
from swarmgate.workspace.git.copies.single_commit import has_commit, is_repository

_INSIDE = ("", "repo", "repo/.git")


def find(folder: Path, repositories: Iterable[str]) -> dict[str, Path]:
    """The clone of each repository by its `owner/name`, where the folder has one.

    A clone of `owner/name` is called `owner/name`, `owner__name`, `owner+name` or `name` there, or after a fork's
    owner, `other+name`; it may be bare.

    Raises:
        UsageError: there is no such folder, or no clone of any repository.
    """
    if not folder.is_dir():
        raise UsageError(f"--repos: {folder} is no folder", hint="It holds a clone of each repository, owner__name.")
    wanted = dict.fromkeys(repositories)
    found = {repo: place for repo in wanted if (place := _clone(folder, repo))}
    if not found:
        raise UsageError(
            f"--repos: {folder} holds no clone of {', '.join(wanted)}",
            hint=f"git clone https://github.com/{next(iter(wanted))} {folder / next(iter(wanted)).replace('/', '__')}",
        )
    return found


def _clone(folder: Path, repo: str) -> Path | None:
    owner, _, name = repo.partition("/")
    named = [folder / owner / name, folder / f"{owner}__{name}", folder / f"{owner}+{name}", folder / name]
    forks = sorted(place for place in folder.iterdir() if place.name.endswith((f"+{name}", f"__{name}")))
    places = (place / inside for place in (*named, *forks) for inside in _INSIDE)
    return next((place for place in places if place.is_dir() and is_repository(place)), None)


def missing(clone: Path | None, patch: AgentPatch) -> str:
    """Why a patch cannot be replayed; empty where its base is there."""
    if clone is None:
        return f"no clone of {patch.repo}"
    return "" if has_commit(clone, patch.base) else f"the clone of {patch.repo} lacks its base"
