"""What the server knows of a registered repository."""

from typing import Literal

from swarmgate.domain.base import Frozen, Line


class Repository(Frozen):
    """A repository that goals are worked on.

    Attributes:
        id: a slug, unique on this server.
        name: as people call it.
        kind: `path`: a folder of this machine; `url`: an address that git clones from.
        source: the absolute path, or the address, without a password.
        base: the branch that goals begin on; empty: the one that is checked out there.
        added: when it was registered, UTC in ISO 8601.
        by: who did, as an actor.
    """

    id: str
    name: Line
    kind: Literal["path", "url"]
    source: str
    base: Line = ""
    added: str
    by: str
