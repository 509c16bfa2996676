"""The table of patterns: a new one is its folder, and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from swarmgate.council.pattern import Pattern
from swarmgate.errors import CouncilRefused

PATTERNS: dict[str, str] = {
    "discussion": "swarmgate.council.discussion.pattern:DISCUSSION",
    "chat": "swarmgate.council.chat.steps:CHAT",
    "debate": "swarmgate.council.debate.steps:DEBATING",
    "dispatch": "swarmgate.council.dispatch.steps:DISPATCHING",
    "decision": "swarmgate.council.decision.steps:DECISION",
    "critique": "swarmgate.council.critique.steps:CRITIQUE",
    "orchestration": "swarmgate.council.orchestration.steps:ORCHESTRATION",
}
"""Where each pattern is, as `module:NAME`, by its name in records; it is loaded when it is used."""


def pattern(name: str) -> Pattern[Any, Any, Any]:
    """The pattern of that name.

    Raises:
        CouncilRefused: there is none.
    """
    if name not in PATTERNS:
        raise CouncilRefused(f"There is no pattern {name[:80]!r}.", hint=f"The patterns are {', '.join(PATTERNS)}.")
    module, _, attribute = PATTERNS[name].partition(":")
    found: Pattern[Any, Any, Any] = getattr(import_module(module), attribute)
    return found
