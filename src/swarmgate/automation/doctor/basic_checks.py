"""The doctor's basic checks: git, settings, models, programs, tests, sandbox, gates, guidance, ledger."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from swarmgate import config as settings
from swarmgate.config import PROJECT_FILE, Config, is_program
from swarmgate.errors import LedgerRolledBack, SwarmError
from swarmgate.gates.definition import load as load_gates
from swarmgate.ledger.check import Check
from swarmgate.ledger.context import guidance
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.witness.witness import RESTORE
from swarmgate.workspace.agent_programs import rules as agent_rules
from swarmgate.workspace.agent_programs.files import agents_of
from swarmgate.workspace.detect import detect
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.test_runs.suites import suites_of

NEED_SETTINGS = ("models", "tests", "sandbox")
"""The checks that are not made where the settings cannot be read; `programs` alone is made only where there are any."""

_NAME_THEM = '-> [roles.default] model = "PROVIDER/NAME" is for all: swarm docs models'

Suite = Callable[[SwarmFolder, Config], Check]
"""Looks at the test command."""


def examine(
    folder: SwarmFolder, environ: Mapping[str, str], roles: tuple[str, ...], suite: Suite | None = None
) -> tuple[Check, ...]:
    """All checks, in the order in which one would mend them.

    Args:
        folder: the project's folder.
        environ: where keys are looked up.
        roles: the roles that need a model.
        suite: asks the test command what it would run; None: it is named alone.
    """
    checks = [_check("git", lambda: _git(folder)), _check("settings", lambda: _settings(folder, environ))]
    if checks[-1].passed:
        config = settings.load(project_file=folder.config, environ=environ)
        checks.append(_models(config, environ, roles))
        checks += _programs(folder, config, roles)
        checks.append(_suite(folder, config, suite))
        checks.append(_sandbox(folder, config))
    checks.append(_gates(folder))
    checks.append(_guidance(folder))
    checks.append(_check("ledger", lambda: _ledger(folder)))
    return tuple(checks)


def _check(name: str, inspect: Callable[[], str]) -> Check:
    """A check that passes when looking raises nothing."""
    try:
        return Check(name, inspect())
    except SwarmError as error:
        return Check.failed(name, error)


def _git(folder: SwarmFolder) -> str:
    repository = Repository.discover(folder.root)
    repository.require_quiet()
    return f"{repository.root}, branch {repository.branch() or 'none (detached)'}"


def _ledger(folder: SwarmFolder) -> str:
    ledger = Ledger.read(folder)
    if ledger.lost:
        raise LedgerRolledBack(ledger.lost, hint=RESTORE)
    lines = ledger.state.seq
    return f"{lines} line{'' if lines == 1 else 's'}"


def _settings(folder: SwarmFolder, environ: Mapping[str, str]) -> str:
    settings.load(project_file=folder.config, environ=environ)
    return folder.relative(folder.config)


def _models(config: Config, environ: Mapping[str, str], roles: tuple[str, ...]) -> Check:
    problems, models, unnamed = [], [], False
    for name in roles:
        try:
            role = config.role(name)
        except SwarmError as error:
            problems.append(f"{error.message} (in {PROJECT_FILE})")
            unnamed = True
            continue
        models.append(f"{name}={role.model}")
        for model in (role.model, *role.fallback):
            if is_program(model):
                continue  # see _programs
            variable = config.provider(model)[0].api_key_env
            if variable and not environ.get(variable):
                problems.append(f"{variable} is not set; {model} needs it for the role {name}.")
    if unnamed:
        problems.append(_NAME_THEM)
    same = bool(models) and not problems and config.role("coder").model == config.role("reviewer").model
    note = " (coder and reviewer are the same model: it reviews its own work)" if same else ""
    return Check("models", (", ".join(models) or "none") + note, tuple(dict.fromkeys(problems)))


def _programs(folder: SwarmFolder, config: Config, roles: tuple[str, ...]) -> list[Check]:
    """Agent programs: whether they and their files are there, and whether another role could write them."""
    root = folder.root.resolve()
    found = [each for role in roles for each in agent_rules.problems(config, root, role)]
    warnings: tuple[str, ...] = ()
    try:
        warnings = agent_rules.require(config, root, roles)
    except SwarmError as error:
        found.append(error)
    problems = dict.fromkeys(f"{each.message} -> {each.hint}" for each in found)
    description = ", ".join(f"{name}={line.text}" for name, _, line in agents_of(config, roles))
    return [Check("programs", description, tuple(problems), warnings)] if description else []


def _suite(folder: SwarmFolder, config: Config, inspect: Suite | None) -> Check:
    try:
        return inspect(folder, config) if inspect else Check("tests", _tests(folder, config))
    except SwarmError as error:
        return Check.failed("tests", error)


def _tests(folder: SwarmFolder, config: Config) -> str:
    repository = Repository.discover(folder.root)
    detected = detect(folder.root, repository.list_tree(repository.snapshot()))
    return suites_of(config.tests, detected.test_command).text or "no test command yet; it is detected when tests exist"


def _sandbox(folder: SwarmFolder, config: Config) -> Check:
    """What confines commands, and what the settings open to them."""
    settings = config.commands
    try:
        found = choose(settings.sandbox)
        if found.name != "none":
            confine(folder.root, environ=trusted.given(), readable=settings.readable, writable=settings.writable)
    except SwarmError as error:
        return Check.failed("sandbox", error)
    left_out = [
        *(("readable", each, "nothing is there") for each in settings.readable if not _place(each).exists()),
        *(("writable", each, "there is no such folder") for each in settings.writable if not _place(each).is_dir()),
    ]
    missing = tuple(f"[commands] {key}: {each} is left out: {why}" for key, each, why in left_out)
    return Check("sandbox", "; ".join((found.name, *found.weaknesses, *found.hindrances)), (), missing)


def _guidance(folder: SwarmFolder) -> Check:
    """Answers of experts that are used, and what a hand has mistyped: nothing that work has to wait for."""
    path = folder.relative(folder.context)
    try:
        entries = guidance.read(folder.context)
        standing = sum(each.stands for each in entries)
        facts = f", {standing} standing facts" if standing else ""
        found = f"{len(entries) - standing} answers{facts} in {path}"
    except SwarmError as error:
        return Check.failed("guidance", error)
    return Check("guidance", found, warnings=guidance.mistake_notices(folder.context, path))


def _place(path: str) -> Path:
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser() raises where there is no home


def _gates(folder: SwarmFolder) -> Check:
    try:
        gates = load_gates(folder.root)
    except SwarmError as error:
        return Check("gates", "", (error.message,))
    problems = [
        f"{gate.id}: {gate.command[0]} is not on PATH. {gate.install_hint}".strip()
        for gate in gates
        if gate.command and gate.required and trusted.located(gate.command[0], folder.root) is None
    ]
    return Check("gates", f"{len(gates)} gates", tuple(problems))
