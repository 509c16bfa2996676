"""The settings that guard agents: `[commands]`, `[scope]`, `[authority]`, `[breakers]`, `[review]`, `[phase]` ..."""

import os
import re
import warnings
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from swarmgate.config.base import ModelName, Name, RoleName, Seconds, Section, VariableName, is_program, model_name

Enforce = Literal["off", "warn", "block"]
"""What a broken rule means: nothing, a note on record, or the end of the attempt."""


def _place(value: str) -> str:
    if not value.startswith(("/", "~/")) and value != "~":
        raise ValueError(f'must be absolute or begin with `~/`: "{value}" is neither')
    if os.path.normpath(value.replace("~", "/~", 1)) in {"/", "/~"}:
        raise ValueError(f'"{value}" would open all of it to commands, keys too: name the folders that they need')
    return value


def _command_line(value: str) -> str:
    if not value.replace("*", "").strip():
        raise ValueError(
            f'"{value}" lets every command line through, and the policy would refuse nothing; '
            'name what is meant, such as "make *"'
        )
    return value


def _glob(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty, and matches nothing")
    absolute = value.startswith("/") and "/" in value[1:]  # "/README.md" is the one at the root
    if absolute or value.startswith("~") or ".." in re.split(r"[/\\]", value):
        raise ValueError(f'"{value}" never matches: write it from the root of the repository, such as "src/**"')
    return value


def _several(value: tuple[RoleName, ...]) -> tuple[RoleName, ...]:
    if value and len(set(value)) < 2:  # noqa: PLR2004 - one role shares a model with nobody
        raise ValueError('needs two roles or more, such as ["coder", "reviewer"]')
    return value


def _of_provider(value: ModelName) -> ModelName:
    if is_program(value):
        raise ValueError(f'must read "provider/model": "{value}" is an agent program, which only a role can be')
    return value


def _cast(value: tuple[str, ...]) -> tuple[str, ...]:
    if value and not LEAST_SEATS <= len(value) <= MOST_SEATS:
        raise ValueError(f"names {len(value)}; a plan is reviewed by {LEAST_SEATS} to {MOST_SEATS} seats")
    for text in value:
        if model := text.partition("=")[2].strip():
            model_name(model)
    return value


LEAST_SEATS, MOST_SEATS = 2, 8
"""The same as of a debate (`domain.review.votes`), which reads no settings."""
ProviderModel = Annotated[ModelName, AfterValidator(_of_provider)]
"""`provider/model`."""
ReviewMode = Literal["single", "debate", "auto"]
"""How a change or a plan is judged: by one voice, by a debate, or as a first look says."""
Place = Annotated[str, AfterValidator(_place)]
"""A file or folder outside of the repository: absolute, or below the home."""
CommandLine = Annotated[str, AfterValidator(_command_line)]
Glob = Annotated[str, AfterValidator(_glob)]
"""A pattern of paths, from the root of the repository."""


class Ask(Section):
    """`[ask]`: which agents may ask you in the middle of a task."""

    coder: bool = Field(False, description="The coder may ask you while it codes.")
    architect: bool = Field(False, description="The architect may ask you while it delegates a task or implements it.")
    per_task: int = Field(2, ge=1, le=20, description="Questions about one task, of both together.")
    wait: bool = Field(
        True, description="False: where no terminal is there to ask at, a question is declined at once, on record."
    )

    def allowed(self, role: str) -> bool:
        """Whether a role may ask."""
        return {"coder": self.coder, "architect": self.architect}.get(role, False)


class Commands(Section):
    """`[commands]`: what agents run themselves, and the tests and tools that swarmgate runs over their code."""

    timeout_s: Seconds = Field(120, description="Longest time of one `run_command`, in seconds.")
    sandbox: Literal["auto", "bubblewrap", "landlock", "sandbox-exec", "none"] = Field(
        "auto", description="What confines commands, tests and tools of gates; `auto`: the strongest that works."
    )
    network: bool = Field(False, description="Whether commands, tests and tools may reach the network.")
    memory_mb: int = Field(4096, ge=64, le=1_048_576, description="Private memory of one process, in MiB.")
    processes: int = Field(512, ge=8, le=65_536, description="Processes of one command at a time.")
    file_mb: int = Field(2048, ge=1, le=1_048_576, description="Size of one file that a command writes, in MiB.")
    output_chars: int = Field(
        12_000, ge=1_000, le=1_000_000, description="Characters kept of each output stream: its head and its tail."
    )
    readable: tuple[Place, ...] = Field(
        (), description="Further paths below hidden places, such as the home, that commands may read; `~` is the home."
    )
    writable: tuple[Place, ...] = Field((), description="Further folders that commands may write, such as a cache.")
    env: tuple[VariableName, ...] = Field((), description="Names of further variables that commands inherit.")
    history: bool = Field(
        True,
        description="Whether agents' commands can read git's history; false hides it, where it may hold the answer.",
    )
    allow: tuple[CommandLine, ...] = Field(
        (), description="Command lines that the policy lets through though it would refuse them; `*` matches anything."
    )


class Scope(Section):
    """`[scope]`: the files that a task declared."""

    enforce: Enforce = Field("block", description="What more changed files outside of the scope than allowed mean.")
    max_outside: int = Field(2, ge=0, le=1000, description="Changed files outside of the scope that are accepted.")
    artefacts: tuple[Glob, ...] = Field((), description="Globs of further files that the toolchain writes by itself.")


class Authority(Section):
    """`[authority.ROLE]`: what a role may write, on top of its built-in right. `deny` wins."""

    allow: tuple[Glob, ...] = Field((), description="Globs of files that the role may write too.")
    deny: tuple[Glob, ...] = Field((), description="Globs of files that the role may not write.")


class Bounds(Section):
    """`[breakers.roles.ROLE]`: the bounds of one turn of one role; those left out are the general ones."""

    tool_calls: int = Field(200, ge=1, le=100_000, description="Tool calls.")
    wall_time_s: Seconds = Field(1800, description="Seconds.")
    repeats: int = Field(
        5, ge=2, le=1000, description="Times that the same call may be made; a warning comes 2 before."
    )
    errors: int = Field(5, ge=1, le=1000, description="Tool calls in a row that fail.")
    idle: int = Field(3, ge=1, le=100, description="Replies in a row without a tool call.")
    tokens: int | None = Field(None, ge=1, description="Tokens of the whole turn; unset: no limit.")


class Breakers(Bounds):
    """`[breakers]`: the bounds of one turn of any role; a tripped one ends it, and with it the attempt."""

    roles: dict[RoleName, Bounds] = Field(default_factory=dict, description="Bounds of one role.")

    def of(self, role: str) -> Bounds:
        """The bounds of a role: what is set for it, the general ones for the rest."""
        general = {name: getattr(self, name) for name in Bounds.model_fields}
        for key, own in self.roles.items():
            if key == role:
                general |= {name: getattr(own, name) for name in own.model_fields_set}
        return Bounds(**general)


class Reviews(Section):
    """`[review]`: what the reviewer is asked."""

    security: Literal["auto", "always", "off"] = Field(
        "auto", description="The second, security-only review; `auto`: where the change touches sensitive code."
    )
    cite: bool = Field(True, description="Drop findings that quote nothing that stands in the change or the file.")
    tests: bool = Field(True, description="The reviewer looks again at what the test engineer wrote after its review.")
    mode: ReviewMode = Field(
        "single", description="`debate`: advocate against challenger; `auto`: where a first look finds it worth it."
    )
    plan_mode: ReviewMode | None = Field(None, description="The same for the criticism of plans; unset: as `mode`.")
    plan_seats: Annotated[tuple[str, ...], AfterValidator(_cast)] = Field(
        (),
        description="Who reviews a plan in a Vision Alignment Meeting: names of its cast (product-manager, "
        "user-advocate, engineer, combatant, architect) or of your own agents, with `=provider/model` where a seat has "
        "a model of its own; empty: the critic, or as `plan_mode` says.",
    )
    plan_rounds: int | None = Field(
        None, ge=1, le=5, description="Rounds of that meeting; 1: all vote at once, unheard; unset: [council] rounds."
    )
    advocate: ModelName | None = Field(None, description="Model of the advocate; unset: the reviewer's.")
    challenger: ModelName | None = Field(None, description="Model of the challenger; unset: the critic's.")
    sure: float = Field(
        0.8, ge=0, le=1, description="Confidence of a first look that agrees, from which `auto` holds no debate."
    )

    @property
    def seat_models(self) -> dict[int, str]:
        """The models that seats of `plan_seats` name, by their place there."""
        found = {at: text.partition("=")[2].strip() for at, text in enumerate(self.plan_seats)}
        return {at: model for at, model in found.items() if model}


with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # `validate` is a method that pydantic gave up

    class Phase(Section):
        """`[phase]`: who judges a phase as a whole, before its first task and after its last."""

        gate: bool = Field(
            False,
            description="The critic says before the first task whether the phase can be built and tested.",
        )
        validate: int = Field(  # type: ignore[assignment]  # see above
            0,
            ge=0,
            le=9,
            description="Reviewers that judge the change of the whole phase before its checkpoint, each for itself; "
            "the majority decides, so odd numbers are best. 0: none.",
        )
        models: tuple[ProviderModel, ...] = Field(
            (), description="Models of these reviewers, in turn; empty: the reviewer's."
        )


class Approve(Section):
    """`[approve]`: what is approved in your place, in runs that nobody attends."""

    auto: tuple[Literal["plan", "phase"], ...] = Field(
        (),
        description="What `swarm run` approves by itself: a plan that its critic approved, phases that no reviewer "
        "rejected; on record as such. Empty: nothing.",
    )
    phases_in_a_row: int = Field(
        10, ge=1, le=1000, description="After so many phases that nobody looked at, the next one waits for you."
    )


class Models(Section):
    """`[models]`: rules about the models of all roles."""

    require_distinct: Annotated[tuple[RoleName, ...], AfterValidator(_several)] = Field(
        ("coder", "reviewer"),
        description="Roles of which no two may share a model; a run is refused where they do. Not set, it holds once "
        "the roles have two models.",
    )
    compact: tuple[str, ...] = Field(
        ("*[:-][1-9]b", "*[:-][1-9]b-*", "*[:-][0-9].[0-9]b*"),
        description="Patterns of model names, in lower case, that get the short prompts; `*` matches anything.",
    )
    tiers: dict[Name, ModelName] = Field(
        default_factory=dict,
        description="Models by the tier that a request names (`model_tier`). Those left out: `planning` is the "
        "architect's model, `execution` the coder's, `validation` the reviewer's, `research` the expert's, and the "
        "name of a role that role's.",
    )


class Spend(Section):
    """`[budget.run]`, `[budget.phase]`, `[budget.task]`: what one of them may use up."""

    usd: float | None = Field(None, ge=0, description="US dollars; unset: no limit.")
    tokens: int | None = Field(None, ge=0, description="Prompt and completion tokens; unset: no limit.")
    seconds: Annotated[float | None, Field(ge=0)] = Field(None, description="Wall time in seconds; unset: no limit.")
