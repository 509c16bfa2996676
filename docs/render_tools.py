"""Writes the table of tools of docs/testing.md from `swarmgate.agents.tools.tool_table`.

Run it with `python docs/render_tools.py`. The text between the two marks of the page is derived and not to be edited;
everything around it is. A test (tests/test_docs.py) fails while the page differs from what would be written.
"""  # noqa: INP001 - a script beside the pages that it writes, not a package

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from derived import Derived

from swarmgate.agents.tools.arguments import Arguments
from swarmgate.agents.tools.tool_table import OFFERED, SUBMIT, Tool, offered


def table() -> str:
    """One row for each tool, in the order in which the roles are offered them."""
    who: dict[Tool, dict[str, list[str]]] = {}
    for role, step in OFFERED:
        for tool in offered(role, step, Arguments, asks=True):
            who.setdefault(tool, {}).setdefault(role, []).append(step)
    lines = ["| tool | arguments | who has it | ends the turn |", "|---|---|---|---|"]
    for tool, roles in who.items():
        arguments = "the fields of the step's form" if tool.name == SUBMIT else _arguments(tool.spec.parameters)
        cells = (f"`{tool.name}`", arguments, _who(roles), "yes" if tool.ends else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _who(roles: dict[str, list[str]]) -> str:
    if sum(map(len, roles.values())) == len(OFFERED):
        return "every role, at every step"
    return ", ".join(f"{role} ({', '.join(steps)})" for role, steps in roles.items())


def _arguments(schema: dict[str, Any]) -> str:
    """The keys of an object: `?` follows what may be left out, brackets hold what a list consists of."""
    required = schema.get("required", ())
    found = []
    for name, spec in schema["properties"].items():
        inner = spec.get("items", {})
        below = f" [{_arguments(inner)}]" if "properties" in inner else " []" if spec.get("type") == "array" else ""
        found.append(f"`{name}`{'' if name in required else '?'}{below}")
    return ", ".join(found)


DERIVED = Derived(Path(__file__).with_name("testing.md"), Path(__file__).name, table)

if __name__ == "__main__":
    sys.exit(DERIVED.write())
