"""The doctor: is everything there that the work needs? It looks, spends no tokens and changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

from swarmgate import config as settings
from swarmgate.config import COMMAND, PROJECT_FILE, Config, program_of
from swarmgate.errors import SwarmError
from swarmgate.gates.definition import load as load_gates
from swarmgate.ledger.checks import Check
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.detect import detect
from swarmgate.workspace.repository import Repository
from swarmgate.workspace.sandbox.choice import choose


def examine(folder: SwarmFolder, environ: Mapping[str, str], roles: tuple[str, ...]) -> tuple[Check, ...]:
    """All checks, in the order in which one would mend them.

    Args:
        folder: the project's folder.
        environ: where keys are looked up.
        roles: the roles that need a model.
    """
    checks = [_check("git", lambda: _git(folder)), _check("settings", lambda: _settings(folder, environ))]
    if checks[-1].passed:
        config = settings.load(project_file=folder.config, environ=environ)
        checks.append(_models(config, environ, roles))
        checks.append(_check("tests", lambda: _tests(folder, config)))
        checks.append(_check("sandbox", lambda: _sandbox(config)))
    checks.append(_gates(folder))
    checks.append(_check("ledger", lambda: f"{Ledger.read(folder).state.seq} lines"))
    return tuple(checks)


def _check(name: str, look: Callable[[], str]) -> Check:
    """A check that passes when looking raises nothing."""
    try:
        return Check(name, look())
    except SwarmError as error:
        return Check(name, "", (f"{error.message} {error.hint}".strip(),))


def _git(folder: SwarmFolder) -> str:
    repository = Repository.discover(folder.root)
    repository.require_quiet()
    return f"{repository.root}, branch {repository.branch() or 'none (detached)'}"


def _settings(folder: SwarmFolder, environ: Mapping[str, str]) -> str:
    settings.load(project_file=folder.config, environ=environ)
    return folder.relative(folder.config)


def _models(config: Config, environ: Mapping[str, str], roles: tuple[str, ...]) -> Check:
    problems, models = [], []
    for name in roles:
        try:
            role = config.role(name)
        except SwarmError as error:
            problems.append(f"{error.message} (in {PROJECT_FILE})")
            continue
        models.append(f"{name}={role.model}")
        for model in (role.model, *role.fallback):
            if model.startswith(COMMAND):
                if shutil.which(program_of(model)) is None:
                    problems.append(f"{program_of(model)} is not on PATH; the role {name} needs it.")
                continue
            variable = config.provider(model)[0].api_key_env
            if variable and not environ.get(variable):
                problems.append(f"{variable} is not set; {model} needs it for the role {name}.")
    same = bool(models) and not problems and config.role("coder").model == config.role("reviewer").model
    note = " (coder and reviewer are the same model: it reviews its own work)" if same else ""
    return Check("models", (", ".join(models) or "none") + note, tuple(dict.fromkeys(problems)))


def _tests(folder: SwarmFolder, config: Config) -> str:
    repository = Repository.discover(folder.root)
    detected = detect(folder.root, repository.list_tree(repository.snapshot()))
    return config.tests.command or detected.test_command or "no test command yet; it is detected when tests exist"


def _sandbox(config: Config) -> str:
    found = choose(config.commands.sandbox)
    return "; ".join((found.name, *found.weaknesses))


def _gates(folder: SwarmFolder) -> Check:
    try:
        gates = load_gates(folder.root)
    except SwarmError as error:
        return Check("gates", "", (error.message,))
    problems = [
        f"{gate.id}: {gate.command[0]} is not on PATH. {gate.install_hint}".strip()
        for gate in gates
        if gate.command and gate.required and shutil.which(gate.command[0]) is None
    ]
    return Check("gates", f"{len(gates)} gates", tuple(problems))
