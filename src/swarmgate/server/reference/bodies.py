"""Bodies of requests in the words of the reference, with the hard limits of ADR 0007. Names are camelCase on the wire.

What a body has beyond these fields is left out, as the reference does; a field that is there is read, or refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from swarmgate.council.limits import CRITERIA, ITERATIONS, PARTICIPANTS, PERSONA, PROMPT, ROUNDS, TOPIC
from swarmgate.server.http.json_objects import JsonObject

MOST_TASKS = 48
"""Tasks of one orchestration: one of ours has 50 steps, and a group counts as one of them."""

MOST_ITEMS = 100
"""Items of a map."""

_SECOND_MS = 1_000
_VOICE_MS = 600_000

Template = Annotated[str, Field(max_length=5_000)]
AgentType = Literal["claude", "strudel", "custom"]
Prompt = Annotated[str, Field(min_length=1, max_length=int(PROMPT.most))]
Share = Annotated[float, Field(ge=0, le=1)]
CritiqueMs = Annotated[float, Field(ge=_SECOND_MS, le=900_000)]
DiscussionMs = Annotated[float, Field(ge=_SECOND_MS, le=1_800_000)]
TaskMs = Annotated[float, Field(ge=_SECOND_MS, le=_VOICE_MS)]
PatternName = Literal["sequential", "parallel", "conditional", "map-reduce", "self-critique", "discussion"]


class Body(BaseModel):
    """A body, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Criterion(Body):
    """What a version is judged by. `evaluationPrompt` and `rubric` say how."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: Annotated[str, Field(max_length=500)]
    evaluation_prompt: Annotated[str, Field(max_length=2_000)] = ""
    weight: Share
    threshold: Share | None = None
    rubric: Annotated[str, Field(max_length=1_000)] = ""


class CritiqueConfig(Body):
    """How long an output is improved, and by what it is judged."""

    max_iterations: Annotated[int, Field(ge=int(ITERATIONS.least), le=int(ITERATIONS.most))] | None = None
    quality_criteria: Annotated[
        tuple[Criterion, ...],
        Field(
            min_length=1,
            max_length=int(CRITERIA.most),
            validation_alias=AliasChoices("qualityCriteria", "criteria", "quality_criteria"),
        ),
    ]
    improvement_prompt_template: Template = ""
    evaluation_prompt_template: Template = ""
    stop_on_quality_threshold: Annotated[
        Share | None,
        Field(
            validation_alias=AliasChoices("stopOnQualityThreshold", "qualityThreshold", "stop_on_quality_threshold"),
        ),
    ] = None
    timeout_ms: CritiqueMs | None = None


class Task(Body):
    """What one agent is asked. Its id names it in the answer, and nothing on the server."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    agent_type: AgentType = "claude"
    agent_id: str = ""
    prompt: Prompt
    prompt_template_id: Literal[""] = ""
    variables: JsonObject = Field(default_factory=dict)
    timeout_ms: TaskMs | None = None
    condition: Annotated[str, Field(max_length=1_000)] = ""


class CritiqueBody(Body):
    """A self-critique: a `task`, or `agentId` and `prompt` in its place."""

    task: Task | None = None
    agent_id: str = ""
    agent_type: AgentType = "claude"
    prompt: Prompt | None = None
    config: CritiqueConfig
    context: JsonObject = Field(default_factory=dict)
    timeout_ms: CritiqueMs | None = None

    @model_validator(mode="after")
    def _something_to_do(self) -> CritiqueBody:
        if self.task is None and self.prompt is None:
            raise ValueError("has neither `task` nor `prompt`")
        return self

    @property
    def work(self) -> Task:
        """The task, in whichever form it came."""
        if self.task is not None:
            return self.task
        return Task(
            id="self-critique-task", agent_type=self.agent_type, agent_id=self.agent_id, prompt=self.prompt or ""
        )


class Participant(Body):
    """Who takes part in a discussion. `agentId` names an agent of the registry."""

    id: Annotated[str, Field(max_length=100)] = ""
    agent_id: Annotated[str, Field(min_length=1)]
    role: Annotated[str, Field(min_length=1, max_length=100)]
    weight: Share | None = None
    perspective: Annotated[str, Field(max_length=500)] = ""
    system_prompt: Annotated[str, Field(max_length=int(PERSONA.most))] = ""


Participants = Annotated[tuple[Participant, ...], Field(min_length=1, max_length=int(PARTICIPANTS.most))]


class DiscussionConfig(Body):
    """How long is discussed, and what makes a consensus."""

    max_rounds: Annotated[int, Field(ge=int(ROUNDS.least), le=int(ROUNDS.most))] | None = None
    participants: Participants | None = None
    discussion_prompt_template: Template = ""
    contribution_prompt_template: Template = ""
    synthesis_prompt_template: Template = ""
    consensus_strategy: Literal["unanimous", "majority", "weighted", "facilitator"] = "majority"
    facilitator_agent_id: str = ""
    convergence_threshold: Annotated[
        Share | None,
        Field(validation_alias=AliasChoices("convergenceThreshold", "consensusThreshold", "convergence_threshold")),
    ] = None
    timeout_ms: DiscussionMs | None = None


class DiscussionBody(Body):
    """A discussion to a consensus, or honestly to none. Its participants stand in it, or in its `config`."""

    topic: Annotated[str, Field(min_length=1, max_length=int(TOPIC.most))]
    participants: Participants | None = None
    config: DiscussionConfig
    context: JsonObject = Field(default_factory=dict)
    timeout_ms: DiscussionMs | None = None

    @model_validator(mode="after")
    def _whole(self) -> DiscussionBody:
        if not self.seats:
            raise ValueError("has no `participants`")
        if self.config.consensus_strategy == "facilitator" and not (
            self.config.facilitator_agent_id or any(each.role == "facilitator" for each in self.seats)
        ):
            raise ValueError("has the consensusStrategy `facilitator` and no `facilitatorAgentId`")
        return self

    @property
    def seats(self) -> tuple[Participant, ...]:
        """The participants, wherever they stand."""
        return self.participants or self.config.participants or ()


class OrchestrationOptions(Body):
    """How tasks are combined: `items` of a map, and how many are done at once."""

    items: Annotated[tuple[Any, ...], Field(max_length=MOST_ITEMS)] = ()
    max_parallel: Annotated[int, Field(ge=1, le=100)] | None = None


class OrchestrationBody(Body):
    """Tasks one after the other, at once, by condition, or for each item; `pattern` is said by the path, too."""

    pattern: PatternName | None = None
    tasks: Annotated[tuple[Task, ...], Field(min_length=1, max_length=MOST_TASKS)]
    context: JsonObject = Field(default_factory=dict)
    timeout_ms: TaskMs | None = None
    options: JsonObject = Field(default_factory=dict)


class ExecutionBody(Body):
    """What one agent of the registry is asked."""

    prompt: Prompt
    context: JsonObject = Field(default_factory=dict)
    timeout_ms: TaskMs | None = None
