"""Makes the clones in which goals are worked on, and the scratch projects in which councils of a repository are held.

A clone gets the settings, gates, prompts and the context of the project that it is of, as they stand there, committed
or not; its ledger begins anew. It is complete or not there: one that a crash cut short is made again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from swarmgate.engine.initialise import initialise
from swarmgate.errors import SwarmError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.settings.file import Put, edited
from swarmgate.project import Project
from swarmgate.server.repositories.addresses import Address
from swarmgate.server.repositories.model import Repository
from swarmgate.server.runs.committed import require_harmless, require_no_links
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git.copies import cloning
from swarmgate.workspace.git.repository import Repository as WorkTree

WORK = "work"
"""The clone in the folder of a goal."""
_BROUGHT = ("config.toml", "gates", "prompts", "context.md", ".gitignore")
"""What of a `.swarm/` goes with the project; the rest is the record of other goals."""


def project_in(clone: Path, repository: Repository) -> Path:
    """The project's folder in a clone: of a project in a folder of its repository, that folder."""
    if repository.kind == "url":
        return clone
    own = WorkTree.discover(Path(repository.source))
    return clone / own.root.relative_to(own.top)


def make(folder: Path, repository: Repository, address: Address, *, trusted: bool, prefix: str = "") -> Path:
    """Makes the clone `work` in a folder, where it is not there yet; returns the project's folder in it.

    Args:
        folder: of the goal; it is there, and nobody else works in it.
        repository: which is cloned.
        address: from where.
        trusted: whether all settings hold that it has committed.
        prefix: begins the names of its branches, behind the prefix that its settings have; empty: as they say.

    Raises:
        WorkspaceError: it cannot be cloned, or brings links.
        ConfigError: its settings cannot be read, or open something and it is not trusted.
        LedgerWriteFailed: the disk refused.
    """
    work = folder / WORK
    if not work.exists():
        making = folder / f"{WORK}.making"
        with writing(making):
            if making.exists():  # a crash cut it short: nobody has worked in it
                shutil.rmtree(making)
        source = Path(repository.source) if repository.kind == "path" else None
        url = address.url if source is None else str(WorkTree.discover(source).top)
        cloning.clone(url, making, base=repository.base, settings=address.settings)
        cloning.identify(making, source)
        own = project_in(making, repository) / ".swarm"
        with writing(making):
            _leave(own)
            _require_fit(own, trusted=trusted)
            if source is not None:
                own.mkdir(exist_ok=True)
                _copy(source / ".swarm", own)
            making.rename(work)
    project = project_in(work, repository)
    initialise(project)
    if prefix:
        _set_prefix(SwarmFolder(project), prefix)
    return project


def refreshed(folder: Path, repository: Repository, address: Address, *, trusted: bool) -> Path:
    """The scratch project in a folder, made where it is not there, its files those of the newest commit.

    Args:
        folder: of the repository's scratch project; nobody else works in it.
        repository: whose.
        address: from where.
        trusted: as of `make`.

    Raises:
        SwarmError: as `make`.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    project = make(folder, repository, address, trusted=trusted)
    before = cloning.commit_of(folder / WORK)
    newest = cloning.refresh(folder / WORK, base=repository.base, settings=address.settings)
    cloning.move_to(folder / WORK, newest)
    try:
        _require_fit(project / ".swarm", trusted=trusted)
    except SwarmError:
        cloning.move_to(folder / WORK, before)  # who looks at older councils would go by what stands there
        raise
    if repository.kind == "path":
        with writing(project):
            _copy(Path(repository.source) / ".swarm", project / ".swarm")
    return project


def _leave(own: Path) -> None:
    """Leaves of a committed `.swarm/` what goes with the project."""
    if own.is_dir() and not own.is_symlink():
        for each in own.iterdir():
            if each.name not in _BROUGHT:
                shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()


def _require_fit(own: Path, *, trusted: bool) -> None:
    """Insists that what a repository brings may hold here; raises as `make`."""
    require_no_links(own)
    if not trusted:
        require_harmless(own / "config.toml")


def _copy(source: Path, target: Path) -> None:
    """Copies what goes with the project; links are left out: what they lead to may be anywhere."""
    for place in (source / name for name in _BROUGHT if not (source / name).is_symlink()):
        for each in (place, *sorted(place.rglob("*"))):
            if each.is_file() and not each.is_symlink():
                there = target / each.relative_to(source)
                there.parent.mkdir(parents=True, exist_ok=True)
                replace(there, each.read_bytes(), durable=False)


def _set_prefix(folder: SwarmFolder, own: str) -> None:
    """Has the branches of a clone begin with a name of its own: two goals of one title would push to one branch."""
    prefix = Project(folder.root).config.git.branch_prefix
    if prefix.endswith(own):
        return
    text = edited(folder.config, [Put(("git", "branch_prefix"), f"{prefix}{own}")]).after
    with writing(folder.config):
        replace(folder.config, text)
