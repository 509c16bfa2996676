"""A copy of a tree in a temporary folder, where tests can be run against other code than that of the work tree.

What a run needs and git does not hold (installed packages, generated files) is shared with the real project by links;
build products are not, since they were made of the changed code.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace import paths, redirect
from swarmgate.workspace.diffs import SUBMODULE
from swarmgate.workspace.driver import Driver
from swarmgate.workspace.sandbox.running import CommandRunner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from swarmgate.workspace.process import Completed

_PRODUCTS = frozenset(
    {
        ".build", ".cache", ".git", ".gradle", ".hypothesis", ".mypy_cache", ".next", ".nox", ".nuxt", ".output",
        ".parcel-cache", ".pytest_cache", ".ruff_cache", ".svelte-kit", ".swarm", ".tox", ".turbo", "__pycache__",
        "_build", "bin", "build", "cmake-build-debug", "cmake-build-release", "coverage", "dist", "htmlcov", "log",
        "logs", "obj", "out", "target", "tmp",
    }
)  # fmt: skip
"""Ignored folders that hold what was built of the code, or caches: linked, they would bring the changed code along."""
_PRODUCT_FILES = (".pyc", ".pyo", ".class", ".o", ".tsbuildinfo", ".log")
_BINARIES = (".so", ".pyd", ".dylib", ".node", ".dll")
_SMALL = 1_000_000
"""Bytes up to which an ignored file is copied; a larger one is linked, and no test should write to it."""
_ROOTED = ("autoload.php", "composer", "bin")
"""Of composer's `vendor`: files that find the project by where they lie themselves, links followed."""


@dataclass(frozen=True)
class Copy:
    """A copied tree; `root` stands for the real project's `real`.

    `outer` is the temporary folder around it: a sandbox has to let it be written. `shared` are places of the real
    project that links lead to: a sandbox has to let them be read. `binaries` are compiled modules that git ignores and
    the copy has all the same, such as Python extensions built in place: nobody knows of which code.
    """

    root: Path
    real: Path
    outer: Path
    shared: tuple[Path, ...] = ()
    binaries: tuple[str, ...] = ()
    _git: Driver = field(repr=False, default_factory=lambda: Driver(Path()))

    def put(self, tree: str, wanted: Iterable[str]) -> None:
        """Make these paths those of `tree`; one that it does not have is removed.

        Raises:
            WorkspaceError: git failed.
        """
        names = list(dict.fromkeys(wanted))
        for path in names:
            place = self.root / os.fsdecode(paths.encode(path))
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    place.unlink()
        with self._git.index(copied=False) as index:
            self._git.run("read-tree", tree, index=index)
            there = set(self._git.records("ls-tree", "-r", "-z", "--name-only", tree))
            listing = b"".join(raw + b"\0" for path in names if (raw := paths.encode(path)) in there)
            self._git.run(
                "checkout-index", "--force", f"--prefix={self.root}/", "-z", "--stdin", stdin=listing, index=index
            )

    def command(self, line: str) -> str:
        """A command line with the real project's folder replaced, and a PYTHONPATH of its own behind ours."""
        return re.sub(r"\bPYTHONPATH=(?=\S)", f"PYTHONPATH={self._hook}{os.pathsep}", self._here(line))

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make a run in the copy use the copy, on top of the inherited ones."""
        inherited = {name: here for name, value in os.environ.items() if (here := self._here(value)) != value}
        search = inherited.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        return {
            **{name: value for name, value in inherited.items() if name not in {"PWD", "OLDPWD"}},
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self._hook), search])),
            "UV_NO_SYNC": "1",  # `uv run` would install the copy into the environment that it shares with the project
        }

    def runner(self, real: CommandRunner) -> CommandRunner:
        """What runs commands in the copy as `real` runs them in the project, which is out of sight there."""
        bounds = real.confinement
        shared = (place for place in self.shared if self._is_known(place, bounds.readable))
        bounds = replace(bounds, root=self.root, readable=(*bounds.readable, *shared), guarded=())
        return _Inside(real.sandbox, bounds, real.inherit, real.output_chars, copy=self)

    def _is_known(self, place: Path, readable: Iterable[Path]) -> bool:
        """Whether a command in the project could read a place as well: an ignored link may lead anywhere."""
        real = self.real.resolve()
        return (place.is_relative_to(real) and place != real) or any(place.is_relative_to(each) for each in readable)

    def strays(self) -> tuple[str, ...] | None:
        """The real project's modules that a Python in the copy imported; None where no Python has said anything."""
        answers = list(self._seen.iterdir())
        if not answers:
            return None
        lines = {line for each in answers for line in each.read_text(encoding="utf-8").splitlines()}
        return tuple(sorted(os.path.relpath(line, self.real) for line in lines))

    def _here(self, text: str) -> str:
        return re.sub(rf"(?<![\w./-]){re.escape(str(self.real))}(?=[/:;,\s\"']|$)", str(self.root), text)

    @property
    def _hook(self) -> Path:
        return self.outer / "python"

    @property
    def _seen(self) -> Path:
        return self.outer / "seen"


@dataclass(frozen=True, slots=True)
class _Inside(CommandRunner):
    """Runs commands in a copy."""

    copy: Copy = field(kw_only=True)

    @property
    def vanishes(self) -> bool:
        """A copy does."""
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
    ) -> Completed:
        """As its base, with the copy in the place of the project."""
        here = self.copy.command
        return await CommandRunner.run(  # super() knows not the class that `slots` makes
            self,
            here(command) if isinstance(command, str) else [here(part) for part in command],
            timeout_s=timeout_s,
            env={**self.copy.environment, **(env or {})},
            writable=(*writable, self.copy.outer),
            stdin=stdin,
            output_limit=output_limit,
        )


@contextlib.contextmanager
def copied(root: Path, tree: str) -> Iterator[Copy]:
    """A copy of `tree`, a tree of the repository at `root`, which vanishes afterwards.

    Raises:
        WorkspaceError: git failed.
    """
    git = Driver(root)
    with tempfile.TemporaryDirectory(prefix="swarmgate-copy-", ignore_cleanup_errors=True) as folder:
        outer = Path(folder).resolve()
        place = outer / (root.name or "project")
        for each in (place, outer / "python", outer / "seen"):
            each.mkdir()
        with git.index(copied=False) as index:
            git.run("read-tree", tree, index=index)
            git.run("checkout-index", "--all", "--force", f"--prefix={place}/", index=index)
        ignored = _ignored_names(git)
        shared = [*_submodules(git, tree, place), *_brought(git, place, ignored)]
        binaries = tuple(name for name in ignored if name.endswith(_BINARIES))
        _redirects(outer, place, root, shared)
        _empty_repository(place)
        yield Copy(place, root, outer, tuple(shared), binaries, git)


def _redirects(outer: Path, place: Path, real: Path, shared: Iterable[Path]) -> None:
    """What leads every Python into the copy, and its places in a file beside it: the environment names none of them."""
    shutil.copyfile(redirect.__file__, outer / "python" / "sitecustomize.py")
    named = map(os.fsencode, (real, place, outer / "seen", *shared))
    (outer / "python" / redirect.PLACES).write_bytes(b"\0".join(named))


def _empty_repository(place: Path) -> None:
    """A repository without commits, hooks and settings, as `git init` makes it: tests may ask where its top is."""
    git = place / ".git"
    if os.path.lexists(git):
        return
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n")


def _submodules(git: Driver, tree: str, place: Path) -> Iterator[Path]:
    for record in git.records("ls-tree", "-r", "-z", tree):
        header, _, raw = record.partition(b"\t")
        if header.startswith(SUBMODULE.encode()):
            name = os.fsdecode(raw)
            with contextlib.suppress(OSError):
                (place / name).rmdir()
            yield from _link(git.root / name, place / name)


def _ignored_names(git: Driver) -> list[str]:
    """What git ignores and a run may need; a folder of which everything is ignored is one name, with a slash."""
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory")
    names = map(os.fsdecode, git.records("ls-files", "-z", *options))
    return [name for name in names if not _PRODUCTS & set(Path(name).parts) and not name.endswith(_PRODUCT_FILES)]


def _brought(git: Driver, place: Path, names: Iterable[str]) -> Iterator[Path]:
    """Brings ignored files and folders along, and names the places of the real project that are shared now."""
    for name in names:
        source, target = git.root / name, place / name
        if os.path.lexists(target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.name == "node_modules":
            yield from _packages(source, target, git.root, place)
        elif source.name == "vendor" and (source / "composer").is_dir():
            yield from _composer(source, target)
        elif source.is_file() and not source.is_symlink() and source.stat().st_size <= _SMALL:
            shutil.copy2(source, target)
        else:
            yield from _link(source, target)


def _packages(source: Path, target: Path, real: Path, place: Path) -> Iterator[Path]:
    """Node's packages one by one: a workspace's own are links into the project, and have to lead into the copy."""
    target.mkdir()
    for entry in sorted(source.iterdir()):
        if entry.name.startswith("@") and entry.is_dir() and not entry.is_symlink():
            yield from _packages(entry, target / entry.name, real, place)
            continue
        leads_to = entry.resolve()
        if (
            entry.is_symlink()
            and leads_to.is_relative_to(real)
            and "node_modules" not in leads_to.relative_to(real).parts
        ):
            (target / entry.name).symlink_to(place / leads_to.relative_to(real))
        elif entry.name not in {".cache", ".vite", ".vitest"}:
            yield from _link(entry, target / entry.name)


def _composer(source: Path, target: Path) -> Iterator[Path]:
    target.mkdir()
    for entry in sorted(source.iterdir()):
        if entry.name not in _ROOTED:
            yield from _link(entry, target / entry.name)
        elif entry.is_symlink() or entry.is_file():
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)
        elif entry.is_dir():
            shutil.copytree(entry, target / entry.name, symlinks=True, ignore=_irregular)


def _irregular(folder: str, names: list[str]) -> list[str]:
    """What of a folder is no file, folder or link: a pipe cannot be copied."""
    places = ((name, Path(folder, name)) for name in names)
    return [name for name, place in places if not (place.is_symlink() or place.is_file() or place.is_dir())]


def _link(source: Path, target: Path) -> Iterator[Path]:
    """Links to what is there, and names it."""
    if source.exists() and not os.path.lexists(target):
        target.symlink_to(source.resolve())
        yield source.resolve()
