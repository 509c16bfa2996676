"""The cast: experts that the moderator generates from the topic, or given ones, and who opposes whom."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.agents.brief import Brief, Section, one_line
from swarmgate.agents.desk import Desk
from swarmgate.agents.participant import Unread
from swarmgate.council.asking import ask, brief_for
from swarmgate.council.discussion.model import MODERATOR, Cast, Discussion, Expert, Tension
from swarmgate.council.discussion.request import RESERVED
from swarmgate.council.discussion.values import dicts_of, first_of, ids_of, text_of
from swarmgate.council.objects import fields_of
from swarmgate.domain.council_limits import PERSONA
from swarmgate.errors import CouncilFailed

_FIELDS = ("expertise", "thinking_style", "bias", "reply_tendency", "stakes", "blind_spots")
_TENSIONS = [{"between": ["expert-a", "expert-b"], "axis": "what divides them", "description": "how"}]
EXPERTS_FORM = "Answer with one JSON object: " + json.dumps(
    {
        "experts": [
            {
                "id": "short-name",
                "name": "",
                "expertise": "",
                "thinkingStyle": "",
                "bias": "",
                "replyTendency": "",
                "stakes": "",
                "blindSpots": "",
            }
        ],
        "tensions": _TENSIONS,
    }
)
TENSIONS_FORM = "Answer with one JSON object: " + json.dumps({"tensions": _TENSIONS})
_LONGEST_ID, _PAIR = 40, 2


async def cast_for(desk: Desk, discussion: Discussion, sections: Sequence[Section]) -> Cast:
    """Who takes part in a discussion; the moderator is asked for what was not given.

    Args:
        desk: the moderator's.
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
        given = await ask(desk, brief, read=lambda text: _tensions(text, discussion.experts))
        tensions, dropped = given.value or ((), (f"no tensions: {given.failed}",))
        taken = {"tensions": tensions, "dropped": dropped, "model": given.model, "usage": given.usage}
        return Cast(experts=discussion.experts, models=models, **taken)
    heard = await ask(desk, brief, read=lambda text: _experts(text, discussion))
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


def _experts(text: str, discussion: Discussion) -> Cast:
    """The cast that an answer names.

    Raises:
        Unread: too few of its experts have a name and an expertise.
    """
    found = fields_of(text, ("experts", "tensions", "tensionMap"), EXPERTS_FORM, required=("experts",))
    least, most = discussion.extent.experts
    experts: list[Expert] = []
    ids: dict[str, str] = {}
    dropped: list[str] = []
    for each in dicts_of(found["experts"]):
        name = text_of(first_of(each, "name", "id"))[:200]
        if not name or not text_of(each.get("expertise")):
            dropped.append(f"an expert without name or expertise: {name or 'unnamed'}")
        elif len(experts) == most:
            dropped.append(f"{name}: a {discussion.mode} discussion has at most {most} experts")
        else:
            expert = _expert(each, name, {kept.id for kept in experts})
            experts.append(expert)
            ids |= {key: expert.id for key in (text_of(each.get("id")), name, expert.id) if key not in ids}
    if len(experts) < least:
        raise Unread(
            f"`experts` has {len(experts)} with a name and an expertise; {least} to {most} are needed.", EXPERTS_FORM
        )
    tensions, stray = _paired(first_of(found, "tensions", "tensionmap"), ids)
    return Cast(experts=tuple(experts), tensions=tensions, dropped=(*dropped, *stray))


def _expert(found: Mapping[str, Any], name: str, taken: set[str]) -> Expert:
    values = {field: text_of(found.get(field.replace("_", "")))[: int(PERSONA.most)] for field in _FIELDS}
    return Expert(id=_safe_id(text_of(found.get("id")) or name, taken), name=name, **values)


def _safe_id(wanted: str, taken: set[str]) -> str:
    """The nearest id that a seat may have, that is no role's and that nobody else has."""
    base = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[: _LONGEST_ID - 3].strip("-") or "expert"
    names = (base, *(f"{base}-{number}" for number in range(2, 100)))
    return next(name for name in names if name not in taken and name not in RESERVED)


def _tensions(text: str, experts: Sequence[Expert]) -> tuple[tuple[Tension, ...], tuple[str, ...]]:
    """The tensions that an answer names, and a phrase for each that was dropped.

    Raises:
        Unread: it has none of the asked-for form.
    """
    found = fields_of(text, ("tensions", "tensionMap"), TENSIONS_FORM)
    ids = {each.name: each.id for each in experts} | {each.id: each.id for each in experts}
    return _paired(first_of(found, "tensions", "tensionmap"), ids)


def _paired(value: Any, ids: Mapping[str, str]) -> tuple[tuple[Tension, ...], tuple[str, ...]]:
    made: list[Tension] = []
    dropped: list[str] = []
    for each in dicts_of(value):
        between = tuple(dict.fromkeys(ids[name] for name in ids_of(each.get("between")) if name in ids))
        axis = text_of(each.get("axis"))
        if len(between) == _PAIR and axis:
            description = text_of(each.get("description"))
            made.append(Tension(between=(between[0], between[1]), axis=axis, description=description))
        else:
            dropped.append(f"a tension that does not pair two of the experts: {axis[:100] or 'without axis'}")
    return tuple(made), tuple(dropped)
