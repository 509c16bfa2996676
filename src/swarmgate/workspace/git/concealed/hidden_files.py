"""Finds code files that are hidden by ignore rules which were not in the base commit.

Nobody judges or commits what is ignored. What the project ignores is its own affair; what a rule of yesterday's hides
is not, where it is code: tests would run with it, and the commit would lack it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.git.driver import Driver, call, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from swarmgate.workspace.git.repository import Repository

_RULES = ".gitignore"
_NONE_IGNORED = 1
"""Exit code of `git check-ignore` where it has nothing to say."""
_FIELDS = 4
"""Of its records: source, line, pattern, path."""
TOOLS = frozenset({"node_modules", "venv", "env", "virtualenv", "site-packages", "htmlcov", "__pycache__"})
"""Folders that tools make, often with a `.gitignore` of their own; so are those whose names begin with a dot."""

_Rule = tuple[str, str]
"""Where a pattern stands, and the pattern."""


def ignored(git: Driver) -> tuple[str, ...]:
    """What is untracked and ignored; a folder that is ignored itself is one path, with a slash."""
    # `git ls-files --directory` says nothing of ignored files in a folder of which other files are merely untracked.
    options = ("--ignored=matching", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    with git.index() as index:
        output = git.run("status", "--porcelain=v1", "-z", *options, "--", ".", index=index)
    found = (git.within(record[3:]) for record in output.split(b"\0") if record.startswith(b"!! "))
    return tuple(paths.decode(path) for path in found if path)


def rule_against(git: Driver, path: str) -> str:
    """The rule by which git ignores a file of that path, as `.gitignore: lib/`; empty where it sees the file.

    Raises:
        WorkspaceError: git failed.
    """
    source, pattern = _rules(git, [path]).get(path, ("", ""))
    return "" if not pattern or pattern.startswith("!") else f"{source}: {pattern}"


def hidden(
    repository: Repository,
    tree: str,
    matters: Callable[[str], bool],
    *,
    git: Driver | None = None,
    found: Iterable[str] | None = None,
) -> frozenset[str]:
    """The ignored files that the rules in `tree`, and the user's own, would not ignore.

    Args:
        repository: the repository.
        tree: whose `.gitignore` files count.
        matters: says of a path whether it is asked for.
        git: of the repository, where the caller has one; it knows the user's own rules as they were when it was made.
        found: what `ignored` says now, where the caller has asked.

    Raises:
        WorkspaceError: git failed.
    """
    git = git or Driver(repository.root)
    entries = [path for path in (ignored(git) if found is None else found) if not _is_of_tools(path)]
    known = _Known(repository, tree)
    rules = _rules(git, entries)
    suspect = [path for path in entries if path in rules and not known.has(rules[path])]
    return frozenset(path for path in _files(git, suspect) if matters(path) and not _is_of_tools(path))


def ruled_by(repository: Repository, entries: Iterable[str], files: frozenset[str], *, git: Driver) -> dict[str, str]:
    """The ignored entries whose rule stands in one of these `.gitignore` files, and not in what HEAD has of it.

    Args:
        repository: the repository.
        entries: as `ignored` names them.
        files: paths.
        git: of the repository.

    Raises:
        WorkspaceError: git failed.
    """
    known = _Known(repository, "HEAD")
    rules = _rules(git, entries)
    return {entry: rule[0] for entry, rule in rules.items() if rule[0] in files and not known.has(rule)}


class _Known:
    """The rules in a tree, and those outside of the project's `.gitignore` files, which are the user's."""

    def __init__(self, repository: Repository, tree: str) -> None:
        self._repository = repository
        self._tree = tree
        self._lines: dict[str, frozenset[str]] = {}

    def has(self, rule: _Rule) -> bool:
        source, pattern = rule
        if source.rpartition("/")[2] != _RULES or source.startswith(("/", "../")):
            return True
        if source not in self._lines:
            self._lines[source] = self._of(source)
        return pattern in self._lines[source]

    def _of(self, source: str) -> frozenset[str]:
        """The lines of the file in the tree; none of them counts where an exception that stood there is gone."""
        before = _lines(self._repository.read(self._tree, source) or b"")
        try:
            now = _lines(regular.read(self._repository.root / os.fsdecode(paths.encode(source))))
        except OSError:
            now = frozenset()
        lifted = {line for line in before if line.startswith("!")} - now
        return frozenset() if lifted else before


def _lines(content: bytes) -> frozenset[str]:
    # git strips trailing spaces of a pattern unless they are quoted by a backslash
    return frozenset(line.rstrip() for line in content.decode("utf-8", "replace").splitlines())


def _is_of_tools(path: str) -> bool:
    folders = path.split("/")[:-1]
    return any(part.startswith(".") or part in TOOLS for part in folders)


def _files(git: Driver, entries: Iterable[str]) -> list[str]:
    wanted = list(entries)
    whole = [path for path in wanted if path.endswith("/")]
    found = [path for path in wanted if not path.endswith("/")]
    if whole:
        names = [os.fsdecode(paths.encode(path)) for path in whole]
        options = ("--others", "--ignored", "--exclude-standard")
        found += map(paths.decode, git.records("ls-files", "-z", *options, "--", *names))
    return found


def _rules(git: Driver, entries: Iterable[str]) -> dict[str, _Rule]:
    """By path: the rule that ignores it. A path that only swarmgate itself ignores has none."""
    listing = b"".join(paths.encode(path) + b"\0" for path in entries)
    if not listing:
        return {}
    code, out, err = call(git.root, "check-ignore", "--verbose", "-z", "--stdin", stdin=listing)
    if code not in {0, _NONE_IGNORED}:
        raise failure("check-ignore", err)
    fields = out.split(b"\0")[:-1]
    if len(fields) % _FIELDS:
        raise WorkspaceError("git check-ignore gave an answer that cannot be read")
    records = zip(*(fields[start::_FIELDS] for start in range(_FIELDS)), strict=True)
    return {
        paths.decode(path): (_placed(git, source), pattern.decode("utf-8", "replace").rstrip())
        for source, _, pattern, path in records
    }


def _placed(git: Driver, source: bytes) -> str:
    """Where rules stand, from the project's folder; git says it from the top of the work tree."""
    if source.startswith((b"/", git.prefix)):
        return paths.decode(git.within(source))
    return paths.decode(b"../" * git.prefix.count(b"/") + source)
