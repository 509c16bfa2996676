"""Names who did something: `user` at a terminal, `user:ada` by name on the team server, else `swarmgate` or a role."""

from swarmgate.domain.base import Line

USER = "user"
"""The person at the terminal, whoever that is."""

_NAMED = f"{USER}:"


def named(name: Line) -> str:
    """The actor that a person of this name is: `user:ada`."""
    return f"{_NAMED}{name}"


def is_person(actor: str) -> bool:
    """Whether an actor is a person, named or not."""
    return actor == USER or actor.startswith(_NAMED)


def decider(recorded: str, actor: str) -> str:
    """Who decided: what the event names, by name where that is the user and the entry says which one."""
    return actor if recorded == USER and is_person(actor) else recorded


def name_of(actor: str) -> str:
    """The name of a person; empty for the one at the terminal, and for who is no person."""
    return actor.removeprefix(_NAMED) if actor.startswith(_NAMED) else ""


def actor_in_words(actor: str) -> str:
    """An actor in a sentence: `the user`, `ada`, `the architect`."""
    return name_of(actor) or f"the {actor}"
