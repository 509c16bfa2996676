"""Records of guards and turns: refused actions, tripped breakers, and the measurements of a turn."""

from collections.abc import Iterable
from enum import StrEnum

from swarmgate.domain.base import Frozen, Line


class Effect(StrEnum):
    """The effects of a guard, in rising order."""

    NOTED = "noted"
    WARNED = "warned"
    REFUSED = "refused"
    """One tool call was not carried out."""
    STOPPED = "stopped"
    """The turn ended."""
    REJECTED = "rejected"
    """The attempt ended."""


class GuardNote(Frozen):
    """One thing that a guard noticed.

    `rule` is the rule's name in kebab-case (`authority`, `scope`, `command-policy`, `self-coding`, `breaker`, ...),
    `detail` what happened, `count` how often it did in this turn. `attempt` is 0 outside of attempts.
    """

    rule: Line
    effect: Effect
    detail: Line
    role: str = ""
    step: str = ""
    attempt: int = 0
    count: int = 1


_NOTES = 20
"""Different notes of one rule and effect that one turn leaves; further ones are counted in the last of them."""


def merged(notes: Iterable[GuardNote]) -> tuple[GuardNote, ...]:
    """The notes of one turn, equal ones as one with its count, and no more than a reader can take in."""
    found: dict[tuple[object, ...], GuardNote] = {}
    kinds: dict[tuple[str, Effect], int] = {}
    for note in notes:
        kind = (note.rule, note.effect)
        key: tuple[object, ...] = (*kind, note.detail, note.role, note.step, note.attempt)
        if key not in found:
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] > _NOTES:
                key = (*kind, "further ones")
        old = found.get(key)
        found[key] = note if old is None else old.model_copy(update={"count": old.count + note.count})
    return tuple(found.values())


class Turn(Frozen):
    """The measurements of one turn of a role.

    `brief_tokens` is the size of the first user message, at a token per 4 characters; `prompt_tokens_saved` what the
    short form of the prompt spared. `thinking` is what was thought in the text of answers, estimated in tokens; it is
    a part of `tokens`. `rereads` counts reads of a file that was read before in the turn and did not change since,
    `dropped` the old tool results that were taken out of the conversation, `repeats` how often the most frequent call
    was made. `tripped` names the breaker that ended it; empty for none.
    """

    role: str
    step: str
    attempt: int = 0
    model: str = ""
    calls: int = 0
    tool_calls: int = 0
    errors: int = 0
    repeats: int = 0
    rereads: int = 0
    dropped: int = 0
    brief_tokens: int = 0
    prompt_tokens_saved: int = 0
    tokens: int = 0
    thinking: int = 0
    seconds: float = 0.0
    tripped: str = ""


class BreakerCount(Frozen):
    """How far one breaker of a turn has come; both numbers count the same thing, seconds for the wall time."""

    breaker: str
    count: int
    limit: int


class LiveTurn(Frozen):
    """The turn that goes on now, and its breakers. `began` is in seconds since 1970 (UTC), later by what it waited.

    `stands` says that its clock stands still, as long as a wait goes on: the wall time is then that of `breakers`.
    `waits` is the limit that it waits for, and `until` when that ends (UTC, ISO 8601); empty where it works.
    """

    role: str
    step: str
    task: str = ""
    attempt: int = 0
    began: float = 0.0
    stands: bool = False
    breakers: tuple[BreakerCount, ...] = ()
    waits: Line = ""
    until: str = ""
