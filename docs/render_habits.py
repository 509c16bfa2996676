"""Writes the table of habits in docs/models.md: what endpoints do, what swarmgate makes of it, and where it was seen.

Run it with `python docs/render_habits.py`. The habits are those of `swarmgate.testing.habits`, what holds is the table
`HELD` of tests/llm/habits_held.py, which tests/llm/test_habits.py proves. The text between the two marks of the page is
derived and not to be edited; a test fails while the page differs from what would be written.
"""  # noqa: INP001 - a script beside the pages that it writes, not a package

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from derived import Derived

from swarmgate.testing.habits import HABITS

OUTCOMES = Path(__file__).parent.parent / "tests/llm/habits_held.py"


def outcomes() -> Mapping[str, Any]:
    """What holds, by the name of the habit."""
    spec = importlib.util.spec_from_file_location("habits_held", OUTCOMES)
    if spec is None or spec.loader is None:
        raise ValueError(f"{OUTCOMES} is no module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    held: Mapping[str, Any] = module.HELD
    return held


def body() -> str:
    """A table for each group of habits."""
    held = outcomes()
    lines = [f"{len(HABITS)} habits, each played to swarmgate by a test:"]
    for group in dict.fromkeys(each.group for each in HABITS):
        lines += ["", f"### {group.capitalize()}", "", "| habit | what the endpoint does | with swarmgate | seen at |"]
        lines.append("|---|---|---|---|")
        lines += [
            f"| `{each.name}` | {_cell(each.about)} | {_cell(held[each.name].how)} | {_linked(each.source)} |"
            for each in HABITS
            if each.group == group
        ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _linked(source: str) -> str:
    """`Server: https://...` as a link, each of several."""
    return "; ".join(re.sub(r"^(.*): (https://\S+)$", r"[\1](\2)", each) for each in source.split("; "))


DERIVED = Derived(Path(__file__).with_name("models.md"), Path(__file__).name, body, end="<!-- end of the habits -->")

if __name__ == "__main__":
    sys.exit(DERIVED.write())
