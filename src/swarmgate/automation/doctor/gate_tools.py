"""The doctor's check that the tools of required gates are installed and new enough."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from swarmgate.automation.doctor.problem import Problem
from swarmgate.config import Config
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.tools import table

NAME = "gate tools"


def inspect(gates: Sequence[GateDefinition], config: Config, root: Path) -> tuple[Problem, ...]:
    """A problem for each tool that a required gate, which is on, lacks.

    A command that is not on PATH is told by the check `gates`, and not again.
    """
    wanted = {
        tool: gate.id
        for gate in gates
        if gate.enabled and gate.required and gate.id not in config.gates.skip
        for tool in table.needed(gate)
        if tool.required and (tool.module or tool.minimum)
    }
    with ThreadPoolExecutor(1) as thread:  # the caller may have a loop of its own
        found = thread.submit(asyncio.run, table.find(wanted, root, partial(by_hand, root, config.commands))).result()
    return tuple(
        Problem(NAME, f"{each.name} (gate {wanted[tool]}): {each.problem}", hint=each.hint, severity="error")
        for tool, each in found.items()
        if each.problem and (tool.module or each.installed)
    )
