"""Checks whether the test command exists and collects tests, before tokens are spent.

Red tests keep nobody from work: mending them may be the task. A command that cannot be started does, and so does one
that finds nothing where tests are: then no change can be proven, whatever is spent on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swarmgate.config import PROJECT_FILE, Config
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.detect import detect, is_test_path
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.test_runs.collection.by_suite import rules_of
from swarmgate.workspace.test_runs.collection.listing import LIMIT_S, ask
from swarmgate.workspace.test_runs.collection.record import Listing, Standing
from swarmgate.workspace.test_runs.collection.rules import Rules, Uncollected
from swarmgate.workspace.test_runs.suites import TestSuite, suites_of

_MOST_READ = 400
"""Test files that are read for tests, at most."""
_MOST_LISTED = 3
_FOLDERS = 8
"""Folders of PATH that are named."""


@dataclass(frozen=True, slots=True)
class SuiteInspection:
    """What the inspection of a test command found.

    Attributes:
        summary: the command, and what it would run.
        problem: what is wrong; empty: nothing.
        hint: what to do about it.
        stops: whether no change could be proven as it is.
        command: empty: there is none yet.
        overlooked: files that hold tests and are not collected, each with its reason.
    """

    summary: str
    problem: str = ""
    hint: str = ""
    stops: bool = False
    command: str = ""
    overlooked: tuple[str, ...] = ()


async def inspect_suite(
    repository: Repository, tree: str, config: Config, commands: CommandRunner, *, limit_s: float = LIMIT_S
) -> SuiteInspection:
    """Asks the test command of a tree what it would run, confined, in a clean checkout.

    Raises:
        ToolKilled: somebody ended it, twice.
        WorkspaceError: git failed.
    """
    detected = detect(repository.root, repository.list_tree(tree))
    suites = suites_of(config.tests, detected.test_command)
    if not suites.suites:
        return SuiteInspection("no test command yet; it is detected when there are tests")
    patterns, found = config.tests.paths or detected.test_globs, []
    with checked_out(repository.root, tree, sandbox=commands.sandbox) as made:
        for suite in suites.suites:
            if not suite.home(made.root).is_dir():
                found.append(_homeless(suite))
                continue
            runner, limit = made.runner(commands), min(limit_s, suite.timeout_s)
            runner = runner.at(suite.home(runner.root)) if suite.folder else runner
            listing = await ask(suite.command, runner=runner, limit_s=limit, count_pattern=suite.count_pattern)
            rules = rules_of(suite, repository, tree)
            mine = frozenset(path for path in rules.paths if not suite.paths or suite.answers_for(path))
            inspected = _Inspector(listing, rules, repository, tree, patterns, mine).inspect()
            found.append(_of_suite(suite.name, inspected) if suite.name else inspected)
    return found[0] if len(found) == 1 else _together(found)


def _homeless(suite: TestSuite) -> SuiteInspection:
    problem = f"the folder {suite.folder} is not there"
    return _of_suite(suite.name, SuiteInspection(suite.command, problem, "Mend its `folder`.", True, suite.command))


def _of_suite(name: str, found: SuiteInspection) -> SuiteInspection:
    problem = f"suite {name}: {found.problem}" if found.problem else ""
    return replace(found, summary=f"suite {name}: {found.summary}", problem=problem)


def _together(found: Sequence[SuiteInspection]) -> SuiteInspection:
    """The inspections of several suites as one: it stops where one of them does."""
    return SuiteInspection(
        summary="; ".join(each.summary for each in found),
        problem="; ".join(each.problem for each in found if each.problem),
        hint=" ".join(dict.fromkeys(each.hint for each in found if each.hint)),
        stops=any(each.stops for each in found),
        command="; ".join(each.command for each in found),
        overlooked=tuple(dict.fromkeys(text for each in found for text in each.overlooked)),
    )


def memory_key(tree: str, config: Config, repository: Repository) -> str:
    """What an answer hangs on, as one word: tree, settings, and where the command's program lies."""
    files = repository.list_tree(tree)
    suites = suites_of(config.tests, detect(repository.root, files).test_command)
    words = [each.command.split() for each in suites.suites]
    programs = [str(trusted.located(each[0], repository.root)) for each in words if each]
    parts = (tree, suites.text, *programs, config.tests.model_dump_json(), config.commands.model_dump_json())
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True)
class _Inspector:
    """One answer, and what the tree has to say to it."""

    listing: Listing
    rules: Rules
    repository: Repository
    tree: str
    test_paths: Sequence[str]
    mine: frozenset[str]
    """The files that it answers for."""

    def inspect(self) -> SuiteInspection:
        listing, command = self.listing, self.listing.command
        match listing.standing:
            case Standing.BROKEN:
                summary, hint = self._not_there()
                return SuiteInspection(command, summary, hint, stops=True, command=command)
            case Standing.NOTHING | Standing.LACKING:
                return self._without_tests()
            case Standing.RED:
                problem = listing.problem or f"{len(listing.failures)} fail"
                hint = "Agents are told; a change is accepted when all tests pass."
                return SuiteInspection(self._summary, problem, hint, command=command, overlooked=self._overlooked())
            case Standing.STARTS:
                return SuiteInspection(
                    f"{command}: it starts; {listing.problem or 'nothing counts its tests'}", command=command
                )
            case _:
                return SuiteInspection(self._summary, command=command, overlooked=self._overlooked())

    @property
    def _summary(self) -> str:
        number = self.listing.tests
        if number is None:
            return self.listing.command
        what = "passed" if self.listing.ran else "found"
        return f"{self.listing.command}: {number:,} test{'' if number == 1 else 's'} {what}"

    def _not_there(self) -> tuple[str, str]:
        """What cannot be started, where it was looked for, and what to do."""
        name, problem = self.listing.missing, self.listing.problem
        where = f"set [tests] command in {PROJECT_FILE}"
        if not name:
            return problem, f"Install what it needs, or {where}."
        if "/" not in name:
            folders = trusted.given().get("PATH", "").split(":")
            more = f" and {len(folders) - _FOLDERS} more" if len(folders) > _FOLDERS else ""
            if problem.endswith("was not found"):
                problem += f" on PATH ({', '.join(folders[:_FOLDERS])}{more})"
        if own := trusted.own_program(name, self.repository.root):
            line = self.listing.command.replace(name, own, 1)
            return f"{problem}; the project has {own}", f'In {PROJECT_FILE}: [tests] command = "{line}"'
        return problem, f"Install it, or {where}."

    def _without_tests(self) -> SuiteInspection:
        """Nothing was collected: as it should be where nothing is there yet, and a mistake where tests are."""
        listing, command = self.listing, self.listing.command
        what = listing.problem or "no test was collected"
        holding = self._holding()
        if not holding:
            return SuiteInspection(f"{command}: {what}; the project has no tests yet", command=command)
        excluded = [each for path in holding if (each := self.rules.excluded(path))]
        reasons = [each.message(self.rules.runner) for each in excluded[:_MOST_LISTED]]
        meant = len(excluded) == len(holding) and all(each.meant for each in excluded)
        told = "; ".join(reasons) or f"tests are in {', '.join(holding[:_MOST_LISTED])}"
        return SuiteInspection(
            command,
            f"{what}, though there are tests: {told}",
            f"Set [tests] command in {PROJECT_FILE}, or the settings of the test runner.",
            stops=not meant,
            command=command,
            overlooked=tuple(reasons),
        )

    def _candidates(self) -> list[str]:
        paths = (path for path in self.rules.paths if path in self.mine and is_test_path(path, self.test_paths))
        return [path for path in paths if self.rules.could_run(path)]

    def _holding(self) -> list[str]:
        """The files that hold tests which the runner could run."""
        return self._with_tests(self._candidates()[:_MOST_READ])

    def _with_tests(self, wanted: Sequence[str]) -> list[str]:
        texts = self.repository.read_many(self.tree, wanted)
        read = ((path, texts[path].decode("utf-8", "replace")) for path in wanted if path in texts)
        return [path for path, text in read if self.rules.holds_tests(path, text)]

    def _overlooked(self) -> tuple[str, ...]:
        """Files with tests that are passed over, where nobody asked for that."""
        excluded: list[Uncollected] = [each for path in self._candidates() if (each := self.rules.excluded(path))]
        by_chance = {each.path: each for each in excluded if not each.meant}
        held = self._with_tests([*by_chance][:_MOST_READ])
        return tuple(by_chance[path].message(self.rules.runner) for path in held)
