"""Validates the request for a discussion before a model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from swarmgate.config import nearest
from swarmgate.council.discussion.model import (
    CONTRARIAN,
    CROSS_DOMAIN,
    EXTENTS,
    HISTORIAN,
    MODERATOR,
    USER,
    Cast,
    Choice,
    ChoiceKind,
    Discussion,
    Expert,
    Mode,
    ProblemDefinition,
    Tension,
)
from swarmgate.council.limits import (
    MATERIAL,
    PERSONA,
    ROUNDS,
    TOPIC,
    VOICE_SECONDS,
    WHOLE_SECONDS,
    Limit,
    sized,
    within,
)
from swarmgate.council.requests import seats, toml_lines
from swarmgate.council.requests.seats import checked, seated
from swarmgate.errors import CouncilRefused
from swarmgate.project import Project

Begins = Callable[[toml_lines.Place], str]
"""How a message about a key begins: with file, line and key, or with the parameter."""

Agents = Callable[[Sequence[Expert], Begins], tuple[Expert, ...]]
"""Gives experts what the agents of the settings say of them."""

FIXED = (MODERATOR, HISTORIAN, CONTRARIAN, CROSS_DOMAIN)
"""Roles that every discussion knows, whether its mode has them or not."""

RESERVED = frozenset((*FIXED, USER, "cast", "proposed"))
"""Names that no expert may have: those of the fixed roles and the user, and of other files in `personas/`."""

_PERSONA_TEXTS = (
    "name",
    "expertise",
    "thinking_style",
    "bias",
    "reply_tendency",
    "stakes",
    "blind_spots",
    "system",
)


def discussion_of(
    *,
    id: str,  # noqa: A002 - the field's name
    topic: str,
    mode: Mode | str = Mode.STANDARD,
    rounds: int | None = None,
    personas: Sequence[Expert | Mapping[str, Any]] = (),
    models: Mapping[str, str] | None = None,
    material: str = "",
    **bounds: Any,
) -> Discussion:
    """A discussion that can be held.

    Args:
        id: its name.
        topic: what is discussed.
        mode: how much is spent on it.
        rounds: the most rounds, 1 to 10; None: as many as the mode has at most.
        personas: given experts, as many as the mode has; none: they are generated.
        models: those of fixed roles, `provider/model` by role.
        material: what the topic is about.
        bounds: `tensions`, `problem_definition`, `tokens`, `timeout_s`, `whole_s` and `user` of `Discussion`.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its limit.
    """
    if rounds is not None:
        within("rounds", rounds, ROUNDS)
    kind = mode_of(mode)
    least, most = EXTENTS[kind].rounds
    fields = {
        "id": id,
        "topic": topic,
        "mode": kind,
        "rounds": most if rounds is None else rounds,
        "least": least if rounds is None else min(least, rounds),
        "experts": tuple(_expert(each, number) for number, each in enumerate(personas)),
        "models": dict(models or {}),
        "material": material,
    }
    _check_numbers(bounds)
    discussion = checked(Discussion, {**fields, **bounds}, "")
    check(discussion)
    return discussion


def in_mode(discussion: Discussion, mode: Mode) -> Discussion:
    """The same discussion in another mode, with the rounds of that unless other ones were asked for.

    Raises:
        CouncilRefused: its given experts are too many or too few for that.
    """
    least, most = EXTENTS[mode].rounds
    rounds = most if discussion.rounds == discussion.extent.rounds[1] else discussion.rounds
    changed = discussion.model_copy(update={"mode": mode, "rounds": rounds, "least": min(least, rounds)})
    check(changed)
    return changed


def mode_of(mode: Mode | str) -> Mode:
    """The mode of that name.

    Raises:
        CouncilRefused: there is none; the hint has the nearest.
    """
    with suppress(ValueError):
        return Mode(mode)
    close = nearest(str(mode), [str(each) for each in Mode])
    advice = f"did you mean `{close}`?" if close else f"it is one of {', '.join(Mode)}"
    raise CouncilRefused(f"`mode` is {str(mode)!r:.60}: there is no such mode; {advice}")


def checked_choice(choice: Choice, rounds: int) -> Choice:
    """The choice, for the last of so many rounds.

    Raises:
        CouncilRefused: it injects nothing, its text is too long, or it is for another round.
    """
    if choice.kind is ChoiceKind.INJECT or choice.text:
        sized("choice.text", choice.text, TOPIC)
    if choice.constraint:
        sized("choice.constraint", choice.constraint, TOPIC)
    within("choice.after", choice.after, Limit(least=rounds, most=rounds))
    return choice


def check(discussion: Discussion) -> None:
    """Whether a discussion can be held, however it was made.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its limit.
    """
    sized("topic", discussion.topic, TOPIC)
    sized("material", discussion.material, MATERIAL)
    within("rounds", discussion.rounds, ROUNDS)
    _check_numbers({"timeout_s": discussion.timeout_s, "whole_s": discussion.whole_s})
    _check_roles(discussion.models)
    check_problem(discussion.problem_definition)
    if discussion.experts:
        check_experts(discussion.experts, discussion.mode)
    _check_tensions(discussion.experts, discussion.tensions)


def check_cast(cast: Cast, discussion: Discussion) -> None:
    """Whether a cast, generated or changed by the user, can hold this discussion.

    Raises:
        CouncilRefused: as `check_experts`; a tension or a model is of somebody who is not there.
    """
    check_experts(cast.experts, discussion.mode)
    check_problem(cast.problem_definition)
    _check_tensions(cast.experts, cast.tensions)
    _check_roles(cast.models)


def check_problem(problem: ProblemDefinition | None) -> None:
    """Whether what is to be solved is said in as many characters as a topic may have.

    Raises:
        CouncilRefused: it has more.
    """
    if problem is not None and problem.size > TOPIC.most:
        message = f"`problem_definition` has {problem.size:,} characters: the limit is {TOPIC.most:,.0f}"
        raise CouncilRefused(message, hint="Say it in short; what it is about can be given as a file of the material.")


def check_experts(experts: Sequence[Expert], mode: Mode) -> None:
    """Whether these experts can take part in a discussion of that mode.

    Raises:
        CouncilRefused: too many or too few, two of one id, the id of a fixed role, or too long a text.
    """
    least, most = EXTENTS[mode].experts
    if not least <= len(experts) <= most:
        limit = f"{least}" if least == most else f"{least} to {most}"
        raise CouncilRefused(
            f"`personas` has {len(experts)}: the limit of a {mode} discussion is {limit}",
            hint="Give as many as that, or take another mode: lightweight has 2, standard 2 to 3, deep 3 to 4.",
        )
    twice = [each for each, count in Counter(expert.id.casefold() for expert in experts).items() if count > 1]
    if twice:
        raise CouncilRefused(f"`personas` names {', '.join(twice)} twice: every expert has an id of its own")
    for number, expert in enumerate(experts):
        if expert.id.casefold() in RESERVED:
            taken = ", ".join(sorted(RESERVED))
            raise CouncilRefused(f"`personas[{number}].id` is {expert.id}, and no expert may be named {taken}")
        for name in _PERSONA_TEXTS:
            sized(f"personas[{number}].{name}", getattr(expert, name), PERSONA)


def _check_roles(models: Mapping[str, str]) -> None:
    if stray := sorted(models.keys() - set(FIXED)):
        raise CouncilRefused(f"`models` names {stray[0]!r:.60}: models are those of the roles {', '.join(FIXED)}")


def _check_tensions(experts: Sequence[Expert], tensions: Sequence[Tension]) -> None:
    ids = {each.id for each in experts}
    for number, tension in enumerate(tensions):
        if stray := sorted({*tension.between} - ids):
            raise CouncilRefused(f"`tensions[{number}].between` names {stray[0]}: that is none of the experts")


def _check_numbers(bounds: Mapping[str, Any]) -> None:
    for name, limit in (("timeout_s", VOICE_SECONDS), ("whole_s", WHOLE_SECONDS)):
        if name in bounds:
            within(name, bounds[name], limit, whole=False)


def as_agents(project: Project, experts: Sequence[Expert], begins: Begins) -> tuple[Expert, ...]:
    """The experts with the model, the system text and the folder of their agents, where they have none of their own.

    Experts that were given that before stay as they are.

    Raises:
        CouncilRefused: there is no such agent.
    """
    return tuple(_as_agent(each, project, partial(_begins, begins, at)) for at, each in enumerate(experts))


def _begins(begins: Begins, at: int, key: str) -> str:
    return begins(("experts", at, key))


def _as_agent(expert: Expert, project: Project, place: seats.Place) -> Expert:
    own = expert.model_dump(include={"id", "agent", "model", "system", "folder"})
    seat = seated(own, (*own, "role"), project, place)
    update = {key: seat.get(key, "") for key in own}
    if expert.agent and expert.expertise == expert.agent:
        update["expertise"] = seat.get("role") or expert.agent
    return expert.model_copy(update=update)


def _expert(value: Expert | Mapping[str, Any], number: int) -> Expert:
    return value if isinstance(value, Expert) else checked(Expert, value, f"personas[{number}]")
