"""The tables of the configuration as frozen, closed records, with the hard limits of every key."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from swarmgate.config import command_lines
from swarmgate.config.agent_hooks import AgentHooks
from swarmgate.config.automation import Automation, Evidence, HookName
from swarmgate.config.base import (
    ROLES,
    SPEAKING,
    TIERS,
    ModelName,
    Name,
    RoleName,
    Seconds,
    Section,
    VariableName,
    command_of,
    is_program,
    nearest,
    no_key,
)
from swarmgate.config.council import Agent, Council
from swarmgate.config.fleet import Fleet
from swarmgate.config.guards import (
    Approve,
    Ask,
    Authority,
    Breakers,
    Commands,
    Models,
    Phase,
    Reviews,
    Scope,
    Spend,
)
from swarmgate.config.server import Server
from swarmgate.config.tests import ProjectTests
from swarmgate.errors import ConfigError

PREFIX = "SWARM_"
"""What the name of every environment variable that is a setting begins with."""

PROJECT_FILE = ".swarm/config.toml"
"""Where the settings of a project stand, relative to its root."""


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        valid = False
    if not valid or re.search(r"\s", value):
        raise ValueError('must be an http or https address, such as "http://127.0.0.1:8899/v1"')
    if parts.username or parts.password:
        raise ValueError("must not carry a user name or password; keys never stand in files, use api_key_env")
    return value.rstrip("/")


def _header(value: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise ValueError("must be printable ASCII on one line, as HTTP takes it")
    return value


def _branch_prefix(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", value) or re.search(r"\.\.|//|/\.|\.lock/|\.$", value):
        raise ValueError('must be the beginning of a git branch name, such as "swarm/"')
    return value


def _off(value: object) -> object:
    return None if value == "off" else value


Count = Annotated[int | None, BeforeValidator(_off)]
"""A limit that a whole number is held against; "off" (None once read): not judged."""
Share = Annotated[float | None, BeforeValidator(_off)]
"""The same for a proportion."""
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
"""A token of RFC 9110, 5.6.2."""
ProviderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Provider(Section):
    """`[providers.NAME]`: an OpenAI-compatible endpoint."""

    base_url: Annotated[str, AfterValidator(_url)] = Field(description="Address up to and including `/v1`.")
    api_key_env: VariableName = Field(
        "", description="Name of the environment variable that holds the key; empty: the endpoint needs none."
    )
    headers: dict[HeaderName, Annotated[str, AfterValidator(no_key), AfterValidator(_header)]] = Field(
        default_factory=dict, description="Further HTTP headers of each request; never a key."
    )
    tools: bool = Field(True, description="False: the models cannot call tools and are served by JSON in text.")
    stream: bool = Field(True, description="Ask for streamed answers.")
    timeout_s: Seconds = Field(300, description="Longest time of one model call, in seconds.")
    first_byte_s: Seconds | None = Field(
        None, description="Longest time until a streamed answer begins, in seconds; unset: `timeout_s`."
    )
    silence_s: Seconds | None = Field(
        None, description="Longest silence in a streamed answer, in seconds; unset: `timeout_s`."
    )
    max_retries: int = Field(5, ge=0, le=20, description="How often a failed call is tried again before the fallback.")


class Role(Section):
    """`[roles.NAME]`: which model speaks as this role."""

    model: ModelName = Field(
        description="`provider/model`, the model's own name may contain slashes; or an agent program: `acp:` and its "
        "command line where it speaks the Agent Client Protocol, `command:` and its command line where it does not."
    )
    fallback: tuple[ModelName, ...] = Field((), description="Models asked in this order when the first has failed.")
    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature; unset: the endpoint's own.")
    max_tokens: int | None = Field(
        None, ge=1, le=10_000_000, description="Longest answer in tokens; unset: by role and window."
    )
    timeout_s: Seconds | None = Field(None, description="Longest time of one call; unset: the provider's.")
    first_byte_s: Seconds | None = Field(
        None, description="Longest time until a streamed answer begins; unset: the provider's."
    )
    silence_s: Seconds | None = Field(None, description="Longest silence in a streamed answer; unset: the provider's.")
    tools: bool | None = Field(None, description="Whether the model can call tools; unset: as the provider says.")
    network: bool = Field(True, description="Agent programs: whether the program may reach the network.")
    env: tuple[VariableName, ...] = Field(
        (), description="Agent programs: names of variables that the program gets, such as that of its key."
    )
    readable: tuple[str, ...] = Field(
        (), description="Agent programs: further files and folders that it may read, such as its login; `~`: the home."
    )
    writable: tuple[str, ...] = Field(
        (), description="Agent programs: files and folders of its own that it may read and write, such as `~/.claude`."
    )
    prompts: Literal["auto", "full", "compact"] = Field(
        "auto", description="Which prompts the model gets; `auto`: short ones for small models (`[models] compact`)."
    )
    context_tokens: int | None = Field(
        None,
        ge=1_000,
        le=100_000_000,
        description="The model's window; old tool results are dropped before it is full.",
    )


class BudgetLimits(Spend):
    """`[budget]`: what a project may use up; checked before each model call."""

    run: Spend = Field(default_factory=Spend, description="What one `swarm run` may use up.")
    phase: Spend = Field(default_factory=Spend, description="What one phase may use up.")
    task: Spend = Field(default_factory=Spend, description="What one task may use up.")


class Price(Section):
    """`[prices."provider/model"]`: US dollars per million tokens."""

    input: float = Field(ge=0, description="Prompt tokens.")
    output: float = Field(ge=0, description="Completion tokens.")
    cached: float | None = Field(None, ge=0, description="Cached prompt tokens; unset: the input price.")


class Project(Section):
    """`[project]`: what the project is."""

    languages: tuple[str, ...] = Field((), description="Languages of the project; empty: detected.")


class Loop(Section):
    """`[loop]`: the bounds of the work on one task."""

    max_rejections: int = Field(2, ge=1, le=5, description="Rejected attempts before the architect takes over.")
    critic_rounds: int = Field(2, ge=1, le=5, description="Rounds in which the critic may object to the plan.")
    replies: int = Field(3, ge=1, le=10, description="How often an unusable reply is sent back to the model.")
    max_turns: int = Field(80, ge=1, le=1000, description="Model calls in one agent's turn.")
    wait_limit: float = Field(
        900,
        ge=0,
        le=2_678_400,
        description="Seconds that a call waits for the end of a limit that its endpoint or program names; a later end "
        "pauses the run.",
    )


class Quality(Section):
    """`[gates.quality]`: the budget of one change, for the gate `quality_budget`. 0 allows none; "off": not judged."""

    max_complexity_delta: Count = Field(
        5,
        ge=0,
        le=1000,
        description="Points of complexity that one task may add in sum, where it is set, as `swarm init` does; else "
        "what one function may grow by, a new one beyond 5.",
    )
    max_public_api_delta: Count = Field(10, ge=0, le=10_000, description="Public names added less those removed.")
    max_duplication_ratio: Share = Field(0.05, ge=0, le=1, description="Share of the added lines that are copies.")
    min_test_to_code_ratio: Share = Field(
        0.3, ge=0, le=10, description="Added lines of tests for each of code; blocks after the test engineer only."
    )
    max_function_lines: Count = Field(
        100, ge=1, le=100_000, description="Lines of code of a function that the change made longer than that."
    )
    max_file_lines: Count = Field(1000, ge=1, le=1_000_000, description="Lines of a file, in the same way.")
    max_new_suppressions: Count = Field(
        10, ge=0, le=10_000, description="Comments such as noqa, nosec, eslint-disable that the change adds."
    )
    min_changed_line_coverage: Share = Field(
        None,
        ge=0,
        le=1,
        description="Share of the added lines that tests must run; measured in the loop, by hand read from a report.",
    )

    def over(self, below: Self) -> Self:
        """These limits where a user set them, and those `below` where not."""
        return below.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class Size(Section):
    """`[gates.size]`: how large one change may be, for the gate `diff`. "off": not judged."""

    max_file_mb: Share = Field(
        5.0, gt=0, le=1000, description="Megabytes of a file that the change adds, or makes larger than that."
    )
    max_change_mb: Share = Field(50.0, gt=0, le=10_000, description="Megabytes of all files that the change writes.")
    max_files: Count = Field(1000, ge=1, le=1_000_000, description="Files that the change adds or rewrites.")


class Gates(Section):
    """`[gates]`: the quality gates."""

    skip: tuple[str, ...] = Field((), description="Names of gates that are not run.")
    require: tuple[str, ...] = Field(
        (), description="What has to be checked (`types`, `build`, `lint`, ...): where it was not, that is an ERROR."
    )
    timeout_s: Seconds | None = Field(None, description="Longest time of one gate; unset: as its definition says.")
    architect_overrides_budget: bool = Field(
        False, description="The architect may let a change pass that `quality_budget` rejects, with a reason on record."
    )
    quality: Quality = Field(default_factory=Quality, description="The budget of one change.")
    size: Size = Field(default_factory=Size, description="How large one change may be.")


class Git(Section):
    """`[git]`: how work is committed."""

    branch_prefix: Annotated[str, AfterValidator(_branch_prefix)] = Field(
        "swarm/", description="Beginning of the branch that work happens on."
    )
    attest: bool = Field(
        True, description="Each task's commit gets an in-toto statement in `refs/notes/swarm-attestations`."
    )


class Config(Section):
    """All settings of one run."""

    providers: dict[ProviderName, Provider] = Field(default_factory=dict, description="Endpoints by name.")
    roles: dict[RoleName, Role] = Field(default_factory=dict, description="Models by role; `default` serves the rest.")
    agents: dict[Name, Agent] = Field(default_factory=dict, description="Agents that requests name.")
    budget: BudgetLimits = Field(default_factory=BudgetLimits, description="What may be used up.")
    prices: dict[str, Price] = Field(default_factory=dict, description='By "provider/model", or by "model" alone.')
    tests: ProjectTests = Field(default_factory=ProjectTests, description="How tests are run.")
    project: Project = Field(default_factory=Project, description="What the project is.")
    loop: Loop = Field(default_factory=Loop, description="Bounds of the work on one task.")
    ask: Ask = Field(default_factory=Ask, description="Which agents may ask you in the middle of a task.")
    gates: Gates = Field(default_factory=Gates, description="The quality gates.")
    commands: Commands = Field(default_factory=Commands, description="What agents run themselves.")
    git: Git = Field(default_factory=Git, description="How work is committed.")
    scope: Scope = Field(default_factory=Scope, description="The files that a task declared.")
    authority: dict[RoleName, Authority] = Field(default_factory=dict, description="What a role may write.")
    breakers: Breakers = Field(default_factory=Breakers, description="Bounds of a turn.")
    review: Reviews = Field(default_factory=Reviews, description="What the reviewer is asked.")
    phase: Phase = Field(default_factory=Phase, description="Who judges a phase as a whole.")
    approve: Approve = Field(default_factory=Approve, description="What is approved in your place.")
    models: Models = Field(default_factory=Models, description="Rules about the models of all roles.")
    council: Council = Field(default_factory=Council, description="Debates, dispatched tasks and swarm chats.")
    automation: Automation = Field(default_factory=Automation, description="Work in the background.")
    hooks: dict[HookName, str] = Field(
        default_factory=dict, description="Your own commands on events: the event's type and a shell command."
    )
    agent_hooks: AgentHooks = Field(
        default_factory=AgentHooks, description="Sessions of other agents, held to the gates by their hooks."
    )
    evidence: Evidence = Field(default_factory=Evidence, description="How long evidence is kept.")
    server: Server = Field(default_factory=Server, description="The team server; in your own file alone.")
    fleet: Fleet = Field(default_factory=Fleet, description="Many goals on many machines.")

    @property
    def speaking(self) -> tuple[str, ...]:
        """The roles that speak in a run: an expert only where a model is configured for it."""
        expert = not {"default", "sme"}.isdisjoint(self.roles)
        return SPEAKING if expert else ROLES

    @property
    def named_models(self) -> tuple[str, ...]:
        """Every model that a role, an agent, a tier, a seat or a reviewer of phases names, each once, in this order."""
        of_roles = (model for role in self.roles.values() for model in (role.model, *role.fallback))
        of_agents = (agent.model for agent in self.agents.values() if agent.model)
        of_reviews = (*self.review.seat_models.values(), *self.phase.models)
        return tuple(dict.fromkeys((*of_roles, *of_agents, *self.models.tiers.values(), *of_reviews)))

    def keys(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The values of the keys of all providers, and the passwords of stores, out of the variables that name them."""
        variables = [*self.key_variables, self.server.store_password_env]
        return tuple(filter(None, (environ.get(each, "").strip() for each in variables if each)))

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that hold the keys of providers, and the password of the store of councils."""
        named = (provider.api_key_env for provider in self.providers.values())
        return tuple(filter(None, (*named, self.council.store_password_env)))

    def role(self, name: str) -> Role:
        """The settings of a role, or those of `roles.default`.

        Raises:
            ConfigError: neither is set; the hint is the snippet to add.
        """
        for key, role in self.roles.items():
            if key == name:
                return role
        if "default" in self.roles:
            return self.roles["default"]
        provider = next(iter(self.providers), "local")
        endpoint = "" if self.providers else f'[providers.{provider}]\nbase_url = "http://127.0.0.1:8899/v1"\n'
        raise ConfigError(
            f"no model is set for the role `{name}`",
            hint=f'add to {PROJECT_FILE}:\n{endpoint}[roles.default]\nmodel = "{provider}/NAME-OF-A-MODEL"',
        )

    def tier(self, name: str) -> str:
        """The model of a tier: that of `[models.tiers]`, or else of the role that the tier is for.

        Raises:
            ConfigError: there is no such tier, or its role has no model.
        """
        if name in self.models.tiers:
            return self.models.tiers[name]
        known = (*self.models.tiers, *TIERS, *SPEAKING, "participant")
        if name not in known:
            raise ConfigError(
                f"there is no model tier `{name}`",
                hint=f"the tiers are {', '.join(dict.fromkeys(known))}; for another, add to {PROJECT_FILE}:\n"
                f'[models.tiers]\n{name} = "PROVIDER/NAME-OF-A-MODEL"',
            )
        return self.role(TIERS.get(name, name)).model

    def provider(self, model: str) -> tuple[Provider, str]:
        """The endpoint of a `provider/model` and the model's name there.

        Raises:
            ConfigError: no such provider.
        """
        name, _, served = model.partition("/")
        if is_program(model):
            raise ConfigError(f"`{model}` is an agent program and has no endpoint")
        if name not in self.providers:
            raise ConfigError(unknown_provider(name, self.providers), hint=f"add [providers.{name}] to {PROJECT_FILE}")
        return self.providers[name], served


def program_of(model: str) -> str:
    """The program that a model starts that is one, such as `claude`; variables before it are passed over."""
    return command_lines.read(command_of(model)).program


def unknown_provider(name: str, known: Iterable[str]) -> str:
    """A sentence about a provider that is not configured, with the nearest one that is."""
    names = list(known)
    close = nearest(name, names)
    return f"unknown provider `{name}`; " + (
        f"did you mean `{close}`?" if close else f"known: {', '.join(names) or 'none'}"
    )
