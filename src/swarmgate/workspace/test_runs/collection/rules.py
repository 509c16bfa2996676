"""Explains why a test runner does not collect a file that holds tests, by its settings and command line.

Where settings are code, or say what is not known here, there is no answer: what a runner really collects is for the
runner itself to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import PurePosixPath

from swarmgate.workspace.test_runs.collection import script_rules
from swarmgate.workspace.test_runs.collection.options import plain, values_of, within, words_after
from swarmgate.workspace.test_runs.collection.pytest_rules import PytestRules, Read

_SCRIPT = re.compile(r"^\s*(?:test|it|describe|suite)(?:\.\w+)*\s*\(", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async )?def test_", re.MULTILINE)
_CLASS = re.compile(r"^class (?:Test\w*|\w+\([^)\n]*TestCase\w*\))", re.MULTILINE)
_METHOD = re.compile(r"^\s+(?:async )?def test", re.MULTILINE)
_HOLDS = {
    ".go": re.compile(r"^func (?:Test|Fuzz|Example)", re.MULTILINE),
    ".rb": re.compile(r"^\s*(?:RSpec\.)?(?:describe|it|specify)\b", re.MULTILINE),
    **dict.fromkeys(script_rules.SUFFIXES, _SCRIPT),
}
"""How tests begin, by the suffix of their file; Python's stand in functions or in classes."""
_SUFFIXES = {
    **dict.fromkeys(("pytest", "unittest"), (".py",)),
    "go": (".go",),
    "rspec": (".rb",),
    **dict.fromkeys(("jest", "vitest", "mocha", "node"), script_rules.SUFFIXES),
}
"""The files that a runner could collect; one that is not named here could run any."""
_SEVERAL = re.compile(r"[;&|<>`\n]|\$")
"""A line that is more than one command, or that the shell completes."""
_UNITTEST_VALUES = frozenset({"-s", "--start-directory", "-p", "--pattern", "-t", "--top-level-directory", "-k"})


@dataclass(frozen=True, slots=True)
class Uncollected:
    """A file that is not collected, and why. `meant`: the user named the places to look in, and this is none."""

    path: str
    why: str
    meant: bool = False

    def message(self, runner: str) -> str:
        """The reason in one sentence."""
        return f"{self.path} is not collected by {runner}: {self.why}"


@dataclass(frozen=True)
class Rules:
    """The rules by which a test command selects its files.

    Attributes:
        runner: the test runner, as `suite.runner_of` names it.
        command: the test command.
        files: the paths of the tree, from where the command starts.
        read: gives the text of one of these; empty where it is not there.
        folder: where the command starts; empty for the top of the tree. What is asked for is named from there.
    """

    runner: str
    command: str
    files: Sequence[str]
    read: Read
    folder: str = ""

    @property
    def paths(self) -> Sequence[str]:
        """The files, from the top of the tree."""
        return [f"{self.folder}/{each}" for each in self.files] if self.folder else self.files

    def text(self, path: str) -> str:
        """The text of a file, by its path from the top of the tree."""
        return self.read(path.removeprefix(f"{self.folder}/") if self.folder else path)

    def could_run(self, path: str) -> bool:
        """Whether the runner runs files of that language."""
        suffix = PurePosixPath(path).suffix
        return suffix in _SUFFIXES.get(self.runner, (".py", *_HOLDS))

    def holds_tests(self, path: str, text: str) -> bool:
        """Whether a file looks as if it held tests that this runner could run."""
        if not self.could_run(path):
            return False
        if path.endswith(".py"):
            in_class = _CLASS.search(text) is not None and _METHOD.search(text) is not None
            return in_class or _FUNCTION.search(text) is not None
        return _HOLDS[PurePosixPath(path).suffix].search(text) is not None

    def excluded(self, path: str) -> Uncollected | None:
        """Why the runner passes over a file; None where it does not, or where nobody can tell."""
        if self.runner not in _SUFFIXES or not self.could_run(path) or _SEVERAL.search(self.command):
            return None
        if self.folder and not path.startswith(f"{self.folder}/"):
            return Uncollected(path, f"its command starts in {self.folder}")
        found = self._found(path.removeprefix(f"{self.folder}/") if self.folder else path)
        return Uncollected(path, *found) if found else None

    def _found(self, path: str) -> tuple[str, bool] | None:
        match self.runner:
            case "pytest":
                return self._pytest.excluded(path) if self._pytest else None
            case "unittest":
                return _by_unittest(path, words_after(self.command, ("unittest",)) or [], self.files)
            case "go":
                return _by_go(path)
            case "rspec":
                return _by_rspec(path, words_after(self.command, ("rspec",)) or [])
            case _:
                why = script_rules.excluded(path, self.runner, self.command, self.files, self.read)
                return (why, False) if why else None

    def uncollected(self, paths: Iterable[str]) -> tuple[Uncollected, ...]:
        """Those of some files that hold tests and are not collected."""
        found = filter(None, (self.excluded(path) for path in paths))
        return tuple(each for each in found if self.holds_tests(each.path, self.text(each.path)))

    @cached_property
    def _pytest(self) -> PytestRules | None:
        return PytestRules.of(self.command, self.files, self.read)


def _by_unittest(path: str, words: Sequence[str], files: Sequence[str]) -> tuple[str, bool] | None:
    behind = {at + 1 for at, word in enumerate(words) if word in _UNITTEST_VALUES}
    bare = [word for at, word in enumerate(words) if at not in behind and not word.startswith("-")]
    if bare and bare[0] != "discover":
        modules = [word.removesuffix(".py").replace("/", ".") for word in bare]
        own = path.removesuffix(".py").replace("/", ".")
        named = any(each.startswith(own) or own == each for each in modules)
        return None if named else (f"the test command names {', '.join(bare)} only", True)
    given = dict(zip(("start", "pattern"), bare[1:], strict=False))
    start = plain((values_of(words, "-s", "--start-directory") or [given.get("start", ".")])[-1])
    pattern = (values_of(words, "-p", "--pattern") or [given.get("pattern", "test*.py")])[-1]
    if not within(path, start):
        return f"unittest looks in {start} only", True
    if not fnmatch(path.rpartition("/")[2], pattern):
        return f"its name does not fit the pattern {pattern}", False
    for folder in map(str, PurePosixPath(path).parents):
        if folder in {start, "."}:
            break
        if f"{folder}/__init__.py" not in files:
            return f"unittest goes into packages only, and {folder} has no __init__.py", False
    return None


def _by_go(path: str) -> tuple[str, bool] | None:
    if not path.endswith("_test.go"):
        return "go runs the tests of files whose names end with _test.go", False
    hidden = next((part for part in path.split("/") if part == "testdata" or part.startswith(("_", "."))), "")
    return (f"go passes over {hidden}", False) if hidden else None


def _by_rspec(path: str, words: Sequence[str]) -> tuple[str, bool] | None:
    if any(not word.startswith("-") for word in words) or (path.startswith("spec/") and path.endswith("_spec.rb")):
        return None
    return "rspec runs spec/**/*_spec.rb", False
