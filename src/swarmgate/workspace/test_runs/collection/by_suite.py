"""Says which files with tests no suite collects that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.workspace.test_runs.collection.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.workspace.git.repository import Repository
    from swarmgate.workspace.test_runs.collection.rules import Uncollected
    from swarmgate.workspace.test_runs.suites import Suites, TestSuite


def rules_of(suite: TestSuite, repository: Repository, tree: str) -> Rules:
    """How a suite's command chooses its files in a tree."""
    prefix = f"{suite.folder}/" if suite.folder else ""
    files = [path.removeprefix(prefix) for path in repository.list_tree(tree) if path.startswith(prefix)]

    def read(path: str) -> str:
        return (repository.read(tree, prefix + path) or b"").decode("utf-8", "replace")

    return Rules(suite.kind(repository.root), suite.command, files, read, suite.folder)


class Collecting:
    """What the suites of a project collect in a tree."""

    def __init__(self, suites: Suites, repository: Repository, tree: str) -> None:
        self._suites = suites
        self._rules = {each: rules_of(each, repository, tree) for each in suites.suites}

    def of(self, path: str) -> tuple[Rules, ...]:
        """The rules of the suites that a file belongs to and whose runners run files of its language."""
        found = (self._rules[each] for each in self._suites.owners(path))
        return tuple(each for each in found if each.could_run(path))

    def runner(self, path: str) -> str:
        """The runner that should collect a file."""
        return next((each.runner for each in self.of(path)), "")

    def uncollected(self, paths: Iterable[str]) -> tuple[Uncollected, ...]:
        """Those of some files that hold tests, and that none of their suites collects."""
        found = []
        for path in paths:
            answers = [each.uncollected([path]) for each in self.of(path)]
            if answers and all(answers):
                found.append(answers[0][0])
        return tuple(found)
