"""Runs the user's tests and measures the result: exit code, counts, failed tests, seconds."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.evidence import TestRun
from swarmgate.errors import ToolKilled
from swarmgate.workspace.detect import script_runner
from swarmgate.workspace.files import regular
from swarmgate.workspace.process.process import KILLED
from swarmgate.workspace.test_runs import counts, junit
from swarmgate.workspace.test_runs.canary.channel import opened
from swarmgate.workspace.test_runs.canary.control_run import KINDS, control
from swarmgate.workspace.test_runs.canary.verdict import judge
from swarmgate.workspace.test_runs.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.command_runner import CommandRunner
    from swarmgate.workspace.test_runs.canary.verdict import Verdict

    Heard = Callable[[dict[str, Any]], None]

_OUTPUT_CHARS = 200_000  # kept of each stream: counts and names of failed tests are read from it
_NOT_FOUND = 127  # POSIX shells: the command was not found
_RUNNERS = {
    "pytest": r"\b(?:pytest|py\.test)\b",
    "unittest": r"-m unittest\b",
    "cargo": r"\bcargo\b",
    "go": r"\bgo test\b",
    "maven": r"\bmvnw?\b",
    "gradle": r"\bgradlew?\b",
    "rspec": r"\brspec\b",
    "phpunit": r"\bphpunit\b",
    "dotnet": r"\bdotnet\b",
    "bun": r"\bbun test\b",
}
_SCRIPTS = re.compile(r"\b(?:npm|pnpm|yarn|bun)\b")
_TAKES_PATHS = frozenset({"pytest", "jest", "vitest", "rspec", "phpunit", "mocha"})
_SHELL = re.compile(r"[;&|<>`\n]|\$\(")
_QUIET = re.compile(r"(?<![\w-])(?:-[a-zA-Z]*q[a-zA-Z]*|--quiet)(?![\w-])")
_WORD = re.compile(r"(?P<option>(?<!\S)(?:--[\w-]+|-[ckmnoprW])\s+)?(?<!\S)[\w./][\w./-]*(?!\S)")
"""A word of a command, with the option before it that it may be the value of."""
_ASSIGNED = re.compile(r"\w+=")
_STARTS_PYTHON = re.compile(r"pytest|py\.test|python[\d.]*|pypy[\d.]*|uv|poetry|pdm|pipenv|rye|coverage|env")
_SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
"""Where pytest reads its options."""
_UNKNOWN_PROGRAM = re.compile(r"(?:^|: )(?:\d+: |line \d+: )?([^\s:]+): (?:command )?not found", re.MULTILINE)
_UNKNOWN_MODULE = re.compile(r"^(\S+): No module named (pytest|unittest|nose2?)$", re.MULTILINE)


async def run_tests(
    command: str,
    *,
    runner: CommandRunner,
    timeout_s: float,
    paths: Sequence[str] = (),
    count_pattern: str = "",
    heard: Heard = lambda _record: None,
) -> TestRun:
    """Run a test command, a shell line, confined like the commands of agents.

    Args:
        command: what the user would type.
        runner: what confines it; where it runs commands, names of tests and `paths` are relative to.
        timeout_s: seconds until its whole process group is ended.
        paths: run only these test files, where the runner takes paths; otherwise the whole suite is run.
        count_pattern: the user's `tests.count_pattern`, for output that is not known here.
        heard: gets what runners say while they run, where they load us.

    Raises:
        ConfigError: `count_pattern` is wrong.
        ToolKilled: somebody ended it, twice.
    """
    kind = runner_of(command, runner.confinement.cwd)
    ran, spoke = await _measured(command, kind, runner, timeout_s, paths, count_pattern, heard)
    if ran.exit_code in KILLED:  # by somebody else: it says nothing of the tests
        ran, spoke = await _measured(command, kind, runner, timeout_s, paths, count_pattern, heard)
    if ran.exit_code in KILLED:
        raise ToolKilled(
            f"`{command}` was killed twice, by somebody else than swarmgate",
            hint="Is the machine short of memory, or does a test end its own runner? Then: swarm run",
        )
    if spoke or kind not in KINDS:
        return ran
    if paths or not ran.green or not runner.vanishes:
        return ran.model_copy(update={"canary": None})
    canary, objection = await control(command, kind, runner, timeout_s=timeout_s)
    return ran.model_copy(update={"canary": canary, "problem": objection})


async def _measured(
    command: str,
    kind: str,
    runner: CommandRunner,
    timeout_s: float,
    paths: Sequence[str],
    count_pattern: str,
    heard: Heard,
) -> tuple[TestRun, bool]:
    """One run, and whether its runner spoke to us."""
    root, started = runner.confinement.cwd, time.time()
    line = with_paths(command, kind, paths, root)
    with opened(heard) as channel:
        report = channel.folder / "junit.xml"
        variables = _environment(report)
        command_line = channel.line(line, variables)
        done = await channel.commands(runner).run(
            command_line, timeout_s=timeout_s, env=variables, writable=(channel.folder,), output_limit=_OUTPUT_CHARS
        )
        reported = kind not in {"maven", "gradle"} and not count_pattern and report.is_file()
        verdict, found = judge(channel, root), _printed(done, kind, count_pattern, root, report, started)
    if not count_pattern:
        found = _verified_counts(kind, verdict, found)
    problem = _problem(done, found, line, timeout_s)
    if not problem and not verdict.ran and found and reported and done.ok:
        problem = counts.contradiction(found, done.stdout, silent=kind != "pytest" or _is_silent(command, root))
    ran = TestRun(
        command=line,
        exit_code=done.exit_code,
        seconds=done.seconds,
        passed=found.passed if found else None,
        failed=found.failed if found else None,
        skipped=found.skipped if found else None,
        failures=found.failures if found else (),
        names=found.names if found else (),
        skips=found.skips if found else (),
        output=done.output,
        problem=verdict.objection(done, direct=_is_direct(command, kind)) or problem,
        canary=verdict.canary,
    )
    return ran, verdict.ran


def runner_of(command: str, root: Path) -> str:
    """The test runner that a command starts, behind `npm test` too; empty when it is none of the known ones."""
    found = next((name for name, pattern in _RUNNERS.items() if re.search(pattern, command)), "")
    if found or not _SCRIPTS.search(command):
        return found or script_runner(command)
    try:
        script = json.loads(regular.read(root / "package.json"))["scripts"]["test"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return script_runner(str(script))


def with_paths(command: str, runner: str, paths: Sequence[str], root: Path) -> str:
    """The command narrowed to `paths`; unchanged where the runner takes none or the line is more than one command.

    Folders below `root` that pytest is told to look in give way to the paths in them: it would run both.
    """
    if not paths or not takes_paths(command, runner):
        return command
    if runner == "pytest":
        command = _WORD.sub(lambda word: word[0] if word["option"] or not _holds(root, word[0], paths) else "", command)
    separator = " -- " if re.match(r"\s*npm\b", command) and " -- " not in command else " "
    return command + separator + shlex.join(paths)


def _holds(root: Path, word: str, paths: Sequence[str]) -> bool:
    """Whether a word of a command is a folder that some of the paths lie in."""
    folder = word.removeprefix("./").rstrip("/")
    inside = any(path.startswith(f"{folder}/") for path in paths)
    return inside and (root / folder).is_dir()


def takes_paths(command: str, runner: str) -> bool:
    """Whether a command can be narrowed to files: its runner takes them, and the line is one command."""
    return runner in _TAKES_PATHS and not _SHELL.search(command)


def _is_direct(command: str, kind: str) -> bool:
    """Whether a line starts a Python with that runner and nothing else: then the runner is known to load us."""
    if kind not in {"pytest", "unittest"} or _SHELL.search(command):
        return False
    words = [word for word in command.split() if not _ASSIGNED.match(word)]
    return bool(words) and _STARTS_PYTHON.fullmatch(words[0].rpartition("/")[2]) is not None


def _is_silent(command: str, root: Path) -> bool:
    """Whether pytest prints no last line: `-qq`, a switched off reporter, a line that does more; settings count too."""
    texts = [command, os.environ.get("PYTEST_ADDOPTS", "")]
    for name in _SETTINGS:
        with contextlib.suppress(OSError):
            texts.append(regular.read(root / name).decode("utf-8", "replace"))
    whole = "\n".join(texts)
    quiet = sum(match[0].count("q") for match in _QUIET.finditer(whole))
    return quiet > 1 or "no:terminal" in whole or "verbosity" in whole or _SHELL.search(command) is not None


def _environment(report: Path) -> dict[str, str]:
    """Pytest writes its report there however it is started; no run leaves byte code or a cache in the tree."""
    options = [os.environ.get("PYTEST_ADDOPTS", ""), f"--junitxml={shlex.quote(str(report))}", "-p no:cacheprovider"]
    return {
        "PYTEST_ADDOPTS": " ".join(filter(None, options)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": os.environ.get("CI", "true"),  # runners that would watch the files run once instead
    }


def _printed(done: Completed, kind: str, pattern: str, root: Path, report: Path, started: float) -> Counts | None:
    """The counts by the user's pattern, by a report, or as printed."""
    if pattern:
        return counts.read_with(pattern, done.output)
    reports: tuple[Path, ...] = (report,)
    if kind in {"maven", "gradle"}:
        reports = junit.jvm_reports(root, int(started))
    return junit.read(root, reports) or counts.read(kind, done.output)


def _verified_counts(kind: str, verdict: Verdict, printed: Counts | None) -> Counts | None:
    """What the runner said while it ran, if it is the one that counts; unittest's failures go by what was printed."""
    reported = verdict.counts
    if reported is None or kind not in {verdict.runner, ""}:
        return printed
    if verdict.runner == "pytest":
        return reported
    names = printed.failures if printed else reported.failures
    return Counts(passed=reported.passed, failed=reported.failed, skipped=reported.skipped, failures=names)


def _problem(done: Completed, found: Counts | None, command: str, timeout_s: float) -> str:
    if done.timed_out:
        return f"the tests did not end within {timeout_s:g} s; the whole process group was ended"
    if done.exit_code == _NOT_FOUND:
        named = _UNKNOWN_PROGRAM.search(done.stderr)
        return f"`{named[1] if named else command.split(maxsplit=1)[0]}` was not found; is it installed?"
    module = _UNKNOWN_MODULE.search(done.stderr)
    if module and not found:
        return f"{module[2]} is not installed for {module[1]}"
    if found is None and done.ok:
        return (
            f"the output of `{command}` names no test count: set tests.count_pattern in .swarm/config.toml "
            "to a regular expression with groups `passed` and `failed`"
        )
    return ""
