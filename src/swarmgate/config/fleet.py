"""The `[fleet]` table: where goals wait, which repositories and queues there are, and how much goes on at once."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from swarmgate.config.base import Name, Section, no_key

_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@|\bpassword\s*=", re.IGNORECASE)
_LABEL = re.compile(r"(os|tool|sandbox|memory):[A-Za-z0-9._+-]+")


def _database(value: str) -> str:
    if _PASSWORD.search(value):
        raise ValueError("must not carry a password; keys never stand in files: put it into PGPASSWORD or ~/.pgpass")
    return no_key(value)


def _label(value: str) -> str:
    if not _LABEL.fullmatch(value):
        raise ValueError('must read "os:linux", "tool:node", "sandbox:bubblewrap" or "memory:8" (GiB)')
    return value


Label = Annotated[str, AfterValidator(_label)]
"""What the machine of a worker has to have."""


class FleetRepository(Section):
    """`[fleet.repositories.NAME]`: a repository whose goals the fleet works on."""

    remote: str = Field(min_length=1, description="Address of the git remote that holds branches and goals.")
    base: str = Field("", description="Branch that goals begin at; empty: the remote's own default.")
    concurrency: PositiveInt | None = Field(None, description="Goals of it that are worked on at once; unset: any.")


class FleetQueue(Section):
    """`[fleet.queues.NAME]`: a class of workers."""

    labels: tuple[Label, ...] = Field((), description="What the machine of each worker of this queue has to have.")


class Fleet(Section):
    """`[fleet]`: many goals on many machines."""

    database: Annotated[str, AfterValidator(_database)] = Field(
        "", description="PostgreSQL that hands out work, as libpq reads it, without a password; empty: there is none."
    )
    repositories: dict[Name, FleetRepository] = Field(default_factory=dict, description="Repositories by name.")
    queues: dict[Name, FleetQueue] = Field(default_factory=dict, description="Classes of workers by name.")
    queue: Name = Field("default", description="The queue of a goal that is submitted without naming one.")
    concurrency: dict[str, PositiveInt] = Field(
        default_factory=dict, description="Goals that use a provider at once, by the provider's name; others: any."
    )
    steps: int = Field(0, ge=0, description="Steps after which a goal lets others go first; 0: it goes on.")
    drain_s: float = Field(30, ge=1, le=600, description="Seconds within which a worker that is told to end has ended.")
    heartbeat_s: float = Field(10, ge=0.1, le=60, description="Seconds between two signs of life of a worker.")
    dead_s: float = Field(40, ge=0.3, le=3600, description="Seconds of silence after which a worker counts as dead.")
    poll_s: float = Field(1, ge=0.05, le=60, description="Seconds between two looks for work.")
    patience_s: float = Field(60, ge=0, le=3600, description="Seconds that a remote may be out of reach in a step.")
    retry_s: float = Field(300, ge=1, le=86_400, description="Seconds until a goal is tried again whose model failed.")
    home: str = Field("", description="Folder of a worker's clones and object cache; empty: the platform's own.")
    clones: str = Field(
        "",
        description="Folder of a worker with clones, OWNER__NAME each, for `swarm eval patches --fleet`; empty: none.",
    )
