"""Finds the tests that are related to a change: of its files, seen to run them, or led to them by their imports."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

from swarmgate.domain.review.change import ChangeSet
from swarmgate.gates.imports import importers
from swarmgate.gates.imports.edges import PYTHON, SCRIPT
from swarmgate.gates.project.view import View
from swarmgate.gates.source.behaviour import is_code
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.runner_files import may_steer
from swarmgate.workspace.test_runs.suites import TEST_FILE

_PROSE = (".md", ".rst", ".txt", ".adoc")


def related_tests(
    repository: Repository,
    change: ChangeSet,
    is_test: Callable[[str], bool],
    ran: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """The test files that are related to a change; none where that cannot be told, and all of them are.

    Args:
        repository: the user's repository.
        change: what was changed.
        is_test: whether a path is one of the tests.
        ran: the test files that were seen to run a file, by that.

    Raises:
        WorkspaceError: git cannot search.
    """
    changed = {path for file in change.files for path in file.touched if not path.endswith(_PROSE)}
    if not changed or any(may_steer(path) or not _is_traced(path) for path in changed):
        return ()
    now, before = View(repository, change.tree), View(repository, change.base)
    reached = _reached(now, changed & now.files) | _reached(before, changed - now.files)
    if any(may_steer(path) and not is_test(path) for path in reached):
        return ()
    found = {path for path in reached if is_test(path)}
    found |= {test for path in reached for test in ran.get(path, ())}
    found |= set(_below(now.files, (posixpath.dirname(path) for path in reached if _is_shared(path))))
    return tuple(sorted(path for path in found if path in now.files and TEST_FILE.search(path) and is_test(path)))


def _is_traced(path: str) -> bool:
    """Whether imports tell who uses a file."""
    return path.endswith((*PYTHON, *SCRIPT)) and is_code(path)


def _reached(view: View, paths: Iterable[str]) -> set[str]:
    """The files, and those that import them, directly or by others."""
    reached, fresh = set[str](), set(paths)
    while fresh:
        reached |= fresh
        users = importers.of(view, fresh)
        fresh = {each.path for found in users.values() for each in found} - reached
    return reached


def _is_shared(path: str) -> bool:
    return posixpath.basename(path) == "conftest.py"


def _below(files: Iterable[str], folders: Iterable[str]) -> Iterable[str]:
    """What lies below the folders: what a conftest.py does there, no test imports."""
    prefixes = tuple(f"{folder}/" if folder else "" for folder in folders)
    return (path for path in files if prefixes and path.startswith(prefixes))
