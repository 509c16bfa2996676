"""The moderator: between two rounds it may set the order, ask a voice something, and cut one that repeats itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.agents.brief import Brief, Section, bullets, cut, one_line
from swarmgate.agents.desk import Desk
from swarmgate.agents.participant import ROLE, AskedOnceMore, Unread, speak
from swarmgate.council.debate.model import Debate, Moderation, Round
from swarmgate.council.json_objects import taken_apart
from swarmgate.council.overheard import overheard
from swarmgate.council.reading import MOST_READ
from swarmgate.council.transcript import Transcript
from swarmgate.council.windows import material_sections, window_of
from swarmgate.domain.debate import LEAST_SEATS
from swarmgate.errors import ModelError

STEP = "moderate"

_QUESTION, _NAME = 500, 40
"""Characters of a question to a voice, and of a name that is no seat."""

_MISSING = 'Answer with one JSON object: {"order": ["seat", ...], "ask": {"seat": "question"}, "cut": ["seat"]}.'


def moderator_brief(debate: Debate, number: int, sections: Sequence[Section] = ()) -> Brief:
    """What the moderator is told before round `number`."""
    name = debate.moderator.id if debate.moderator else ""
    material = material_sections(debate.question, debate.material)
    return Brief(
        ROLE,
        STEP,
        task=debate.task,
        attempt=debate.attempt,
        participant=name,
        round=number,
        sections=(*material, *sections),
    )


async def moderated(desk: Desk, debate: Debate, rounds: Sequence[Round], *, final: bool) -> Moderation:
    """What the moderator decides before the round after `rounds`; `failed` where it decided nothing.

    Args:
        desk: the moderator's.
        debate: what is debated.
        rounds: those so far.
        final: whether the next round is the last: then nobody is cut.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    number = len(rounds) + 1
    plain = moderator_brief(debate, number, [_record(debate, rounds[-1])])
    told = Transcript(rounds, [seat.id for seat in debate.seats]).told(window_of(desk, plain).room)
    brief = moderator_brief(debate, number, [told.section, _record(debate, rounds[-1])])
    at_desk, ears = overheard(desk)
    try:
        ending = await speak(
            at_desk, brief, answer=AskedOnceMore(lambda text: moderation_of(text, debate, final=final))
        )
        found = ending.value
    except ModelError as error:
        found = Moderation(failed=error.message)
    return found.model_copy(update={"model": ears.model, "prompt_hash": ears.prompt_hash, "usage": ears.usage})


def moderation_of(text: str, debate: Debate, *, final: bool) -> Moderation:
    """What a moderator's answer asks for, less what it may not.

    Raises:
        Unread: there is no JSON object with `order`, `ask` or `cut` in it.
    """
    found = next(
        (each for each in reversed(taken_apart(text[-MOST_READ:]).objects) if {"order", "ask", "cut"} & each.keys()),
        None,
    )
    if found is None:
        raise Unread("There is no decision in your answer.", _MISSING)
    seats = [seat.id for seat in debate.seats]
    named, asked, cut_off = _names(found.get("order")), _questions(found.get("ask")), _names(found.get("cut"))
    unknown = [each for each in dict.fromkeys((*named, *asked, *cut_off)) if each not in seats]
    dropped = [f"{cut(one_line(each), _NAME, '...')} is no seat" for each in unknown]
    cuts = [each for each in dict.fromkeys(cut_off) if each in seats]
    if cuts and final:
        dropped.append(f"{', '.join(cuts)} cannot be cut: in the last round everybody votes")
    elif cuts and len(seats) - len(cuts) < LEAST_SEATS:
        dropped.append(f"{', '.join(cuts)} cannot be cut: fewer than {LEAST_SEATS} voices would be left")
    order = [each for each in dict.fromkeys(named) if each in seats]
    return Moderation(
        order=(*order, *(each for each in seats if each not in order)) if order else (),
        questions={seat: asked[seat] for seat in seats if seat in asked},
        cut=() if any("cannot be cut" in each for each in dropped) else tuple(cuts),
        dropped=tuple(dropped),
    )


def _record(debate: Debate, last: Round) -> Section:
    """Who said how much that was new in the last round."""
    new = {each.claim for each in last.novelty if each.new}
    said = {each.seat: each for each in last.speeches}
    lines = []
    for seat in debate.seats:
        speech = said.get(seat.id)
        if speech is None:
            lines.append(f"{seat.id}: was cut")
        elif speech.failed:
            lines.append(f"{seat.id}: gave no answer")
        else:
            count = sum(each.id in new for each in speech.claims)
            lines.append(f"{seat.id}: {len(speech.claims)} claims, {count} of them new")
    return Section("The voices in the last round", bullets(lines))


def _names(value: Any) -> list[str]:
    entries = value if isinstance(value, list) else [value]
    return [each.strip() for each in entries if isinstance(each, str) and each.strip()]


def _questions(value: Any) -> dict[str, str]:
    entries: Mapping[str, Any] = value if isinstance(value, dict) else {}
    told = {str(seat).strip(): one_line(each) for seat, each in entries.items() if isinstance(each, str)}
    return {seat: cut(each, _QUESTION, "...") for seat, each in told.items() if each}
