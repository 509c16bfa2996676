"""Creates `.swarm/` for `swarm init`: copies the template and writes the detected settings into it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import ProjectInitialised
from swarmgate.errors import WorkspaceError
from swarmgate.gates.source.behaviour import is_code
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import HighWater
from swarmgate.ledger.ledger import Ledger
from swarmgate.version import __version__
from swarmgate.workspace.detect import detect, packages
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git.concealed.hidden_files import rule_against
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.folder import is_project
from swarmgate.workspace.git.repository import Repository

_GROWN = 50
"""A project with more files of code was there before: no limit of complexity in sum is set that nobody agreed to."""
_NO_NAME = re.compile(r"[^A-Za-z0-9._]+")


class Initialised(Frozen):
    """The result of `swarm init`. `created` is False when the project had been initialised before.

    `earlier` is where the newest lines are kept of a ledger that was here before, and is gone; empty: there was none.
    `repository` is where the work tree begins that the project lies in. `packages` are folders with tests of their own,
    where there are several.
    """

    root: str
    repository: str
    branch: str
    languages: tuple[str, ...]
    test_command: str
    created: bool
    packages: tuple[str, ...] = ()
    earlier: str = ""


def initialise(start: Path) -> Initialised:
    """Makes `.swarm/` in a repository, or in a folder of one, which is then the project and all that it sees.

    Where the folder lies in a project, it is that one: running it again adds what is missing and changes nothing else.

    Raises:
        NotAProject, WorkspaceError, LedgerError: the repository or the folder cannot be used.
    """
    repository = Repository.discover(start)
    if not is_project(repository.root):
        repository = Repository(start.resolve())
        _require_followed(repository)
    folder = SwarmFolder(repository.root)
    created = not folder.config.exists()
    files = repository.list_tree(repository.snapshot())
    detected, found = detect(repository.root, files), packages(repository.root, files)
    found = found if len(found) > 1 else {}
    gone = not folder.exists() and not folder.left_by_work()
    earlier = HighWater(folder.root).put_away() if gone else None  # whoever moved .swarm/ away begins anew
    folder.create()
    if created:
        text = folder.config.read_text(encoding="utf-8")
        text = _set(text, "languages", json.dumps(list(detected.languages)))
        if detected.test_command and sys.executable not in detected.test_command:  # a path of this machine alone
            text = _set(text, "command", json.dumps(detected.test_command))
        if sum(map(is_code, files)) > _GROWN:
            text = re.sub(r"(?m)^(max_complexity_delta = )", r"# \1", text)
        replace(folder.config, text + _proposed(found))
    branch = repository.branch() or ""
    with Ledger.write(folder) as ledger:
        if not ledger.state.initialised:
            event = ProjectInitialised(
                version=__version__,
                branch=branch,
                languages=detected.languages,
                test_command=detected.test_command,
            )
            ledger.append([event], expect=ledger.state.seq, actor="user")
    return Initialised(
        root=str(repository.root),
        repository=str(repository.top),
        branch=branch,
        languages=detected.languages,
        test_command=detected.test_command,
        created=created,
        packages=tuple(found),
        earlier=str(earlier or ""),
    )


def _require_followed(repository: Repository) -> None:
    """Refuses a folder of which git would take nothing in."""
    inside = repository.root != repository.top
    if inside and rule_against(Driver(repository.top), str(repository.root.relative_to(repository.top))):
        raise WorkspaceError(
            f"{repository.root} is ignored by the repository {repository.top}: nothing there could be committed",
            hint=f"git check-ignore -v {repository.root} names the rule; or make it a repository of its own: git init",
        )


def _proposed(found: Mapping[str, str]) -> str:
    """A suite for each package, as comments: only the user knows which of them depend on which."""
    if not found:
        return ""
    lines = ["", "# Packages with tests of their own: a task runs the suites that its files belong to."]
    for folder, command in found.items():
        portable = command.replace(shlex.quote(sys.executable), "python3")
        values = {
            "name": _NO_NAME.sub("-", folder)[-40:].strip("-._"),
            "paths": [folder],
            "folder": folder,
            "command": portable,
        }
        lines += ["# [[tests.suite]]", *(f"# {key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _set(text: str, key: str, value: str) -> str:
    """Fills in the first commented-out `# key = ...` line of the template."""
    return re.sub(rf"(?m)^# {key} = .*$", lambda _: f"{key} = {value}", text, count=1)
