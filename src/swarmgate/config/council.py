"""The settings tables of councils: the agents that requests name (`[agents.NAME]`), and the limits (`[council]`)."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from swarmgate.config.base import ModelName, Seconds, Section, VariableName, redis_address

MOST_TTL_S = 7 * 24 * 3600
"""Seconds; the same as of a chat's file (`council.chat.model`), which reads no settings."""
MOST_SYSTEM = 8_000
"""Characters of the system text of an agent; more is refused, never cut."""


def inner_folder(value: str) -> str:
    """The path, which is relative and leads nowhere else; empty: the root of the repository."""
    if value.startswith(("/", "~", "\\")) or ".." in value.split("/"):
        raise ValueError("must be inside of the repository, such as src/api")
    return value


def _store(value: str) -> str:
    return value if value in {"files", "sqlite"} else redis_address(value, or_else='"files", "sqlite"')


RecordStore = Annotated[str, AfterValidator(_store)]
"""Where records are kept: `files`, `sqlite`, or the address of a Redis."""

InnerPath = Annotated[str, AfterValidator(inner_folder)]


class Agent(Section):
    """`[agents.NAME]`: an agent that requests of the council name, as `agent = "NAME"` or by its name alone."""

    role: str = Field(
        "", description="What it is: one of the roles that a model speaks as (its prompt and model hold), or any words."
    )
    system: str = Field("", description="Its own part of the system message.")
    system_file: InnerPath = Field(
        "", description="A text file of the repository that has it instead, of 8,000 characters at most."
    )
    model: ModelName | None = Field(
        None, description="As of `[roles.ROLE]`; unset: that of its tier, of its role, or of `participant`."
    )
    model_tier: str = Field("", description="A tier of `[models.tiers]` instead of a model.")
    weight: float = Field(1, ge=0, le=1, description="What its stand counts in a decision by weights.")
    folder: InnerPath = Field("", description="Where its files are rooted, from the root of the repository.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        for one, other in (("system", "system_file"), ("model", "model_tier")):
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f"has a `{one}` and a `{other}`: give one of the two")
        return self


class Chat(Section):
    """`[council.chat]`: the bounds of one swarm chat."""

    ttl_s: float = Field(600, gt=0, le=MOST_TTL_S, description="How long a chat may last, in seconds.")
    messages: int = Field(200, ge=1, le=100_000, description="Messages that its agents may send.")
    tokens: int = Field(200_000, ge=1, description="Tokens that its agents may use together.")


class Discussion(Section):
    """`[council.discussion]`: how long a discussion is where its request does not say."""

    mode: Literal["deep", "standard", "lightweight"] = Field("standard", description="How much is spent on one.")
    rounds: int | None = Field(None, ge=1, le=10, description="The most rounds; none: as the mode has it.")


class Decision(Section):
    """`[council.decision]`: how several decide where their request does not say."""

    strategy: Literal["unanimous", "majority", "supermajority", "weighted", "facilitator", "approval", "ranked"] = (
        Field("majority", description="How a round becomes a consensus.")
    )
    rounds: int = Field(3, ge=1, le=10, description="The most rounds.")
    settled: float = Field(
        0.05, ge=0, le=1, description="Change of each agreement below which two rounds count as the same."
    )


class Critique(Section):
    """`[council.critique]`: how long one voice improves its own work where its request does not say."""

    iterations: int = Field(3, ge=1, le=10, description="The most iterations.")
    stop: float = Field(0.8, ge=0, le=1, description="Weighted mean of the scores that is good enough.")
    threshold: float = Field(0.7, ge=0, le=1, description="Score that a criterion must reach which names no other.")


class Council(Section):
    """`[council]`: the bounds of debates, dispatched tasks, discussions, decisions and critiques."""

    rounds: int = Field(2, ge=1, le=5, description="Rounds of a debate; the last one is the vote.")
    order: Literal["fixed", "rotate"] = Field("rotate", description="Who is read first: always the same, or in turns.")
    tokens: int = Field(20_000, ge=500, description="Tokens that one voice may use in one round.")
    timeout_s: Seconds = Field(300, description="Longest time of one voice in one round, in seconds.")
    whole_s: float = Field(
        1800, ge=1, le=1800, description="Longest time of one discussion, decision or critique in one session, seconds."
    )
    store: RecordStore = Field(
        "files",
        description='Where the records of the council are kept: "files", "sqlite", or "redis://HOST:PORT/NUMBER".',
    )
    store_password_env: VariableName = Field("", description="The variable that holds the password of that Redis.")
    cache: bool = Field(True, description="Whether a request that was answered before is answered from its record.")
    similarity: float = Field(90, ge=50, le=100, description="Likeness of two claims, in percent, that makes one old.")
    usd: float | None = Field(
        None, ge=0, description="US dollars that one debate, dispatch, chat, discussion, decision or critique may use."
    )
    total_tokens: int | None = Field(
        None, ge=1, description="Tokens that one debate, dispatch, chat, discussion, decision or critique may use."
    )
    chat: Chat = Field(default_factory=Chat, description="The bounds of one swarm chat.")
    discussion: Discussion = Field(default_factory=Discussion, description="Discussions.")
    decision: Decision = Field(default_factory=Decision, description="Decisions by several.")
    critique: Critique = Field(default_factory=Critique, description="Self-critique.")
