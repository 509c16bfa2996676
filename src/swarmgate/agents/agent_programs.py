"""Runs external agent programs as roles inside the sandbox: passes the brief in and reads the printed reply."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from swarmgate.config import Role, command_lines
from swarmgate.llm.programs.acp_session import Asked, Permit
from swarmgate.llm.programs.command_model import Ran
from swarmgate.llm.programs.json_rpc import Pipe
from swarmgate.workspace.agent_programs.files import expanded, visible
from swarmgate.workspace.process import temporary
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.command_runner import CommandRunner

_BRIEF = "{brief}"
_OUTPUT = 2_000_000
"""Characters kept of what a program prints: an answer stands at its end, and streams of events are long."""

_SEARCHED = ("PATH", "PYTHONPATH", "NODE_PATH")
"""Variables by which programs and modules are found. In the repository the coder could plant some."""

_DAY_S = 86_400.0
"""A program without a time limit of its own is ended by the breaker of its turn."""


@dataclass(frozen=True)
class AgentProgram:
    """Runs the program of one role.

    Attributes:
        commands: what runs the commands of agents.
        role: its network, variables, paths and time limit.
        environ: where the values of its variables stand.
        judges: whether the role gives verdicts.
        permits: answers the questions of programs that ask whether they may; gets what they ask for, the repository as
            they see it, and whether the role writes at this step.
    """

    commands: CommandRunner
    role: Role
    environ: Mapping[str, str]
    judges: bool = False
    permits: Callable[[Asked, str, bool], str] = lambda _asked, _folder, _writes: "nobody answers for the user here"

    @property
    def folder(self) -> str:
        """The repository as the program sees it."""
        return str(self.commands.confinement.place or self.commands.confinement.cwd)

    def permit(self, *, writes: bool) -> Permit:
        """The handler of the program's permission requests."""
        return lambda asked: self.permits(asked, self.folder, writes)

    @asynccontextmanager
    async def talk(self, command: str, *, writes: bool) -> AsyncIterator[Pipe]:
        """A program that is spoken to while it runs, in the repository, which is read-only to it unless it `writes`.

        Raises:
            MissingRequirement: the sandbox's program is not there.
            WorkspaceError: the operating system refused to start it.
        """
        runner = self._runner(command, writes=writes)
        async with runner.talk(command, env=self._variables(command)) as program:
            yield program

    async def __call__(
        self, command: str, *, brief: str, writes: bool, on_line: Callable[[bytes], None] | None = None
    ) -> Ran:
        """Run it in the repository, which is read-only to it unless it `writes`.

        Raises:
            MissingRequirement: the sandbox's program is not there.
            WorkspaceError: the operating system refused to start it.
        """
        by_file = _BRIEF in command
        with _file(brief) as place:
            done = await self._runner(command, writes=writes).run(
                command.replace(_BRIEF, shlex.quote(str(place))),
                timeout_s=self.role.timeout_s or _DAY_S,
                env=self._variables(command),
                writable=(place.parent,) if by_file else (),
                stdin=None if by_file else brief.encode(errors="replace"),
                output_limit=_OUTPUT,
                on_line=on_line,
            )
        return Ran(exit_code=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    def _runner(self, command: str, *, writes: bool) -> CommandRunner:
        bounds = self.commands.confinement
        there = (*bounds.readable, bounds.root)
        named = [path for path in visible(command, bounds.root) if not any(path.is_relative_to(it) for it in there)]
        bounds = replace(
            bounds,
            network=self.role.network,
            readable=(*bounds.readable, *named, *_existing(self.role.readable)),
            writable=(*bounds.writable, *_existing(self.role.writable)),
            guarded=bounds.guarded if writes else (*bounds.guarded, bounds.root),
        )
        return replace(self.commands, confinement=bounds)

    def _variables(self, command: str) -> dict[str, str]:
        """Its own variables, and those by which programs and modules are found: never in the repository.

        The user's home is its home where files of it were opened, since it looks there.
        """
        around = trusted.environment(self.commands.confinement.root)
        own = {name: around.get(name, "") for name in _SEARCHED}
        own |= {name: self.environ[name] for name in self.role.env if name in self.environ}
        if self.role.readable or self.role.writable or "~" in command or "HOME" in command:
            own["HOME"] = str(Path.home())
        line = command_lines.read(command)
        if self.judges and line.runner and not line.is_file:
            own["PYTHONSAFEPATH"] = "1"  # `python -m` and `-c` would load modules from the repository
        return own


def _existing(paths: Iterable[str]) -> tuple[Path, ...]:
    return tuple(place.resolve() for place in expanded(paths) if place.exists())


@contextmanager
def _file(brief: str) -> Iterator[Path]:
    """A file with the brief, in a folder of its own; gone afterwards."""
    with temporary.folder("brief") as folder:
        place = folder / "brief.md"
        place.write_text(brief, encoding="utf-8", errors="replace")
        yield place
