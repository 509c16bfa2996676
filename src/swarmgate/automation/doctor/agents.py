"""The doctor's check of the agents that requests of the council name: whether their models, folders and files exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import SPEAKING, Agent, Config, command_lines, command_of, is_program
from swarmgate.config.council import MOST_SYSTEM
from swarmgate.errors import ConfigError, UsageError
from swarmgate.workspace.agent_programs.rules import missing_program
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.files import guard

NAME = "agents"


def inspect(config: Config, places: Places, environ: Mapping[str, str], root: Path) -> tuple[Problem, ...]:
    """What is not there, in the order of the tables `[agents.NAME]`."""
    return tuple(
        Problem(NAME, f"{name}: {message}", *places.of("agents", name, key), hint, "error")
        for name, agent in config.agents.items()
        for key, message, hint in (*_of_model(name, agent, config, environ, root), *_of_files(agent, root))
    )


def described(config: Config) -> str:
    """Who is known."""
    return ", ".join(f"{name}{f' ({agent.role})' if agent.role else ''}" for name, agent in config.agents.items())


_Found = tuple[str, str, str]
"""The key that it is about, what is wrong, and what to do."""


def _of_model(name: str, agent: Agent, config: Config, environ: Mapping[str, str], root: Path) -> Iterator[_Found]:
    """What keeps its model from being asked: that of its table, its tier, its role, or of participants."""
    role = agent.role or name
    key = "model" if agent.model else "model_tier" if agent.model_tier else "role" if agent.role else "model"
    try:
        model = agent.model or (
            config.tier(agent.model_tier)
            if agent.model_tier
            else config.role(role if role in SPEAKING else "participant").model
        )
    except ConfigError as error:
        yield key, error.message, error.hint
        return
    if is_program(model):
        for missing in missing_program(command_lines.read(command_of(model)), root, "participant"):
            yield key, missing.message, f"install it, or set another model in [agents.{name}]"
    elif (variable := config.provider(model)[0].api_key_env) and not environ.get(variable):
        yield key, f"{variable} is not set; {model} needs it", f"export {variable}=..."


def _of_files(agent: Agent, root: Path) -> Iterator[_Found]:
    """A folder or a file that is not in the repository; a link may lead out of it. Or a file that is no such text."""
    for key, path, there in (("folder", agent.folder, Path.is_dir), ("system_file", agent.system_file, Path.is_file)):
        place = (root / path).resolve()
        inside = place.is_relative_to(root) and not guard.is_reserved(place.relative_to(root).as_posix())
        if path and not (inside and there(place)):
            kind = "folder" if key == "folder" else "file"
            yield key, f"there is no {kind} {path!r} in the repository", "the path is from the root of the repository"
        elif path and key == "system_file":
            yield from ((key, why, "write it as text, shorter") for why in _unreadable(path, root))


def _unreadable(path: str, root: Path) -> Iterator[str]:
    """Why a file cannot be the text of an agent."""
    try:
        size = len(FileTree(root).read(path, limit=2 * MOST_SYSTEM).strip())
    except UsageError as error:
        yield error.message.removesuffix("; use search")
    else:
        if not 0 < size <= MOST_SYSTEM:
            yield f"{path!r} is {f'longer than {MOST_SYSTEM:,} characters' if size else 'empty'}"
