"""Refuses uncommitted changes before work begins, or stashes them where allowed, except files that tests need."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from swarmgate.engine.context import Context
from swarmgate.errors import DirtyTree
from swarmgate.workspace.checkout import ignored_files
from swarmgate.workspace.git.concealed import hidden_files
from swarmgate.workspace.git.driver import Driver

_LISTED = 20
"""As many uncommitted files are listed; the rest is counted."""
_NAMED = 3


def refuse_dirty_tree(ctx: Context) -> None:
    """Stashes uncommitted changes where the user allowed it.

    Raises:
        DirtyTree: there are some, and they would get mixed with the agents' work; or to stash them would take away what
            the test command needs.
    """
    paths = ctx.repository.dirty()
    if not paths:
        return
    _refuse_packages(ctx, paths)
    if ctx.stash:
        _refuse_loss(ctx, paths)
        ctx.repository.stash("swarm: changes that were uncommitted before the run")
        ctx.notify("notice", f"{len(paths)} uncommitted files were stashed; get them back with: git stash pop")
        return
    raise refusal(paths, "swarm run")


def refusal(paths: tuple[str, ...], command: str) -> DirtyTree:
    """The refusal of a command that has `--stash`, with the uncommitted files."""
    listed = "".join(f"\n  {path}" for path in paths[:_LISTED])
    if len(paths) > _LISTED:
        listed += f"\n  and {len(paths) - _LISTED} more"
    return DirtyTree(
        f"Uncommitted changes would get mixed with the work:{listed}",
        paths=paths,
        hint=f"Commit them, or put them aside with: {command} --stash",
    )


def _refuse_packages(ctx: Context, paths: tuple[str, ...]) -> None:
    """Installed packages that git does not ignore: neither to be committed nor to be stashed."""
    installed = ignored_files.installed_in(_untracked(ctx, paths))
    if not installed:
        return
    names = ", ".join(f"{each}/" for each in installed[:_NAMED])
    lines = " ".join(shlex.quote(f"/{each}/") for each in installed)
    raise DirtyTree(
        f"{names}: installed packages that git does not ignore. Stashed, the test command would not find them"
        f"{_named(ctx)}; committed, they would be part of the project",
        paths=paths,
        hint=f"Ignore them: printf '%s\\n' {lines} >> .gitignore && git add .gitignore && "
        "git commit -m 'Ignore installed packages' -- .gitignore; then: swarm run. What is the project's own instead: "
        "commit it.",
    )


def _refuse_loss(ctx: Context, paths: tuple[str, ...]) -> None:
    """What a stash would take from the test command: a file that it names, or the rule that ignores packages."""
    untracked = frozenset(_untracked(ctx, paths))
    tracked = ctx.repository.list_tree(ctx.repository.head_tree())
    for word in _words(ctx.test_command()):
        within = [path for path in untracked if path == word or path.startswith(f"{word}/")]
        if within and not any(path == word or path.startswith(f"{word}/") for path in tracked):
            raise DirtyTree(
                f"`{word}` is not committed, and a stash would take it from the test command{_named(ctx)}",
                paths=paths,
                hint=f"Commit it: git add {shlex.quote(word)} && git commit; then: swarm run --stash",
            )
    root = ctx.repository.root
    git = Driver(root)
    packages = [each for each in hidden_files.ignored(git) if ignored_files.is_installed(each.rstrip("/"), root)]
    for entry, source in hidden_files.ruled_by(ctx.repository, packages, frozenset(paths), git=git).items():
        raise DirtyTree(
            f"{entry} is ignored by a line of {source} that is not committed: a stash would take that line, and what "
            f"the test command needs{_named(ctx)} would be no more ignored",
            paths=paths,
            hint=f"Commit it: git add {shlex.quote(source)} && git commit -m 'Ignore installed packages' -- "
            f"{shlex.quote(source)}; then: swarm run --stash",
        )


def _untracked(ctx: Context, paths: Sequence[str]) -> list[str]:
    known = frozenset(ctx.repository.list_tree(ctx.repository.head_tree()))
    return [path for path in paths if path not in known]


def _named(ctx: Context) -> str:
    command = ctx.test_command()
    return f" (`{command}`)" if command else ""


def _words(command: str) -> list[str]:
    """The words of the test command that may be paths of the project."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    found = (word.removeprefix("./").rstrip("/") for word in words if not word.startswith(("-", "/", "~")))
    return [word for word in found if word and word != "."]
