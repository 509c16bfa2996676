"""Lists the repository files that a role's agent program consists of or takes instructions from.

Who can write the program of a role that judges, or the file that tells it how to judge, writes the verdict. So what a
command line names in the repository is nobody's to write, and neither are the files by which coding agents are
instructed. What lies elsewhere is looked at by `agent_rules`.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from swarmgate.config import Config, Role, command_lines, command_of, is_program
from swarmgate.config.command_lines import CommandLine
from swarmgate.errors import ConfigError
from swarmgate.workspace.agent_programs.modules import required_files
from swarmgate.workspace.programs import trusted

INSTRUCTIONS = (
    "CLAUDE.md", "CLAUDE.local.md", ".claude", ".mcp.json", "AGENTS.md", "AGENTS.override.md", ".codex", "GEMINI.md",
    ".gemini", ".cursor", ".cursorrules", "opencode.json", "opencode.jsonc", ".opencode", ".aider.conf.yml",
    ".aider.model.settings.yml", ".env",
)  # fmt: skip
"""Files and folders of a repository that coding agents are instructed by, wherever they stand in it. `.env` sets the
options of aider and the endpoint of Gemini CLI."""

_ENVIRONMENT = "pyvenv.cfg"
_PACKAGES = "node_modules"


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """The files that belong to the agent programs of a run.

    Attributes:
        root: the repository.
        guarded: what there is of it now, for the sandbox: files and folders.
        closed: the same as globs, and what may not come to be.
        names: of the files that instruct, in lower case; none where no role is an agent program.
        present: those of them that are there now, repository-relative.
    """

    root: Path
    guarded: tuple[Path, ...] = ()
    closed: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()

    def planted(self, files: Iterable[str]) -> tuple[str, ...]:
        """Files that instruct and were not there before, git's ignored ones too; beside these files of the tree."""
        return tuple(sorted(_instructing(self.root, self.names, files) - self.present))


def survey(config: Config, root: Path, roles: Iterable[str], files: Callable[[], Iterable[str]]) -> AgentFiles:
    """Collects the files that belong to the agent programs of these roles.

    Args:
        config: the settings.
        root: the repository.
        roles: that may speak.
        files: gives those of the tree, repository-relative: where instructions are looked for, besides the top.
    """
    programs = list(agents_of(config, roles))
    if not programs:
        return AgentFiles(root)
    opened = {part for own in config.authority.values() for glob in own.allow for part in glob.split("/")}
    names = frozenset(name.lower() for name in INSTRUCTIONS if name not in opened)
    belonging = dict.fromkeys(place for _, _, line in programs for place in program_parts(line, root))
    there = [root / entry for entry in sorted(_instructing(root, names, ()))]
    guarded = {place for each in (*belonging, *there) if root in (place := each.resolve()).parents}
    closed = [place.relative_to(root).as_posix() for place in (*belonging, *sorted(guarded))]
    return AgentFiles(
        root=root,
        guarded=tuple(place for place in sorted(guarded) if guarded.isdisjoint(place.parents)),
        closed=(*dict.fromkeys(closed), *(f"**/{name}" for name in INSTRUCTIONS if name.lower() in names)),
        names=names,
        present=frozenset(_instructing(root, names, files())),
    )


def visible(command: str, root: Path) -> tuple[Path, ...]:
    """Existing files outside of the repository that a command line names, its program, and what that is loaded with.

    A sandbox has to show them.

    `command` is without `command:`.
    """
    line = command_lines.read(command)
    found = [place for place in named(line, root) if not place.is_relative_to(root)]
    if program := trusted.find(line.program, root):
        found.append(Path(program))
    needed = [each for place in found for each in (place, *required_files(place, root))]
    return tuple(dict.fromkeys(path for place in needed for path in (place, place.resolve())))


def expanded(paths: Iterable[str]) -> tuple[Path, ...]:
    """Resolves paths to absolute ones; a relative one is taken from the home, as in `[commands]`."""
    return tuple(Path(os.path.normpath(Path.home() / path.removeprefix("~/").removeprefix("~"))) for path in paths)


def agents_of(config: Config, roles: Iterable[str]) -> Iterator[tuple[str, Role, CommandLine]]:
    """The command lines of these roles, fallbacks too, each with its role's name and settings."""
    for name in roles:
        try:
            role = config.role(name)
        except ConfigError:
            continue
        for model in dict.fromkeys((role.model, *role.fallback)):
            if is_program(model):
                yield name, role, command_lines.read(command_of(model))


def located(word: str, root: Path) -> Path:
    """Resolves a word of a command line to the path that it names when it is run in the repository."""
    home = str(Path.home())
    for short in ("~/", "$HOME/", "${HOME}/"):
        if word.startswith(short):
            word = f"{home}/{word.removeprefix(short)}"
    return Path(os.path.normpath(root / word))


def named(line: CommandLine, root: Path) -> Iterator[Path]:
    """Files that the command line names, and folders that a program is started from."""
    words = list(command_lines.mentioned(line))
    starts = {*started(line), *(after for before, after in pairwise(words) if before == "cd")}
    for word in dict.fromkeys((*words, *starts)):
        if "\0" in word or len(word) > os.pathconf("/", "PC_PATH_MAX"):
            continue
        place = located(word, root)
        try:
            wanted = place.is_file() or (word in starts and place.is_dir())
        except OSError:  # too long a name: no path
            continue
        if wanted and place != root:
            yield place


def started(line: CommandLine) -> frozenset[str]:
    """Lists the words that are executed: scripts, modules as files, and programs by their path."""
    found: set[str] = set()
    for each in command_lines.commands(line):
        found |= {each.script, each.program if "/" in each.program else "", *module(each)}
    return frozenset(found - {""})


def module(line: CommandLine) -> Iterator[str]:
    """The files that `python -m a.b` may mean in the folder that it is started in."""
    if line.script and not line.is_file and line.runner in {"python", "pypy", "uv run"}:
        path = line.script.replace(".", "/")
        yield from (f"{path}.py", f"{path}/__main__.py")


def is_path(line: CommandLine) -> bool:
    """Whether the script is the path of a file, without anything that the shell would replace."""
    return line.is_file and not any(char in line.script for char in "${}*?")


def program_parts(line: CommandLine, root: Path) -> Iterator[Path]:
    """Lists the repository files that make up a command line's program: named files, and the folder of its script."""
    for place in named(line, root):
        if not place.is_relative_to(root):
            continue
        yield place
        yield from _around(place, line, root)


def _around(place: Path, line: CommandLine, root: Path) -> Iterator[Path]:
    """The folder of a script, which it may import from; the whole environment that an interpreter lies in."""
    for folder in place.parents:
        if folder == root:
            break
        if folder.name == _PACKAGES or (folder / _ENVIRONMENT).is_file():
            yield folder
    if place in {located(word, root) for word in started(line)} and place.is_file() and place.parent != root:
        yield place.parent
        if place.suffix in {".js", ".mjs", ".cjs", ".ts", ".mts"} and (root / _PACKAGES).is_dir():
            yield root / _PACKAGES


def _instructing(root: Path, names: frozenset[str], files: Iterable[str]) -> set[str]:
    """Files and folders that instruct, at the top and beside these files; a file in such a folder counts itself."""
    folders = {"", *(parent for path in files for parent in _parents(path))}
    found = set()
    for folder in sorted(folders) if names else ():
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            continue
        for entry in entries:
            if entry.name.lower() in names:
                place = posixpath.join(folder, entry.name)
                found.add(place)
                if entry.is_dir(follow_symlinks=False):
                    found |= {f.relative_to(root).as_posix() for f in Path(entry.path).rglob("*")}
    return found


def _parents(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def within(place: Path, folder: Path) -> bool:
    """Whether a place lies in a folder, by its name or by where links lead."""
    places, folders = {place, place.resolve()}, {folder, folder.resolve()}
    return any(one.is_relative_to(other) for one in places for other in folders)
