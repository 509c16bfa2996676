"""The table of patterns: a new one is its folder, and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from swarmgate.errors import CouncilRefused

if TYPE_CHECKING:  # the command line reads this table for `swarm --help`, and loads no pattern
    from swarmgate.council.pattern import Pattern


class Place(NamedTuple):
    """The verb of a pattern on the command line, and where it is, as `module:NAME`: it is loaded when it is used."""

    verb: str
    module: str


PATTERNS: dict[str, Place] = {
    "discussion": Place("discuss", "swarmgate.council.discussion.pattern:DISCUSSION"),
    "chat": Place("chat", "swarmgate.council.chat.steps:CHAT"),
    "debate": Place("debate", "swarmgate.council.debate.steps:DEBATING"),
    "dispatch": Place("dispatch", "swarmgate.council.dispatch.steps:DISPATCHING"),
    "decision": Place("decide", "swarmgate.council.decision.steps:DECISION"),
    "critique": Place("critique", "swarmgate.council.critique.steps:CRITIQUE"),
    "orchestration": Place("orchestrate", "swarmgate.council.orchestration.steps:ORCHESTRATION"),
}
"""Every pattern by its name in records."""


def pattern(name: str) -> Pattern[Any, Any, Any]:
    """The pattern of that name.

    Raises:
        CouncilRefused: there is none.
    """
    if name not in PATTERNS:
        raise CouncilRefused(f"There is no pattern {name[:80]!r}.", hint=f"The patterns are {', '.join(PATTERNS)}.")
    module, _, attribute = PATTERNS[name].module.partition(":")
    found: Pattern[Any, Any, Any] = getattr(import_module(module), attribute)
    return found
