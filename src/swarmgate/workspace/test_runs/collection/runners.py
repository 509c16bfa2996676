"""A table of test runners: how each lists its tests without running them, and how its output is parsed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.workspace.test_runs import counts
from swarmgate.workspace.test_runs.collection.record import Listing, Standing

if TYPE_CHECKING:
    from swarmgate.workspace.process.process import Completed

_LISTED = 5
_TAIL = 600
"""Characters of output in a message."""


@dataclass(frozen=True)
class ListingMethod:
    """How a runner lists its tests: its command line, the parser of its output, and variables.

    The line is empty where the command cannot be asked like that.
    """

    line: Callable[[str], str]
    read: Callable[[Listing, Completed], Listing]
    variables: Mapping[str, str] = field(default_factory=dict)


def _found(listing: Listing, number: int, failures: tuple[str, ...] = ()) -> Listing:
    standing = Standing.RED if failures else Standing.FOUND if number else Standing.NOTHING
    problem = f"{', '.join(failures[:_LISTED])} cannot be loaded" if failures else ""
    return listing.model_copy(update={"standing": standing, "tests": number, "failures": failures, "problem": problem})


def _odd(listing: Listing, done: Completed) -> Listing:
    """The listing of a command that failed without a known output."""
    problem = f"exit code {done.exit_code}: {done.output.strip()[-_TAIL:]}"
    return listing.model_copy(update={"standing": Standing.RED, "problem": problem})


_PYTEST_LINE = re.compile(r"^(?P<path>\S.*\.\w+): (?P<number>\d+)$", re.MULTILINE)
_PYTEST_ERROR = re.compile(r"^ERROR (?P<path>\S+\.\w+(?:::\S+)?)(?: - (?P<why>.*))?$", re.MULTILINE)
_PYTEST_OK, _PYTEST_INTERRUPTED, _PYTEST_NONE = 0, 2, 5
"""Exit codes where it collected: all, with errors, nothing (`pytest.ExitCode`)."""


def _of_pytest(listing: Listing, done: Completed) -> Listing:
    errors = tuple(f"{e['path']} ({e['why']})" if e["why"] else e["path"] for e in _PYTEST_ERROR.finditer(done.output))
    number = sum(int(each["number"]) for each in _PYTEST_LINE.finditer(done.stdout))
    if done.exit_code == _PYTEST_OK and not number:  # what prints is another reporter: there are some, uncounted
        return listing.model_copy(update={"standing": Standing.FOUND})
    if done.exit_code == _PYTEST_NONE or number or (errors and done.exit_code == _PYTEST_INTERRUPTED):
        return _found(listing, number, errors)
    return _odd(listing, done)


_UNITTEST = """
import sys, unittest
def flat(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each
class Lister(unittest.TextTestRunner):
    def run(self, suite):
        for each in flat(suite):
            lost = type(each).__name__ == "_FailedTest"
            print("swarmgate-lost" if lost else "swarmgate-test", each._testMethodName if lost else each.id())
        sys.exit(0)
unittest.main(module=None, argv=["unittest", *sys.argv[1:]], testRunner=Lister)
"""
_WRAPPED = re.compile(r"\b(?:coverage|trace|cProfile)\b")
"""What runs the module itself, and takes no `-c`."""
_UNITTEST_MODULE = re.compile(r"-m\s+unittest\b")


def _as_unittest(command: str) -> str:
    if len(_UNITTEST_MODULE.findall(command)) != 1 or _WRAPPED.search(command):
        return ""
    return _UNITTEST_MODULE.sub(lambda _found: f"-c {shlex.quote(_UNITTEST)}", command)


def _of_unittest(listing: Listing, done: Completed) -> Listing:
    if done.exit_code:
        return _odd(listing, done)
    marks = [line.partition(" ") for line in done.stdout.splitlines()]
    lost = tuple(name for mark, _, name in marks if mark == "swarmgate-lost")
    return _found(listing, sum(mark == "swarmgate-test" for mark, _, _ in marks), lost)


_SEVERAL = re.compile(r"[;&|<>`\n]|\$\(")


def _with(words: str) -> Callable[[str], str]:
    """Adds options to a line that is one command; behind `npm test`, they come after ` -- `."""

    def line(command: str) -> str:
        if _SEVERAL.search(command):
            return ""
        apart = re.match(r"\s*npm\b", command) and " -- " not in command
        return f"{command}{' --' if apart else ''} {words}"

    return line


def _as_go(command: str) -> str:
    return "" if _SEVERAL.search(command) else re.sub(r"\bgo test\b", "go test -list .", command, count=1)


def _as_cargo(command: str) -> str:
    if _SEVERAL.search(command) or " test" not in command:
        return ""
    return command.replace(" -- ", " -- --list ", 1) if " -- " in command else f"{command} -- --list"


def _lines(pattern: str) -> Callable[[Listing, Completed], Listing]:
    """Counts the lines that name a test; what ends badly could not be built."""
    names = re.compile(pattern, re.MULTILINE)

    def read(listing: Listing, done: Completed) -> Listing:
        return _odd(listing, done) if done.exit_code else _found(listing, len(names.findall(done.stdout)))

    return read


def _counted(kind: str) -> Callable[[Listing, Completed], Listing]:
    """Reads the counts of a run that runs nothing."""

    def read(listing: Listing, done: Completed) -> Listing:
        found = counts.read(kind, done.output)
        if done.exit_code or found is None:
            return _odd(listing, done)
        return _found(listing, found.passed + found.skipped)

    return read


_ASKED = {"PYTEST_ADDOPTS": "--collect-only -qqqqq -p no:cacheprovider -ra"}
"""So quiet, whatever the project adds, pytest prints a line a file; it writes no cache, and names errors."""
METHODS: Mapping[str, ListingMethod] = {
    "pytest": ListingMethod(line=lambda command: command, read=_of_pytest, variables=_ASKED),
    "unittest": ListingMethod(line=_as_unittest, read=_of_unittest),
    "go": ListingMethod(line=_as_go, read=_lines(r"^(?:Test|Fuzz|Example)\w*$")),
    "cargo": ListingMethod(line=_as_cargo, read=_lines(r"^\S.*: test$")),
    "jest": ListingMethod(line=_with("--listTests"), read=_lines(r"^/.+\.\w+$")),
    "rspec": ListingMethod(line=_with("--dry-run"), read=_counted("rspec")),
    "mocha": ListingMethod(line=_with("--dry-run"), read=_counted("mocha")),
    "phpunit": ListingMethod(line=_with("--list-tests"), read=_lines(r"^ - \S")),
}
"""How runners list their tests; one that is not here, or whose line is more than one command, is run."""
