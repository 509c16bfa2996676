"""Creates a clean checkout of a git tree in a temporary folder, for test runs that agents cannot influence.

It holds what a fresh clone would: what git has of the tree, written with its attributes, and nothing else but what git
ignores and was there before agents worked (`ignored_files`). Where the sandbox can, it stands in the project's place,
which is then out of sight: no path tells the two apart, and whatever names a path in the project finds the checkout.
Where it cannot, the checkout is a folder of its own, and what names the project is led into it (`import_redirect`).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.checkout import ignored_files, import_redirect
from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.git.changes.diffs import SUBMODULE, enter, entries
from swarmgate.workspace.git.concealed import hidden_files
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.process import temporary
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.command_runner import CommandRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.workspace.checkout.ignored_files import Item
    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.confinement import Sandbox

_SUBMODULE = b"\0\0\xe0\0"
"""How an entry of the index says that it is a commit of another repository: mode 160000 (gitformat-index(5))."""
_ASIDE = Path("/.project")
"""Where a checkout in the project's place finds what it shares with the project."""
_ROOTED = ("autoload.php", "composer", "bin")
"""Of composer's `vendor`: files that find the project by where they lie themselves, links followed."""


@dataclass(frozen=True, slots=True)
class MixedTree:
    """A tree as before a change, with these paths as after it."""

    change: ChangeSet
    paths: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Checkout:
    """A checked-out tree.

    Attributes:
        root: where its files lie.
        real: the project's folder.
        in_place: whether commands find it where the project is.
        shared: places of the project that links lead to: commands can read them.
        binaries: compiled modules that git ignores and the checkout has all the same, such as Python extensions built
            in place: nobody knows of which code.
    """

    root: Path
    real: Path
    in_place: bool = False
    shared: tuple[Path, ...] = ()
    binaries: tuple[str, ...] = ()
    _private: Path = field(default=Path(), repr=False)
    _git: Driver = field(repr=False, default_factory=lambda: Driver(Path()))

    def rewritten(self) -> tuple[str, ...]:
        """The files of the tree that a run changed or removed here.

        Raises:
            WorkspaceError: git failed.
        """
        found = self._differing()
        if found:  # by size and times alone, perhaps
            self._git.run("update-index", "-q", "--really-refresh", index=self._index, work_tree=self._top)
            found = self._differing()
        return found

    def command(self, line: str) -> str:
        """A command line as it has to be here: the project's folder replaced, a PYTHONPATH of its own behind ours."""
        if self.in_place:
            return line
        return re.sub(r"\bPYTHONPATH=(?=\S)", f"PYTHONPATH={self._hook}{os.pathsep}", self._here(line))

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make a run here use the checkout, on top of the inherited ones."""
        own = {"UV_NO_SYNC": "1"}  # `uv run` would install the checkout into the environment that it shares
        if self.in_place:
            return own
        given = trusted.given()
        inherited = {name: here for name, value in given.items() if (here := self._here(value)) != value}
        search = inherited.get("PYTHONPATH", given.get("PYTHONPATH", ""))
        return {
            **{name: value for name, value in inherited.items() if name not in {"PWD", "OLDPWD"}},
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self._hook), search])),
            **own,
        }

    def runner(self, real: CommandRunner) -> CommandRunner:
        """What runs commands here as `real` runs them in the project, which is out of sight."""
        bounds = real.confinement
        outside = [place for place in bounds.guarded if not place.is_relative_to(self.real)]  # git's of a linked tree
        readable = [*bounds.readable, *outside]
        bounds = replace(
            bounds,
            root=self.root,
            readable=tuple(readable),
            writable=tuple(each for each in bounds.writable if not each.is_relative_to(self.real)),
            guarded=(),
            spared=(),
            folder=None,
        )
        if self.in_place:
            visible = tuple(
                (place, _ASIDE / place.relative_to(self.real)) for place in self.shared if self._is_own(place)
            )
            bounds = replace(bounds, place=self.real, visible=visible)
        else:
            opened = real.confinement.readable
            known = (place for place in self.shared if self._is_own(place) or _is_below(place, opened))
            bounds = replace(bounds, readable=(*readable, *known))
        return _Inside(real.sandbox, bounds, real.inherit, real.output_chars, checkout=self)

    def strays(self) -> tuple[str, ...] | None:
        """The project's modules that a Python here imported; None where no Python has said anything that is there."""
        if self.in_place:
            return ()
        try:
            answers = [regular.read(each, follow=False) for each in self._seen.iterdir()]
        except OSError:  # taken away, or a pipe or a link in its place
            return None
        if not answers:
            return None
        lines = b"".join(answers).decode("utf-8", "replace").splitlines()
        return tuple(sorted({os.path.relpath(line, self.real) for line in lines}))

    def _differing(self) -> tuple[str, ...]:
        """The files that are not as the index has seen them."""
        found = self._git.run("diff-files", "--name-only", "-z", index=self._index, work_tree=self._top)
        return tuple(paths.decode(self._git.within(raw)) for raw in found.split(b"\0")[:-1])

    def _is_own(self, place: Path) -> bool:
        """Whether a command in the project could read a place as a part of it: an ignored link may lead anywhere."""
        return place.is_relative_to(self.real) and place != self.real

    def _here(self, text: str) -> str:
        return re.sub(rf"(?<![\w./-]){re.escape(str(self.real))}(?=[/:;,\s\"']|$)", str(self.root), text)

    @property
    def outer(self) -> Path:
        """The temporary folder that all of it lies in."""
        return self._top.parent

    @property
    def _hook(self) -> Path:
        return self.outer / "python"

    @property
    def _seen(self) -> Path:
        return self.outer / "seen"

    @property
    def _top(self) -> Path:
        """Where the top of the work tree is in it: commands find no file there but those of the project."""
        return self.root.parents[self._git.prefix.count(b"/") - 1] if self._git.prefix else self.root

    @property
    def _index(self) -> Path:
        return self._private / "index"


def _is_below(place: Path, folders: Iterable[Path]) -> bool:
    return any(place.is_relative_to(each) for each in folders)


@dataclass(frozen=True, slots=True)
class _Inside(CommandRunner):
    """Runs commands in a checkout."""

    checkout: Checkout = field(kw_only=True)

    @property
    def vanishes(self) -> bool:
        """A checkout does."""
        return True

    async def run(
        self,
        command: Sequence[str] | str,
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        writable: Sequence[Path] = (),
        stdin: bytes | None = None,
        output_limit: int | None = None,
        on_line: Callable[[bytes], None] | None = None,
        while_at_work: bool = False,
    ) -> Completed:
        """As its base, with the checkout in the place of the project."""
        here, own = self.checkout.command, () if self.checkout.in_place else (self.checkout.outer,)
        return await CommandRunner.run(  # super() knows not the class that `slots` makes
            self,
            here(command) if isinstance(command, str) else [here(part) for part in command],
            timeout_s=timeout_s,
            env={**self.checkout.environment, **(env or {})},
            writable=(*writable, *own),
            stdin=stdin,
            output_limit=output_limit,
            on_line=on_line,
            while_at_work=while_at_work,
        )


@contextlib.contextmanager
def checked_out(
    root: Path,
    tree: str | MixedTree,
    *,
    items: Iterable[Item] | None = None,
    sandbox: Sandbox | None = None,
) -> Iterator[Checkout]:
    """A checkout of `tree`, a tree of the repository at `root`, which vanishes afterwards.

    Args:
        root: the project's folder.
        tree: its id, or what of a change it has.
        items: what of the ignored files comes along; all that is there where nobody took note of what was.
        sandbox: what confines the commands: where it can, it shows them the checkout in the project's place.

    Raises:
        WorkspaceError: git failed.
    """
    git = Driver(root)
    found = ignored_files.present(root, hidden_files.ignored(git)) if items is None else tuple(items)
    in_place = sandbox is not None and sandbox.relocates
    with (
        temporary.folder("checkout") as outer,
        temporary.folder("index") as private,
    ):
        top = outer / (git.top.name or "project")
        place = top / os.fsdecode(git.prefix)
        for each in (place, outer / "python", outer / "seen"):
            each.mkdir(parents=True)
        _attributes(git, top)
        _write(git, tree, top, private / "index")
        shared = [
            *_laid(found, place, root, aside=_ASIDE if in_place else root),
            *_history(git, top, aside=_ASIDE if in_place else root),
        ]
        if not in_place:
            _redirects(outer, place, root, shared)
        yield Checkout(place, root, in_place, tuple(shared), ignored_files.binaries(found), private, git)


def _attributes(git: Driver, top: Path) -> None:
    """Copies the attributes of the folders above the project: by them git writes line ends and encodings."""
    for folder in git.root.relative_to(git.top).parents:
        source = git.top / folder / ".gitattributes"
        if source.is_file():
            shutil.copyfile(source, top / folder / source.name)


def _write(git: Driver, tree: str | MixedTree, top: Path, index: Path) -> None:
    """Writes the files of a tree below `top`; of submodules those of their commits, where they have them."""
    _read_tree(git, tree, index)
    git.run("checkout-index", "--all", "--force", "--index", index=index, work_tree=top)
    if _SUBMODULE not in index.read_bytes():
        return
    for record in git.run("ls-files", "--stage", "-z", index=index).split(b"\0")[:-1]:
        header, _, raw = record.partition(b"\t")
        inner, target = git.root / os.fsdecode(raw), top / os.fsdecode(git.prefix + raw)
        if header.startswith(SUBMODULE.encode()) and (inner / ".git").exists():
            target.mkdir(parents=True, exist_ok=True)
            with Driver(inner).index(copied=False) as own, contextlib.suppress(WorkspaceError):
                _write(Driver(inner), header.split()[1].decode(), target, own)


def _read_tree(git: Driver, tree: str | MixedTree, index: Path) -> None:
    """Fills an index. Nothing is put over files that lie there: a link among them may lead anywhere."""
    if isinstance(tree, str):
        git.read_tree(tree, index)
        return
    whole = tree.paths.issuperset(tree.change.paths)
    git.read_tree(tree.change.tree if whole else tree.change.base, index)
    if not whole and (found := entries(tree.change, tree.paths)):
        enter(git, found, index=index)


def _history(git: Driver, top: Path, *, aside: Path) -> Iterator[Path]:
    """Tests may ask git about the project: its history can be read, and nothing written."""
    own = git.top / ".git"
    if own.is_file():  # of a linked work tree, or of a submodule: it names the folder, perhaps from where it lies
        leads_to = git.top / regular.text(own).removeprefix("gitdir:").strip()
        (top / ".git").write_text(f"gitdir: {os.path.normpath(leads_to)}\n")
    elif git.prefix:  # it can be read where it is
        (top / ".git").write_text(f"gitdir: {own}\n")
    else:
        (top / ".git").symlink_to(aside / ".git")
        yield own


def _redirects(outer: Path, place: Path, real: Path, shared: Iterable[Path]) -> None:
    """What leads every Python into the checkout, its places in a file beside it: the environment names none of them."""
    shutil.copyfile(import_redirect.__file__, outer / "python" / "sitecustomize.py")
    named = map(os.fsencode, (real, place, outer / "seen", *shared))
    (outer / "python" / import_redirect.PLACES).write_bytes(b"\0".join(named))


# --- what comes along ---


def _laid(items: Iterable[Item], place: Path, real: Path, *, aside: Path) -> Iterator[Path]:
    """Brings ignored files and folders along, and names the places of the project that are shared now."""
    links = _Links(real, place, aside)
    for item in sorted(items, key=lambda each: (each.copied, each.path)):  # copies go into folders that links made
        target = place / os.fsdecode(paths.encode(item.path))
        if not target.parent.resolve().is_relative_to(place):  # the tree has a link there, which may lead anywhere
            continue
        if item.copied:
            _copy(item.source, target)
        elif not os.path.lexists(target) and os.path.lexists(item.source):
            target.parent.mkdir(parents=True, exist_ok=True)
            yield from links.lay(item, target)


def _copy(source: Path, target: Path) -> None:
    """A file of the user's, or a link; a project that puts another file of its own there has the right to."""
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(target):
            shutil.copy2(source, target, follow_symlinks=False)


@dataclass(frozen=True, slots=True)
class _Links:
    """Links from a checkout at `place` to what lies in the project at `real`, which commands find at `aside`."""

    real: Path
    place: Path
    aside: Path

    def lay(self, item: Item, target: Path) -> Iterator[Path]:
        source = item.source
        if source.name == "node_modules":
            yield source
            self._packages(source, target)
        elif source.name == "vendor" and (source / "composer").is_dir():
            yield source
            self._composer(source, target)
        elif source.is_dir() and not source.is_symlink() and not (source / "pyvenv.cfg").is_file():
            yield source
            self._entries(source, target, item.path, item.without)
        else:
            self._link(source, target)
            yield source.resolve()

    def _entries(self, source: Path, target: Path, path: str, without: frozenset[str]) -> None:
        """A folder whose entries are links, so that a run can add its own; with folders for what stays behind."""
        target.mkdir()
        for entry in sorted(source.iterdir()):
            name = f"{path}/{entry.name}"
            if name in without:
                continue
            if any(each.startswith(f"{name}/") for each in without):
                self._entries(entry, target / entry.name, name, without)
            else:
                self._link(entry, target / entry.name)

    def _packages(self, source: Path, target: Path) -> None:
        """Node's packages one by one: a workspace's own are links into the project, and have to lead here."""
        target.mkdir()
        for entry in sorted(source.iterdir()):
            if entry.name.startswith("@") and entry.is_dir() and not entry.is_symlink():
                self._packages(entry, target / entry.name)
                continue
            leads_to = entry.resolve()
            inside = leads_to.is_relative_to(self.real)
            if entry.is_symlink() and inside and "node_modules" not in leads_to.relative_to(self.real).parts:
                (target / entry.name).symlink_to(self._in_checkout(leads_to))
            elif entry.name not in ignored_files.CACHES:
                self._link(entry, target / entry.name)

    def _composer(self, source: Path, target: Path) -> None:
        target.mkdir()
        for entry in sorted(source.iterdir()):
            if entry.name not in _ROOTED:
                self._link(entry, target / entry.name)
            elif entry.is_symlink() or entry.is_file():
                shutil.copy2(entry, target / entry.name, follow_symlinks=False)
            elif entry.is_dir():
                shutil.copytree(entry, target / entry.name, symlinks=True, ignore=_irregular)

    def _in_checkout(self, leads_to: Path) -> Path:
        """Where a command finds the checkout's version of a place in the project."""
        base = self.place if self.aside == self.real else self.real
        return base / leads_to.relative_to(self.real)

    def _link(self, source: Path, target: Path) -> None:
        """Links to what is there."""
        if not source.exists():
            return
        leads_to = source.resolve()
        if leads_to.is_relative_to(self.real):
            leads_to = self.aside / leads_to.relative_to(self.real)
        target.symlink_to(leads_to)


def _irregular(folder: str, names: list[str]) -> list[str]:
    """What of a folder is no file, folder or link: a pipe cannot be copied."""
    places = ((name, Path(folder, name)) for name in names)
    return [name for name, place in places if not (place.is_symlink() or place.is_file() or place.is_dir())]
