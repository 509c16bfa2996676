"""The suites of a project: which of them a change is tested by, and their runs as one.

A suite answers for the files that its patterns name. All that match run, not the longest pattern alone: so a suite
names what it depends on, too, as `nx affected` and Bazel's reverse dependencies find it. What no suite answers for is
tested by the plain command of `[tests]` where that is set, else by all suites: nothing goes untested for want of a
pattern.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.domain.review.evidence import TestRun
from swarmgate.workspace.files import globs
from swarmgate.workspace.test_runs.suite import run_tests, runner_of, takes_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from swarmgate.config import ProjectTests
    from swarmgate.domain.review.evidence import Canary
    from swarmgate.workspace.sandbox.command_runner import CommandRunner
    from swarmgate.workspace.test_runs.suite import Heard

TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*(?:_test|_spec|\.test|\.spec|Tests?))\.\w+$|(?:^|/)__tests__/")
"""A file that a runner can be given by itself: not a conftest.py, not test data."""
_MAGIC = frozenset("*?[{")


class TestSuite(Frozen):
    """A suite as it is run. `name` is empty for the plain command of `[tests]`, `folder` for the project's own."""

    __test__ = False  # pytest: not a test class

    command: str
    timeout_s: float
    name: str = ""
    paths: tuple[str, ...] = ()
    folder: str = ""
    count_pattern: str = ""

    def answers_for(self, path: str) -> bool:
        """Whether a file belongs to it."""
        return any(_names(glob, path) for glob in self.paths)

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that names of its tests may be relative to: where it starts, and where its files lie."""
        literal = ("/".join(_fixed_parts(glob)) for glob in self.paths)
        return tuple(dict.fromkeys(filter(None, (self.folder, *literal))))

    def home(self, root: Path) -> Path:
        """Where its command starts."""
        return root / self.folder

    def kind(self, root: Path) -> str:
        """Its test runner, as `suite.runner_of` names it."""
        return runner_of(self.command, self.home(root))

    def within(self, path: str) -> str:
        """A path of the project, as its command takes it; empty where it lies outside of its folder."""
        if not self.folder:
            return path
        return path.removeprefix(f"{self.folder}/") if path.startswith(f"{self.folder}/") else ""


def _names(glob: str, path: str) -> bool:
    """Whether a pattern names a file. Without wildcards, or with a slash at its end, it names what is in a folder, too.

    A single dot is the whole project.
    """
    plain = glob.removeprefix("./")
    if plain in ("", "."):
        return True
    if _MAGIC & set(plain):
        return globs.matches(path, f"{plain}**" if plain.endswith("/") else glob)
    return globs.matches(path, glob) or path.startswith(f"{plain.strip('/')}/")


def _fixed_parts(glob: str) -> list[str]:
    parts: list[str] = []
    for part in glob.removeprefix("./").strip("/").split("/"):
        if _MAGIC & set(part):
            break
        parts.append(part)
    return [part for part in parts if part != "."]


class Suites(Frozen):
    """The suites that a change is tested by, run one after the other and told as one run.

    `selection` are the test files to which a run of the whole is narrowed, where that can be.
    """

    suites: tuple[TestSuite, ...] = ()
    selection: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Their commands as people and agents read them; empty where there are none."""
        return "; ".join(_told(each) for each in self.suites)

    @property
    def timeout_s(self) -> float:
        """Longest time of a run of them all, in seconds."""
        return sum(each.timeout_s for each in self.suites)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that have one."""
        return tuple(each.name for each in self.suites if each.name)

    def kind(self, root: Path) -> str:
        """The test runner that all of them have; empty where they differ, or it is not known."""
        kinds = {each.kind(root) for each in self.suites}
        return kinds.pop() if len(kinds) == 1 else ""

    def alone(self, root: Path) -> bool:
        """Whether each can be narrowed to files."""
        return bool(self.suites) and all(takes_paths(each.command, each.kind(root)) for each in self.suites)

    def narrowed(self, root: Path, files: Sequence[str]) -> Suites:
        """The same where a run without files is one of these; unchanged where a runner takes no files."""
        return self.model_copy(update={"selection": tuple(files)}) if self.alone(root) else self

    def unclaimed(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The files that none of the named suites answers for; none where there is no named suite."""
        return tuple(p for p in paths if self.names and not any(each.answers_for(p) for each in self.suites))

    def found_in(self, files: Sequence[str]) -> Suites:
        """Those whose folder is in a tree of these files."""
        there = (each for each in self.suites if any(each.within(path) for path in files))
        return self.model_copy(update={"suites": tuple(there)})

    def owners(self, path: str) -> tuple[TestSuite, ...]:
        """Those that a file belongs to; all where none claims it."""
        found = tuple(each for each in self.suites if each.answers_for(path))
        return found or tuple(each for each in self.suites if not each.name) or self.suites

    def _shares(self, paths: Sequence[str]) -> list[tuple[TestSuite, list[str]]]:
        """The suites that run some test files, each with its own of them; without files all, each as a whole.

        A suite may answer for files that it depends on and that lie outside of its folder: their own suite runs those.
        """
        mine = {suite: [path for path in paths if suite in self.owners(path)] for suite in self.suites}
        inside = {suite: [path for path in own if suite.within(path)] for suite, own in mine.items()}
        shares = [(suite, own) for suite, own in inside.items() if own] or [(s, own) for s, own in mine.items() if own]
        return shares or [(suite, []) for suite in self.suites]

    async def run(
        self,
        runner: CommandRunner,
        paths: Sequence[str] = (),
        *,
        limit_s: float | None = None,
        heard: Heard = lambda _record: None,
    ) -> TestRun:
        """Runs them in a tree, narrowed to some test files where the runners take files.

        Args:
            runner: what confines the commands; its root is the top of the tree.
            paths: test files; a suite that none of them belongs to is left out. Empty: the selection, else all.
            limit_s: seconds for each of them, where that is less than its own limit.
            heard: gets what runners say while they run.

        Raises:
            ConfigError: a count pattern is wrong.
            ToolKilled: somebody ended one, twice.
        """
        there = [path for path in self.selection if (runner.root / path).is_file()]
        if self.selection and not there and not paths:
            told = "none of the related tests is there"
            return TestRun(command=self.text, exit_code=0, problem=told, related=True)
        runs = []
        for suite, own in self._shares(tuple(paths) or tuple(there)):
            runs.append(await _run(suite, runner, own, limit_s, heard))
        ran = runs[0] if len(runs) == 1 else joined(runs)
        return ran.model_copy(update={"related": True}) if there and not paths else ran


async def _run(
    suite: TestSuite, runner: CommandRunner, paths: Sequence[str], limit_s: float | None, heard: Heard
) -> TestRun:
    home = suite.home(runner.root)
    if not home.is_dir():
        return TestRun(
            command=suite.command, exit_code=None, suite=suite.name, problem=f"the folder {suite.folder} is not there"
        )
    ran = await run_tests(
        suite.command,
        runner=runner.at(home) if suite.folder else runner,
        timeout_s=suite.timeout_s if limit_s is None else min(limit_s, suite.timeout_s),
        paths=[each for path in paths if (each := suite.within(path))],
        count_pattern=suite.count_pattern,
        heard=heard,
    )
    if not suite.name:
        return ran
    places = (suite.folder, "", *suite.places)  # where it starts comes first
    told = {key: _placed(getattr(ran, key), places, runner.root) for key in ("failures", "names", "skips")}
    return ran.model_copy(update={"suite": suite.name, **told})


def _placed(names: Iterable[str], places: Sequence[str], root: Path) -> tuple[str, ...]:
    """Names of tests with their files as the project knows them: a runner names them from a folder of its own."""
    known: dict[str, str] = {}

    def placed(name: str) -> str:
        file, separator, rest = name.partition("::")
        if file not in known:
            tried = [posixpath.join(place, file) for place in places] if "/" in file or "." in file else [file]
            known[file] = next((path for path in tried if _is_file(root, path)), file)
        return f"{known[file]}{separator}{rest}"

    return tuple(placed(name) for name in names)


def _is_file(root: Path, path: str) -> bool:
    try:
        return (root / path).is_file()
    except (OSError, ValueError):  # a name may be no path at all
        return False


def joined(runs: Sequence[TestRun]) -> TestRun:
    """Several runs as one, which is green where each of them is; a suite without tests is not a pass."""
    bad = [each for each in runs if not each.green]

    def count(name: str) -> int | None:
        numbers = [getattr(each, name) for each in runs]
        return None if None in numbers else sum(numbers)

    def all_of(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for each in runs for text in getattr(each, name)))

    first = bad[0] if bad else None
    return TestRun(
        command="; ".join(each.command for each in runs),
        exit_code=first.exit_code if first else 0,
        seconds=sum(each.seconds for each in runs),
        passed=count("passed"),
        failed=count("failed"),
        skipped=count("skipped"),
        failures=all_of("failures"),
        output="\n".join(f"[{each.suite or 'tests'}]\n{each.output}" for each in bad or runs),
        problem="; ".join(each.reason for each in bad if each.problem or not each.failed),
        names=all_of("names"),
        skips=all_of("skips"),
        canary=_least_canary(runs),
        parts=tuple(each.model_copy(update={"output": "", "names": (), "skips": ()}) for each in runs),
    )


def _least_canary(runs: Sequence[TestRun]) -> Canary | None:
    """The canaries of the run that shows least: of one without any, where there is one."""
    found = [each.canary for each in runs if each.canary is not None]
    return next((each for each in found if each.missing), found[0] if found else None)


def suites_of(settings: ProjectTests, detected: str) -> Suites:
    """All suites of a project; `detected` is the command that its tree calls for, empty where it calls for none."""
    command = settings.command or ("" if settings.suite else detected)
    plain = TestSuite(command=command, timeout_s=settings.timeout_s, count_pattern=settings.count_pattern)
    named = (
        TestSuite(
            name=each.name,
            command=each.command,
            paths=each.paths,
            folder=each.folder,
            timeout_s=each.timeout_s or settings.timeout_s,
            count_pattern=each.count_pattern or settings.count_pattern,
        )
        for each in settings.suite
    )
    return Suites(suites=(*named, *((plain,) if command else ())))


def chosen(suites: Suites, paths: Iterable[str]) -> Suites:
    """Those suites that some files belong to, in their order; all where there are no files."""
    wanted = {owner for path in paths for owner in suites.owners(path)}
    return suites.model_copy(update={"suites": tuple(each for each in suites.suites if not wanted or each in wanted)})


def _told(suite: TestSuite) -> str:
    line = f"(cd {suite.folder} && {suite.command})" if suite.folder else suite.command
    return f"{suite.name}: {line}" if suite.name else line
