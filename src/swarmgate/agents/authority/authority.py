"""Decides which files a role may write, by its name, its step and the globs of `[authority.ROLE]`. Pure.

| role, step | built-in right |
|---|---|
| coder; architect at `implement` | every file but guarded ones; `agents.authority.scope` judges the rest |
| test_engineer | tests: new ones, and additions to those that were there before the task; it deletes nothing |
| everybody else | nothing |

The test engineer makes no file that steers the runner (`workspace.test_runs.runner_files`), such as a conftest.py.
`allow` widens that, `deny` narrows it and wins. Nothing opens `.git`, `.swarm` or what lies outside of the repository.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from swarmgate.agents.authority.existing_tests import weakened
from swarmgate.workspace.files import globs, guard
from swarmgate.workspace.test_runs.runner_files import steers

RULE = "authority"
"""The rule that a role writes only what is its to write, and calls only what it is offered."""


class Right(StrEnum):
    """The default write authority of a role."""

    ALL = "all"
    TESTS = "tests"
    NOTHING = "nothing"


_RIGHTS = {
    ("coder", "code"): Right.ALL,
    ("architect", "implement"): Right.ALL,
    ("test_engineer", "test"): Right.TESTS,
    ("test_engineer", "adversarial_test"): Right.TESTS,
}


def right_of(role: str, step: str) -> Right:
    """The built-in right of a role at a step."""
    return _RIGHTS.get((role, step), Right.NOTHING)


def no_test(_path: str) -> bool:
    """No path is a test."""
    return False


@dataclass(frozen=True)
class Authority:
    """The write authority of one role. `is_test` says which repository-relative paths are tests."""

    role: str = ""
    right: Right = Right.ALL
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    """Globs of what belongs to the agent programs of the run: nobody's to write, whatever `allow` says."""
    is_test: Callable[[str], bool] = no_test
    original: Callable[[str], str | None] = lambda _path: None
    """The text of a file as it was before the task; None where it was not there, or is no text."""

    def refusal(self, path: str) -> str:
        """Why the role may not write this path, as the model is told it; empty when it may."""
        if guard.is_reserved(path):
            return f"`{path}` belongs to git or to swarmgate; nobody writes there"
        if any(_denies(path, glob) for glob in self.closed):
            return f"`{path}` belongs to an agent program of this run, or instructs such programs; no role writes there"
        if closed := next((glob for glob in self.deny if _denies(path, glob)), None):
            return f"`{path}` is closed to the {self._name}: [authority.{self.role}] deny has `{closed}`"
        if self.right is Right.ALL or self.is_allowed(path):
            return ""
        if self.right is Right.TESTS and self.is_test(path):
            if not steers(path) or self.original(path) is not None:
                return ""
            return (
                f"`{path}` would say how other tests are run, and was not there before this task. Put fixtures and "
                "set-up into the test files that need them, or into a module that they import."
            )
        if self.right is Right.TESTS:
            return (
                f"`{path}` is not a test file, and you write tests only. "
                "If the code itself is wrong, submit REJECTED with a finding that says what is."
            )
        return f"`{path}`: the {self._name} writes no files at this step"

    def is_allowed(self, path: str) -> bool:
        """Whether the settings open the path to the role."""
        return any(globs.matches(path, f"{glob}**" if glob.endswith("/") else glob) for glob in self.allow)

    def objection(self, path: str, before: str | None, after: str | None, *, original: str | None = None) -> str:
        """Why a change of a file that the role may write is too much; empty when it is not.

        Args:
            path: of the file, repository-relative.
            before: its text before the role's change; None: it is not there.
            after: its text after it; None: it was deleted.
            original: its text before the task; None: it was not there.
        """
        if self.right is not Right.TESTS or before is None:
            return ""
        if after is None:
            return f"`{path}` was deleted, and the {self._name} deletes nothing"
        if original is None or self.is_allowed(path):
            return ""
        if lost := weakened(path, original, before, after):
            return (
                f"`{path}` was there before this task: you may add to it, and not change what it holds ({lost}). "
                "Leave that as it was; put new tests beside it or into a new file."
            )
        return ""

    @property
    def _name(self) -> str:
        return self.role.replace("_", " ")


EVERYTHING = Authority()
"""No limit but `.git` and `.swarm`."""


def _denies(path: str, glob: str) -> bool:
    """Whether the glob, or a folder that it names, holds the path on any file system: also one without letter case."""
    patterns = (glob, f"{glob.rstrip('/')}/**")
    return any(globs.matches(path, each) or globs.matches(_folded(path), _folded(each)) for each in patterns)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
