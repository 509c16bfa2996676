"""Checks agent programs before they start: refuses missing ones and ones that another role could overwrite."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path

from swarmgate.config import PROJECT_FILE, Config, Role, command_lines
from swarmgate.config.command_lines import CommandLine
from swarmgate.errors import ConfigError, MissingRequirement, SwarmError
from swarmgate.workspace.agent_programs.files import (
    agents_of,
    expanded,
    is_path,
    located,
    module,
    program_parts,
    started,
    visible,
    within,
)
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox import unsandboxed_files

JUDGING = frozenset({"critic", "reviewer", "test_engineer"})
"""Roles that give verdicts."""


def problems(config: Config, root: Path, role: str) -> Iterator[SwarmError]:
    """Lists what is missing for the agent programs of one role: a program or a file that does not exist."""
    for _, _, line in agents_of(config, (role,)):
        yield from missing_program(line, root, role)
        if not line.compound and is_path(line) and not located(line.script, root).exists():
            yield _missing(role, f"`{line.script}`", "is not there")


def missing_program(line: CommandLine, root: Path, role: str) -> Iterator[SwarmError]:
    """Reports a command line whose program does not exist."""
    if "/" in line.program:
        if not os.access(located(line.program, root), os.X_OK):
            yield _missing(role, f"the agent program `{line.program}`", "is not there, or not executable")
    elif trusted.find(line.program, root) is None:
        yield MissingRequirement(
            f"the agent program `{line.program}` of role `{role}` was not found: {line.program} is not on PATH "
            "(folders in the repository do not count)",
            hint=f"install it, or set another model in [roles.{role}] of {PROJECT_FILE}",
        )


def require(config: Config, root: Path, roles: Iterable[str]) -> tuple[str, ...]:
    """Requires that agent programs exist and that no other role can write them; returns warnings.

    Raises:
        ConfigError: a role may write what another one's command line names, a judge's program stands where nothing
            can be guarded, or `readable` or `writable` opens the home or the repository.
        MissingRequirement: a program, or a file of one, is not there.
    """
    roles = tuple(roles)
    programs = list(agents_of(config, roles))
    for role in dict.fromkeys(role for role, _, _ in programs):
        for problem in problems(config, root, role):
            raise problem
        _refuse_whole(config.role(role), role, root)
        _refuse_programs(config.role(role), role, root)
    for role, _, line in programs:
        if role in JUDGING:
            _refuse_unguarded(role, line, root)
    _refuse_writers(config, programs, root)
    return (*_shared(config, programs), *_project_runners(programs))


def _refuse_unguarded(role: str, line: CommandLine, root: Path) -> None:
    """A judge's script at the top of the repository may load what stands beside it, and that the coder writes."""
    modules = [word for each in command_lines.commands(line) for word in module(each)]
    if found := next((word for word in modules if located(word, root).is_file()), ""):
        raise ConfigError(
            f"[roles.{role}] model: modules for `python -m` are looked for from the top of the repository, where the "
            f"coder writes, and the role `{role}` judges",
            hint=f"name the file instead of the module: {found}",
        )
    for word in sorted(started(line)):
        place = located(word, root)
        if place.parent == root and place.is_file():
            raise ConfigError(
                f"[roles.{role}] model: `{word}` stands at the top of the repository, and the role `{role}` judges: "
                "files beside it, which the program may load, are the coder's to write",
                hint="move it into a folder of its own, such as agents/, or out of the repository",
            )


def _refuse_whole(role: Role, name: str, root: Path) -> None:
    for key in ("readable", "writable"):
        texts = getattr(role, key)
        for text, place in zip(texts, expanded(texts), strict=True):
            for whole, what in ((Path.home(), "your home folder"), (root, "the repository")):
                if whole.is_relative_to(place):
                    raise ConfigError(
                        f"[roles.{name}] {key} has `{text}`, which holds {what}: it keeps nothing from the program",
                        hint="name the files and folders of the program itself, such as ~/.claude",
                    )


def _refuse_programs(role: Role, name: str, root: Path) -> None:
    """A program that writes what runs with the user's rights would be out of its sandbox."""
    for text, place in zip(role.writable, expanded(role.writable), strict=True):
        if what := unsandboxed_files.opened(root.resolve(), place.resolve(), trusted.given().get("PATH", "")):
            raise ConfigError(
                f"[roles.{name}] writable has `{text}`, and the program could write {what}: that runs with your rights",
                hint="name the files and folders of the program itself, such as ~/.claude",
            )


def _refuse_writers(config: Config, programs: list[tuple[str, Role, CommandLine]], root: Path) -> None:
    writers = {f"[roles.{name}]": (name, role.writable) for name, role, _ in programs}
    writers["[commands]"] = ("", config.commands.writable)
    for role, _, line in programs:
        own = {*visible(line.text, root), *program_parts(line, root)}
        for table, (writer, texts) in writers.items():
            if writer == role:
                continue
            for text, folder in zip(texts, expanded(texts), strict=True):
                if found := next((place for place in sorted(own) if within(place, folder)), None):
                    who = f"the role `{writer}`" if writer else "every role, by its commands,"
                    raise ConfigError(
                        f"{table} writable has `{text}`, and the command line of the role `{role}` runs or reads "
                        f"{found}: {who} could rewrite it, and with it what `{role}` says",
                        hint="move the program out of that folder, or list the folder under `readable`",
                    )


def _shared(config: Config, programs: list[tuple[str, Role, CommandLine]]) -> Iterator[str]:
    """A warning for each folder that a judge shares with another role, both writing."""
    own = {name: dict(zip(role.writable, expanded(role.writable), strict=True)) for name, role, _ in programs}
    own["any role's commands"] = dict(zip(config.commands.writable, expanded(config.commands.writable), strict=True))
    warned: set[frozenset[str]] = set()
    for first, second in permutations(own, 2):
        pair = frozenset((first, second))
        if first not in JUDGING or pair in warned:
            continue
        both = [t for t, a in own[first].items() for b in own[second].values() if within(a, b) or within(b, a)]
        if both:
            warned.add(pair)
            yield (
                f"{first} and {second} may both write {', '.join(dict.fromkeys(both))}: settings that one leaves there "
                f"may steer the verdict of the other; list there under `readable` what is only read ({PROJECT_FILE})"
            )


def _project_runners(programs: list[tuple[str, Role, CommandLine]]) -> Iterator[str]:
    for role, _, line in programs:
        if role in JUDGING and (runner := line.from_project):
            yield (
                f"the program of role {role} is started by `{runner}`, which prefers what it finds in the project, "
                "where the coder writes; install the program and name it itself"
            )


def _missing(role: str, what: str, how: str) -> MissingRequirement:
    return MissingRequirement(
        f"{what} of role `{role}` {how}",
        hint=f"mend the command line in [roles.{role}] of {PROJECT_FILE}; it is run at the top of the repository",
    )
