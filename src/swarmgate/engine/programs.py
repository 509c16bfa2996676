"""Starts the agent programs that speak as roles, confined like any command: brief in, what they print out."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from swarmgate.config import Role
from swarmgate.llm.command_model import Ran
from swarmgate.workspace.sandbox.running import CommandRunner

_BRIEF = "{brief}"
_OUTPUT = 2_000_000
"""Characters kept of what a program prints: an answer stands at its end, and streams of events are long."""

_DAY_S = 86_400.0
"""A program without a time limit of its own is ended by the breaker of its turn."""


@dataclass(frozen=True)
class AgentProgram:
    """Runs the program of one role.

    Attributes:
        commands: what runs the commands of agents.
        role: its network, variables, paths and time limit.
        environ: where the values of its variables stand.
    """

    commands: CommandRunner
    role: Role
    environ: Mapping[str, str]

    async def __call__(self, command: str, *, brief: str, writes: bool) -> Ran:
        """Run it in the repository, which is read-only to it unless it `writes`.

        Raises:
            MissingRequirement: the sandbox's program is not there.
            WorkspaceError: the operating system refused to start it.
        """
        by_file = _BRIEF in command
        with _file(brief) as place:
            done = await self._runner(writes=writes).run(
                command.replace(_BRIEF, shlex.quote(str(place))),
                timeout_s=self.role.timeout_s or _DAY_S,
                env=self._variables(),
                writable=(place.parent,) if by_file else (),
                stdin=None if by_file else brief.encode(errors="replace"),
                output_limit=_OUTPUT,
            )
        return Ran(exit_code=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    def _runner(self, *, writes: bool) -> CommandRunner:
        bounds = self.commands.confinement
        bounds = replace(
            bounds,
            network=self.role.network,
            writable=(*bounds.writable, *self._paths()),
            guarded=bounds.guarded if writes else (*bounds.guarded, bounds.root),
        )
        return replace(self.commands, confinement=bounds)

    def _paths(self) -> tuple[Path, ...]:
        return tuple(place.resolve() for path in self.role.paths if (place := Path(path).expanduser()).exists())

    def _variables(self) -> dict[str, str]:
        """Its own variables; and the user's home as its own where files of it were opened, since it looks there."""
        own = {name: self.environ[name] for name in self.role.env if name in self.environ}
        return {**own, "HOME": str(Path.home())} if self.role.paths else own


@contextmanager
def _file(brief: str) -> Iterator[Path]:
    """A file with the brief, in a folder of its own; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="swarmgate-brief-", ignore_cleanup_errors=True) as folder:
        place = Path(folder).resolve() / "brief.md"
        place.write_text(brief, encoding="utf-8", errors="replace")
        yield place
