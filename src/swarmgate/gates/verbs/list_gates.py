"""Collects the gates of a repository, whether each runs and has its tools, as data and text for `swarm gates list`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate import config as settings
from swarmgate.gates.definition import load
from swarmgate.gates.tools import table as tools
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.tools.table import Found


@dataclass(frozen=True, slots=True)
class Listed:
    """A gate, whether it runs here (`why` says why not), and its tools."""

    gate: GateDefinition
    on: bool
    why: str
    tools: tuple[Found, ...]

    def as_json(self) -> dict[str, Any]:
        """The definition's keys, with `on`, `why` and `tools`."""
        found = [asdict(each) | {"installed": each.installed} for each in self.tools]
        return self.gate.model_dump(mode="json") | {"on": self.on, "why": self.why, "tools": found}


def gates(start: Path | None) -> tuple[Listed, ...]:
    """The gates in the order of the pipeline.

    Raises:
        NotAProject, ConfigError: no repository, or a definition or setting that cannot be used.
    """
    root = Repository.discover((start or Path.cwd()).resolve(), lenient=True).root
    skipped = settings.load(project_file=root / settings.PROJECT_FILE).gates.skip
    listed = []
    for gate in load(root):
        why = "" if gate.enabled else f"disabled in {gate.source}"
        why = "skipped by configuration (gates.skip)" if gate.id in skipped else why
        listed.append(Listed(gate, not why, why, tools.of(gate, root)))
    return tuple(listed)


def _tools(found: tuple[Found, ...]) -> list[str]:
    needed = [str(tool) for tool in found if tool.required]
    others = [tool.name for tool in found if not tool.required and tool.installed]
    lacking = [tool.name for tool in found if not tool.required and not tool.installed]
    text = [f"needs {', '.join(needed)}"] if needed else []
    text += [f"uses {', '.join(others)}"] if others else []
    return [*text, f"not installed, and only needed where a project uses it: {', '.join(lacking)}"] if lacking else text


def lines(listed: tuple[Listed, ...]) -> list[str]:
    """The list for people."""
    width = max(len(each.gate.id) for each in listed)
    text = []
    for each in listed:
        gate = each.gate
        state = "on" if each.on else "off"
        optional = "" if gate.required else " (optional)"
        text.append(f"{gate.id:<{width}}  {gate.stage:<5}  {state:<3}  {gate.title}{optional}")
        indent = " " * (width + 14)
        text += [f"{indent}{line}" for line in _tools(each.tools)]
        text += [f"{indent}{each.why}"] if each.why else []
        text += [f"{indent}weakened here: {weakness}" for weakness in gate.weakened]
    return text
