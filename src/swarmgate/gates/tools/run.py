"""Runs a gate's tool on batches of files within the gate's time limit and interprets its exit.

Tools are confined as the agents' own commands are: a linter of the project, a build script or a plugin is a program of
the work tree. With the user's rights runs only what came with swarmgate.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement, ToolKilled
from swarmgate.gates.tools.table import program, search_path
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.process.process import again_if_killed, run
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from swarmgate.gates.job import Job
    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

BATCH_BYTES = 100_000
"""Argument bytes of one call: well below macOS' 1 MB for arguments and environment together; Linux allows more."""

OUTPUT_LIMIT = 8_000_000
"""Characters of output that are kept; a parser that would miss some of it makes its gate an ERROR."""


_NOT_STARTED = (126, 127)
"""The exit codes of a shell that cannot execute a program, or finds none (POSIX, 2.8.2)."""


_NAMES = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGKILL", "SIGSEGV", "SIGSYS", "SIGTERM", "SIGXCPU", "SIGXFSZ")
_ENDING = frozenset(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals that end a program which did not do its work."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The tool did not do its work; `reason` is for the user."""

    reason: str


async def invoke(
    job: Job,
    calls: Iterable[Sequence[str]],
    *,
    exit_codes: Container[int] = (0, 1),
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    writable: Sequence[Path] = (),
    own: bool = False,
    inert: bool = False,
    on_line: Callable[[bytes], None] | None = None,
) -> list[Completed] | Broken:
    """Run command lines in the repository's root, one after the other, each within the job's time.

    Args:
        job: the gate's job; its `commands` confine what is run.
        calls: the command lines.
        exit_codes: those with which the tool has done its work.
        stdin: their standard input.
        env: variables on top of the inherited ones.
        writable: folders that they may write besides the repository, such as a cache.
        own: the program came with swarmgate, and nothing that the project says has a say: it is never confined.
        inert: the program came with swarmgate, and runs no code, whatever the project's settings say: in a run alone
            it is confined, where those settings would show files of the user's to agents.
        on_line: hears each line that a program prints, while it runs.

    Raises:
        MissingRequirement: the program is not installed, or the sandbox that the settings name.
        ToolKilled: it was ended from outside, twice.
        WorkspaceError: it cannot be started, the job's root leads out of the repository, or nothing can guard that.
    """
    bare = own or (inert and not job.in_run)
    commands = None if bare else job.commands()
    path = trusted.search_path(job.repository.root) if bare else search_path()
    variables = {"PATH": path, **(env or {})}
    done = []
    for argv in calls:

        async def once(argv: Sequence[str] = argv) -> Completed:
            limit, root = job.timeout_s, job.repository.root
            if commands is None:
                return await run(
                    argv, cwd=root, timeout_s=limit, env=variables, stdin=stdin, output_limit=OUTPUT_LIMIT,
                    on_line=on_line, while_at_work=True,
                )  # fmt: skip
            _require(argv[0], root)
            return await commands.at(root).run(
                argv, timeout_s=limit, env=variables, writable=writable, stdin=stdin, output_limit=OUTPUT_LIMIT,
                on_line=on_line, while_at_work=True,
            )  # fmt: skip

        with job.progress.waiting():
            completed = await again_if_killed(once)
        if commands:
            completed = _by_signal(completed)
        if completed.was_killed and completed.exit_code:
            raise ToolKilled(f"{argv[0]} was ended by {_signal_name(abs(completed.exit_code))}, twice")
        reason = _not_started(argv[0], commands, completed) if commands else ""
        reason = reason or _trouble(argv[0], completed, exit_codes, job.late)
        if reason:
            return Broken(reason)
        done.append(completed)
    return done


def with_files(argv: Sequence[str], files: Sequence[str]) -> Iterator[list[str]]:
    """`argv` with the files at its end, in as many command lines as their length asks for."""
    return ([*argv, *batch] for batch in batches(files))


def batches(files: Sequence[str]) -> Iterator[list[str]]:
    """File names in groups whose bytes fit on a command line; one empty group for no files."""
    batch: list[str] = []
    size = 0
    for name in files:
        argument = os.fsdecode(encode(f"./{name}" if name.startswith("-") else name))
        length = len(os.fsencode(argument)) + 1
        if batch and size + length > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(argument)
        size += length
    yield batch


def excerpt(text: str, width: int = 500) -> str:
    """An output on one line, for a reason: its beginning and its end where it is longer than `width`.

    Of a long line, its beginning says most: a list of all known keys shall not hide the one that is wrong.
    """
    parts = (part.strip() for part in text.splitlines() if part.strip())
    line = " | ".join(part if len(part) <= width // 2 else f"{part[: width // 2]}…" for part in parts)
    return line if len(line) <= width else f"{line[: width // 2]} … {line[-width // 2 :]}"


def _require(name: str, root: Path) -> None:
    """Makes sure that a program is there at all: a sandbox could only say that it sees none.

    Raises:
        MissingRequirement: it is not.
    """
    if program(root, "", name) is None:
        raise MissingRequirement(
            f"the program `{name}` was not found, or cannot be executed",
            hint=f"install `{name}`, or put its folder on PATH",
        )


def _not_started(program: str, commands: CommandRunner, completed: Completed) -> str:
    """Why a confined program did not begin; empty where it did."""
    name = commands.sandbox.name
    if refused := commands.refused(completed):
        return f"the sandbox ({name}) did not start {program}: {excerpt(refused)}"
    if name == "none" or completed.timed_out or completed.exit_code not in _NOT_STARTED:
        return ""
    output = excerpt(completed.stderr) or excerpt(completed.stdout)
    return (
        f"{program} could not be executed in the sandbox ({name}){f': {output}' if output else ''}. "
        "[commands] readable names what it needs"
    )


def _by_signal(completed: Completed) -> Completed:
    """What a signal ended within a sandbox, whose own program says so as shells do: by 128 and the signal's number."""
    code = completed.exit_code
    if code is not None and code - 128 in _ENDING:
        return completed.model_copy(update={"exit_code": 128 - code})
    return completed


def _trouble(program: str, completed: Completed, exit_codes: Container[int], late: str) -> str:
    code = completed.exit_code
    if completed.timed_out:
        return late
    if code is not None and code < 0:
        return f"{program} was ended by {_signal_name(-code)}"
    if code is None or code not in exit_codes:
        output = excerpt(completed.stderr) or excerpt(completed.stdout)
        return f"{program} ended with exit code {code}" + (f": {output}" if output else "")
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
