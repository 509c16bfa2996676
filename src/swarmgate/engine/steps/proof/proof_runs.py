"""Runs tests to prove a change, in separate checkouts: on the old code, on replaced bodies, with old tests.

What a test leaves behind is not there in the next run. As many go at once as the machine has cores.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof.concurrent_runs import concurrency
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source import behaviour
from swarmgate.workspace.checkout.checkout import Checkout, MixedTree
from swarmgate.workspace.code import instrumentation, python_changes, replaced_bodies
from swarmgate.workspace.code.instrumentation import Mode, Rewritten
from swarmgate.workspace.code.replaced_bodies import Replaceable
from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.test_runs.runner_files import may_steer, steers
from swarmgate.workspace.test_runs.suites import Suites

PYTHON = frozenset({"pytest", "unittest"})
_INTERPRETED = PYTHON | {"jest", "vitest", "mocha", "node", "bun", "rspec", "minitest", "phpunit"}
"""Runners that build nothing first: how long the tests took says how long they may take in a copy."""
_LEAST_S, _PATIENCE = 20.0, 10.0
_DOCS = ("docs/", "doc/")
_EXPECTED = re.compile(
    r"(?:^|/)(?:expected|goldens?|__snapshots__|test[-_]?data)/|\.(?:snap|golden|expected|approved(?:\.\w+)?)$",
    re.IGNORECASE,
)
"""Data that by its name is what tests expect, wherever it lies."""
_NOT_OWN = frozenset({Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED, Trait.LOCK})
_LINK = "120000"
_HITS = 10_000_000
"""Bytes of what a rewritten file said of itself; it says each line once a process."""


@dataclass(frozen=True)
class Ran:
    """A run in a copy. `hits` are the probes that ran there, `called` those of bodies outside of an import.

    `doubt` is why it is not known that the code in question is what ran; empty where it is.
    """

    run: TestRun
    doubt: str = ""
    hits: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Code:
    """The changed code as it can be rewritten; `unread` are product files whose changed lines cannot be measured."""

    python: tuple[Rewritten, ...] = ()
    other: tuple[Replaceable, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def functions(self) -> tuple[str, ...]:
        """The new and changed functions whose bodies can be replaced."""
        return tuple(name for each in self.python for name in each.functions.values()) + tuple(
            name for each in self.other for name in each.functions
        )

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The way in which the bodies can be replaced."""
        if not self.functions:
            return ()
        constants = any(each.functions for each in self.python) or any(each.constants for each in self.other)
        return (Mode.RAISE, Mode.CONSTANT) if constants else (Mode.RAISE,)


class Runs:
    """Runs in copies of the project, for one change that the tests passed."""

    def __init__(self, ctx: Context, change: ChangeSet, suites: Suites, ran: TestRun) -> None:
        self._ctx, self._change, self._suites = ctx, change, suites
        self.kind = suites.kind(ctx.repository.root)
        self.alone = suites.alone(ctx.repository.root)
        """Whether files can be run by themselves."""
        self._limit = suites.timeout_s
        if self.kind in _INTERPRETED:
            self._limit = min(self._limit, _LEAST_S + _PATIENCE * ran.seconds)
        self._lane = asyncio.Semaphore(concurrency(ctx))
        self._name = instrumentation.probe_name()

    @cached_property
    def code(self) -> Code:
        """The changed code, read once."""
        python: list[Rewritten] = []
        other: list[Replaceable] = []
        unread = []
        for number, file in enumerate(self._changed_code()):
            own = is_product_code(file, self._ctx.is_test_path) and not may_steer(file.path)
            language, before, after = self._texts(file)
            found: Rewritten | Replaceable | None = None
            if language == "python":
                found = python_changes.rewritten(file.path, before, after, file.added_lines, number)
            elif language in replaced_bodies.LANGUAGES:
                found = replaced_bodies.replaceable(file.path, language, before, after)
            if isinstance(found, Rewritten):
                python.append(found if own else found.unasked)
            elif found is not None:
                other.append(found)
            if own and not isinstance(found, Rewritten):
                unread.append(file.path)
        return Code(tuple(python), tuple(other), tuple(unread))

    async def before(self, tests: tuple[str, ...]) -> Ran:
        """The new tests over the old code."""
        touched = [path for file in self._change.files for path in file.touched]
        wanted = (path for path in touched if self._ctx.is_test_path(path) or _configures(path))
        return await self._in_copy(tests, wanted)

    async def rewritten(self, mode: Mode, tests: tuple[str, ...], *, everywhere: bool = False) -> Ran:
        """The tests over the new code as it is rewritten in a mode; `everywhere`: while modules are imported, too.

        Over the new code as it is they passed already, in a checkout like this one.
        """
        return await self._in_copy(tests, self._change.paths, mode, everywhere=everywhere)

    async def old(self, tests: tuple[str, ...], *, rewritten: bool = False) -> Ran:
        """The tests of before, in their old form and with their settings, over the new code."""
        touched = [path for file in self._change.files for path in file.touched]
        product = [path for path in touched if not is_of_tests(path, self._ctx.is_test_path)]
        return await self._in_copy(tests, product, Mode.PASS if rewritten else None)

    async def base(self, tests: tuple[str, ...]) -> Ran:
        """The tests of before over the code of before."""
        return await self._in_copy(tests, ())

    async def measured(self, files: Sequence[Rewritten], look: Callable[[Path], None]) -> Ran:
        """The whole suite over the new code, of which some files say which of their lines ran.

        Args:
            files: as `python_changes.probed` makes them.
            look: sees the copy when the run is over, with what the test command left there.
        """
        return await self._in_copy((), self._change.paths, Mode.PASS, files=Code(python=tuple(files)), look=look)

    async def _in_copy(
        self,
        tests: tuple[str, ...],
        new: Iterable[str],
        mode: Mode | None = None,
        *,
        everywhere: bool = False,
        files: Code | None = None,
        look: Callable[[Path], None] = lambda _root: None,
    ) -> Ran:
        """The tests over the old code, but the `new` paths, rewritten in a mode where there is one."""
        async with self._lane:
            with self._ctx.checkout(MixedTree(self._change, frozenset(new))) as copy:
                if mode is not None:
                    self._rewrite(copy, mode, self.code if files is None else files, everywhere=everywhere)
                run = await self._suites.run(copy.runner(self._ctx.commands), tests, limit_s=self._limit)
                look(copy.root)
                text = self._probe_lines(copy)
                called = frozenset(line.removesuffix(" called") for line in text if line.endswith(" called"))
                hits = frozenset(line for line in text if not line.endswith(" called"))
                return Ran(run, self._doubt(copy, run), hits, called)

    def _rewrite(self, copy: Checkout, mode: Mode, code: Code, *, everywhere: bool = False) -> None:
        places = [str(folder / self._hidden) for folder in (copy.root, self._ctx.repository.root)]
        (copy.root / self._hidden).touch()  # a sandbox may let commands make nothing new there
        for each in code.python:
            text = each.text(mode, places, name=self._name, everywhere=everywhere)
            _write(copy.root / os.fsdecode(paths.encode(each.path)), text)
        for other in code.other:
            _write(copy.root / os.fsdecode(paths.encode(other.path)), other.text(mode))

    def _probe_lines(self, copy: Checkout) -> frozenset[str]:
        try:
            content = regular.read(copy.root / self._hidden, limit=_HITS, follow=False)
        except OSError:
            return frozenset()
        return frozenset(content.decode("ascii", "replace").splitlines())

    @property
    def _hidden(self) -> str:
        return f".{self._name}"

    def _changed_code(self) -> Iterable[ChangedFile]:
        """The changed files that are code and neither tests nor their settings."""
        for file in self._change.present:
            if self._ctx.is_test_path(file.path) or steers(file.path) or file.new_mode == _LINK:
                continue
            if differs(self._ctx, self._change, file):
                yield file

    def _texts(self, file: ChangedFile) -> tuple[str, tuple[bytes, ...], bytes]:
        """The language of a changed file, its old text with those of others that code may come from, and its own."""
        read, change = self._ctx.repository.read, self._change
        after = read(change.tree, file.path) or b""
        language = language_of(file.path, after)
        own = b"" if file.kind is ChangeKind.ADDED else read(change.base, file.old_path or file.path) or b""
        sources = (each.old_path or each.path for each in change.files if each.old_mode and each.path != file.path)
        others = [read(change.base, path) or b"" for path in sources if language_of(path) == language]
        return language, (own, *others), after

    def _sees_project(self) -> bool:
        """Whether what runs in a copy can read something of the project itself: an editable install, for one."""
        commands, real = self._ctx.commands, self._ctx.repository.root
        opened = commands.confinement.readable
        inside = any(each.is_relative_to(real) or real.is_relative_to(each) for each in opened)
        return inside or commands.sandbox.name == "none"

    def _doubt(self, copy: Checkout, run: TestRun) -> str:
        """Why it is not known that the code in the copy was what ran; empty where it is.

        What Pythons say of it lies where tests can write. Where the runner took a canary of ours from PYTHONPATH, its
        silence is no doubt; where the project is out of their sight, neither is that they imported it.
        """
        if self.kind in PYTHON:
            strays = copy.strays()
            if strays is None and not (run.canary and run.canary.failed):
                return "the Python that ran the tests takes no PYTHONPATH: it may have imported other code"
            if strays and self._sees_project():
                return f"the tests imported code of the project itself all the same: {', '.join(strays[:3])}"
        if copy.binaries and any(_is_compiled(path) for path in self._change.paths):
            return f"{copy.binaries[0]} may have been compiled of the changed code"
        return ""


def is_of_tests(path: str, is_test_path: Callable[[str], bool]) -> bool:
    """Whether a file belongs to the tests: they stand there, it steers their runner, or it holds what they expect."""
    return is_test_path(path) or steers(path) or bool(_EXPECTED.search(path) and not behaviour.is_code(path))


def is_product_code(file: ChangedFile, is_test_path: Callable[[str], bool]) -> bool:
    """Whether a changed file, by its path, may be the project's own code: nothing of tests, documentation or others.

    What a change adds under the name of vendored or generated code is the project's own until it was there once; what
    it moves counts by both of its names.
    """

    def exempt(path: str) -> bool:
        return is_test_path(path) or steers(path) or path.startswith(_DOCS)

    if all(map(exempt, file.touched)):
        return False
    return not (file.old_mode and all(traits_of(path) & _NOT_OWN for path in file.touched))


def differs(ctx: Context, change: ChangeSet, file: ChangedFile) -> bool:
    """Whether it is code, on one side at least, and differs as such."""
    before = None if file.kind is ChangeKind.ADDED else ctx.repository.read(change.base, file.old_path or file.path)
    after = ctx.repository.read(change.tree, file.path) if file.exists else None
    sides = (file.old_path or file.path, before or b""), (file.path, after or b"")
    return any(behaviour.is_code(*side) for side in sides) and behaviour.differs(file.path, before, after)


def unchanged_tests(ctx: Context, change: ChangeSet, files: Collection[str], kind: str) -> Callable[[str], bool]:
    """Says of a test's name, as the runner reports it, whether it stood there before the change, the very same.

    Of pytest in one of these files; of other runners, which run the whole suite, in any that is a test's.
    """
    read = ctx.repository.read
    if kind == "unittest":
        return _existed_as_function(ctx, change)
    if kind != "pytest":
        return _existed_anywhere(ctx, change)
    known = {file.path: file for file in change.present if file.path in files and file.old_mode}
    existed = [
        python_changes.unchanged(path, read(change.base, file.old_path or path), read(change.tree, path))
        for path, file in known.items()
    ]
    return lambda name: any(each(name) for each in existed)


def _existed_as_function(ctx: Context, change: ChangeSet) -> Callable[[str], bool]:
    """By the name of the method: one that the change neither adds nor alters, whatever else it says of that name."""
    repository = ctx.repository
    old = repository.read_many(
        change.base, [path for path in repository.list_tree(change.base) if ctx.is_test_path(path)]
    )
    new = repository.read_many(change.tree, [file.path for file in change.present if ctx.is_test_path(file.path)])
    known = python_changes.functions_of(text for path, text in old.items() if path.endswith(".py"))
    fresh = python_changes.functions_of(text for path, text in new.items() if path.endswith(".py"))
    changed = {name for name, meant in fresh if (name, meant) not in known}
    there = {name for name, _ in known}

    def existed(name: str) -> bool:
        words = {re.split(r"[./]", name)[-1].strip(" )"), name.strip().partition(" ")[0]} - {""}
        return any(word in there for word in words) and not any(word in changed for word in words)

    return existed


def _existed_anywhere(ctx: Context, change: ChangeSet) -> Callable[[str], bool]:
    """By the last part of a name, or its first word: the text of old tests has it, and no added line has."""
    repository = ctx.repository
    paths_of_tests = [path for path in repository.list_tree(change.base) if ctx.is_test_path(path)]
    old = b"\n".join(repository.read_many(change.base, paths_of_tests).values()).decode("utf-8", "replace")
    added = []
    for file in (each for each in change.present if ctx.is_test_path(each.path)):
        lines = (repository.read(change.tree, file.path) or b"").decode("utf-8", "replace").splitlines()
        added += [lines[number - 1] for number in file.added_lines if number <= len(lines)]
    new = "\n".join(added)

    def existed(name: str) -> bool:
        words = {re.split(r"::|[./#>]", name)[-1].strip(), name.strip().partition(" ")[0]} - {""}
        return any(word in old for word in words) and not any(word in new for word in words)

    return existed


def _write(place: Path, content: bytes) -> None:
    """Writes a file of the copy anew; its other name, if it has one, keeps what it holds."""
    mode = place.stat().st_mode
    place.unlink()
    place.write_bytes(content)
    place.chmod(mode & 0o7777)


def _configures(path: str) -> bool:
    """Whether the tests of the change have to run with its version of a file, wherever it lies."""
    name = path.rpartition("/")[2]
    return name != "go.mod" and (steers(path) or name in {"pyproject.toml", "package.json"})


def _is_compiled(path: str) -> bool:
    return language_of(path) in {"c", "cpp", "rust", "zig", "go", "swift"} or path.endswith((".pyx", ".pxd"))
