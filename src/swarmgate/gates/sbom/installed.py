"""Reads with cyclonedx-py what a Python environment holds, and gives unlocked dependencies their versions."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import MissingRequirement
from swarmgate.gates.project.environment import VARIABLES, Environment
from swarmgate.gates.sbom.model import Component, component, normal
from swarmgate.gates.tools.run import OUTPUT_LIMIT, excerpt
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

_PYTHON = "bin/python"
_TIMEOUT_S = 120.0
"""An environment of 100 packages takes cyclonedx-py 0.7 s."""
_FORM = ("--of", "JSON", "--sv", "1.6", "--no-validate", "--output-reproducible", "-o", "-")


@dataclass(frozen=True, slots=True)
class Installed:
    """The packages of an environment by their normalised names; `place` is its folder, as people name it."""

    place: str
    packages: Mapping[str, Component]


@dataclass(frozen=True, slots=True)
class Completed:
    """Components with the versions that are installed, and what differs from what the tree's files say."""

    components: tuple[Component, ...]
    notes: tuple[str, ...] = ()


def located(root: Path, folders: Iterable[str]) -> tuple[Path, ...]:
    """The folders of the project's environments: its own before the active one.

    Where there is no other, that may be swarmgate's own: who installed the project's dependencies beside it means that.

    Args:
        root: of the repository.
        folders: those below it where an environment may lie.

    Raises:
        MissingRequirement: there is none with a Python.
    """
    found = Environment(root, folders).prefixes
    active = (Path(os.environ[name]) for name in VARIABLES if os.environ.get(name))
    usable = _with_python(found) or _with_python(active)
    broken = next((each for each in found if (each / "pyvenv.cfg").is_file() and each not in usable), None)
    if broken or not usable:
        reason = f"{broken} has no {_PYTHON}" if broken else "neither in it (.venv) nor an active one"
        raise MissingRequirement(
            f"there is no Python environment of {root}: {reason}",
            hint="make one and install the project into it: python3 -m venv .venv && .venv/bin/pip install -e .",
        )
    return usable


def _with_python(prefixes: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(each for each in prefixes if (each / _PYTHON).is_file())


async def read(prefix: Path, root: Path, commands: CommandRunner, *, own: str) -> Installed:
    """The packages of an environment.

    Args:
        prefix: its folder.
        root: of the repository.
        commands: confines cyclonedx-py and the Python of the environment, which it starts: code of the work tree.
        own: the name of the project itself, which is no component of its own.

    Raises:
        MissingRequirement: cyclonedx-py did not do its work.
    """
    argv = trusted.module("cyclonedx_py", "environment", *_FORM, str(prefix))
    done = await commands.run(argv, timeout_s=_TIMEOUT_S, output_limit=OUTPUT_LIMIT)
    try:
        if not done.ok:
            raise ValueError("it was stopped at its time limit" if done.timed_out else f"exit code {done.exit_code}")
        packages = _packages(json.loads(done.stdout))
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        output = excerpt(done.stderr[-2_000:])
        raise MissingRequirement(
            f"cyclonedx-py could not read the environment {prefix}: {error}{f': {output}' if output else ''}",
            hint=f"try: {prefix / _PYTHON} -m pip check; [commands] readable names what it needs elsewhere",
        ) from error
    packages.pop(normal("pypi", own), None)
    return Installed(prefix.relative_to(root).as_posix() if prefix.is_relative_to(root) else str(prefix), packages)


def _packages(document: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Component]:
    """The components of cyclonedx-py's document, as ours.

    What is installed from a folder has no purl. What an environment and the one below it hold in several versions has
    none: the document does not tell which one Python would import.
    """
    found = document.get("components", ())
    names = {each["bom-ref"]: normal("pypi", each["name"]) for each in found}
    own: dict[str, Component] = {}
    for each in found:
        item, before = _component(each), own.get(names[each["bom-ref"]])
        own[names[each["bom-ref"]]] = item if before in (None, item) else component("pypi", item.name)
    needs: dict[str, set[str]] = {}
    for row in document.get("dependencies", ()):
        if row["ref"] in names:
            reached = (own[names[ref]].ref for ref in row.get("dependsOn", ()) if ref in names)
            needs.setdefault(names[row["ref"]], set()).update(reached)
    return {name: replace(each, depends=tuple(sorted(needs.get(name, ())))) for name, each in own.items()}


def _component(each: Mapping[str, Any]) -> Component:
    address = each.get("purl", "")
    item = component("pypi", each["name"], each["version"], local=not address)
    # The purl that it has may say more than name and version: the commit of a repository, an archive.
    return replace(item, purl=address, ref=address) if address else item


def complete(components: Sequence[Component], installed: Installed, *, whole: bool) -> Completed:
    """Gives unlocked Python components their installed versions, and adds what those need in turn.

    What a file of the tree pins stays as it is; where another version is installed, that is a note.

    Args:
        components: those of the tree's files.
        installed: the packages of the environment.
        whole: every package, because no file that is read says all that the project needs.
    """
    python = [each for each in components if each.type == "pypi"]
    loose = {each.key[1]: each for each in python if _is_loose(each)}
    pinned = {each.key[1]: each for each in python if each.key[1] not in loose}
    wanted = _closure([*loose, *(installed.packages if whole else ())], installed.packages, pinned)
    fresh = {name: _versioned(installed, name, loose.get(name)) for name in wanted}
    there = installed.packages
    now = {there[name].ref: each.ref for name, each in (pinned | fresh).items() if name in there}
    now |= {each.ref: fresh[name].ref for name, each in loose.items() if name in fresh}
    kept = (each for each in components if each.ref not in now or not _is_loose(each))
    settled = {each.ref: _pointing(each, now) for each in (*fresh.values(), *kept)}
    notes = (*_differing(pinned, installed), *_untold(loose, fresh, installed))
    return Completed(tuple(settled[ref] for ref in sorted(settled)), notes)


def _is_loose(each: Component) -> bool:
    """Whether it is a Python package whose version no file of the tree says."""
    return each.type == "pypi" and bool(each.purl) and (not each.version or "*" in each.version)


def _closure(names: Sequence[str], packages: Mapping[str, Component], pinned: Container[str]) -> set[str]:
    """The installed packages of these names, and all that they need but what a file of the tree pins."""
    by_ref = {each.ref: name for name, each in packages.items()}
    found, todo = set[str](), list(names)
    while todo:
        name = todo.pop()
        if name not in found and name not in pinned and name in packages:
            found.add(name)
            todo += [by_ref[ref] for ref in packages[name].depends if ref in by_ref]
    return found


def _versioned(installed: Installed, name: str, asked: Component | None) -> Component:
    """A package as it is installed, with what the file that asks for it says of its source."""
    found = replace(installed.packages[name], origin=f"installed in {installed.place}")
    return replace(found, hashes=asked.hashes, url=asked.url) if asked else found


def _pointing(each: Component, now: Mapping[str, str]) -> Component:
    depends = tuple(sorted({now.get(ref, ref) for ref in each.depends}))
    return each if depends == each.depends else replace(each, depends=depends)


def _differing(pinned: Mapping[str, Component], installed: Installed) -> list[str]:
    """Packages of which the tree's files pin another version than the one that is installed."""
    both = ((each, installed.packages.get(name)) for name, each in sorted(pinned.items()) if each.version)
    return [
        f"{each.name} is pinned at {each.version}, and {other.version} is installed in {installed.place}"
        for each, other in both
        if other is not None and not _is_same(each.version, other.version)
    ]


def _is_same(one: str, other: str) -> bool:
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - late: 15 ms

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def _untold(loose: Iterable[str], fresh: Mapping[str, Component], installed: Installed) -> list[str]:
    """Dependencies whose version nothing tells."""
    lacking = sorted(name for name in loose if name not in fresh)
    several = sorted(name for name, each in fresh.items() if each.purl and not each.version)
    return [
        *(f"{name} is not installed in {installed.place}: it has no version" for name in lacking),
        *(f"{name} is there in several versions for {installed.place}: none is told" for name in several),
    ]
