"""Creates agent contexts: model, usage meter, budgets, tools, sandboxed commands and traces of each role.

The loop and the councils make theirs here. A role of the loop works on the user's tree; the voice of a council has its
own words in the system message, and only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from swarmgate.agents.agent_programs import AgentProgram
from swarmgate.agents.authority.authority import Authority, Right
from swarmgate.agents.briefs.house_rules import HouseRulesOf
from swarmgate.agents.briefs.house_rules import none as no_rules
from swarmgate.agents.briefs.prior_knowledge import standing
from swarmgate.agents.context import DEFAULT_WINDOW, AgentContext, Limits, ToolUse, ignore, ignore_words
from swarmgate.agents.guards.permissions import permit
from swarmgate.agents.prompts import Prompts
from swarmgate.config import PROJECT_FILE, Config, Role, is_program
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CommandRefused, ConfigError, CouncilRefused, UnsafePath
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.capabilities.settings import compact_roles, current, steered
from swarmgate.llm.connect import connect
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import OnEvent
from swarmgate.llm.events import ignore as nobody
from swarmgate.llm.limits.account import AccountLimits
from swarmgate.llm.programs.acp_session import Asked
from swarmgate.llm.wrappers.trace import Recorder
from swarmgate.project import Project
from swarmgate.workspace.agent_programs.files import survey
from swarmgate.workspace.agent_programs.rules import JUDGING, require
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.files import guard
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process.process import Completed
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confinement import GUARDED, Confinement

PARTICIPANT, PARENT = "participant", "architect"


def memory_of(project: Project) -> ModelMemory:
    """The known capabilities of a project's models; calls add what they find out."""
    return ModelMemory(current(project.config, project.probed()), store=project.remember)


@dataclass
class AgentContexts:
    """Makes what each role speaks with, once; a model is connected when it is first needed.

    `config` are the settings that hold here, `environ` is where keys stand: a copy, since a run withholds them from the
    process's own while it works. `budget` is checked before each call, `recorder` keeps the calls. `meters`
    gets the models made, by the name under which their use is told: `coder`, of a voice `participant local/senior`.
    `guidance` gives voices what the project has written down on what they are asked.
    `limits` is what all of them know of limits; None: each for itself. `prompts` and `commands` are those of the roles
    that work on the tree, and `equipped` adds what the loop guards them with.
    """

    project: Project
    config: Config
    environ: Mapping[str, str]
    repository: Repository
    budget: Budget
    recorder: Recorder | None
    memory: ModelMemory
    house_rules: HouseRulesOf = no_rules
    guidance: Callable[[str], str] = lambda _about: ""
    meters: dict[str, Metered] = field(default_factory=dict)
    limits: AccountLimits | None = None
    prompts: Prompts | None = None
    commands: CommandRunner | None = None
    equipped: Callable[[str, Role, AgentContext], AgentContext] = lambda _role, _settings, agent: agent
    on_event: OnEvent = nobody
    on_tool: Callable[[ToolUse], None] = ignore
    on_words: Callable[[str, str], None] = ignore_words
    on_guard: Callable[[GuardNote], None] = ignore
    on_turn: Callable[[Turn], None] = ignore
    _working: dict[str, AgentContext] = field(default_factory=dict, init=False)
    _agents: dict[tuple[str, str, str, str], AgentContext] = field(default_factory=dict, init=False)
    _prompts: dict[tuple[str, tuple[str, ...]], Prompts] = field(default_factory=dict, init=False)

    def of(self, role: str, model: str = "") -> AgentContext:
        """The agent context of a role that works on the tree; `model`: another one of a provider than the role's.

        Raises:
            ConfigError: the role has no model.
            MissingRequirement: the variable with a key is not set.
        """
        name = f"{role} {model}".strip()
        if name not in self._working:
            if self.prompts is None or self.commands is None:
                raise ValueError("only a run has roles that work on the tree")
            config = steered(spoken_by(self.config, role, model), self.memory.known) if model else self.config
            made = self._at_work(name, role, config, self.prompts, self.commands)
            self._working[name] = self.equipped(role, config.role(role), made)
        return self._working[name]

    def _at_work(self, name: str, role: str, config: Config, prompts: Prompts, commands: CommandRunner) -> AgentContext:
        def program(settings: Role) -> AgentProgram:
            return AgentProgram(
                commands,
                settings,
                self.environ,
                judges=role in JUDGING,
                permits=lambda asked, folder, writes: permit(
                    self._working[name], asked, folder=folder, writes=writes, network=settings.network
                ),
            )

        model = self._metered(name, role, config, program)
        return AgentContext(
            model=model,
            files=FileTree(self.repository.root, guarded=commands.confinement.guarded),
            prompts=prompts,
            commands=commands,
            allow_commands=self.config.commands.allow,
            house_rules=self.house_rules,
            limits=_limits(config, role),
            on_tool=self.on_tool,
            on_words=self.on_words,
            on_guard=self.on_guard,
            on_turn=self.on_turn,
            end_turn=model.end_turn,
        )

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """The agent context of a seat, its files rooted in the repository, or in a folder of it.

        Raises:
            ConfigError: the seat has no model, or its provider is unknown.
            CouncilRefused: its model is an agent program, and nothing would keep that from writing; no such folder.
            MissingRequirement: the variable with a key is not set, or an agent program is not there.
            UnsafePath: the folder is not inside of the repository.
        """
        folder = folder or seat.folder
        key = (seat.model, seat.system, folder, "")
        if key not in self._agents:
            config = steered(seat_config(self.config, seat), self.memory.known)
            self._agents[key] = self._made(PARTICIPANT, config, self._place(folder), persona=seat.system, who=seat.id)
        return self._agents[key]

    def parent(self) -> AgentContext | None:
        """The agent context of the architect; None where neither it nor the default has a model.

        Raises:
            ConfigError, MissingRequirement: it has one that cannot be connected.
        """
        if {PARENT, "default"}.isdisjoint(self.config.roles):
            return None
        key = ("", "", "", PARENT)
        if key not in self._agents:
            config = steered(self.config, self.memory.known)
            self._agents[key] = self._made(PARENT, config, self.repository.root, who="the parent")
        return self._agents[key]

    async def aclose(self) -> None:
        """Closes the connections; a later call opens new ones."""
        for meter in self.meters.values():
            await meter.aclose()

    def _place(self, folder: str) -> Path:
        root = self.repository.root
        try:
            place = (root / folder).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"folder {folder[:200]!r} is refused: it is no usable path ({error})") from error
        if not place.is_relative_to(root):
            raise UnsafePath(f"folder {folder[:200]!r} is refused: it leaves the repository {root}")
        if guard.is_reserved(place.relative_to(root).as_posix()):
            raise UnsafePath(f"folder {folder[:200]!r} is refused: `.git` and `.swarm` are nobody's to read")
        if not place.is_dir():
            raise CouncilRefused(f"There is no folder {folder[:200]!r} in the repository.")
        return place

    def _made(self, role: str, config: Config, place: Path, *, who: str, persona: str = "") -> AgentContext:
        model = self._model(role, config, who)
        return AgentContext(
            model=model,
            files=FileTree(place, guarded=(place,)),
            prompts=self._prompts_of(role, compact_roles(config, (role,))),
            commands=CommandRunner(_NoCommands(), Confinement(root=place, home=place)),
            house_rules=self.house_rules,
            limits=_voice_limits(config, role),
            on_tool=self.on_tool,
            on_words=self.on_words,
            on_guard=self.on_guard,
            on_turn=self.on_turn,
            opening=lambda brief: standing(self.guidance("\n".join(each.text for each in brief.sections))),
            persona=persona,
            end_turn=model.end_turn,
        )

    def _prompts_of(self, role: str, compact: tuple[str, ...]) -> Prompts:
        """The prompts of a role, read once for all voices."""
        if (role, compact) not in self._prompts:
            self._prompts[role, compact] = Prompts(self.project.folder.prompts, compact=compact)
            self._prompts[role, compact].load((role,))
        return self._prompts[role, compact]

    def _model(self, role: str, config: Config, who: str) -> Metered:
        name = f"{role} {config.role(role).model}"
        return self._metered(name, role, config, lambda settings: self._program(role, config, settings, who))

    def _metered(self, name: str, role: str, config: Config, program: Callable[[Role], AgentProgram]) -> Metered:
        """The model of that name, connected when it is first needed."""
        if name not in self.meters:
            self.meters[name] = connect(
                role,
                config,
                environ=self.environ,
                recorder=self.recorder,
                budget=self.budget,
                on_event=self.on_event,
                memory=self.memory,
                program=program,
                limits=self.limits,
            )
        return self.meters[name]

    def _program(self, role: str, config: Config, settings: Role, who: str) -> AgentProgram:
        """What runs an agent program as a voice: it reads the repository, but for `.git` and `.swarm`.

        Git's settings may hold keys, and `.swarm` has the words of the other voices. The sandbox sees to both.
        """
        require(config, self.repository.root, (role,))
        root = self.repository.root
        guarded = survey(config, root, (role,), lambda: self.repository.list_tree(self.repository.snapshot())).guarded
        commands = self.project.command_runner(config, guarded)
        if commands.sandbox.name == "none":
            raise CouncilRefused(
                f"{who} is an agent program ({settings.model[:80]}), and voices only read: without a sandbox nothing "
                "keeps it from writing, and from reading `.git` and `.swarm`.",
                hint=f'Set [commands] sandbox = "auto" in {PROJECT_FILE}, or give it a model of a provider.',
            )
        closed = without_history(commands)

        def permits(asked: Asked, folder: str, _writes: bool) -> str:  # noqa: FBT001 - as `AgentProgram` calls it
            agent = AgentContext(
                model=self.meters[f"{role} {config.role(role).model}"],
                files=FileTree(root, guarded=(root,)),
                prompts=self._prompts_of(role, ()),
                commands=closed,
                on_guard=self.on_guard,
                authority=Authority(role=role, right=Right.NOTHING),
            )
            return permit(agent, asked, folder=folder, writes=False, network=settings.network)

        return AgentProgram(closed, settings, self.environ, judges=True, permits=permits)


def without_history(commands: CommandRunner) -> CommandRunner:
    """The same runner, whose commands see neither `.git` nor `.swarm`.

    Raises:
        ConfigError: without a sandbox nothing can be hidden.
    """
    if commands.sandbox.name == "none":
        raise ConfigError(
            "[commands] history = false hides git's history from commands, and without a sandbox nothing can.",
            hint=f'Set [commands] sandbox = "auto" in {PROJECT_FILE}, or history = true.',
        )
    bounds = commands.confinement
    return replace(commands, confinement=replace(bounds, hidden=(*bounds.hidden, *_of_nobody(bounds))))


def _of_nobody(bounds: Confinement) -> tuple[Path, ...]:
    """Of what is guarded, what no voice reads: `.git` and `.swarm`, and git's folder where it lies elsewhere."""
    root = bounds.root
    found = {
        place
        for place in bounds.guarded
        if not {*GUARDED}.isdisjoint((place.relative_to(root) if place.is_relative_to(root) else place).parts)
    }
    return tuple(sorted(place for place in found if found.isdisjoint(place.parents)))


def seat_config(config: Config, seat: Seat) -> Config:
    """The settings with those of the seat as the role `participant`: its own model, and the rest as it stands there.

    Raises:
        ConfigError: it has no model, what it names is none, or the provider is unknown.
    """
    own = {str(name): role for name, role in config.roles.items()}
    settings = own.get(PARTICIPANT) or own.get("default")
    if not seat.model:
        settings = config.role(PARTICIPANT)
    elif settings is None or seat.model != settings.model:
        settings = _other(settings if PARTICIPANT in own else None, seat)
    if not is_program(settings.model):
        config.provider(settings.model)
    return config.model_copy(update={"roles": {**config.roles, PARTICIPANT: settings}})


def spoken_by(config: Config, role: str, model: str) -> Config:
    """The settings with another model in the place of a role's.

    Raises:
        ConfigError: the provider is unknown.
    """
    config.provider(model)
    other = _other(config.role(role), Seat(id=role, model=model))
    return config.model_copy(update={"roles": {**config.roles, role: other}})


def _other(settings: Role | None, seat: Seat) -> Role:
    """The settings of a role with the seat's model: another model has another fallback."""
    settings_of_role = settings.model_dump(exclude_unset=True, exclude={"model", "fallback"}) if settings else {}
    try:
        return Role.model_validate({**settings_of_role, "model": seat.model})
    except ValidationError as error:
        why = error.errors(include_url=False, include_input=False)[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"the model of `{seat.id}` {why}") from None


def _limits(config: Config, role: str) -> Limits:
    """The bounds of a turn of the role."""
    return Limits(
        replies=config.loop.replies,
        max_turns=config.loop.max_turns,
        command_timeout_s=config.commands.timeout_s,
        bounds=config.breakers.of(role),
        context_tokens=config.role(role).context_tokens or DEFAULT_WINDOW,
    )


def _voice_limits(config: Config, role: str) -> Limits:
    """The bounds of a turn: those of the role, and the time and, of a voice, the tokens of `[council]`."""
    own = _limits(config, role)
    bounds = own.bounds.model_copy(update={"wall_time_s": config.council.timeout_s})
    if role == PARTICIPANT:  # the parent reads all that was said, and its one turn is bounded by the budget
        bounds = bounds.model_copy(update={"tokens": config.council.tokens})
    return replace(own, bounds=bounds)


class _NoCommands:
    """A sandbox in which nothing starts: voices have no tool that runs commands."""

    name = "closed"
    relocates = False
    private_home = True
    weaknesses = ()
    hindrances = ()

    def argv(self, command: object, confinement: Confinement, own: Path) -> list[str]:
        """Refuses.

        Raises:
            CommandRefused: always.
        """
        del command, confinement, own
        raise CommandRefused("Voices of a council run no commands.", rule="council")

    def refused(self, done: Completed) -> str:
        """Nothing was started."""
        del done
        return ""
