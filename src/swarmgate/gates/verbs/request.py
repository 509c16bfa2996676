"""Parses what a user asks the gates to judge into a repository, a base revision and a scope.

swarm gates run                 the work tree with untracked files against HEAD
swarm gates run --base REV      the same against where HEAD and REV parted
swarm gates run --staged        the index against HEAD: set up elsewhere, so that nothing else has a say
swarm gates run --all           every file whole
swarm gates run PATH...         these files and folders whole; with --base or --staged: only their part of the change
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import UsageError
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.verbs import answer_cache
from swarmgate.workspace.files import paths as names
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOOK = ("GIT_INDEX_FILE", "GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX")
"""What git sets for a hook; it would redirect the git commands of a scratch repository as well."""

_NAMED = 5
"""Of paths in one sentence, so many are named."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `swarm gates run`. `fix` None: as the form of the request has it by default."""

    start: Path | None = None
    base: str = ""
    staged: bool = False
    everything: bool = False
    paths: tuple[str, ...] = ()
    fix: bool | None = None

    @property
    def whole(self) -> bool:
        """Whether files are judged whole, and not a change."""
        return self.everything or (bool(self.paths) and not self.base and not self.staged)

    def check(self) -> None:
        """Refuse what makes no sense together.

        Raises:
            UsageError: the message names both options.
        """
        refused = {
            "--base and --staged": bool(self.base) and self.staged,
            "--all and --base": self.everything and bool(self.base),
            "--all and --staged": self.everything and self.staged,
            "--all and PATH": self.everything and bool(self.paths),
        }
        for pair, holds in refused.items():
            if holds:
                raise UsageError(f"{pair} do not go together", hint="See: swarm gates run --help")
        if self.staged and self.fix:
            raise UsageError(
                "--staged and --fix do not go together: what is staged is no file that could be changed",
                hint="Fix the work tree (swarm gates run --fix), stage it, then judge what is staged.",
            )


@dataclass(frozen=True, slots=True)
class Target:
    """What is judged: repository, base and scope, as `run_pipeline` takes them.

    `home` is the user's repository, `repository` the one that is judged (another for `--staged`), `settings` the root
    whose `.swarm/` holds. `about` says what is judged, `nothing` that
    there is none of it. `fix`: whether files may be changed. `notes`: what the user should know of the repository.
    `head`: HEAD's tree, where the work tree is judged and not the index.
    """

    home: Repository
    repository: Repository
    settings: Path
    base: str
    scope: Scope
    about: str
    nothing: str
    fix: bool
    notes: tuple[str, ...] = ()
    head: str = ""

    def staged_note(self, tree: str) -> tuple[str, ...]:
        """A sentence on staged content that is not in `tree`, which was judged: `git commit` would commit that."""
        paths = self.home.staged_apart(self.head, tree) if self.head else ()
        paths = tuple(path for path in paths if self.scope.holds(path))
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        message = f"staged content of {', '.join(paths[:_NAMED])}{more} is not what was judged: judge it with --staged"
        return (message,) if paths else ()


@contextlib.contextmanager
def resolved(request: Request) -> Iterator[Target]:
    """Resolve a request to what is judged, for the length of a block.

    Raises:
        UsageError: options that do not go together, or a path that is not there.
        NotAProject, WorkspaceError: the repository or the revision cannot be used.
    """
    request.check()
    start = (request.start or Path.cwd()).resolve()
    with _outside_of_hooks(start) as index:
        home = answer_cache.repository_of(start) or Repository.discover(start, lenient=True)
        request = replace(request, paths=_within(home, start, request.paths))
        if request.staged:
            with _staged(home, request, index) as found:
                yield found
        else:
            yield _worktree(home, request)


def _worktree(home: Repository, request: Request) -> Target:
    from swarmgate.workspace.git import revisions  # noqa: PLC0415 - late: the common form needs none of it

    nothing = revisions.empty_tree(home) if home.unborn or request.whole else ""
    head = nothing if home.unborn else home.head_tree()
    base = revisions.merge_base(home, request.base) if request.base else head
    reference = "" if request.base else head
    if home.unborn:
        reference = home.snapshot()  # a first commit: there is no other revision that could declare anything
    scope = Scope(paths=request.paths, whole=request.whole, reference=reference, by_hand=True)
    fix = request.fix if request.fix is not None else not (request.base or request.everything)
    where = f" in {', '.join(request.paths)}" if request.paths else ""
    if request.whole:
        about, empty = f"{', '.join(request.paths) or 'every file'}, whole", "No file is there"
    elif request.base:
        about = f"what differs from {request.base}, uncommitted changes included{where}"
        empty = f"Nothing differs from {request.base}{where}"
    else:
        about = "the first commit to be" if home.unborn else "the uncommitted change"
        empty = "No file is there" if home.unborn else "Nothing differs from HEAD"
    start = nothing if request.whole else base
    return Target(home, home, home.root, start, scope, about, empty, fix, _merging(home, request), head)


@contextlib.contextmanager
def _staged(home: Repository, request: Request, index: Path | None) -> Iterator[Target]:
    from swarmgate.workspace.git import revisions  # noqa: PLC0415 - late: see above

    tree = revisions.index_tree(home, index)
    head = revisions.empty_tree(home) if home.unborn else home.head_tree()
    with revisions.checkout(home, tree, head=head) as checkout:
        scope = Scope(paths=request.paths, reference=tree if home.unborn else "", by_hand=True)
        where = f" in {', '.join(request.paths)}" if request.paths else ""
        # A `.swarm/` that is not in git at all is the user's own; one that is staged is what counts.
        settings = checkout.root if (checkout.root / ".swarm").is_dir() else home.root
        about, nothing, notes = f"what is staged{where}", f"Nothing is staged{where}", _merging(home, request)
        yield Target(home, checkout, settings, head, scope, about, nothing, fix=False, notes=notes)


def _merging(home: Repository, request: Request) -> tuple[str, ...]:
    if request.whole or request.base:
        return ()
    action = home.unfinished()
    return (f"a {action} is in progress: what the other side brings counts as new",) if action else ()


def _within(home: Repository, start: Path, given: tuple[str, ...]) -> tuple[str, ...]:
    """The paths as the repository names them.

    Raises:
        UsageError: one lies outside, in another repository within, is ignored, or is neither on disk nor in HEAD.
    """
    found = []
    for each in given:
        place = Path(os.path.normpath(start / each))
        if not place.is_relative_to(home.root):
            raise UsageError(f"{each} lies outside of the repository {home.root}")
        path = names.decode(os.fsencode(place.relative_to(home.root)))
        if not os.path.lexists(place) and (home.unborn or not _in_head(home, path)):
            text = each if each.isprintable() else repr(each)
            raise UsageError(f"{text}: there is no such file or folder", hint="Paths count from the current folder.")
        if path.split("/")[0] in {".git", ".swarm"}:
            raise UsageError(f"{each} is no part of what gates judge")
        inner = next((up for up in place.parents if up.is_relative_to(home.root) and (up / ".git").exists()), home.root)
        if inner != home.root:
            raise UsageError(f"{each} belongs to the repository {inner}", hint=f"swarm gates run --repo {inner}")
        found.append(path)
    _require_known(home, found)
    return tuple(dict.fromkeys(found))


def _in_head(home: Repository, path: str) -> bool:
    return any(each == path or each.startswith(f"{path}/") for each in home.list_tree(home.head_tree()))


def _require_known(home: Repository, paths: list[str]) -> None:
    from swarmgate.workspace.git.driver import Driver, call  # noqa: PLC0415 - late: few name paths

    listing = b"".join(names.encode(path) + b"\0" for path in paths if path != ".")
    ignored = call(home.root, "check-ignore", "-z", "--stdin", stdin=listing)[1] if listing else b""
    tracked = Driver(home.root)
    for raw in ignored.split(b"\0")[:-1]:
        if not tracked.run("ls-files", "-z", "--", os.fsdecode(raw)):
            raise UsageError(
                f"{names.decode(raw)} is ignored by git, and gates judge what git would take in",
                hint="git add --force takes it in.",
            )


@contextlib.contextmanager
def _outside_of_hooks(start: Path) -> Iterator[Path | None]:
    """The environment without what git tells its hooks; yields the index that a hook is to look at, if any.

    Only what points to the repository of `start` is taken away: who redirects git elsewhere still gets an error.
    """
    given = {name: os.environ[name] for name in _HOOK if name in os.environ}
    index = given.get("GIT_INDEX_FILE")
    saved = {name: os.environ.pop(name) for name in given}
    try:
        if "GIT_DIR" in given and not _same_repository(start, given["GIT_DIR"]):
            os.environ.update(saved)
        yield Path(os.path.abspath(index)) if index else None  # noqa: PTH100 - resolves no link: git reads it as given
    finally:
        os.environ.update(saved)


def _same_repository(start: Path, git_dir: str) -> bool:
    from swarmgate.workspace.git.driver import call  # noqa: PLC0415 - late: only in hooks

    out = call(start, "rev-parse", "--absolute-git-dir")[1]
    own = Path(os.fsdecode(out.rstrip(b"\n")))
    return own.resolve() == Path(git_dir).resolve() or own.resolve() == (start / git_dir).resolve()
