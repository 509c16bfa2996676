"""Tests that reading records imports only the pure rules of each pattern."""

from __future__ import annotations

import subprocess
import sys

_LOAD = """
import sys
from swarmgate.council import patterns, shared
for name in patterns.PATTERNS:
    patterns.rules(name)
heavy = ("agents.tools.answers", "agents.context", "agents.tools.table",
     "council.participants.session", "engine", "llm.model")
print(*(each for each in heavy if f"swarmgate.{each}" in sys.modules), *({"openai", "jinja2"} & set(sys.modules)))
"""


def test_the_rules_of_all_patterns_bring_neither_voices_nor_the_engine() -> None:
    done = subprocess.run([sys.executable, "-c", _LOAD], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
