"""The base class and the shared field types of all settings tables."""

import difflib
import re
import shlex
from collections.abc import Iterable
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

COMMAND, ACP = "command:", "acp:"
"""What the name of a model begins with that is an agent program: one that gets a brief and prints its answer, and one
that speaks the Agent Client Protocol."""

KEY_SHAPES = re.compile(r"(sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|gsk_|hf_|Bearer )[A-Za-z0-9_\-]{4,}")
"""What the usual keys of providers look like."""


def is_program(model: str) -> bool:
    """Whether the name of a model means an agent program, whichever way it is spoken to."""
    return model.startswith((COMMAND, ACP))


def command_of(model: str) -> str:
    """The command line of an agent program."""
    return model.partition(":")[2].strip()


def _variable_name(value: str) -> str:
    if KEY_SHAPES.match(value) or (value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)):
        raise ValueError(
            "must be the NAME of an environment variable; if this is the key itself, take it out of the file, "
            "put it into a variable such as MY_KEY and write MY_KEY here"
        )
    return value


def redis_address(value: str, *, or_else: str) -> str:
    """The address of a Redis; refuses what is none, and one with a password in it. `or_else`: what else may be said."""
    parts = urlsplit(value)
    if parts.scheme not in {"redis", "rediss", "unix"} or not (parts.hostname or parts.path):
        raise ValueError(f'must be {or_else}, or the address of a Redis: "redis://HOST:PORT/NUMBER", "rediss://..."')
    if parts.password:
        raise ValueError("holds a password; passwords never stand in files, use store_password_env")
    return value


VariableName = Annotated[str, AfterValidator(_variable_name)]
"""The name of an environment variable; perhaps empty, never a key."""


def no_key(value: str) -> str:
    """The value; refuses what looks like a key."""
    if KEY_SHAPES.search(value):
        raise ValueError("looks like a key; keys never stand in files, use api_key_env")
    return value


def model_name(value: str) -> str:
    """The name of a model; refuses what is none, and what looks like a key."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*/\S+|(?:command|acp):\s*\S[^\n]*", value):
        raise ValueError(
            'must read "provider/model", or "command:PROGRAM ARGUMENTS" for an agent program, or "acp:PROGRAM '
            'ARGUMENTS" for one that speaks the Agent Client Protocol'
        )
    if is_program(value):
        try:
            shlex.split(command_of(value))
        except ValueError as error:
            raise ValueError(f"no shell can read this command line: {str(error).lower()}") from error
    return no_key(value)


ModelName = Annotated[str, AfterValidator(model_name)]
"""`provider/model`, or `command:` or `acp:` and an agent program."""
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
"""The name of an agent, which a voice may be called by, or of a tier of models."""
Seconds = Annotated[float, Field(ge=1, le=86_400)]
RoleName = Literal["default", "architect", "critic", "coder", "reviewer", "test_engineer", "sme", "participant"]
ROLES = ("architect", "critic", "coder", "reviewer", "test_engineer")
"""The roles that the loop cannot do without."""
SPEAKING = (*ROLES, "sme")
"""Every role that a model may speak as in the loop."""
TIERS = {"planning": "architect", "execution": "coder", "validation": "reviewer", "research": "sme"}
"""Tiers that mean something without settings, and the role whose model each is."""


class Section(BaseModel):
    """A table of the configuration: frozen, closed, finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be; None when nothing comes close."""
    close = difflib.get_close_matches(name.lower(), {each.lower(): each for each in known}, n=1, cutoff=0.6)
    return next((each for each in known if close and each.lower() == close[0]), None)
