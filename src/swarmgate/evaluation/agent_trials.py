"""`swarm agents`: lists installed agent programs and tries each on a tiny task in the sandbox."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from swarmgate.agents.agent_programs import AgentProgram
from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.context import AgentContext
from swarmgate.agents.guards.permissions import permit
from swarmgate.agents.prompts import Prompts
from swarmgate.agents.tools.tool_table import offered
from swarmgate.config import Commands, Config, Role, command_of, is_program, load, program_of
from swarmgate.domain.base import Frozen
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.usage import Usage
from swarmgate.errors import MissingRequirement, NotAProject, SwarmError, UsageError
from swarmgate.gates import confinement
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.llm.events import ModelEvent, Working
from swarmgate.llm.model import CallFailed, Message, ModelRequest
from swarmgate.llm.programs.command_model import Cause, ProgramFailed
from swarmgate.llm.programs.events import Event
from swarmgate.llm.programs.recipes import RECIPES, Recipe, recipe
from swarmgate.llm.programs.role_models import Programs
from swarmgate.workspace.agent_programs.files import expanded
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.git.driver import call as git
from swarmgate.workspace.process import temporary
from swarmgate.workspace.programs import trusted

TRIAL_S = 180.0
"""Seconds that a program has for the tiny task."""
_VERSION_S = 20.0
_WORD, _READY, _COMMIT = "ready", "ready.txt", "commit.txt"
_ASKS = re.compile(r"\[y/n\]|\(y/n\)|permission|approv|do you trust|not allowed|denied by", re.IGNORECASE)
_TASK = f"Write the file {_READY} at the top of the repository, with the one word `{_WORD}` on one line."
_OPTIONS = "look up how its permission is given (swarm agents list, swarm docs agent-programs#permission)"
_ALONE = "it was tried in a temporary repository with a README.md alone: name files of yours by their full path"
_COMMAND = f"Then run the shell command `git rev-parse HEAD > {_COMMIT}` there. Do nothing else."

_WRITE = "write acp:PROGRAM ARGUMENTS or command:PROGRAM ..."

NOT_FOUND, NO_VARIABLE, ASKED = "not-found", "variable-not-set", "permission-asked"
WROTE_NOTHING, WROTE_OUTSIDE, NO_COMMAND = "wrote-nothing", "wrote-outside", "ran-no-command"
_LACKS = frozenset({NOT_FOUND, NO_VARIABLE, Cause.LOGIN, Cause.NETWORK, Cause.LACKS_FILE})
_UNDONE = frozenset({ASKED, WROTE_NOTHING, WROTE_OUTSIDE, NO_COMMAND, Cause.READ_ONLY})
PROBLEMS = frozenset({*_LACKS, *_UNDONE, Cause.TIME, Cause.OTHER})
"""What can be wrong with a program, by name."""


class Way(Frozen):
    """One way to start a known program: the model for the settings, and where its executable lies, if it is here."""

    model: str
    found: str
    table: str


class Known(Frozen):
    """A known program as it is on this machine; `version` is what it says of itself, empty where it is not here."""

    name: str
    title: str
    version: str
    ways: dict[str, Way]
    env: dict[str, bool]
    """Variables that may hold its key, and whether they are set."""
    install: str
    local: str
    tried: str
    note: str


class Trial(Frozen):
    """The result of the tiny task.

    `problem` names what is wrong, empty where nothing is; `told` says it in words, `hint` what to do. `uses` are the
    tools that the program said that it used.
    """

    name: str
    model: str
    program: str = ""
    version: str = ""
    problem: str = ""
    told: str = ""
    hint: str = ""
    uses: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0: it did the task; 6: something is missing; 1: it did not do what it was told; 5: it failed."""
        if not self.problem:
            return 0
        if self.problem in _LACKS:
            return MissingRequirement.exit_code
        return 1 if self.problem in _UNDONE else CallFailed.exit_code


@dataclass(frozen=True)
class _Asked:
    """What is tried: a name for people, the settings of the role, the sandbox's settings, and where it was asked."""

    name: str
    role: Role
    commands: Commands
    root: Path


def known(environ: Mapping[str, str] = os.environ) -> tuple[Known, ...]:
    """The programs that are known, each with its version where it is here."""
    return asyncio.run(_known(environ))


async def _known(environ: Mapping[str, str]) -> tuple[Known, ...]:
    here = Path.cwd()

    async def one(each: Recipe) -> Known:
        ways = {
            way: Way(model=model, found=trusted.find(each.started_by(way), here) or "", table=each.table(way))
            for way, model in each.ways.items()
        }
        program = trusted.find(each.program, here)
        return Known(
            name=each.name,
            title=each.title,
            version=await _version(each.program) if program else "",
            ways=ways,
            env={name: bool(environ.get(name)) for name in each.env},
            install="; ".join(filter(None, (each.install, each.acp_install))),
            local=each.local,
            tried=each.tried,
            note=each.note,
        )

    return tuple(await asyncio.gather(*map(one, RECIPES)))


async def _version(program: str) -> str:
    """What a program says of its version, confined and without a network; empty where it says nothing."""
    with temporary.folder("version") as place:
        role = Role(model=f"command:{program} --version", network=False, timeout_s=_VERSION_S)
        try:
            ran = await AgentProgram(confinement.by_hand(place), role, {})(
                f"{program} --version", brief="", writes=True
            )
        except SwarmError:
            return ""
    found = re.search(r"\d+(?:\.\w+)+", ran.stdout)
    return found[0] if found and ran.exit_code == 0 else ""


def trial(
    start: Path | None,
    name: str,
    *,
    model: str = "",
    way: str = "",
    env: tuple[str, ...] = (),
    writable: tuple[str, ...] = (),
    timeout_s: float = TRIAL_S,
    environ: Mapping[str, str] = os.environ,
    on_use: Callable[[str], None] = lambda _line: None,
) -> Trial:
    """Have a program do a tiny task in a temporary repository, in the sandbox.

    Args:
        start: where settings are looked for; those of the project where there is one.
        name: a role of the settings, or a known program; empty where `model` says it.
        model: `acp:...` or `command:...`, in the place of what the name means.
        way: `acp`, `events` or `plain`, of a known program.
        env: variables that it gets besides.
        writable: files and folders that it may read and write besides.
        timeout_s: its time.
        environ: where variables stand.
        on_use: hears of each tool that it says it uses.

    Raises:
        UsageError: there is no such role and no such program, or the role's model is none.
        MissingRequirement: nothing can confine it here.
    """
    asked = _asked((start or Path.cwd()).resolve(), name, model, way, environ)
    more = {"env": (*asked.role.env, *env), "writable": (*asked.role.writable, *writable), "timeout_s": timeout_s}
    asked = replace(asked, role=_role({**asked.role.model_dump(exclude_unset=True), **more}))
    program = program_of(asked.role.model)
    if not program.isprintable() or not program:
        raise UsageError(f"`{asked.role.model}` names no program", hint=_WRITE)
    made = Trial(name=asked.name, model=asked.role.model, program=trusted.find(program, asked.root) or "")
    if not made.program and "/" not in program:
        known_as = recipe(program)
        told = f"{program} is not on PATH (folders in the repository do not count)"
        hint = f"install it: {known_as.install}" if known_as else "install it"
        if made.model.startswith("acp:") and (
            by := next((each for each in RECIPES if each.acp.startswith(program)), None)
        ):
            hint = f"install it: {by.acp_install or by.install}"
        return made.model_copy(update={"problem": NOT_FOUND, "told": told, "hint": hint})
    missing = [each for each in asked.role.env if not environ.get(each)]
    if missing:
        told = f"{', '.join(missing)}: named in `env`, and not set"
        return made.model_copy(update={"problem": NO_VARIABLE, "told": told, "hint": f"export {missing[0]}=..."})
    return asyncio.run(_Running(asked, made, environ, on_use).tried())


def _asked(here: Path, name: str, model: str, way: str, environ: Mapping[str, str]) -> _Asked:
    root, config = _settings(here)
    if model:
        if not is_program(model):
            raise UsageError(f"`{model}` is no agent program", hint=_WRITE)
        role = _role({"model": model})
        return _Asked(name or program_of(model), role, config.commands, root)
    if name in config.roles or (name and "default" in config.roles and recipe(name) is None and name in _ROLES):
        role = config.role(name)
        if not is_program(role.model):
            raise UsageError(
                f"the role `{name}` is {role.model}, which is no agent program", hint="see: swarm agents list"
            )
        return _Asked(name, role, config.commands, root)
    found = recipe(name)
    if found is None:
        names = ", ".join(each.name for each in RECIPES)
        raise UsageError(f"`{name}` is no role with settings and no known program", hint=f"known: {names}; or --model")
    if way and way not in found.ways:
        raise UsageError(f"{found.title} does not speak that way: {way}", hint=f"it speaks {', '.join(found.ways)}")
    here_now = (each for each in found.ways if trusted.find(found.started_by(each), root))
    chosen = way or next(here_now, next(iter(found.ways)))
    return _Asked(found.name, _role(_opened(found, chosen, environ)), config.commands, root)


def _role(values: Mapping[str, object]) -> Role:
    """The settings of a role as options say them; a `UsageError` names the option that does not fit."""
    try:
        return Role.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key, why = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
        if key == "model":
            output = f": {why}" if command_of(str(values[key])) else ""
            raise UsageError(f"`{values[key]}` is no agent program{output}", hint=_WRITE) from None
        raise UsageError(f"`{key}` {why}", hint="swarm agents test --help") from None


def _opened(found: Recipe, way: str, environ: Mapping[str, str]) -> dict[str, object]:
    """The settings of a known program: its key where one is set, else what a login by hand left."""
    keys = tuple(name for name in found.env if environ.get(name))[:1]
    login = (
        ()
        if keys
        else tuple(path for path, place in zip(found.login, expanded(found.login), strict=True) if place.exists())
    )
    return {"model": found.ways[way], "env": keys, "writable": login}


_ROLES = frozenset({"architect", "critic", "coder", "reviewer", "test_engineer", "sme", "participant"})


def _settings(here: Path) -> tuple[Path, Config]:
    if not here.is_dir():
        raise NotAProject(f"There is no folder {here}.")
    try:
        folder = SwarmFolder.find(here)
    except NotAProject:
        return here, load()
    return folder.root, load(project_file=folder.config)


@dataclass
class _Running:
    """One trial: its repository, what was heard, and what is judged in the end."""

    asked: _Asked
    made: Trial
    environ: Mapping[str, str]
    on_use: Callable[[str], None]

    def __post_init__(self) -> None:
        self.uses: list[str] = []
        self.refused: list[str] = []
        known_as = recipe(program_of(self.made.model))
        self.commands = known_as is None or known_as.commands

    async def tried(self) -> Trial:
        """Runs it; a failure is a result."""
        began = time.monotonic()
        with temporary.folder("trial") as top:
            place = top / "repository"
            head = _repository(place)
            output, usage, failed = await self._ran(place)
            found = self._failed(failed, place) if failed else self._judged(place, head, output)
        version = await _version(self.made.program) if self.made.program else ""
        rest = {"version": version, "uses": tuple(self.uses), "usage": usage, "seconds": time.monotonic() - began}
        return found.model_copy(update=rest)

    async def _ran(self, place: Path) -> tuple[str, Usage, CallFailed | None]:
        commands = confinement.confined(place, self.asked.commands)
        name, role = self.made.model, self.asked.role
        start = AgentProgram(
            commands,
            role,
            self.environ,
            permits=lambda asked, folder, writes: permit(
                agent, asked, folder=folder, writes=writes, network=role.network
            ),
        )
        programs = Programs("coder", role, "coder", lambda _role: start, on_event=self._on_event)
        model = programs.model(name, on_event=self._denied)
        agent = AgentContext(
            model=model, files=FileTree(place), prompts=Prompts(), commands=commands, on_guard=self._noted
        )
        try:
            reply = await model.complete(_request(_TASK if not self.commands else f"{_TASK}\n{_COMMAND}"))
        except CallFailed as error:
            return "", error.usage, error
        finally:
            await programs.end_turn()
        return reply.text, reply.usage, None

    def _on_event(self, event: ModelEvent) -> None:
        if isinstance(event, Working):
            self.uses.append(event.text)
            self.on_use(event.text)

    def _denied(self, event: Event) -> None:
        self.refused += event.denied

    def _noted(self, note: GuardNote) -> None:
        if note.effect is Effect.REFUSED:
            self.refused.append(note.detail)

    def _failed(self, error: CallFailed, place: Path) -> Trial:
        cause, output = (
            (error.cause, error.complaint) if isinstance(error, ProgramFailed) else (Cause.OTHER, error.message)
        )
        asks = cause in {Cause.TIME, Cause.OTHER} and (self.refused or _ASKS.search(output))
        problem = ASKED if asks and not (place / _READY).exists() else str(cause)
        if cause is Cause.TIME:  # the limit is that of the trial, not one of the settings
            hint = _OPTIONS if problem == ASKED else "give it more time (--timeout SECONDS), or make it faster"
            return self._wrong(problem, error.message.replace(", [roles.coder] timeout_s", ""), hint)
        hint = f"{_ALONE}; {error.hint}" if cause is Cause.LACKS_FILE else error.hint
        return self._wrong(problem, error.message, hint)

    def _judged(self, place: Path, head: str, output: str) -> Trial:
        """What the files say; words count for nothing."""
        files = {each.relative_to(place).as_posix() for each in place.rglob("*") if each.is_file()}
        files = {each for each in files if not each.startswith(".git/")}
        words = f"it said: {' '.join(output.split())[-300:] or 'nothing'}"
        asked = f"it was not permitted: {'; '.join(self.refused)[:300]}" if self.refused else ""
        outside = sorted(files - {"README.md", _READY, _COMMIT})
        if _READY not in files:
            if asked or _ASKS.search(output):
                return self._wrong(ASKED, asked or words, _OPTIONS)
            return self._wrong(WROTE_NOTHING, f"it ended, and {_READY} is not there; {words}", _OPTIONS)
        if (place / _READY).read_text("utf-8", "replace").strip() != _WORD:
            return self._wrong(
                WROTE_NOTHING, f"{_READY} does not hold what was asked for; {words}", "try another model"
            )
        if outside:
            told = f"it left files that nobody asked for: {', '.join(outside[:5])}"
            return self._wrong(WROTE_OUTSIDE, told, "look for the options that switch its own files off")
        if not self.commands:
            return self.made
        if _COMMIT not in files or (place / _COMMIT).read_text("utf-8", "replace").strip() != head:
            problem = ASKED if asked or _ASKS.search(output) else NO_COMMAND
            return self._wrong(problem, f"it wrote a file, and ran no command; {asked or words}", _OPTIONS)
        return self.made

    def _wrong(self, problem: str, told: str, hint: str) -> Trial:
        return self.made.model_copy(update={"problem": problem, "told": told, "hint": hint})


def _repository(place: Path) -> str:
    """A repository with one commit; gives its id."""
    place.mkdir()
    (place / "README.md").write_text("# A trial\n", encoding="utf-8")
    who = ("-c", "user.name=swarmgate", "-c", "user.email=swarmgate@localhost", "-c", "commit.gpgsign=false")
    steps = (("init", "--quiet", "--template="), ("add", "README.md"), (*who, "commit", "--quiet", "-m", "A trial"))
    for arguments in (*steps, ("rev-parse", "HEAD")):
        code, out, output = git(place, *arguments)
        if code:
            raise UsageError(f"no repository for the trial could be made: {output.strip()[:300]}")
    return out.decode().strip()


def _request(task: str) -> ModelRequest:
    brief = Brief("coder", "code", files=(_READY, _COMMIT), sections=(Section("Your task", task),))
    prompts = Prompts()
    return ModelRequest(
        messages=(
            Message(role="system", content=prompts.render("coder", "code")),
            Message(role="user", content=brief.text()),
        ),
        tools=tuple(tool.spec for tool in offered("coder", "code")),
        instructions=prompts.render("coder", "code", program=True),
    )
