"""Runs one build in the work tree and, where it fails, in the base revision to leave out old errors."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.builds import base_revision, mypy_version
from swarmgate.gates.builds import cache as build_cache
from swarmgate.gates.builds import tools as build_tools
from swarmgate.gates.imports.model import Guard
from swarmgate.gates.imports.python.source import imports
from swarmgate.gates.tools import table
from swarmgate.gates.tools.run import Broken, excerpt, invoke
from swarmgate.workspace.files import regular
from swarmgate.workspace.git import driver
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.builds.tools import Build
    from swarmgate.gates.job import Job
    from swarmgate.workspace.process.process import Completed

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TYPES = frozenset({"mypy", "pyright", "ty", "tsc"})
_EVERYWHERE = 20
"""Findings of a rule in the base from which on nobody there can know of it: settings or packages are missing."""
_UNNEEDED = "mypy:unused-ignore"
"""Informs in a file that had such comments before: other versions of mypy or Python need them there."""
_ANY_EXIT = range(256)
"""What an exit code means is seen together with the findings."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one build. `missing`: the toolchain is not on this machine; `error`: it did not do its work.

    `started`: a program ran, so more than the two trees and what is installed counts. `requested_by`: the file that
    asks for a toolchain that is not installed.
    """

    findings: tuple[Finding, ...] = ()
    missing: str = ""
    error: str = ""
    note: str = ""
    started: bool = True
    requested_by: str = ""

    @property
    def unbuilt(self) -> str:
        """Why it was not built, with the file that asks for it; empty where it was."""
        return f"{self.missing} ({self.requested_by} asks for it)" if self.requested_by else self.missing


async def run(job: Job, build: Build) -> Verdict:
    """Run the build; findings that the base revision has as well are marked as old.

    Args:
        job: the gate's job.
        build: what to run.
    """
    root = job.repository.root
    path = table.program(root, build.folder, build.program)
    if path is None:
        return Verdict(missing=f"{build.program} is not installed", requested_by=build.why, started=False)
    cache = build_tools.cache_folder(root, confined=_is_confined(job))
    left = [root / build.folder / name for name in build.leaves if not (root / build.folder / name).exists()]
    with build_cache.fresh(cache / "tree", root, job.change.paths):
        try:
            found = await _once(job, build, (path, cache / "tree"), root)
        finally:
            await asyncio.to_thread(_clean, root, left)
    if isinstance(found, Verdict):
        return found
    if not found:
        return Verdict(note=build.partial)
    before, note = await _before(job, build, (path, cache / "base"))
    marked = await asyncio.to_thread(base_revision.mark, job.repository, job.change, found, before)
    other = await _other_version(job, build, path) if any(each.new for each in marked) else ""
    habits = _habits(build, before)
    tried = await asyncio.to_thread(_tried_imports, build, root, marked)
    unneeded = {(each.rule, each.path) for each in before if each.rule == _UNNEEDED}

    def informs(found: Finding) -> bool:
        known = found.rule in habits or (found.rule, found.path) in unneeded
        return bool(other) or known or (found.path, found.line) in tried

    weighed = [
        each.model_copy(update={"severity": min(each.severity, Severity.LOW, key=_rank)}) if informs(each) else each
        for each in marked
    ]
    habits_note = f"the base breaks {', '.join(sorted(habits))} everywhere: that informs" if habits else ""
    return Verdict(tuple(weighed), note="; ".join(filter(None, (build.partial, note, other, habits_note))))


def _habits(build: Build, before: list[Finding]) -> frozenset[str]:
    """The rules of a type checker that the base breaks so often that nobody there can keep to them."""
    counts = Counter(each.rule for each in before) if build.name in _TYPES else Counter[str]()
    return frozenset(rule for rule, count in counts.items() if count >= _EVERYWHERE)


def _tried_imports(build: Build, root: Path, found: Iterable[Finding]) -> frozenset[tuple[str, int]]:
    """The places, in files with findings of a type checker, of Python imports that the code itself expects to fail."""
    paths = {each.path for each in found if each.new and each.path.endswith(".py")} if build.name in _TYPES else set()
    places = set[tuple[str, int]]()
    for path in paths:
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            read = imports(regular.read(root / path))
            places |= {(path, each.line) for each in read if each.guard is Guard.OPTIONAL}
    return frozenset(places)


async def _other_version(job: Job, build: Build, path: str) -> str:
    """That the program is of another version than the project pins, and what follows; empty where it is not."""
    if build.name != "mypy":
        return ""
    pinned = await asyncio.to_thread(mypy_version.mypy, job.repository.root / build.folder)
    completed = await invoke(job, [(path, "--version")], exit_codes=_ANY_EXIT) if pinned else Broken("")
    if isinstance(completed, Broken) or not mypy_version.is_another(pinned, completed[0].stdout):
        return ""
    return f"{completed[0].stdout.split('(')[0].strip()} is not {pinned}, which the project pins: what it finds informs"


def _rank(severity: Severity) -> int:
    return severity.rank


async def _before(job: Job, build: Build, tool: tuple[str, Path]) -> tuple[list[Finding], str]:
    """What the same build says of the base revision; nothing, and why, where it cannot be built."""
    async with AsyncExitStack() as stack:
        place = base_revision.checkout(job.repository, job.change.base, (build.folder,))
        root = await asyncio.to_thread(place.__enter__)
        stack.push_async_callback(asyncio.to_thread, place.__exit__, None, None, None)
        if not (root / build.folder).is_dir():
            return [], ""
        around = job.commands().around(root)
        base_job = replace(job, commands=lambda: around)
        found = await _once(base_job, build, tool, root)
    if isinstance(found, Verdict):
        return [], f"{build.name}: the base could not be built to compare with ({found.error or found.unbuilt})"
    return found, ""


async def _once(job: Job, build: Build, tool: tuple[str, Path], root: Path) -> list[Finding] | Verdict:
    """Run the build below `root`; `tool` is the path of its program and the folder of its cache."""
    path, cache = tool
    cache.mkdir(parents=True, exist_ok=True)
    build_job = replace(job, repository=Repository(root / build.folder))
    calls = [(path, *(part.replace(build_tools.CACHE, str(cache)) for part in call[1:])) for call in build.calls]
    variables = {**build.env, **(build.confined if _is_confined(job) else {})}
    env = {name: value.replace(build_tools.CACHE, str(cache)) for name, value in variables.items()}
    found: list[Finding] = []
    for call in calls:
        done = await invoke(build_job, [call], exit_codes=_ANY_EXIT, env=env, writable=(cache,))
        if isinstance(done, Broken):
            return Verdict(error=done.reason)
        completed = _plain(done[0])
        here = base_revision.relative(build.read(completed.output), root, build.folder)
        found += here
        if completed.exit_code != 0 and not here:
            output = excerpt(completed.stderr) or excerpt(completed.stdout) or "no output"
            absent = list(re.finditer(build.absent, completed.output)) if build.absent else []
            if absent:
                what = next(filter(None, (each.groupdict().get("what") for each in absent)), output)
                return Verdict(missing=f"what {build.program} needs is not on this machine: {what}")
            command_line = " ".join((build.program, *call[1:]))
            return Verdict(error=f"`{command_line}` ended with exit code {completed.exit_code}: {output}")
    return found


def _is_confined(job: Job) -> bool:
    return job.commands().sandbox.name != "none"


def _plain(completed: Completed) -> Completed:
    """What a program printed, without the colours that some print even where nobody sees them."""
    out, err = (_COLOURS.sub("", text) for text in (completed.stdout, completed.stderr))
    return completed.model_copy(update={"stdout": out, "stderr": err})


def _clean(root: Path, left: list[Path]) -> None:
    """Remove what the tool left in the tree, unless git ignores it: then it is its warm cache.

    The folder of it may have become a link meanwhile: what lies behind one is not ours.
    """
    for path in left:
        if not os.path.lexists(path) or not path.parent.resolve().is_relative_to(root.resolve()):
            continue
        name = os.fsencode(path.relative_to(root)) + (b"/" if path.is_dir() and not path.is_symlink() else b"")
        if driver.call(root, "check-ignore", "--quiet", "--stdin", "-z", stdin=name)[0] == 0:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
