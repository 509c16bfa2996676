"""Makes throwaway checkouts of a goal from a remote: ledger, `.swarm/`, branch and the files of an unfinished task.

refs/swarm/goals/<id> -> commit -> commit -> ...    each tree:  log         the lines since the commit before
goal.json   what the goal wants of the fleet
swarm/      `.swarm/` but for ledger and views
work/       the files of an unfinished task
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from pydantic import ValidationError

from swarmgate.errors import FleetError, RemoteAway
from swarmgate.fleet.goals.goal import Goal, Wish
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.copies import clones
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.git.trees import blobs

WISH, SWARM, WORK = "goal.json", "swarm", "work"
"""What stands beside the log."""
_LOCK = ".lock"
"""Behind the name of a checkout: who works there holds it."""
DERIVED = ("ledger.jsonl", "plan.md", "plan.json", "quarantine", "traces", "runtime", "report.html", "events.jsonl")
"""What of `.swarm/` no commit holds: the ledger is the log, views are rendered from it, the rest is this machine's."""

ATTACHED = ".swarm/errand"
"""The folder of the files that go with an errand, in its checkout."""


@dataclass(frozen=True)
class Site:
    """Where the goals of one repository lie: `name` and `remote` of the repository, `home` of this machine's clones."""

    name: str
    remote: str
    home: Path
    base: str = ""

    @property
    def cache(self) -> clones.Cache:
        """The objects that its clones share."""
        return clones.Cache(self.home / "objects", self.remote)


@dataclass(frozen=True)
class Checkout:
    """One goal on this machine: `log` and `tip` are the commits of ledger and branch that the remote had (or empty)."""

    site: Site
    goal: Goal
    root: Path
    wish: Wish
    log: str = ""
    tip: str = ""

    @property
    def folder(self) -> SwarmFolder:
        """Its `.swarm/`."""
        return SwarmFolder(self.root)

    @property
    def answer(self) -> Path:
        """Where the answer of an errand is, or will be."""
        return self.folder.path / "answer.json"

    def attached(self, name: str) -> Path:
        """Where a file is that goes with an errand."""
        return self.root / ATTACHED / name


def home_of(configured: str) -> Path:
    """The folder of a machine's clones and caches."""
    return Path(configured).expanduser() if configured else platformdirs.user_cache_path("swarmgate") / "fleet"


@contextlib.contextmanager
def checked_out(site: Site, goal: Goal) -> Iterator[Checkout]:
    """A goal as the remote has it now, in a folder of its own that is gone afterwards.

    Raises:
        RemoteAway: the remote is out of reach, or has no such goal.
        FleetError: what it has is no goal.
    """
    with _folder(site, goal) as root:
        refs = [f"{goal.ref}:{goal.ref}", f"refs/heads/{goal.branch}*:refs/swarm/branch/{goal.id}*"]
        site.cache.clone(root, refs, settings={"commit.gpgsign": "false", "remote.origin.url": site.remote})
        git = Driver(root)
        ends = growing_log.ends(git, "refs/swarm/")
        log, tip = ends[goal.ref], ends.get(f"refs/swarm/branch/{goal.id}", "")
        wish = _wish(git, log, goal)
        _identify(git, wish)
        if tip:
            clones.switch(root, goal.branch, tip)
        else:
            _begin(site, root, wish.base)
        found = Checkout(site, goal, root, wish, log, tip)
        _restore(git, found)
        yield found


@contextlib.contextmanager
def begun(site: Site, goal: Goal, wish: Wish) -> Iterator[Checkout]:
    """A goal that is not there yet: the files of its base branch, without `.swarm/`.

    Raises:
        RemoteAway: the remote is out of reach, or has no such branch.
    """
    with _folder(site, goal) as root:
        site.cache.clone(root, [_base(wish.base)], settings={"commit.gpgsign": "false"})
        _identify(Driver(root), wish)
        clones.switch(root, wish.base or "main", "refs/swarm/base")
        shutil.rmtree(root / ".swarm", ignore_errors=True)
        yield Checkout(site, goal, root, wish)


@contextlib.contextmanager
def _folder(site: Site, goal: Goal) -> Iterator[Path]:
    """A folder that is gone afterwards; what a process leaves that is killed, `sweep` takes away."""
    root = site.home / "work" / f"{goal.id}-{uuid.uuid4().hex[:8]}"
    root.parent.mkdir(parents=True, exist_ok=True)
    lock = root.with_name(f"{root.name}{_LOCK}")
    with lock.open("w") as held:
        exclusive.take(held.fileno())
        try:
            yield root.resolve()
        finally:
            shutil.rmtree(root, ignore_errors=True)
            lock.unlink(missing_ok=True)


def sweep(home: Path) -> int:
    """Takes the checkouts of processes away that are gone; returns how many there were.

    Args:
        home: the folder of this machine's clones.
    """
    found = 0
    for lock in (home / "work").glob(f"*{_LOCK}"):
        with contextlib.suppress(OSError), lock.open("r+") as held:
            exclusive.take(held.fileno(), wait=False)
            shutil.rmtree(lock.with_name(lock.name.removesuffix(_LOCK)), ignore_errors=True)
            lock.unlink(missing_ok=True)
            found += 1
    return found


def _base(branch: str) -> str:
    return f"{f'refs/heads/{branch}' if branch else 'HEAD'}:refs/swarm/base"


def _begin(site: Site, root: Path, branch: str) -> None:
    """Checks the base out: no work has begun."""
    shared_refs.fetch(root, site.remote, [_base(branch)])
    clones.switch(root, branch or "main", "refs/swarm/base")


def _wish(git: Driver, commit: str, goal: Goal) -> Wish:
    found = blobs(git, [f"{commit}:{WISH}".encode()])[0]
    try:
        return Wish.model_validate_json(found.content if found else b"")
    except ValidationError as error:
        raise FleetError(
            f"{goal.ref} is no goal of a fleet: {WISH} cannot be read ({error.errors()[0]['msg']}).",
            hint="Was it written by a newer swarmgate? See: git log --stat",
        ) from None


def _identify(git: Driver, wish: Wish) -> None:
    """Commits are by whoever submitted the goal, on whichever machine they are made."""
    for key, value in (("user.name", wish.author), ("user.email", wish.email)):
        if value:
            git.run("config", "--", key, value)  # a name may begin as an option does


def _restore(git: Driver, checkout: Checkout) -> None:
    """Writes ledger and `.swarm/` as the newest commit has them."""
    swarm = checkout.folder.path
    shutil.rmtree(swarm, ignore_errors=True)
    swarm.mkdir()
    with git.index(copied=False) as index:
        git.run("read-tree", f"{checkout.log}:{SWARM}", index=index)
        require_plain(checkout.goal.ref, checkout.log, git.run("ls-files", "--stage", "-z", index=index))
        git.run("checkout-index", "--all", "--force", f"--prefix={swarm}/", index=index)
    checkout.folder.runtime.mkdir(exist_ok=True)
    lines = b"".join(piece.data or b"" for piece in growing_log.pieces(git, (checkout.log,)))
    checkout.folder.ledger.write_bytes(lines)
    Ledger.read(checkout.folder).project()


def require_plain(ref: str, commit: str, staged: bytes) -> None:
    """Requires that `.swarm/` has files alone, and none that is this machine's: links lead out of the checkout.

    Args:
        ref: of the goal.
        commit: that has it.
        staged: as `git ls-files --stage -z` lists it.

    Raises:
        FleetError: it was pushed by who is no worker.
    """
    for entry in staged.split(b"\0")[:-1]:
        mode, path = entry[:6], entry.partition(b"\t")[2].decode(errors="replace")
        if mode not in (b"100644", b"100755") or path.partition("/")[0] in DERIVED:
            raise FleetError(
                f"{ref} holds {SWARM}/{path}, which no worker puts there: nothing of it is used here.",
                hint=f"Who pushed it? See: git log --stat {commit}",
            )


class Beside:
    """The files of `.swarm/` that go beside the log; only those that changed since are read again.

    Args:
        folder: the project's.
        known: whether the newest commit has all that is there now.
    """

    def __init__(self, folder: SwarmFolder, *, known: bool) -> None:
        self._root = folder.path
        self._seen: dict[str, tuple[int, int]] = dict(self._found()) if known else {}

    def changed(self) -> Mapping[str, bytes | None]:
        """The files that changed since the last call, by their paths in the commit; None: it is gone."""
        found = dict(self._found())
        gone = self._seen.keys() - found.keys()
        fresh = [path for path, mark in found.items() if self._seen.get(path) != mark]
        self._seen = found
        return {f"{SWARM}/{path}": (self._root / path).read_bytes() for path in fresh} | {
            f"{SWARM}/{path}": None for path in gone
        }

    def _found(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for top in sorted(self._root.iterdir()):
            if top.name in DERIVED or top.is_symlink():
                continue
            for path in (top,) if top.is_file() else top.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    stat = path.stat()
                    yield path.relative_to(self._root).as_posix(), (stat.st_mtime_ns, stat.st_size)


def all_goals(site: Site) -> dict[str, str]:
    """The ids of all goals of a repository with the newest commits of their ledgers.

    Raises:
        RemoteAway: the remote is out of reach.
    """
    site.home.mkdir(parents=True, exist_ok=True)
    listed = shared_refs.listed(site.home, site.remote, ["refs/swarm/goals/*"])
    return {ref.rpartition("/")[2]: commit for ref, commit in listed.items()}


def gone(site: Site, goal: Goal) -> bool:
    """Whether the remote answers, and has no such goal: it was archived, or there never was one."""
    try:
        return not shared_refs.listed(site.home, site.remote, [goal.ref])
    except RemoteAway:
        return False


def require(site: Site, goal: Goal) -> None:
    """Requires that the remote has the goal.

    Raises:
        RemoteAway: it has not, or is out of reach.
    """
    if not shared_refs.listed(site.home, site.remote, [goal.ref]):
        raise RemoteAway(f"{site.remote} has no goal {goal.id}.", hint="See those that it has: swarm fleet status")
