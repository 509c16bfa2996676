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


def person_in_words(actor: str) -> str:
    """A person as texts name them: `the user`, or `ada`; any other actor stays as it is."""
    return "the user" if actor == USER else actor.removeprefix(_NAMED)
