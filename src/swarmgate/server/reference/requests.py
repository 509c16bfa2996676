"""Requests in the words of the reference as requests for our councils: a pure translation.

Placeholders of its prompts, `{{name}}`, are filled from the context and the variables; what a council gives its
participants anyway is named instead: `{{output}}` in a template becomes `(the output)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from swarmgate.council.limits import PARTICIPANTS
from swarmgate.errors import UsageError
from swarmgate.server.reference.bodies import (
    CritiqueBody,
    DiscussionBody,
    OrchestrationBody,
    OrchestrationOptions,
    Participant,
    Task,
)
from swarmgate.server.reference.conditions import holds
from swarmgate.server.reference.names import recorded

DEFAULT_AGENT = "agent_claude_default"
"""The reference's name of the agent that speaks where none is named: ours is the voice of `[roles.participant]`."""

_DEFAULT_NAMES = frozenset({"", DEFAULT_AGENT, "claude"})
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}", re.ASCII)
_BLOCK = re.compile(r"\{\{\s*[#/]?(?:if|else|each|unless|with)\b[^{}]*\}\}", re.ASCII)
_OURS = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]{0,29})\}")
"""What an orchestration of ours takes for the output of a step."""

_WITH_THRESHOLD = frozenset({"unanimous", "weighted"})
_FACILITATOR = "facilitator"
_AT_ONCE = 8
"""Tasks of one orchestration that are done at once."""


Agents = Collection[str] | None
"""The names of the registry; None: nobody knows them before the repository was fetched, and the council looks."""


class CouncilRequest(NamedTuple):
    """A request for a council: its pattern, and the arguments of the facade's verb."""

    pattern: str
    arguments: dict[str, Any]


def critique(body: CritiqueBody, agents: Agents) -> CouncilRequest:
    """A self-critique.

    Args:
        body: of the request.
        agents: the names of the registry.

    Raises:
        UsageError: it names an agent that there is not.
    """
    task, config = body.work, body.config
    names = recorded([each.name for each in config.quality_criteria], otherwise="criterion")
    criteria = [
        {
            "name": name,
            "description": each.description,
            "rubric": "\n\n".join(filter(None, (each.rubric, each.evaluation_prompt))),
            "weight": each.weight,
            **({} if each.threshold is None else {"threshold": each.threshold}),
        }
        for name, each in zip(names, config.quality_criteria, strict=True)
    ]
    whole = body.timeout_ms if body.timeout_ms is not None else config.timeout_ms
    return CouncilRequest(
        "critique",
        _given(
            task=_filled(task.prompt, {**body.context, **task.variables}),
            criteria=criteria,
            iterations=config.max_iterations,
            stop=config.stop_on_quality_threshold,
            model=_agent(task.agent_id, task.agent_type, agents),
            material=_context(body.context, task.prompt),
            system=_guidance(config.improvement_prompt_template),
            evaluator_system=_guidance(config.evaluation_prompt_template),
            timeout_s=_seconds(task.timeout_ms),
            whole_s=_seconds(whole),
        ),
    )


def discussion(body: DiscussionBody, agents: Agents) -> CouncilRequest:
    """A discussion: a decision of ours.

    Args:
        body: of the request.
        agents: the names of the registry.

    Raises:
        UsageError: it names an agent that there is not.
    """
    config = body.config
    cast = _with_facilitator(body)
    contributes = _guidance(config.contribution_prompt_template or config.discussion_prompt_template)
    seats = [
        _given(
            id=name,
            agent=_agent(each.agent_id, "custom", agents),
            role=each.role,
            weight=each.weight,
            perspective=each.perspective,
            system="\n\n".join(filter(None, (each.system_prompt, contributes))),
        )
        for name, each in zip(seat_names(cast), cast, strict=True)
    ]
    strategy = config.consensus_strategy
    whole = body.timeout_ms if body.timeout_ms is not None else config.timeout_ms
    return CouncilRequest(
        "decision",
        _given(
            question=body.topic,
            participants=seats,
            strategy=strategy,
            threshold=config.convergence_threshold or None if strategy in _WITH_THRESHOLD else None,
            facilitator=_facilitator(body, cast, agents),
            facilitator_system=_guidance(config.synthesis_prompt_template),
            rounds=config.max_rounds,
            material=_context(body.context, body.topic),
            whole_s=_seconds(whole),
        ),
    )


def orchestration(pattern: str, body: OrchestrationBody, agents: Agents) -> CouncilRequest | None:
    """Tasks one after the other, at once, by condition, or for each item; None: no condition of any task holds.

    Args:
        pattern: sequential, parallel, conditional or map-reduce.
        body: of the request.
        agents: the names of the registry.

    Raises:
        UsageError: it names an agent that there is not, or its tasks are not those of the pattern.
        ValidationError: an option is out of its bounds.
    """
    options = OrchestrationOptions.model_validate(body.options)
    ask = _Asking(body, agents)
    match pattern:
        case "parallel":
            steps = [ask.step(each, f"t{at}") for at, each in enumerate(body.tasks, start=1)]
            many = min(options.max_parallel or _AT_ONCE, _AT_ONCE)
            group = {"id": "tasks", "kind": "parallel", "steps": steps, "least": len(steps), "at_once": many}
            return _steps(body, [group])
        case "conditional":
            chosen = selected(body)
            return None if chosen is None else _steps(body, [ask.step(body.tasks[chosen], "t1")])
        case "map-reduce":
            return _steps(body, [_mapped(body, options, ask)])
    before: list[tuple[str, Task]] = []
    for at, each in enumerate(body.tasks, start=1):
        before.append((f"t{at}", each))
    return _steps(body, [ask.step(each, name, before[:at]) for at, (name, each) in enumerate(before)])


def selected(body: OrchestrationBody) -> int | None:
    """Which task of a conditional is done: the first whose condition holds, else the last one that has none.

    Raises:
        UsageError: a condition cannot be read.
    """
    otherwise: int | None = None
    for at, each in enumerate(body.tasks):
        if not each.condition:
            otherwise = at
        elif holds(each.condition, body.context):
            return at
    return otherwise


def mapping_tasks(body: OrchestrationBody) -> tuple[Task | None, Task | None]:
    """The tasks of a map-reduce that are done for each item, and with all results."""

    def named(word: str) -> Task | None:
        return next((each for each in body.tasks if each.id.startswith(word)), None)

    return named("map"), named("reduce")


def seat_names(cast: Sequence[Participant]) -> tuple[str, ...]:
    """What participants are called on record."""
    return recorded([each.id or each.role for each in cast], otherwise="participant")


def cast_of(body: DiscussionBody) -> tuple[Participant, ...]:
    """Everybody who speaks, with a facilitator that takes part."""
    return _with_facilitator(body)


# --- agents ---


def _agent(name: str, kind: str, agents: Agents) -> str:
    """The agent of ours that is meant; empty: the voice of participants.

    Raises:
        UsageError: there is none.
    """
    if name not in _DEFAULT_NAMES:
        if agents is None or name in agents:
            return name
        known = ", ".join(sorted({*agents, DEFAULT_AGENT}))
        raise UsageError(f"Cannot resolve agent type: agent with id {name[:60]!r} not found", hint=f"known: {known}")
    if agents and name in agents:
        return name
    if kind == "strudel":
        raise UsageError("No agent available for type: strudel", hint="name an agent of the registry in `agentId`")
    return ""


def _with_facilitator(body: DiscussionBody) -> tuple[Participant, ...]:
    """The participants; who decides is one of them, and joins them where it is not."""
    cast, config = body.seats, body.config
    if config.consensus_strategy != _FACILITATOR or _place(cast, config.facilitator_agent_id) is not None:
        return cast
    if len(cast) >= PARTICIPANTS.most:
        raise UsageError("The facilitator would be one participant too many: the limit is 10.")
    return (*cast, Participant(id=_FACILITATOR, agent_id=config.facilitator_agent_id, role=_FACILITATOR))


def _place(cast: Sequence[Participant], name: str) -> int | None:
    """Where the facilitator sits: who has that id, else that agent, else that role."""
    tests: tuple[Callable[[Participant], bool], ...] = (
        lambda each: bool(name) and each.id == name,
        lambda each: bool(name) and each.agent_id == name,
        lambda each: not name and each.role == _FACILITATOR,
    )
    return next((at for test in tests for at, each in enumerate(cast) if test(each)), None)


def _facilitator(body: DiscussionBody, cast: Sequence[Participant], agents: Agents) -> str | None:
    """Who decides, or sums up each round; None: a voice of its own."""
    name = body.config.facilitator_agent_id
    place = _place(cast, name)
    return seat_names(cast)[place] if place is not None else _agent(name, "custom", agents) or None


# --- tasks ---


class _Asking:
    """Makes steps of tasks.

    Args:
        body: of the request.
        agents: the names of the registry.
    """

    def __init__(self, body: OrchestrationBody, agents: Agents) -> None:
        self._body, self._agents = body, agents

    def step(
        self,
        task: Task,
        name: str,
        before: Sequence[tuple[str, Task]] = (),
        more: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """One task as a step that asks one voice.

        Args:
            task: what is asked.
            name: of the step; empty: one inside of a map has none.
            before: the steps whose results it may name as `_task_ID`, the last of them as `_lastResult`.
            more: further placeholders, and what stands for them.
        """
        agent = _agent(task.agent_id, task.agent_type, self._agents)
        results = {f"_task_{each.id}": f"{{{step}}}" for step, each in before}
        results |= {"_lastResult": f"{{{before[-1][0]}}}"} if before else {}
        text = _filled(task.prompt, {**self._body.context, **task.variables}, {**results, **(more or {})}, guard=True)
        limit = task.timeout_ms if task.timeout_ms is not None else self._body.timeout_ms
        who = {"agent": agent} if agent else {"participant": recorded([task.id], otherwise="agent")[0]}
        return _given(id=name, kind="ask", text=text, timeout_s=_seconds(limit), **who)


def _mapped(body: OrchestrationBody, options: OrchestrationOptions, ask: _Asking) -> dict[str, Any]:
    task, reduce = mapping_tasks(body)
    if task is None:
        raise UsageError('Map-reduce requires a task with id "map" or starting with "map"')
    if not options.items:
        raise UsageError("Map-reduce requires items in options.items")
    counted = {"_totalItems": str(len(options.items)), "_resultCount": str(len(options.items))}
    each = ask.step(task, "", more={"_item": "{item}", **counted})
    found = {
        "id": "items",
        "kind": "map",
        "items": [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in options.items],
        "step": each,
        "least": len(options.items),
        "at_once": min(options.max_parallel or _AT_ONCE, _AT_ONCE),
    }
    if reduce is not None:
        found["reduce"] = ask.step(reduce, "", more={"_mapResults": "the results below", **counted})
    return found


def _steps(body: OrchestrationBody, steps: list[dict[str, Any]]) -> CouncilRequest:
    title = ", ".join(each.id for each in body.tasks)
    return CouncilRequest("orchestration", {"title": title[:200], "steps": steps})


# --- texts ---


def _filled(
    text: str, values: Mapping[str, Any], references: Mapping[str, str] | None = None, *, guard: bool = False
) -> str:
    """A prompt with its placeholders filled; those that nobody knows stay.

    Args:
        text: of the request.
        values: by the name of the placeholder.
        references: what stands for names that our orchestration fills: as they are.
        guard: whether braces in all the rest are kept from being read as such references.
    """
    parts, at = list[str](), 0
    kept = _guarded if guard else str
    for found in _PLACEHOLDER.finditer(text):
        parts.append(kept(text[at : found.start()]))
        at, name = found.end(), found[1]
        if references and name in references:
            parts.append(references[name])
        elif name in values:
            value = values[name]
            parts.append(kept(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
        else:
            parts.append(kept(found[0]))
    return "".join([*parts, kept(text[at:])])


def _guarded(text: str) -> str:
    """The text with `{name}` spelled so that an orchestration of ours leaves it as it is."""
    return _OURS.sub(r"{{\1}}", text)


def _guidance(template: str) -> str:
    """A template as words of guidance: its blocks left out, its placeholders named."""

    def named(found: re.Match[str]) -> str:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[._]+", " ", found[1]).strip().lower()
        return f"(the {words})"

    return _PLACEHOLDER.sub(named, _BLOCK.sub("", template)).strip()


def _context(context: Mapping[str, Any], said: str) -> str:
    """The context as material; nothing where it is what was said anyway."""
    if not context or list(context.values()) == [said]:
        return ""
    return json.dumps(dict(context), ensure_ascii=False, indent=2)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _given(**values: Any) -> dict[str, Any]:
    """The arguments that are there."""
    return {name: value for name, value in values.items() if value not in (None, "", [])}
