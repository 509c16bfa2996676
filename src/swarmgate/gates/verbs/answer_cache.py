"""Caches whole answers of `swarm gates run` and repeats them where nothing has changed since.

It runs before the command line is parsed and imports neither typer nor pydantic, whose start alone takes 0.1 s. What it
repeats is a whole answer: the text on stdout and the exit code of a run that kept every gate's outcome
(`gates.cache.scan_results`). Its key is the command line, the tree of the work tree, HEAD, the base, all settings,
the day, and what is installed (`gates.cache.environment`). A command line with other options than those below is none
of its business, and whatever it cannot find out ends in the ordinary way, which tells the user what is wrong.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import SwarmError
from swarmgate.gates.cache import environment
from swarmgate.gates.cache.store import Cache, key_of
from swarmgate.workspace.files import regular
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_COMMAND = ("gates", "run")
_FLAGS = frozenset({"--json", "--cache", "--fix", "--no-fix", "--all"})
_WITH_VALUE = frozenset({"--format", "--only", "--skip", "--base"})
_VARIABLES = ("SWARM_", "CI", "COLUMNS", "FORCE_COLOR", "GIT_", "GITHUB_", "HOME", "NO_COLOR", "TERM", "TZ")
_GIT_FILES = ("config", "config.worktree", "shallow", "info/exclude")
# While one of these is there, or the index has conflicts, the report says so.
_GIT_STATES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "index")


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked in the folder `start`, and of which state: `tree` is the work tree's."""

    key: str
    tree: str
    repository: Repository
    start: Path


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said."""

    text: str
    exit_code: int


_current: list[Question] = []
"""The question of this process, as it stood before anything ran: a run must be kept under what it began with."""


def attempt(argv: Sequence[str]) -> Answer | None:
    """The cached answer for this command line and state; None where there is none.

    Args:
        argv: the arguments after the program's name.
    """
    current = _question(argv)
    if current is None:
        return None
    _current[:] = [current]
    return _answer(current)


def _question(argv: Sequence[str]) -> Question | None:
    bases = _bases(argv)
    if bases is None:
        return None
    try:
        start = Path.cwd().resolve()
        repository = Repository.discover(start, lenient=True)
        commits = _commits(repository.root, ("HEAD", *bases))
        tree = repository.snapshot()
        seen = (tree, *repository.not_followed)
        state = (*argv, start, repository.root, *seen, *commits, *_settings(repository.root, repository.git_dir))
    except (SwarmError, OSError):
        return None
    return Question(key_of(("run", *state)), tree, repository, start)


def _answer(question: Question) -> Answer | None:
    known = Cache().get(question.key)
    match known:
        case {"surroundings": str(state), "paths": list(paths), "text": str(text), "exit_code": int(code)}:
            if not all(isinstance(path, str) for path in paths) or isinstance(code, bool):
                return None
            same = state == environment.digest(question.repository.root, paths)
            return Answer(text, code) if same else None
        case _:
            return None  # nothing, or another program's file with a right checksum


def keep(answer: Answer, *, tree: str, paths: Iterable[str], known: str) -> None:
    """Keep what this process' command line, if it is a question at all, was answered with.

    Args:
        answer: the answer, worded as it shall be repeated.
        tree: the tree that was judged; when that is another than was asked about, nothing is kept.
        paths: the changed files.
        known: the hash of the surroundings of these paths, as they were before the run.
    """
    current = _current[0] if _current else None
    if current is None or current.tree != tree:
        return
    state = {"surroundings": known, "paths": sorted(paths)}
    Cache().put(current.key, {**state, "text": answer.text, "exit_code": answer.exit_code})


def repository_of(start: Path) -> Repository | None:
    """The repository that was found for this process' question, where it was asked in this folder."""
    return _current[0].repository if _current and _current[0].start == start else None


def tree_of(repository: Repository) -> str:
    """The tree that was found for this process' question, where it was asked of this repository; else empty."""
    return _current[0].tree if _current and _current[0].repository is repository else ""


def _bases(argv: Sequence[str]) -> list[str] | None:
    """The revisions that the command line names; None where there is an option that is not known here."""
    if tuple(argv[:2]) != _COMMAND:
        return None
    bases, rest = [], list(argv[2:])
    while rest:
        option = rest.pop(0)
        if option in _WITH_VALUE and rest:
            value = rest.pop(0)
            bases += [value] if option == "--base" else []
        elif option not in _FLAGS:
            return None
    return bases


def _commits(root: Path, revisions: Sequence[str]) -> list[bytes]:
    found = []
    for revision in revisions:
        code, out, err = call(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if code:
            raise SwarmError(err)
        found.append(out)
    return found


def _settings(root: Path, git_dir: Path) -> Iterator[object]:
    """What the user and the project set, and what else words an answer."""
    from platformdirs import user_config_path  # noqa: PLC0415 - late: few commands need it

    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    yield from (columns, datetime.now(UTC).date())
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES))
    own = root / ".swarm"
    gates = sorted(path for path in (own / "gates").rglob("*") if path.is_file()) if own.is_dir() else []
    yield from (environment.state(str(git_dir / name)) for name in _GIT_STATES)
    git = [git_dir / name for name in _GIT_FILES] + [Path.home() / ".gitconfig"]
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    git += [config / "git" / name for name in ("config", "ignore")]
    for path in (user_config_path("swarmgate") / "config.toml", own / "config.toml", *gates, *git):
        yield path
        yield regular.read(path) if path.is_file() else None
