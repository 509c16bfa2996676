"""`swarm gates doctor`: lists each tool of each gate, found or missing, and how to install it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from swarmgate import config as settings
from swarmgate.errors import MissingRequirement
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.tools import table
from swarmgate.gates.tools.table import Found
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.sandbox.command_runner import CommandRunner


@dataclass(frozen=True, slots=True)
class Examined:
    """The gates with their tools, and what `--install` did."""

    gates: tuple[tuple[GateDefinition, tuple[Found, ...]], ...]
    installed: tuple[str, ...] = ()
    refused: str = ""

    @property
    def missing(self) -> tuple[Found, ...]:
        """The tools that a required gate cannot do without and that are not there, or too old."""
        lacking = [
            tool
            for gate, found in self.gates
            for tool in found
            if tool.problem and tool.required and gate.required and gate.enabled
        ]
        return tuple(dict.fromkeys(lacking))

    @property
    def exit_code(self) -> int:
        """6 when a required tool is missing."""
        return MissingRequirement.exit_code if self.missing else 0

    def as_json(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        gates = [
            {
                "id": gate.id,
                "enabled": gate.enabled,
                "required": gate.required,
                "tools": [asdict(tool) | {"installed": tool.installed} for tool in found],
            }
            for gate, found in self.gates
        ]
        return {
            "passed": not self.missing,
            "gates": gates,
            "environment": str(table.environment()),
            "installed": list(self.installed),
            "refused": self.refused,
        }

    def lines(self) -> list[str]:
        """For people: a line for each gate and each of its tools."""
        text = []
        for gate, found in self.gates:
            text.append(f"{gate.id}{'' if gate.enabled else ' (off)'}{'' if found else ': needs no tool'}")
            for tool in found:
                mark = "ok  " if not tool.problem else "MISS" if tool.required else "-   "
                minimum = f" (at least {tool.minimum})" if tool.minimum and not tool.problem else ""
                where = f"  {tool.where}" if tool.where else f"  -> {tool.hint}" if tool.hint else ""
                text.append(f"  {mark}  {tool}{minimum}{where}")
        text += [f"installed into {table.environment()}: {', '.join(self.installed)}"] if self.installed else []
        text += [f"not installed: {self.refused}"] if self.refused else []
        return text


def examine(start: Path | None, *, install: bool = False) -> Examined:
    """Look for every tool; with `install`, first install what is missing and comes from the Python package index.

    Raises:
        NotAProject, ConfigError: no repository, or a definition or settings that cannot be used.
    """
    root = Repository.discover((start or Path.cwd()).resolve(), lenient=True).root
    gates = load(root)
    configured = settings.load(project_file=root / settings.PROJECT_FILE).commands
    return asyncio.run(_examine(gates, root, cache(partial(by_hand, root, configured)), install=install))


async def _examine(
    gates: tuple[GateDefinition, ...], root: Path, commands: Callable[[], CommandRunner], *, install: bool
) -> Examined:
    found = await _inspect(gates, root, commands)
    if not install:
        return Examined(found)
    wanted = list(dict.fromkeys(tool.pip for _, each in found for tool in each if tool.problem and tool.pip))
    refused = await table.install(wanted) if wanted else ""
    others = {tool.name: tool.hint for _, each in found for tool in each if tool.problem and not tool.pip}
    messages = [refused, *(f"{name} ({hint or 'no way is known here'})" for name, hint in others.items())]
    done = () if refused else tuple(wanted)
    return Examined(await _inspect(gates, root, commands), done, "; ".join(filter(None, messages)))


async def _inspect(
    gates: tuple[GateDefinition, ...], root: Path, commands: Callable[[], CommandRunner]
) -> tuple[tuple[GateDefinition, tuple[Found, ...]], ...]:
    by_gate = [(gate, table.needed(gate)) for gate in gates]
    known = await table.find((tool for _, needed in by_gate for tool in needed), root, commands)
    return tuple((gate, tuple(known[tool] for tool in needed)) for gate, needed in by_gate)
