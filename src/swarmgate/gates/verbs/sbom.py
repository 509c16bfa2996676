"""`swarm sbom`: the software bill of materials of the work tree, with the installed versions on request."""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate import config as settings
from swarmgate.errors import UsageError
from swarmgate.gates.confinement import by_hand, unconfined_note
from swarmgate.gates.sbom import cyclonedx, formats, inventory
from swarmgate.gates.sbom.model import UNKNOWN
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.gates.sbom.inventory import Inventory
    from swarmgate.gates.sbom.model import Component

_NAMED = 10
"""Of components without a version, so many are named."""
_NOT_READ = {
    "setup.py": re.compile(rb"\binstall_requires\b"),
    "setup.cfg": re.compile(rb"^install_requires\b", re.MULTILINE),
    "pyproject.toml": re.compile(rb"^dynamic\s*=\s*\[[^\]]*[\"']dependencies[\"']", re.MULTILINE),
}
"""Where a Python project says what it needs by code, or in setuptools' own form."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The document, and what people are told of it. `unreadable`: files that are missing in it, and why."""

    root: Path
    spec: str
    document: bytes
    components: tuple[Component, ...]
    files: tuple[str, ...]
    unreadable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def unversioned(self) -> tuple[str, ...]:
        """The components whose version nothing tells; where nothing tells the name either, the place."""
        lacking = (each for each in self.components if not each.version)
        return tuple(each.url if each.name == UNKNOWN and each.url else each.name for each in lacking)

    @property
    def exit_code(self) -> int:
        """1 where a file could not be read, so that the document is incomplete."""
        return 1 if self.unreadable else 0

    @property
    def _ecosystems(self) -> dict[str, int]:
        return dict(sorted(Counter(each.type for each in self.components).items()))

    def as_json(self, file: Path) -> dict[str, Any]:
        """What is said of a document that was written to a file."""
        return {
            "file": str(file), "spec": self.spec, "bytes": len(self.document), "components": len(self.components),
            "ecosystems": self._ecosystems, "installed": sum(bool(each.origin) for each in self.components),
            "files": list(self.files), "unversioned": list(self.unversioned), "complete": not self.unreadable,
            "unreadable": list(self.unreadable), "notes": list(self.notes),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """The summary for people."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in self._ecosystems.items())
        origins = Counter(each.origin for each in self.components if each.origin)
        text = [f"components: {len(self.components)}{f' ({kinds})' if kinds else ''}, files read: {len(self.files)}"]
        text += [f"{count} as {origin}" for origin, count in origins.items()]
        if self.unversioned:
            more = " ..." if len(self.unversioned) > _NAMED else ""
            text.append(f"{len(self.unversioned)} without a version: {', '.join(self.unversioned[:_NAMED])}{more}")
        text += [f"note: {each}" for each in self.notes]
        return [*text, *(f"INCOMPLETE, cannot be read: {each}" for each in self.unreadable)]


def make(start: Path | None, *, spec: str, environment: bool, everything: bool) -> Bill:
    """The bill of the work tree as it stands, what is not committed included.

    Args:
        start: a folder in the repository; the current one by default.
        spec: the version of CycloneDX.
        environment: whether unlocked Python dependencies get the versions that are installed.
        everything: also what is locked and not brought by a plain install.

    Raises:
        UsageError: there is no such version of CycloneDX, or nothing to list.
        NotAProject, ConfigError: no repository, or settings that cannot be used.
        MissingRequirement: there is no environment, or it cannot be read.
    """
    if spec not in cyclonedx.SPECIFICATIONS:
        known = ", ".join(cyclonedx.SPECIFICATIONS)
        raise UsageError(f"CycloneDX {spec} is not written here", hint=f"--spec is one of: {known}")
    repository = Repository.discover((start or Path.cwd()).resolve(), lenient=True)
    tree = repository.snapshot()
    found, notes = inventory.collect(repository, tree), tuple[str, ...]()
    components, passed = tuple(found.listed(everything=everything)), _not_read(repository, tree)
    if environment:
        components, notes = _with_installed(repository.root, found, components, whole=bool(passed))
    told = "all that is installed is listed" if environment else "--environment lists all that is installed"
    notes = (*notes, *(f"{path} says what it needs in a form that is not read: {told}" for path in passed))
    if not found.kinds and not components:
        raise UsageError(
            f"there is nothing to list: no manifest and no lock file in {repository.root}",
            hint="" if environment else "what a Python environment holds is listed with: swarm sbom --environment",
        )
    name, version = found.root
    document = cyclonedx.render(
        components,
        root=(name or repository.root.name, version),
        declared=found.declared,
        spec=spec,
        timestamp=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        unreadable=[str(each) for each in found.unreadable],
    )
    unreadable = tuple(str(each) for each in found.unreadable)
    return Bill(repository.root, spec, document, components, tuple(found.kinds), unreadable, notes)


def _not_read(repository: Repository, tree: str) -> tuple[str, ...]:
    """The files of the project that may ask for more than what is read."""
    named = [path for path in repository.list_tree(tree) if posixpath.basename(path) in _NOT_READ]
    own = [path for path in named if formats.of(posixpath.join(posixpath.dirname(path), "pyproject.toml"))]
    contents = repository.read_many(tree, own)
    return tuple(path for path, text in sorted(contents.items()) if _NOT_READ[posixpath.basename(path)].search(text))


def _with_installed(
    root: Path, found: Inventory, components: Sequence[Component], *, whole: bool
) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    """The components with what is installed, and notes on it."""
    from swarmgate.gates.sbom import installed  # noqa: PLC0415 - late: only with --environment

    python = [path for path, kind in found.kinds.items() if kind.type == "pypi"]
    prefix, *others = installed.located(root, dict.fromkeys(("", *map(posixpath.dirname, python))))
    commands = settings.load(project_file=root / settings.PROJECT_FILE).commands
    if not (prefix.is_relative_to(root) or root.is_relative_to(prefix)):
        commands = commands.model_copy(update={"readable": (*commands.readable, str(prefix))})
    runner = by_hand(root, commands)
    packages = asyncio.run(installed.read(prefix, root, runner, own=found.root[0]))
    completed = installed.complete(components, packages, whole=whole or not python)
    passed = tuple(f"the environment {each} was not looked at" for each in others)
    return completed.components, (*completed.notes, *passed, *unconfined_note(runner))
