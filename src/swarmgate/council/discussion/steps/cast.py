"""The cast: experts that the moderator generates from the topic, or given ones, and who opposes whom."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.briefs.brief import Brief, Section, one_line
from swarmgate.agents.context import AgentContext
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.discussion.answers.values import Text, dicts_of, ids_of
from swarmgate.council.discussion.model import MODERATOR, Cast, Discussion, Expert, Tension
from swarmgate.council.discussion.request import RESERVED
from swarmgate.council.limits import PERSONA
from swarmgate.council.participants.question import ask, brief_for
from swarmgate.errors import CouncilFailed

_LONGEST_ID, _PAIR = 40, 2


class Opposed(Answer):
    """A tension as an answer has it."""

    between: Annotated[tuple[str, ...], BeforeValidator(ids_of)] = Field((), description="Ids of two experts.")
    axis: Text = Field("", description="What divides them.")
    description: Text = Field("", description="How.")


Tensions = Annotated[tuple[Opposed, ...], BeforeValidator(dicts_of)]


class Persona(Answer):
    """An expert as an answer has it."""

    id: Text = Field("", description="Short, in lower case, with `-`.")
    name: Text = ""
    expertise: Text = ""
    thinking_style: Text = ""
    bias: Text = ""
    reply_tendency: Text = ""
    stakes: Text = ""
    blind_spots: Text = ""


class Opposition(Answer):
    """The tensions between experts that are given."""

    tensions: Tensions = called("tensions", "tensionMap")


class Experts(Opposition):
    """The experts, and the tensions between them."""

    experts: Annotated[tuple[Persona, ...], BeforeValidator(dicts_of)]
    tensions: Tensions = called("tensions", "tensionMap", default=())


async def cast_for(agent: AgentContext, discussion: Discussion, sections: Sequence[Section]) -> Cast:
    """Who takes part in a discussion; the moderator is asked for what was not given.

    Args:
        agent: the moderator's.
        discussion: what is to be held.
        sections: the topic and the material.

    Raises:
        CouncilFailed: twice, the moderator named too few experts or none.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    brief = casting_brief(discussion, sections)
    models = discussion.models
    if discussion.experts and discussion.tensions:
        return Cast(experts=discussion.experts, tensions=discussion.tensions, models=models)
    if discussion.experts:
        given = await ask(agent, brief, read=tensions_of(discussion.experts))
        tensions, dropped = given.value or ((), (f"no tensions: {given.failed}",))
        taken = {"tensions": tensions, "dropped": dropped, "model": given.model, "usage": given.usage}
        return Cast(experts=discussion.experts, models=models, **taken)
    heard = await ask(agent, brief, read=experts_of(discussion))
    if heard.value is None and heard.unreached:
        raise CouncilFailed(f"the moderator was not reached, its endpoint does not answer: {heard.failed}")
    if heard.value is None:
        raise CouncilFailed(
            f"the moderator named no usable experts: {heard.failed}",
            hint="give the experts in a personas file (--personas FILE), or the moderator another model",
        )
    return heard.value.model_copy(update={"models": models, "model": heard.model, "usage": heard.usage})


def casting_brief(discussion: Discussion, sections: Sequence[Section]) -> Brief:
    """What the moderator is told to cast."""
    least, most = discussion.extent.experts
    number = f"{least}" if least == most else f"{least} to {most}"
    given = "\n".join(_told(each) for each in discussion.experts)
    wanted = (
        Section("The experts are given", given, "Name only the tensions between them, by their ids.")
        if given
        else Section("How many", f"{number} experts")
    )
    return brief_for(MODERATOR, "experts", 0, *sections, wanted)


def _told(expert: Expert) -> str:
    return f"{expert.id}: {one_line(expert.name)}, {one_line(expert.expertise)}. {one_line(expert.stakes)}"


def persona(expert: Expert) -> str:
    """What an expert is told about itself, in its system message."""
    told = {
        "Your expertise": expert.expertise,
        "How you think": expert.thinking_style,
        "Your bias, which you know": expert.bias,
        "How you reply": expert.reply_tendency,
        "What is at stake for you": expert.stakes,
        "What you tend to overlook": expert.blind_spots,
    }
    lines = [f"You are {one_line(expert.name)}, an expert in a discussion."]
    lines += [f"{title}: {text}" for title, text in told.items() if text]
    return "\n".join(lines + ([expert.system] if expert.system else []))


def experts_of(discussion: Discussion) -> Form[Experts, Cast]:
    """How a cast is named: enough experts with a name and an expertise."""
    return Form(Experts, lambda given: _experts(given, discussion))


def _experts(given: Experts, discussion: Discussion) -> Cast:
    least, most = discussion.extent.experts
    experts: list[Expert] = []
    ids: dict[str, str] = {}
    dropped: list[str] = []
    for each in given.experts:
        name = (each.name or each.id)[:200]
        if not name or not each.expertise:
            dropped.append(f"an expert without name or expertise: {name or 'unnamed'}")
        elif len(experts) == most:
            dropped.append(f"{name}: a {discussion.mode} discussion has at most {most} experts")
        else:
            expert = _expert(each, name, {kept.id for kept in experts})
            experts.append(expert)
            ids |= {key: expert.id for key in (each.id, name, expert.id) if key not in ids}
    if len(experts) < least:
        raise Unread(f"`experts` has {len(experts)} with a name and an expertise; {least} to {most} are needed.")
    tensions, stray = _paired(given.tensions, ids)
    return Cast(experts=tuple(experts), tensions=tensions, dropped=(*dropped, *stray))


def _expert(given: Persona, name: str, taken: set[str]) -> Expert:
    told = given.model_dump(exclude={"id", "name"})
    values = {field: text[: int(PERSONA.most)] for field, text in told.items()}
    return Expert(id=_safe_id(given.id or name, taken), name=name, **values)


def _safe_id(wanted: str, taken: set[str]) -> str:
    """The nearest id that a seat may have, that is no role's and that nobody else has."""
    base = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[: _LONGEST_ID - 3].strip("-") or "expert"
    names = (base, *(f"{base}-{number}" for number in range(2, 100)))
    return next(name for name in names if name not in taken and name not in RESERVED)


def tensions_of(experts: Sequence[Expert]) -> Form[Opposition, tuple[tuple[Tension, ...], tuple[str, ...]]]:
    """How tensions between given experts are named; it comes to them and a phrase for each that was dropped."""
    ids = {each.name: each.id for each in experts} | {each.id: each.id for each in experts}
    return Form(Opposition, lambda given: _paired(given.tensions, ids))


def _paired(given: Sequence[Opposed], ids: Mapping[str, str]) -> tuple[tuple[Tension, ...], tuple[str, ...]]:
    made: list[Tension] = []
    dropped: list[str] = []
    for each in given:
        between = tuple(dict.fromkeys(ids[name] for name in each.between if name in ids))
        if len(between) == _PAIR and each.axis:
            made.append(Tension(between=(between[0], between[1]), axis=each.axis, description=each.description))
        else:
            dropped.append(f"a tension that does not pair two of the experts: {each.axis[:100] or 'without axis'}")
    return tuple(made), tuple(dropped)


def masked_cast(cast: Cast, clean: Callable[[Any], Any], *, generated: bool = False) -> Cast:
    """A cast without secrets, in names of experts neither. A generated id that would be masked becomes `expert-N`.

    Args:
        cast: as it came.
        clean: gives a JSON-ready value without secrets in its free text.
        generated: whether its ids are nobody's own.
    """
    ids = {each.id: each.id for each in cast.experts}
    for number, each in enumerate(cast.experts if generated else (), start=1):
        if clean(each.id) != each.id:
            names = (f"expert-{at}" for at in range(number, number + 2 * len(ids)))
            ids[each.id] = next(name for name in names if name not in ids.values())
    experts = tuple(each.model_copy(update={"id": ids[each.id], "name": clean(each.name)}) for each in cast.experts)
    tensions = tuple(
        each.model_copy(update={"between": tuple(ids[one] for one in each.between)})
        if set(each.between) <= ids.keys()
        else each
        for each in cast.tensions
    )
    named = cast.model_copy(update={"experts": experts, "tensions": tensions})
    return Cast.model_validate(clean(named.model_dump(mode="json")))
