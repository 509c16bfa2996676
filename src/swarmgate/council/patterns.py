"""Table of all council patterns, with the modules that implement each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from swarmgate.errors import CouncilRefused

if TYPE_CHECKING:  # the command line reads this table for `swarm --help`, and loads no pattern
    from collections.abc import Callable
    from pathlib import Path

    from swarmgate.council.pattern import Pattern
    from swarmgate.council.records.rules import Rules


class PatternEntry(NamedTuple):
    """The verb of a pattern on the command line, and where it is, as `module:NAME`: it is loaded when it is used.

    `rules` is where its pure half is, for who only looks at records, beside it as `.module:NAME`; empty: where all is.
    """

    verb: str
    module: str
    rules: str = ""


PATTERNS: dict[str, PatternEntry] = {
    "discussion": PatternEntry("discuss", "swarmgate.council.discussion.pattern:DISCUSSION", ".rules:RULES"),
    "chat": PatternEntry("chat", "swarmgate.council.chat.steps:CHAT", ".rules:RULES"),
    "debate": PatternEntry("debate", "swarmgate.council.debate.steps:DEBATING", ".rules:RULES"),
    "dispatch": PatternEntry("dispatch", "swarmgate.council.dispatch.steps:DISPATCHING", ".rules:RULES"),
    "decision": PatternEntry("decide", "swarmgate.council.decision.steps:DECISION", ".rules:RULES"),
    "critique": PatternEntry("critique", "swarmgate.council.critique.steps:CRITIQUE", ".rules:RULES"),
    "orchestration": PatternEntry("orchestrate", "swarmgate.council.orchestration.steps:ORCHESTRATION", ".rules:RULES"),
}
"""Every pattern by its name in records."""


def pattern(name: str) -> Pattern[Any, Any, Any]:
    """The pattern of that name.

    Raises:
        CouncilRefused: there is none.
    """
    if name not in PATTERNS:
        raise CouncilRefused(f"There is no pattern {name[:80]!r}.", hint=f"The patterns are {', '.join(PATTERNS)}.")
    found: Pattern[Any, Any, Any] = _loaded(PATTERNS[name].module)
    return found


def rules(name: str) -> Rules[Any, Any, Any]:
    """The pure half of the pattern of that name, which is in the table."""
    place = PATTERNS[name]
    found: Rules[Any, Any, Any] = _loaded(place.rules or place.module, place.module.rpartition(".")[0])
    return found


def reader(name: str) -> Callable[[Path], dict[str, Any]]:
    """What reads a file that describes a request of the pattern of that name: `read` of its `file`."""
    found: Callable[[Path], dict[str, Any]] = _loaded(".file:read", PATTERNS[name].module.rpartition(".")[0])
    return found


def _loaded(place: str, package: str = "") -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module, package), attribute)
