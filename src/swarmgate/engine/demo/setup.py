"""Sets up `swarm demo`: a small git project, and a scripted model behind a local HTTP endpoint.

Only the words of the models come from a script. Git, the gates, pytest, the ledger and the commits are the real ones.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from swarmgate import assets
from swarmgate.engine.initialise import initialise
from swarmgate.errors import MissingRequirement, UsageError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.process.background import serving
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.choice import choose

GOAL = "Short codes for addresses: encode and decode numbers, and a service that shortens and expands."
_IDENTITY = ("-c", "user.name=swarm demo", "-c", "user.email=demo@swarmgate.invalid")


@contextmanager
def stage(folder: Path, *, live: bool, script: str = "script.yaml", begun: bool = True) -> Iterator[None]:
    """Makes the project in `folder` and keeps the scripted model running for the length of the block.

    Args:
        folder: a new or empty folder.
        live: no scripted model; the endpoint of the user's own settings is used.
        script: the file in the demo's folder that says what the scripted model answers.
        begun: whether it has a ledger, to be worked in; else it has its settings alone, for clones of it.

    Raises:
        UsageError: the folder is not empty.
        MissingRequirement: git or the scripted model cannot be started.
    """
    make_project(folder)
    if begun:
        initialise(folder)
    else:
        SwarmFolder(folder).create()
    server = trusted.module("swarmgate.testing", str(assets.demo() / script), "--until-stdin-closes")
    with nullcontext("") if live else serving(server) as base_url:
        configure(SwarmFolder(folder), base_url)
        yield


def make_project(folder: Path) -> None:
    """Copies the demo's project and commits it."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty.", hint="Name a new folder: swarm demo --dir NEW")
    caches = shutil.ignore_patterns("__pycache__", ".*_cache")
    shutil.copytree(assets.demo() / "project", folder, dirs_exist_ok=True, ignore=caches)
    (folder / "gitignore").rename(folder / ".gitignore")
    for arguments in (
        ("init", "--quiet"),
        ("add", "--all"),
        (*_IDENTITY, "commit", "--quiet", "-m", "A small project"),
    ):
        code, _, text = call(folder, *arguments)
        if code:
            raise UsageError(f"git {arguments[-1]} failed: {text.strip()}")
    _name_the_committer(folder)


def configure(folder: SwarmFolder, base_url: str) -> None:
    """Writes the demo's settings: the tests run with this Python, and the scripted model speaks for every role."""
    text = folder.config.read_text(encoding="utf-8")
    command = json.dumps(f"{sys.executable} -m pytest -q")
    lines = [line for line in text.splitlines() if not line.startswith("command = ")]
    text = "\n".join(lines).replace("[tests]\n", f"[tests]\ncommand = {command}\n", 1) + "\n"
    if base_url:
        text += f'\n[providers.demo]\nbase_url = "{base_url}"\n'
        text += '\n[roles.default]\nmodel = "demo/senior"\n\n[roles.coder]\nmodel = "demo/junior"\n'
        text += "".join(f'\n[prices."demo/{name}"]\ninput = 0\noutput = 0\n' for name in ("senior", "junior"))
        text += _sandbox()
    replace(folder.config, text)


def _sandbox() -> str:
    """Where the machine has no sandbox the script runs without: its commands are all known. A live model never does."""
    try:
        choose()
    except MissingRequirement:
        return '\n[commands]\nsandbox = "none"\n'
    return ""


def _name_the_committer(folder: Path) -> None:
    """In this repository alone, and only where the user has no identity of their own."""
    if call(folder, "config", "user.email")[0]:
        for key, value in (("user.name", "swarm demo"), ("user.email", "demo@swarmgate.invalid")):
            call(folder, "config", key, value)
