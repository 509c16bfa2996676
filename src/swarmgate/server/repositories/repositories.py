"""The registered repositories: a table in the server's own database, and what may be registered."""

from __future__ import annotations

from pathlib import Path

from swarmgate.server.repositories.model import Repository


class Repositories:
    """The registered repositories of one server. Threads may share it.

    Args:
        home: of the server; the table is in its `server.sqlite3`.
        allow_hosts: names of hosts that may be cloned from wherever they resolve to.
    """

    def __init__(self, home: Path, *, allow_hosts: tuple[str, ...] = ()) -> None:
        self._database = home / "server.sqlite3"
        self._allow_hosts = allow_hosts

    def register(
        self,
        source: str | Path,
        *,
        name: str = "",
        id: str = "",  # noqa: A002 - the field's name
        base: str = "",
        by: str,
    ) -> Repository:
        """Registers a folder of this machine, or an address; the same source again gives what is there.

        Raises:
            UsageError: it is no repository, its address may not be cloned from, or the id is taken.
        """
        raise NotImplementedError

    def list(self) -> tuple[Repository, ...]:
        """All of them, by id."""
        raise NotImplementedError

    def get(self, id: str) -> Repository:  # noqa: A002 - the field's name
        """The one of that id.

        Raises:
            NotFound: there is none.
        """
        raise NotImplementedError

    def change(self, id: str, *, name: str | None = None, base: str | None = None) -> Repository:  # noqa: A002 - the field's name
        """Changes what is given.

        Raises:
            NotFound: there is none.
        """
        raise NotImplementedError

    def remove(self, id: str) -> Repository:  # noqa: A002 - the field's name
        """Forgets one; nothing of it is deleted, and neither are its goals.

        Raises:
            NotFound: there is none.
        """
        raise NotImplementedError
