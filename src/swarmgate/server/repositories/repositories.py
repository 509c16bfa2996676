"""The registered repositories: a table in the server's own database, and what may be registered."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from swarmgate.errors import NotFound, UsageError
from swarmgate.server.accounts.database import Database
from swarmgate.server.repositories import addresses
from swarmgate.server.repositories.addresses import Address, Resolve
from swarmgate.server.repositories.model import Repository
from swarmgate.workspace.git.repository import Repository as WorkTree

_TABLE = """
create table if not exists repositories (
    id text primary key, name text not null, kind text not null, source text not null unique, base text not null,
    added text not null, by text not null
) strict;
create table if not exists former_repositories (id text primary key, source text not null) strict;
"""
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NO_ID = re.compile(r"[^a-z0-9._-]+")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}")


class Repositories:
    """The registered repositories of one server. Threads and processes may share it.

    Args:
        home: of the server; it is there.
        private_hosts: names of hosts on addresses that are not public, from where is cloned all the same.
        trusted_sources: addresses, or what they begin with where that ends with a slash, whose committed settings hold.
        resolve: looks hosts up.
    """

    def __init__(
        self,
        home: Path,
        *,
        private_hosts: tuple[str, ...] = (),
        trusted_sources: tuple[str, ...] = (),
        resolve: Resolve = addresses.resolved,
    ) -> None:
        self._database = Database(home, _TABLE)
        self._known: tuple[int, tuple[Repository, ...]] = (-1, ())
        self._private_hosts, self._resolve = frozenset(each.lower() for each in private_hosts), resolve
        self._trusted = trusted_sources

    def close(self) -> None:
        """Closes the database; what was written stays."""
        self._database.close()

    def register(
        self,
        source: str | Path,
        *,
        name: str = "",
        id: str = "",  # noqa: A002 - the field's name
        base: str = "",
        by: str,
    ) -> Repository:
        """Registers a folder of this machine, or an address; a source that is there already is given as it is.

        Args:
            source: the path of a folder in a git work tree, or an address over https or ssh.
            name: as people call it; empty: the name of the folder.
            id: a slug; empty: made of the name.
            base: the branch that goals begin on; empty: the one that is checked out there.
            by: who asks, as an actor.

        Raises:
            UsageError: it is no repository, may not be cloned from, or another one has the id.
            WorkspaceError: git cannot use it.
        """
        if base and not _BRANCH.fullmatch(base):
            raise UsageError(f"{base[:200]!r} is no name of a branch.")
        kind, place = ("url", self._address(str(source)).url) if _is_address(source) else ("path", _folder(source))
        name = " ".join(name.split())[:200] or place.rstrip("/").rpartition("/")[2].removesuffix(".git") or "repository"
        with self._database.writing() as database:
            known = database.execute("select * from repositories where source = ?", (place,)).fetchone()
            if known is not None:
                return _repository(known)
            # Roles, goals and the scratch project are kept by the id: one that is free again is its old source's alone.
            former = {row["id"]: row["source"] for row in database.execute("select * from former_repositories")}
            taken = {row["id"] for row in database.execute("select id from repositories")}
            own = next((each for each, of in former.items() if of == place and each not in taken), "")
            taken |= {each for each, of in former.items() if of != place}
            made = Repository(
                id=_own(id, taken) if id else own or _free(name, taken),
                name=name,
                kind="url" if kind == "url" else "path",
                source=place,
                base=base,
                added=datetime.now(UTC).isoformat(timespec="seconds"),
                by=by,
            )
            fields = made.model_dump()
            database.execute(
                "insert into repositories (id, name, kind, source, base, added, by) "
                "values (:id, :name, :kind, :source, :base, :added, :by)",
                fields,
            )
        return made

    def list(self) -> tuple[Repository, ...]:
        """All of them, by id. They are asked for with every request, and read again after every write."""
        version, known = self._database.version, self._known
        if known[0] != version:
            known = version, tuple(map(_repository, self._database.rows("select * from repositories order by id")))
            self._known = known
        return known[1]

    def get(self, id: str) -> Repository:  # noqa: A002 - the field's name
        """The one of that id.

        Raises:
            NotFound: there is none.
        """
        found = next((each for each in self.list() if each.id == id), None)
        if found is None:
            raise NotFound("There is no such repository.")
        return found

    def change(self, id: str, *, name: str | None = None, base: str | None = None) -> Repository:  # noqa: A002 - the field's name
        """Changes what is given.

        Raises:
            NotFound: there is none.
            UsageError: the name is empty, or the base no name of a branch.
        """
        found = self.get(id)
        if base and not _BRANCH.fullmatch(base):
            raise UsageError(f"{base[:200]!r} is no name of a branch.")
        if name is not None and not name.split():
            raise UsageError("The name of a repository says something.")
        given = {"name": name and " ".join(name.split())[:200], "base": base}
        changed = found.model_copy(update={key: value for key, value in given.items() if value is not None})
        with self._database.writing() as database:
            database.execute("update repositories set name = :name, base = :base where id = :id", changed.model_dump())
        return changed

    def remove(self, id: str) -> Repository:  # noqa: A002 - the field's name
        """Forgets one; nothing of it is deleted, and neither are its goals. No other source is ever given its id.

        Raises:
            NotFound: there is none.
        """
        found = self.get(id)
        with self._database.writing() as database:
            database.execute("insert or replace into former_repositories values (?, ?)", (id, found.source))
            database.execute("delete from repositories where id = ?", (id,))
        return found

    def trusts(self, repository: Repository) -> bool:
        """Whether all settings hold that a repository has committed: of a folder of this machine its owner's do."""
        own = repository.source
        return repository.kind == "path" or any(
            own == each or (each.endswith("/") and own.startswith(each)) for each in self._trusted
        )

    def address(self, repository: Repository) -> Address:
        """What git clones it from now, and under which settings; of a URL its host is looked up and checked anew.

        Raises:
            UsageError: its host is not found any more, or is on an address that is not public.
        """
        if repository.kind == "path":
            return Address(repository.source, {"protocol.allow": "never", "protocol.file.allow": "always"})
        return self._address(repository.source)

    def _address(self, url: str) -> Address:
        normal = addresses.normalised(url)
        return addresses.checked(normal, private_hosts=self._private_hosts, resolve=self._resolve)


def _repository(row: sqlite3.Row) -> Repository:
    return Repository(**dict(row))


def _is_address(source: str | Path) -> bool:
    """Whether a source is an address and no path: it has a scheme, or is git's short form for ssh."""
    text = str(source)
    return not isinstance(source, Path) and ("://" in text or (":" in text and not text.startswith(("/", ".", "~"))))


def _folder(source: str | Path) -> str:
    """The top of the work tree that a folder lies in.

    Raises:
        UsageError: it is no absolute path, or no folder of a repository.
    """
    path = Path(source)
    if not path.is_absolute():
        raise UsageError(
            f"{str(source)[:200]!r} is neither an absolute path nor an address.",
            hint="/srv/repositories/NAME, https://HOST/PATH, or ssh://git@HOST/PATH",
        )
    if not path.is_dir():
        raise UsageError(f"There is no folder {path} on the server's machine.")
    return str(WorkTree.discover(path).root)


def _own(wanted: str, taken: set[str]) -> str:
    if not _ID.fullmatch(wanted):
        raise UsageError(
            f"{wanted[:100]!r} is no id of a repository.", hint="Small letters, digits, dots, dashes and underscores."
        )
    if wanted in taken:
        raise UsageError(f"Another repository has, or had, the id {wanted}: roles and goals are kept by it.")
    return wanted


def _free(name: str, taken: set[str]) -> str:
    slug = _NO_ID.sub("-", name.lower()).strip("-._")[:56] or "repository"
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate
